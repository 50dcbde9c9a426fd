"""Compare two models on the same cases: differences by group and bin, intervals, tests, and hits.

Differences are B minus A. Shape suffixes: N cases, U users, G groups.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Final, NamedTuple

import numpy as np
import pandas as pd

from analysis.compare.head_share import HEAD_AND_TAIL, head_weights, is_tail, reweight
from analysis.compare.seeds import SeedSpread, seed_table
from analysis.compare.side import Side, check_same_cases
from analysis.compare.significance import ALPHA, SignFlips, mcnemar
from analysis.records.accuracy import is_lower_bound
from analysis.records.bootstrap import UserBootstrap, group_means, interval
from analysis.records.case_groups import STEP_BINS, bin_of_cases, count_bins
from recap import columns as c

DEFAULT_K: Final = 20
GROUP_LABELS: Final = {
    "all": "All cases",
    "tail": "Rare: seen at most once",
    "never": "never",
    "once": "once",
    "head": "Frequent: seen twice or more",
}


class _Partition(NamedTuple):
    """Disjoint groups: the group of each case (-1 for none), and the number of groups."""

    group_N: np.ndarray
    size: int


class PairedCases:
    """The cases of two scorers, with bootstrap samples that all comparisons share.

    With ``weighted``, frequent and rare cases count over all cases as in the paper, see `head_weights`.
    """

    def __init__(self, cases: pd.DataFrame, *, weighted: bool = False) -> None:
        self.cases, self.weighted = cases, weighted
        self.bootstrap = UserBootstrap(cases[c.USER].to_numpy())
        self.flips = SignFlips(self.bootstrap.num_users)
        seen_N, tail_N = cases[c.TRANSITION_COUNT].to_numpy(np.int64), is_tail(cases)
        self.weights = {
            "all": head_weights(tail_N) if weighted else np.ones(len(cases)),
            "tail": tail_N,
            "never": seen_N == 0,
            "once": seen_N == 1,
            "head": 1 - tail_N,
        }
        self.partitions = (
            _Partition(np.zeros(len(cases), dtype=np.int64), 1),
            _Partition(tail_N, 2),
            _Partition(bin_of_cases(cases, c.TRANSITION_COUNT), len(STEP_BINS)),
        )

    def compare(self, a: Side, b: Side, metric: str, k: int, spread: SeedSpread | None) -> list[pd.DataFrame]:
        """One table for each partition (all; head and tail; bins), with the columns of `Comparison.rows`."""
        a_N, b_N = (side.values(metric) for side in (a, b))
        found_N = 2 * a.hits(k).astype(np.int64) + b.hits(k)
        sums = [self._user_sums(b_N - a_N, partition) for partition in self.partitions]
        p, exact = self.flips.p_values(np.concatenate(sums, axis=1))
        tables, start = [], 0
        for partition in self.partitions:
            part = slice(start, start + partition.size)
            table = self._table(partition, a_N, b_N, found_N).assign(sign_flip_p=p[part], sign_flip_exact=exact[part])
            inside = [partition.group_N == group for group in range(partition.size)]
            tables.append(table.assign(band=[np.nan if spread is None else spread.band(mask) for mask in inside]))
            start += partition.size
        if self.weighted:
            tables[0] = tables[0].assign(**self._weighted(tables[1], b_N - a_N, spread))
        return [_with_verdict(table, metric) for table in tables]

    def _weighted(self, halves: pd.DataFrame, difference_N: np.ndarray, spread: SeedSpread | None) -> dict[str, float]:
        """What differs in the row of all cases; McNemar's test has no weights."""
        every, half = self.partitions[:2]
        a, b = (float(halves[side].to_numpy() @ HEAD_AND_TAIL) for side in ("a", "b"))
        _, low, high = reweight(difference_N, half.group_N, self.bootstrap)
        weight_N = self.weights["all"]
        p, exact = self.flips.p_values(self._user_sums(weight_N * difference_N, every))
        row = {"a": a, "b": b, "difference": b - a, "low": low, "high": high, "mcnemar_p": np.nan}
        band = np.nan if spread is None else spread.band(weight_N)
        return row | {"sign_flip_p": p[0], "sign_flip_exact": exact[0], "band": band}

    def _user_sums(self, difference_N: np.ndarray, partition: _Partition) -> np.ndarray:
        kept = partition.group_N >= 0
        cell_N = self.bootstrap.user_N[kept] * partition.size + partition.group_N[kept]
        size = self.bootstrap.num_users * partition.size
        return np.bincount(cell_N, weights=difference_N[kept], minlength=size).reshape(-1, partition.size)

    def _table(self, partition: _Partition, a_N: np.ndarray, b_N: np.ndarray, found_N: np.ndarray) -> pd.DataFrame:
        group_N, size = partition
        count, mean_a = group_means(a_N, group_N, size)
        _, mean_b = group_means(b_N, group_N, size)
        low, high = interval(self.bootstrap.means(b_N - a_N, group_N, size))
        kept = group_N >= 0
        cells = np.bincount(4 * group_N[kept] + found_N[kept], minlength=4 * size).reshape(size, 4)
        columns = {"n": count, "a": mean_a, "b": mean_b, "difference": mean_b - mean_a, "low": low, "high": high}
        columns |= dict(zip(("both", "only_a", "only_b", "neither"), cells[:, ::-1].T, strict=True))
        return pd.DataFrame(columns | {"mcnemar_p": [mcnemar(*row) for row in cells[:, [2, 1]].tolist()]})


@dataclass(frozen=True, eq=False)
class Comparison:
    """The difference between B and A.

    Attributes:
        k: a case counts as found within K.
        rows: one row for each of `GROUP_LABELS`: ``group, n, a, b, difference`` (b minus a), ``low, high`` (95 %
            interval over users), ``both, only_a, only_b, neither`` (cases found within K), ``mcnemar_p, sign_flip_p,
            sign_flip_exact``, ``band`` (how far two seeds of one model differ; NaN where not measured), ``p`` (the
            larger of the two) and ``verdict``: ``b``, ``a`` or ``close``.
        bins: the same for each count of the transition, with ``bin, low_count, high_count``.
        seeds: from `analysis.compare.seeds.seed_table`; None where neither side has two seeds.
        weighted: whether frequent and rare cases count in the row ``all`` as in the paper.
        at_least: the sides (a, b) whose MRR is a lower bound, since their imported lists are short.
        unmeasured_seeds: labels of trained sides with a single seed.
    """

    a: str
    b: str
    metric: str
    k: int
    users: int
    rows: pd.DataFrame
    bins: pd.DataFrame
    seeds: pd.DataFrame | None
    at_least: tuple[str, ...]
    unmeasured_seeds: tuple[str, ...]
    weighted: bool = False
    html_body: ClassVar[Callable[["Comparison"], str] | None] = None
    """Renders a notebook's output; set when the report is imported."""

    def _repr_html_(self) -> str | None:
        render = type(self).html_body
        return None if render is None else render(self)

    def row(self, group: str) -> pd.Series:
        return self.rows[self.rows["group"] == group].iloc[0]

    @property
    def n(self) -> int:
        return int(self.row("all")["n"])


def compare(paired: PairedCases, a: Side, b: Side, metric: str, k: int | None = None) -> Comparison:
    """Compare two sides on the same cases.

    Args:
        k: a case counts as found within K; by default the metric's own K, 20 for MRR.
    """
    check_same_cases(paired.cases, a.cases, b.cases)
    k = k or found_within(metric)
    spread = SeedSpread(a, b, metric) if a.replicates or b.replicates else None
    every, halves, by_bin = paired.compare(a, b, metric, k, spread)
    groups = {"all": every.iloc[0], "tail": halves.iloc[1], "never": by_bin.iloc[0], "once": by_bin.iloc[1]}
    groups |= {"head": halves.iloc[0]}
    rows = pd.DataFrame(list(groups.values()), columns=every.columns).astype(every.dtypes).reset_index(drop=True)
    rows.insert(0, "group", list(groups))
    names = count_bins(c.TRANSITION_COUNT).rename(columns={"low": "low_count", "high": "high_count"})
    return Comparison(
        a=a.label,
        b=b.label,
        metric=metric,
        k=k,
        users=paired.bootstrap.num_users,
        rows=rows,
        bins=pd.concat([names, by_bin], axis=1),
        seeds=None if spread is None else seed_table(spread, paired.weights),
        at_least=tuple(name for name, side in (("a", a), ("b", b)) if is_lower_bound(side.cases, metric)),
        unmeasured_seeds=tuple(side.label for side in (a, b) if side.trained and not side.replicates),
        weighted=paired.weighted,
    )


def found_within(metric: str) -> int:
    """The K of a metric.

    >>> found_within("hr5"), found_within("mrr")
    (5, 20)
    """
    return int(metric.removeprefix("hr")) if metric.startswith("hr") else DEFAULT_K


def _with_verdict(table: pd.DataFrame, metric: str) -> pd.DataFrame:
    """Add who is better: by the interval, the larger p, and the difference of two seeds.

    McNemar's test applies to HR only.
    """
    p = table[["mcnemar_p", "sign_flip_p"]].max(axis=1) if metric.startswith("hr") else table["sign_flip_p"]
    beyond = table["band"].isna() | (table["difference"].abs() > table["band"])
    clear = (table["n"] > 0) & (p < ALPHA) & beyond
    better = np.where(clear & (table["low"] > 0), "b", np.where(clear & (table["high"] < 0), "a", "close"))
    known = table["n"] > 0
    return table.assign(sign_flip_p=table["sign_flip_p"].where(known), p=p.where(known), verdict=better)
