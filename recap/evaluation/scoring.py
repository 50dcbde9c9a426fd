"""Rank any cases with any scorer, and evaluate one over a split's cases."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from recap import columns as c
from recap.data.cases import Protocol
from recap.data.dataset import Dataset
from recap.evaluation.cases import describe_cases
from recap.evaluation.metrics import MetricsByGroup, metrics_by_group, reciprocal_rank, summarise_probabilities
from recap.evaluation.ranks import Ranks, check_scores, mean_rank, rank_targets, top_pois
from recap.history.graph import TransitionGraph
from recap.history.tensors import CaseBatch, CheckinTensors
from recap.probabilities import Temperature, log_probabilities
from recap.scores import Scorer, Scores

LIST_LENGTH: Final = 20
_MOST_SCORES: Final = 1 << 24
"""Most cases times places that are scored at a time, so that memory does not grow with places."""
_MOST_CHECKINS: Final = 1 << 20
"""Most past check-ins of the cases that are scored at a time; a user may have tens of thousands."""
_SCORES_AT_ONCE: Final = 1 << 18
_LEFT_OUT: Final = 0.1
"""Probability outside the list that holds 90 %."""


def score_cases(
    scorer: Scorer, cases: pd.DataFrame, checkins: CheckinTensors, *, temperature: Temperature | None = None
) -> pd.DataFrame:
    """Rank the target of every case and keep its scores. ``temperature``: see `evaluate`.

    Returns:
        What `rank_cases` returns (both ranks are expectations over tied orders) plus ``score`` (the target's total),
        ``part_<name>`` of the target, ``top_pois`` and ``top_scores`` (20 each) and, with a temperature,
        ``first_probability``, ``log_likelihood`` and ``list_90``.
    """

    def kept(batch: CaseBatch, scores: Scores) -> dict[str, Tensor]:
        poi_BK, value_BK = top_pois(scores, LIST_LENGTH)
        target_B = batch.target_B
        parts = {c.part_column(name): part_B for name, part_B in scores.parts_at(target_B).items()}
        values = {c.SCORE: scores.total.gather(1, target_B[:, None])[:, 0], **parts}
        values |= {c.TOP_POIS: poi_BK, c.TOP_SCORES: value_BK}
        return values | ({} if temperature is None else _probabilities(scores.total, target_B, temperature))

    return rank_cases(scorer, cases, checkins, kept)


def rank_cases(
    scorer: Scorer,
    cases: pd.DataFrame,
    checkins: CheckinTensors,
    columns_of: Callable[[CaseBatch, Scores], dict[str, Tensor]] = lambda batch, scores: {},
) -> pd.DataFrame:
    """Rank the target of every case: ``cases`` plus ``num_better, num_tied, rank, reciprocal_rank`` and the columns of
    each batch. ``checkins``: the dataset's tensors, on the scorer's device. Raises ScoreError: the scorer returned NaN.
    """
    kept: dict[str, np.ndarray] = {}
    start = 0
    for batch, scores, ranks in scored_batches(scorer, cases, checkins):
        values = {c.NUM_BETTER: ranks.num_better_B, c.NUM_TIED: ranks.num_tied_B, **columns_of(batch, scores)}
        del scores  # free them before the next batch
        for name, value in values.items():
            piece = value.cpu().numpy()
            if start == 0:
                # Allocate for all cases at once: small tensors kept between the large ones of every batch would
                # fragment memory (2.9 GB instead of 0.6 for Tokyo).
                kept[name] = np.empty((len(cases), *piece.shape[1:]), dtype=piece.dtype)
            kept[name][start : start + len(batch)] = piece
        start += len(batch)
        del values
    empty = np.zeros(0, dtype=np.int64)
    num_better, num_tied = kept.pop(c.NUM_BETTER, empty), kept.pop(c.NUM_TIED, empty)
    ranked = cases.assign(
        **{
            c.NUM_BETTER: num_better,
            c.NUM_TIED: num_tied,
            c.RANK: mean_rank(num_better, num_tied),
            c.RECIPROCAL_RANK: reciprocal_rank(num_better, num_tied),
        }
    )
    for name, values_N in kept.items():
        ranked[name] = values_N if values_N.ndim == 1 else list(values_N)
    return ranked


def scored_batches(
    scorer: Scorer, cases: pd.DataFrame, checkins: CheckinTensors
) -> Iterator[tuple[CaseBatch, Scores, Ranks]]:
    """Score cases batch by batch, in bounded memory; delete each batch's scores before the next. Raises ScoreError: the
    scorer returned NaN.
    """
    rows = torch.tensor(cases[c.ROW].to_numpy(np.int64), device=checkins.device)
    num_pois = int(checkins.poi_T.max()) + 1 if len(checkins.poi_T) else 1
    for row_B in bounded_batches(rows, checkins, histories_per_pass(num_pois)):
        batch = CaseBatch(checkins, row_B)
        scores = scorer.score(batch.histories(target_time=scorer.reads_target_time))
        check_scores(scores.total, scorer.name)
        yield batch, scores, rank_targets(scores.total, batch.target_B, scores.tie_break_P)
        del scores


def bounded_batches(row_N: Tensor, checkins: CheckinTensors, most: int = 512) -> Iterator[Tensor]:
    """Batches of at most this many cases, fewer where their pasts together have more than `_MOST_CHECKINS`."""
    for row_B in row_N.split(most):
        past_B = torch.cumsum(row_B - checkins.first_T[row_B] + 1, 0)
        size_B = torch.unique_consecutive((past_B - 1) // _MOST_CHECKINS, return_counts=True)[1]
        yield from row_B.split(size_B.tolist())


def histories_per_pass(num_pois: int, most: int = 512) -> int:
    """How many histories are scored at a time.

    >>> histories_per_pass(5_000), histories_per_pass(1_000_000)
    (512, 16)
    """
    return max(1, min(most, _MOST_SCORES // num_pois))


def _probabilities(total_BP: Tensor, target_B: Tensor, temperature: Temperature) -> dict[str, Tensor]:
    """The columns of probabilities, a few cases at a time: the copies stay in the processor's cache."""
    rows = max(1, _SCORES_AT_ONCE // total_BP.shape[1])
    pieces = []
    for some_BP, some_B in zip(total_BP.split(rows), target_B.split(rows), strict=True):
        log_BP = log_probabilities(some_BP, temperature)
        first_B, own_B = log_BP.amax(1).exp(), log_BP.gather(1, some_B[:, None])[:, 0]
        pieces.append((first_B, own_B, _list_length(log_BP.exp_())))
    columns = (torch.cat(column) for column in zip(*pieces, strict=True))
    return dict(zip((c.FIRST_PROBABILITY, c.LOG_LIKELIHOOD, c.LIST_90), columns, strict=True))


def _list_length(probability_BP: Tensor) -> Tensor:
    """Length of the shortest list that holds 90 % of the probability, int64 (B,)."""
    if probability_BP.device.type == "cpu":  # NumPy sorts in a fifth of torch's time
        probability_BP = torch.from_numpy(np.sort(probability_BP.numpy(), axis=1))
    else:
        probability_BP = probability_BP.sort(1).values
    left_out_B = (probability_BP.cumsum(1) <= _LEFT_OUT).sum(1)
    return probability_BP.shape[1] - left_out_B


@dataclass(frozen=True, eq=False)
class Evaluation:
    """Records of one scorer and their metrics. ``probabilities``: see `summarise_probabilities`, None for a model
    without them; ``seconds``: wall time; ``drawn_from``: of how many cases the records are a sample, None for all.
    """

    model: str
    protocol: Protocol
    dataset_hash: str
    records: pd.DataFrame
    metrics: MetricsByGroup
    seconds: float
    probabilities: dict[str, Any] | None = None
    drawn_from: int | None = None

    def summary(self) -> dict[str, Any]:
        """The numbers, ready for JSON; ``drawn_from`` only for a sample."""
        drawn = {} if self.drawn_from is None else {"drawn_from": self.drawn_from}
        facts = {name: getattr(self, name) for name in ("protocol", "model", "dataset_hash", "seconds")}
        return {**facts, **self.metrics, "probabilities": self.probabilities, **drawn}


def evaluate(
    scorer: Scorer,
    dataset: Dataset,
    graph: TransitionGraph,
    *,
    split: int = c.TEST,
    protocol: Protocol = "every_step",
    checkins: CheckinTensors | None = None,
    most: int | None = None,
    temperature: Temperature | None = None,
) -> Evaluation:
    """Score the cases of a split and compute metrics. Raises ScoreError: the scorer returned NaN.

    Args:
        most: rank a sample of this many cases (`draw_cases`); None ranks all.
        checkins: the dataset's tensors on the scorer's device; None makes them on the CPU.
        temperature: turns scores into probabilities; None for a model without them.
    """
    started = time.perf_counter()
    cases = describe_cases(dataset, graph, split, protocol, most=most)
    num_cases = len(dataset.cases(split, protocol))
    checkins = CheckinTensors.from_dataset(dataset) if checkins is None else checkins
    records = score_cases(scorer, cases, checkins, temperature=temperature)
    return Evaluation(
        model=scorer.name,
        protocol=protocol,
        dataset_hash=dataset.hash,
        records=records,
        metrics=metrics_by_group(records),
        seconds=time.perf_counter() - started,
        probabilities=summarise_probabilities(records),
        drawn_from=num_cases if len(cases) < num_cases else None,
    )
