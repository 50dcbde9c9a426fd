"""Ablations of all cases: which groups find and miss them, and how much accuracy each is worth.

"Found by X" means found at K with X, and lost without it.
"""

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

import numpy as np
import pandas as pd

from analysis.records.ablations import ABLATION_LABELS, ABLATIONS, TWO_HOPS, describe_ablations
from analysis.records.accuracy import is_hit
from analysis.records.bootstrap import UserBootstrap, interval
from analysis.records.table_cache import TableKey
from recap import columns as c
from recap.errors import ConfigError
from recap.evaluation.metrics import hit_rate, reciprocal_rank

if TYPE_CHECKING:
    from recap.asking.predictor import Predictor

KIND: Final = "ablations-and-ties"
Among = Literal["all", "known", "new"]
"""Which places a case is ranked among: all, or those of the truth's kind, known to the user or new."""
_SEPARATE: Final = (
    "history",
    TWO_HOPS,
    "transitions_from_here",
    "popularity_and_distance",
    "core",
    "correction",
)
"""Ablations of which none contains another."""


def ablations_key(dataset_hash: str, checkpoint_hash: str) -> TableKey:
    return TableKey(dataset_hash, checkpoint_hash, c.SPLIT_NAMES[c.TEST], KIND)


def pieces_of(open_predictor: "Callable[[], Predictor]") -> Callable[[int, int], pd.DataFrame]:
    """Ablations of test cases from one number to another; the first call opens the model."""
    opened = cache(open_predictor)
    return lambda start, end: describe_ablations(opened(), opened().cases.iloc[start:end])


def causes_of(table: pd.DataFrame, k: int) -> pd.DataFrame:
    """Which ablations lose each case: found at K, and not without the group; ConfigError for K below 1.

    One bool column for each of `ABLATIONS`; False for a missed case, and for a part that the model does not have.
    """
    hit, without = _at(table, k)
    return without.gt(k).mul(hit, axis=0)


def obstacles_of(table: pd.DataFrame, k: int) -> pd.DataFrame:
    """Which ablations find each case: missed at K, and found without the group; see `causes_of`."""
    hit, without = _at(table, k)
    return without.le(k).mul(~hit, axis=0)


def found_by(table: pd.DataFrame, ablation: str, k: int) -> pd.Series:
    """Cases that are found at K and lost without one group; ConfigError for an unknown ablation."""
    if ablation not in ABLATIONS:
        raise ConfigError(f"unknown ablation {ablation!r}; choose one of {', '.join(ABLATIONS)}")
    return causes_of(table, k)[ablation]


def ablation_worth(table: pd.DataFrame, users_N: np.ndarray, k: int = 20, among: Among = "all") -> pd.DataFrame:
    """Accuracy lost without each group, with 95 % intervals over users.

    Args:
        table: from `Workspace.ablations`.
        users_N: user of each case.
        among: known or new restricts cases and ranked places to that kind.

    Returns:
        One row per ablation that the model has, the largest loss of MRR first: ``ablation, label, n, hr, hr_low,
        hr_high`` (lost hit rate at K) and ``mrr, mrr_low, mrr_high``.
    """
    prefix = ""
    if among != "all":
        is_of_kind_N = table[c.IS_KNOWN].to_numpy(bool) == (among == "known")
        table, users_N, prefix = table[is_of_kind_N], users_N[is_of_kind_N], "kind_"
    names = [name for name in ABLATIONS if _is_there(table, name)]
    draws, everyone_N = UserBootstrap(users_N), np.zeros(len(table), dtype=np.int64)
    whole = _accuracies(table, f"{prefix}{c.RANK}", k)
    rows = []
    for name in names:
        row: dict[str, object] = {"ablation": name, "label": ABLATION_LABELS[name], "n": len(table)}
        without = _accuracies(table, f"{prefix}without_{name}", k)
        for metric in ("hr", "mrr"):
            loss_N = whole[metric] - without[metric]
            low, high = interval(draws.means(loss_N, everyone_N, 1))
            row |= {metric: float(loss_N.mean()), f"{metric}_low": float(low[0]), f"{metric}_high": float(high[0])}
        rows.append(row)
    columns = ["ablation", "label", "n", *(f"{m}{end}" for m in ("hr", "mrr") for end in ("", "_low", "_high"))]
    return pd.DataFrame(rows, columns=columns).sort_values("mrr", ascending=False, ignore_index=True)


def worth_by_kind(table: pd.DataFrame, users_N: np.ndarray, k: int = 20) -> pd.DataFrame:
    """`ablation_worth` among all, known and new places, with a column ``among``."""
    kinds: tuple[Among, ...] = ("all", "known", "new")
    return pd.concat(
        [ablation_worth(table, users_N, k, among).assign(among=among) for among in kinds], ignore_index=True
    )


def deciding_part(worth: pd.DataFrame, among: Among) -> str | None:
    """The ablation in `_SEPARATE` that loses most MRR in `worth_by_kind`; None if none is significant."""
    certain = worth[(worth["among"] == among) & worth["ablation"].isin(_SEPARATE) & (worth["mrr_low"] > 0)]
    return None if certain.empty else str(certain.sort_values("mrr")["ablation"].iloc[-1])


class LostHits(NamedTuple):
    """Hits of a model within K, and how many of them each of its ablations loses; these overlap."""

    k: int
    found: int
    lost: dict[str, int]


def count_lost_hits(table: pd.DataFrame, k: int = 20) -> LostHits:
    causes = causes_of(table, k)
    lost = {name: int(causes[name].sum()) for name in ABLATIONS if _is_there(table, name)}
    return LostHits(k, int(is_hit(table, k).sum()), lost)


def _accuracies(table: pd.DataFrame, ranks: str, k: int) -> dict[str, np.ndarray]:
    """Hit rate at K and reciprocal rank of each case, ties exact as in `recap.evaluation`, from a column of ranks."""
    tied = table[c.NUM_TIED if ranks == c.RANK else f"tied_{ranks}"].to_numpy(np.float64)
    better = table[ranks].to_numpy(np.float64) - (tied + 1) / 2
    return {"hr": hit_rate(better, tied, k), "mrr": reciprocal_rank(better, tied)}


def _is_there(table: pd.DataFrame, name: str) -> bool:
    return bool(table[f"without_{name}"].notna().any())


def _at(table: pd.DataFrame, k: int) -> tuple[pd.Series, pd.DataFrame]:
    if k < 1:
        raise ConfigError(f"K must be at least 1, got {k}")
    without = table[[f"without_{name}" for name in ABLATIONS]].set_axis(list(ABLATIONS), axis=1)
    return pd.Series(is_hit(table, k), index=table.index), without
