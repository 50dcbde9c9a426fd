"""The miss taxonomy: one label for every missed case, from columns that do not depend on K.

A case is missed where the target's rank is above K. The labels, in order of precedence:

- ``no_evidence``: the target is neither in the walker's history nor within two hops of the source.
- ``outvoted_by_core``: by prior and correction alone the target would stand within K; the core score pushes it out.
- ``gate_against``: its correction is negative, and without it the target would stand within K.
- ``clipped``: the clip takes from its prior, and with the prior unclipped the target would stand within K.
- ``near_miss``: the first place lies within 200 m of the target.
- ``same_category``: the first place has the target's category.
- ``other``.

The second to fourth ask one what-if each, about the target's own score, with all other places as they are.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Final, Literal, get_args

import numpy as np
import pandas as pd
import torch

from analysis.records.case_selection import CaseSelection
from analysis.records.table_cache import TableKey, kept_table
from recap import columns as c
from recap.errors import ConfigError
from recap.evaluation.ranks import rank_totals
from recap.geodesy import distance_km
from recap.predictor import Predictor

Miss = Literal["no_evidence", "outvoted_by_core", "gate_against", "clipped", "near_miss", "same_category", "other"]
MISSES: Final = get_args(Miss)
NEAR_METRES: Final = 200.0
HIT: Final = "hit"
STEP_BINS: Final = {
    "Step never seen": CaseSelection.of_bin(c.TRANSITION_COUNT, 0, 0),
    "Once": CaseSelection.of_bin(c.TRANSITION_COUNT, 1, 1),
    "More often": CaseSelection.of_bin(c.TRANSITION_COUNT, 2, -1),
}
"""How often the missed step occurred in training."""
_BATCH: Final = 256


def describe_misses(predictor: Predictor, cases: pd.DataFrame) -> pd.DataFrame:
    """What the labels need to know of each case, by one forward pass over all of them.

    Args:
        cases: rows of `Predictor.cases_of`, or records of this checkpoint.

    Returns:
        ``case, rank, first`` (the first place), ``has_evidence``, ``rank_by_evidence`` (prior and correction alone,
        mean over ties; NaN while the prior is inactive), ``rank_without_correction`` (NaN unless the target's
        correction is negative), ``rank_unclipped`` (NaN unless the clip takes from the target's prior),
        ``first_distance_m``, ``first_same_category``.
    """
    frames = [_describe(predictor, cases.iloc[at : at + _BATCH]) for at in range(0, len(cases), _BATCH)]
    columns = [c.CASE, c.RANK, "first", "has_evidence", "rank_by_evidence", "rank_without_correction"]
    columns += ["rank_unclipped", "first_distance_m", "first_same_category"]
    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame(columns=pd.Index(columns))


def misses_key(dataset_hash: str, checkpoint_hash: str) -> TableKey:
    """What names the table of a checkpoint's misses."""
    return TableKey(dataset_hash, checkpoint_hash, c.SPLIT_NAMES[c.TEST], "misses")


def miss_table(
    dataset_hash: str,
    checkpoint_hash: str,
    open_predictor: Callable[[], Predictor],
    *,
    rows: int,
    keep: bool = True,
    bundle: Path | None = None,
) -> pd.DataFrame:
    """`describe_misses` of all test cases: read from the bundle or the user's cache, or made once and kept there.

    Args:
        open_predictor: called only when the table is not there yet.
        rows: test cases.
        keep: whether to write a new one to the cache.
        bundle: the dataset's bundle, which may have come with it.
    """

    def make() -> pd.DataFrame:
        predictor = open_predictor()
        return describe_misses(predictor, predictor.cases)

    return kept_table(misses_key(dataset_hash, checkpoint_hash), make, rows=rows, keep=keep, bundle=bundle)


def label_misses(described: pd.DataFrame, k: int = 20) -> pd.Series:
    """One label per case for a chosen K: `HIT`, or the first miss label that applies.

    Raises:
        ConfigError: K is below 1.
    """
    if k < 1:
        raise ConfigError(f"K must be at least 1, got {k}")
    applies = {
        HIT: described[c.RANK] <= k,
        "no_evidence": ~described["has_evidence"].astype(bool),
        "outvoted_by_core": described["rank_by_evidence"] <= k,
        "gate_against": described["rank_without_correction"] <= k,
        "clipped": described["rank_unclipped"] <= k,
        "near_miss": described["first_distance_m"] <= NEAR_METRES,
        "same_category": described["first_same_category"].astype(bool),
    }
    labels = np.select([mask.to_numpy(dtype=bool) for mask in applies.values()], list(applies), default="other")
    return pd.Series(
        pd.Categorical(labels, categories=[HIT, *MISSES]), index=described.index, name="miss", dtype="category"
    )


def count_misses(labels: pd.Series) -> pd.DataFrame:
    """``label, n, share`` of the missed cases, empty labels included; the counts sum to the misses."""
    counts = labels.value_counts().reindex(MISSES, fill_value=0)
    total = int(counts.sum())
    shares = counts / total if total else counts.astype(float)
    return pd.DataFrame({"label": list(MISSES), "n": counts.to_numpy(np.int64), "share": shares.to_numpy(np.float64)})


def misses_by_step(labels: pd.Series, cases: pd.DataFrame) -> pd.DataFrame:
    """How the misses of each label spread over the bins of `STEP_BINS`: one row per label, one column per bin.

    Args:
        cases: the case table, aligned with the labels.
    """
    masks = {name: selection.mask(cases) for name, selection in STEP_BINS.items()}
    rows = {label: [int(((labels == label).to_numpy() & mask).sum()) for mask in masks.values()] for label in MISSES}
    return pd.DataFrame.from_dict(rows, orient="index", columns=list(masks))


def _describe(predictor: Predictor, cases: pd.DataFrame) -> pd.DataFrame:
    target = torch.tensor(cases[c.TARGET].to_numpy(np.int64))
    batch = predictor.batch(cases[c.ROW].tolist())
    scores = predictor.score(batch)
    state_BD, _ = predictor.core_scores(batch)
    revisit = predictor.revisit_parts(batch, state_BD)
    rank = _ranks(scores.total, target)
    first = scores.total.argmax(1).numpy()
    missing = np.full(len(cases), np.nan)
    by_evidence, ungated, unclipped = missing, missing.copy(), missing.copy()
    if revisit is not None:
        by_evidence = _ranks(scores.prior + scores.correction, target)
        own = revisit.candidates.poi_C == target[revisit.candidates.case_C]
        clip_loss = torch.zeros(len(cases), dtype=torch.float64)
        clip_loss[revisit.candidates.case_C[own]] = revisit.terms.clip_loss_C[own].double()
        gain = torch.ones_like(clip_loss)
        if revisit.gate_C is not None and predictor.model.calibration is not None:
            gain[revisit.candidates.case_C[own]] += predictor.model.calibration.scale * revisit.gate_C[own]
        correction = scores.parts_at(target)["correction"]
        ungated = np.where(correction < 0, _ranks(_raised(scores.total, target, -correction), target), np.nan)
        lifted = _ranks(_raised(scores.total, target, gain * clip_loss), target)
        unclipped = np.where(clip_loss > 0, lifted, np.nan)
    pois = predictor.dataset.pois
    latitude, longitude = pois[c.LATITUDE].to_numpy(np.float64), pois[c.LONGITUDE].to_numpy(np.float64)
    category = pois[c.CATEGORY_INDEX].to_numpy()
    goal = target.numpy()
    return pd.DataFrame(
        {
            c.CASE: cases[c.CASE].to_numpy(),
            c.RANK: rank,
            "first": first,
            "has_evidence": (cases[c.IN_HISTORY] | cases[c.WITHIN_TWO_HOPS]).to_numpy(bool),
            "rank_by_evidence": by_evidence,
            "rank_without_correction": ungated,
            "rank_unclipped": unclipped,
            "first_distance_m": 1000 * distance_km(latitude[first], longitude[first], latitude[goal], longitude[goal]),
            "first_same_category": category[first] == category[goal],
        }
    )


def _ranks(total_BP: torch.Tensor, target_B: torch.Tensor) -> np.ndarray:
    return rank_totals(total_BP, target_B).mean_B.numpy()


def _raised(total_BP: torch.Tensor, target_B: torch.Tensor, gain_B: torch.Tensor) -> torch.Tensor:
    return total_BP.scatter_add(1, target_B[:, None], gain_B[:, None].to(total_BP.dtype))
