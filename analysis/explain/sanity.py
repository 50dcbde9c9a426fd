"""Sanity checks of explanations: do they depend on what was learned, and would other seeds or placebos say the same?

- Weights of core and of the graph token permuted (Adebayo et al., 2018): rows that rest on them must change. Exact
  rows cannot: they show what their weights say, and permuting other weights leaves them as they are.
- Labels permuted: trained where every training check-in got another's place, the rows of the real cases must change.
- Placebos and sibling seeds: see `analysis.explain.stamps`.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Final

import numpy as np
import pandas as pd
import torch
from pydantic import Field
from scipy.stats import spearmanr

from analysis.explain.checks import choose_rival
from analysis.explain.edited_case import build_edited_case
from analysis.explain.placebo import NUM_PLACEBOS
from analysis.explain.score_parts import decompose_scores
from analysis.explain.stamps import STAMPED_ROWS, RowStamp, exact_share, stamp_rows
from analysis.formatting import percent
from analysis.records.accuracy import metric_values
from analysis.records.reliability import NUM_BINS, Reliability, measure_reliability
from analysis.records.removals import CASES_PER_BATCH, describe_removals
from analysis.records.score_rows import OPAQUE_ROWS, ROW_LABELS
from recap.config import Config
from recap.device import one_thread
from recap.evaluation.scoring import rank_cases
from recap.model.recap import Recap
from recap.predictor import Predictor

SAMPLE: Final = 200
"""Test cases that the checks run over, drawn at random."""


class SanityRow(Config):
    """How one row of explanations does over a sample of cases; shares are of the cases where it gives points."""

    row: str
    label: str
    n: int = Field(description="Cases where the row gives the truth points; 0 leaves the shares empty.")
    same_sign: float | None = Field(description="Same sign in all seeds; None without sibling seeds.")
    better_than_placebo: float | None
    one_person: float | None = Field(description="Rests on one person's trips.")
    holds: float | None = Field(description="All of these at once; None without sibling seeds.")


class Permuted(Config):
    """A model with something permuted beside the model as it is."""

    what: str
    hr20: float
    hr20_permuted: float
    agreement: dict[str, float | None] = Field(
        description="Rank correlation of each row's points over the cases; None where a row is constant."
    )


class SanityReport(Config):
    """All sanity checks of one checkpoint."""

    n: int = Field(description="Cases of the sample.")
    placebos: int
    seeds: int = Field(description="Seeds measured, the checkpoint's own among them; 1 means not measured.")
    rows: list[SanityRow]
    permuted: list[Permuted]
    exact_share: float = Field(description="Median over the cases of the share of exact addends in the margin.")
    reliability: Reliability = Field(description="Shares of the first place against how often it is right, all cases.")
    dataset_hash: str
    checkpoint_hash: str


def sanity_report(
    predictor: Predictor,
    *,
    seeds: Mapping[int, pd.DataFrame] | None = None,
    permuted_labels: Predictor | None = None,
    sample: int = SAMPLE,
    seed: int = 0,
    placebos: int = NUM_PLACEBOS,
    progress: Callable[[int, int], None] | None = None,
) -> SanityReport:
    """Run every check over a sample of test cases.

    Args:
        seeds: removal tables of sibling seeds, by seed.
        permuted_labels: a model trained on permuted labels, which adds that check.
        seed: of the sample, the placebos and the permutations.
        progress: told (cases done, cases in all).
    """
    size = min(sample, len(predictor.cases))
    numbers = np.sort(np.random.default_rng(seed).choice(len(predictor.cases), size, replace=False)).tolist()
    stamps, shares = list[list[RowStamp]](), list[float]()
    for done, number in enumerate(numbers, start=1):
        edited_case = build_edited_case(predictor, number)
        stamps.append(stamp_rows(edited_case, edited_case.target, seeds=seeds, seed=seed, placebos=placebos))
        shares.append(exact_share(*decompose_scores(edited_case, [edited_case.target, choose_rival(edited_case)])))
        if progress is not None:
            progress(done, size)
    cases = predictor.cases.iloc[numbers]
    base, hr20 = describe_removals(predictor, cases), _hr20(predictor, cases)
    others = {
        "weights of the core": permute_weights(predictor, ["core"], seed),
        "weights of the graph token": permute_weights(predictor, ["graph_token"], seed),
        **({} if permuted_labels is None else {"labels": permuted_labels}),
    }
    if predictor.model.graph_token is None:
        del others["weights of the graph token"]
    return SanityReport(
        n=size,
        placebos=placebos,
        seeds=1 + len(seeds or {}),
        rows=summarise_stamps(stamps),
        permuted=[
            _compare(what, base, describe_removals(other, cases), hr20, _hr20(other, cases))
            for what, other in others.items()
        ],
        exact_share=float(np.median(shares)),
        reliability=measure_reliability(predictor, seed=seed),
        dataset_hash=predictor.dataset.hash,
        checkpoint_hash=predictor.checkpoint.hash,
    )


def summarise_stamps(stamps: Iterable[list[RowStamp]]) -> list[SanityRow]:
    """One line for each row but the opaque ones, over the stamps of several cases."""
    by_row: dict[str, list[RowStamp]] = {}
    for stamp in (stamp for case in stamps for stamp in case):
        by_row.setdefault(stamp.row, []).append(stamp)
    summary = []
    for row in STAMPED_ROWS:
        if row in OPAQUE_ROWS or row not in by_row:
            continue
        told = [stamp for stamp in by_row[row] if stamp.verdict != "no_points"]
        measured = [stamp for stamp in told if stamp.seeds is not None]
        summary.append(
            SanityRow(
                row=row,
                label=ROW_LABELS[row],
                n=len(told),
                same_sign=_share([stamp.seeds_same == stamp.seeds for stamp in measured]),
                better_than_placebo=_share([stamp.placebo is not None and stamp.placebo.is_better for stamp in told]),
                one_person=_share([stamp.people == 1 for stamp in told]),
                holds=_share([stamp.verdict == "holds" for stamp in measured]),
            )
        )
    return summary


def permute_weights(predictor: Predictor, modules: list[str], seed: int = 0) -> Predictor:
    """The same model with the entries of every weight of some modules in a random order, tensor by tensor."""
    model = Recap.for_dataset(predictor.model.config, predictor.dataset, predictor.graph, torch.float64)
    model.load_state_dict(predictor.model.state_dict())
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if name.split(".")[0] in modules:
                order = torch.randperm(parameter.numel(), generator=generator)
                parameter.copy_(parameter.flatten()[order].view_as(parameter))
    return Predictor(predictor.checkpoint, predictor.dataset, model)


def describe_sanity(report: SanityReport) -> list[str]:
    """What the report shows, in sentences; a low result is told like a high one."""
    seeds = f"{report.seeds} seeds" if report.seeds > 1 else "seeds not measured"
    lines = [
        f"Over {report.n} test cases, {report.placebos} placebos each, {seeds}. "
        f"Exact addends are {percent(report.exact_share)} of the margin (median), the rest is opaque network."
    ]
    for permuted in report.permuted:
        moved = [row for row, value in permuted.agreement.items() if value is not None and value < 1 - 1e-9]
        told = ", ".join(f"{ROW_LABELS[row].lower()} {permuted.agreement[row]:.2f}" for row in moved)
        lines.append(
            f"With {permuted.what} permuted HR@20 goes from {permuted.hr20:.3f} to {permuted.hr20_permuted:.3f}; "
            + (f"rank correlation of points before and after: {told}." if told else "no row changes.")
        )
    return [*lines, describe_reliability(report.reliability)]


def describe_reliability(reliability: Reliability) -> str:
    """Whether the model's share may be read as a probability, in words with numbers."""
    return (
        f"The model's share for its first place misses how often that place is right by {reliability.ece:.3f} "
        f"(expected calibration error, {NUM_BINS} bins, n = {reliability.n:,}). Divided by a temperature of "
        f"{reliability.temperature:.2f} (the smallest log loss of the true place on validation cases) it misses by "
        f"{reliability.ece_fitted:.3f}. Pages show the "
        "share as it is and call it the model's share, not a probability."
    )


def _hr20(predictor: Predictor, cases: pd.DataFrame) -> float:
    with one_thread():
        ranked = rank_cases(predictor.scorer, cases, predictor.checkins, batch_size=CASES_PER_BATCH)
    return float(metric_values(ranked, "hr20").mean())


def _compare(what: str, base: pd.DataFrame, other: pd.DataFrame, hr20: float, hr20_permuted: float) -> Permuted:
    rows = [row for row in STAMPED_ROWS if base[f"points_{row}"].notna().any()]
    return Permuted(
        what=what,
        hr20=hr20,
        hr20_permuted=hr20_permuted,
        agreement={row: _correlation(base[f"points_{row}"], other[f"points_{row}"]) for row in rows},
    )


def _correlation(one: pd.Series, other: pd.Series) -> float | None:
    if one.nunique() < 2 or other.nunique() < 2:
        return None
    return float(spearmanr(one, other).statistic)


def _share(flags: list[bool]) -> float | None:
    return float(np.mean(flags)) if flags else None
