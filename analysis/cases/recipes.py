"""Recipes: named searches over all test cases, each with its count; the same input gives the same cases.

A recipe that speaks of what found a case rests on ablations (`analysis.records.causes`): found at K with a source, lost
without it for all places. Without ablations it names what coincides and says so.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final, Literal, get_args

import numpy as np
import pandas as pd

from analysis.cases.diversity import diverse_order
from analysis.records.accuracy import is_hit
from analysis.records.causes import causes_of, obstacles_of
from analysis.records.popular_places import popular_bar
from recap import columns as c
from recap.errors import ConfigError

RecipeName = Literal["popular", "own_visits", "two_hops", "both", "wrong", "flipped", "nothing"]
RECIPES: Final[tuple[RecipeName, ...]] = get_args(RecipeName)
CONFIDENT_SHARE: Final = 0.5
"""Confident: of the shares of all listed places the first one holds at least this much."""

LABELS: Final[dict[RecipeName, str]] = {
    "popular": "Popular place, never-seen step",
    "own_visits": "Lost without own visits",
    "two_hops": "Lost without two-hop paths",
    "both": "Needs visits and paths",
    "wrong": "Confidently wrong",
    "flipped": "Flipped between models",
    "nothing": "Nothing here finds it",
}
COINCIDENCE_LABELS: Final[dict[RecipeName, str]] = {
    "own_visits": "Coincides: own visits only",
    "two_hops": "Coincides: two-hop paths only",
    "both": "Coincides: visits and paths",
}
"""What three recipes are called where no removal says what found the case."""


@dataclass(frozen=True, eq=False)
class RecipeTables:
    """What recipes search; every table has one row per test case, in the same order.

    Attributes:
        records: the model's.
        train_checkins: check-ins of every place in training, from the POI table.
        others: records of other rankers by what they are called; the first is the one that cases flip against.
        ablations: the model's, from `analysis.records.causes.case_ablations`; None where there are none.
        probabilistic: whether a softmax of the model's scores means a share.
        k: found means a rank of at most K.
    """

    records: pd.DataFrame
    train_checkins: np.ndarray
    others: Mapping[str, pd.DataFrame] = field(default_factory=dict)
    ablations: pd.DataFrame | None = None
    probabilistic: bool = True
    k: int = 20

    def __post_init__(self) -> None:
        if self.k < 1:
            raise ConfigError(f"K must be at least 1, got {self.k}")
        for name, table in {**self.others, "ablations": self.ablations}.items():
            if table is not None and len(table) != len(self.records):
                raise ConfigError(f"{name}: {len(table):,} rows for {len(self.records):,} cases")

    @property
    def baseline(self) -> str | None:
        """The ranker that cases flip against."""
        return next(iter(self.others), None)


@dataclass(frozen=True, eq=False)
class FoundCases:
    """What a recipe found.

    Attributes:
        recipe: its name.
        label: what people read; it says "coincides" where nothing was removed.
        meaning: what exactly was searched, in one sentence.
        cases: case numbers, best first; no user and no place comes twice among the first ones unless unavoidable.
        of: test cases in all.
        absent: why there is none, in one sentence; empty where there are some.
    """

    recipe: RecipeName
    label: str
    meaning: str
    cases: np.ndarray
    of: int
    absent: str

    @property
    def count(self) -> int:
        """How many cases it found."""
        return len(self.cases)

    def holds(self, case: int) -> bool:
        """Whether it found this case."""
        return case in self._numbers

    @cached_property
    def _numbers(self) -> frozenset[int]:
        return frozenset(self.cases.tolist())


def find_all(tables: RecipeTables, *, first: int = 12) -> dict[RecipeName, FoundCases]:
    """Every recipe in the order of `RECIPES`, see `find`."""
    return {recipe: find(tables, recipe, first=first) for recipe in RECIPES}


def find(tables: RecipeTables, recipe: str, *, first: int = 12) -> FoundCases:
    """The cases of one recipe, the telling ones first.

    Args:
        first: among so many, no user and no place comes twice unless it cannot be avoided.

    Raises:
        ConfigError: an unknown recipe.
    """
    if recipe not in RECIPES:
        raise ConfigError(f"unknown recipe {recipe!r}; choose one of {', '.join(RECIPES)}")
    name: RecipeName = RECIPES[RECIPES.index(recipe)]
    records = tables.records
    mask, order, meaning, unavailable = _SEARCHES[name](tables)
    numbers = records[c.CASE].to_numpy(np.int64)
    table = pd.DataFrame({c.ROW: np.arange(len(records)), "order": order, c.CASE: numbers})[mask]
    rows = table.sort_values(["order", c.CASE], kind="stable")[c.ROW].to_numpy()
    user, source, target = (records[column].to_numpy(np.int64)[rows] for column in (c.USER, c.SOURCE, c.TARGET))
    rows = rows[diverse_order(user, source, target, first)]
    is_cause = name in COINCIDENCE_LABELS and tables.ablations is not None
    label = LABELS[name] if is_cause else COINCIDENCE_LABELS.get(name, LABELS[name])
    absent = (
        "" if len(rows) else unavailable or f"None of the {len(records):,} cases: {meaning[0].lower()}{meaning[1:]}"
    )
    return FoundCases(name, label, meaning, numbers[rows], len(records), absent)


Search = tuple[np.ndarray, np.ndarray, str, str]
"""Which cases, what they are ordered by (lowest first), what was searched, and why it cannot be (empty: it can)."""


def _moves(records: pd.DataFrame) -> np.ndarray:
    """Steps that lead from one place to another."""
    return (records[c.SOURCE] != records[c.TARGET]).to_numpy()


def _has_path(records: pd.DataFrame) -> np.ndarray:
    """Cases whose truth is two training steps away: where none is, two hops act through the context alone."""
    return records[c.TWO_STEP_WALK].to_numpy(bool)


def _popular(tables: RecipeTables) -> Search:
    records, visits = tables.records, np.asarray(tables.train_checkins)
    there = visits[records[c.TARGET].to_numpy(np.int64)]
    mask = (there >= popular_bar(visits)) & (records[c.TRANSITION_COUNT] == 0).to_numpy() & _moves(records)
    meaning = "The place is in the most visited tenth of all, and nobody came there from here in training."
    return mask, -there.astype(float), meaning, ""


def _own_visits(tables: RecipeTables) -> Search:
    if tables.ablations is None:
        return _coincides(tables, history=True, hops=False)
    lost = causes_of(tables.ablations, tables.k)
    mask = (lost["history"] & ~lost["two_hops"]).to_numpy()
    meaning = f"Found at {tables.k}, lost without the user's own visits, still found without two hops."
    return mask, -tables.ablations["without_history"].to_numpy(float), meaning, ""


def _two_hops(tables: RecipeTables) -> Search:
    if tables.ablations is None:
        return _coincides(tables, history=False, hops=True)
    lost = causes_of(tables.ablations, tables.k)
    mask = (lost["two_hops"] & ~lost["history"]).to_numpy() & _has_path(tables.records)
    meaning = (
        f"A two-hop path leads there; found at {tables.k}, lost without two hops, still found without the user's own "
        "visits."
    )
    return mask, -tables.ablations["without_two_hops"].to_numpy(float), meaning, ""


def _both(tables: RecipeTables) -> Search:
    if tables.ablations is None:
        return _coincides(tables, history=True, hops=True)
    lost = causes_of(tables.ablations, tables.k)
    mask = (lost["two_hops"] & lost["history"]).to_numpy() & _has_path(tables.records)
    meaning = (
        f"A two-hop path leads there; found at {tables.k}, lost without the user's own visits, and lost without two "
        "hops."
    )
    worst = tables.ablations[["without_history", "without_two_hops"]].min(axis=1)
    return mask, -worst.to_numpy(float), meaning, ""


def _coincides(tables: RecipeTables, *, history: bool, hops: bool) -> Search:
    records = tables.records
    visited, near = records[c.IN_HISTORY].to_numpy(bool), records[c.WITHIN_TWO_HOPS].to_numpy(bool)
    mask = is_hit(records, tables.k) & (visited == history) & (near == hops) & _moves(records)
    meaning = (
        f"Found at {tables.k}, {'visited before' if history else 'never visited'}, "
        f"{'within' if hops else 'beyond'} two hops; nothing was removed, so what found it is not known."
    )
    unseen = (records[c.TRANSITION_COUNT] > 0).to_numpy(float)
    return mask, unseen * 1e9 + records[c.RANK].to_numpy(float), meaning, ""


def listed_share(records: pd.DataFrame) -> np.ndarray:
    """Of each case, the first place's part of the shares that all listed places hold together; NaN without a list.

    >>> listed_share(pd.DataFrame({"top_scores": [[np.log(3.0), 0.0]]})).round(2).tolist()
    [0.75]
    """
    if records.empty or c.TOP_SCORES not in records:
        return np.full(len(records), np.nan)
    scores = np.stack([np.asarray(row, dtype=np.float64) for row in records[c.TOP_SCORES]])
    return 1 / np.exp(scores - scores[:, :1]).sum(axis=1)


def _wrong(tables: RecipeTables) -> Search:
    records = tables.records
    meaning = (
        f"Missed at {tables.k}, while the first place held at least {CONFIDENT_SHARE:.0%} of what the listed places "
        "hold together."
    ).replace("%", " %")
    if not tables.probabilistic:
        nothing = np.zeros(len(records))
        return nothing.astype(bool), nothing, meaning, "A counter gives no shares, so it cannot be confidently wrong."
    share = listed_share(records)
    mask = ~is_hit(records, tables.k) & (share >= CONFIDENT_SHARE)
    return mask, -share, meaning, ""


def _flipped(tables: RecipeTables) -> Search:
    records, baseline = tables.records, tables.baseline
    if baseline is None:
        nothing = np.zeros(len(records))
        return nothing.astype(bool), nothing, "Found by one of two models.", "There is no second model to compare with."
    mine, theirs = records[c.RANK].to_numpy(float), tables.others[baseline][c.RANK].to_numpy(float)
    mask = (mine <= tables.k) != (theirs <= tables.k)
    meaning = f"Exactly one of this model and {baseline} has the true place among its first {tables.k}."
    return mask, -np.abs(np.log(mine) - np.log(theirs)), meaning, ""


def _nothing(tables: RecipeTables) -> Search:
    records = tables.records
    mask = ~is_hit(records, tables.k) & _moves(records)
    mask &= ~records[c.IN_HISTORY].to_numpy(bool) & ~records[c.WITHIN_TWO_HOPS].to_numpy(bool)
    for other in tables.others.values():
        mask &= ~is_hit(other, tables.k)
    removed = ""
    if tables.ablations is not None:
        mask &= ~obstacles_of(tables.ablations, tables.k).any(axis=1).to_numpy()
        removed = ", nor does this model with any one source taken away"
    rankers = f"none of {len(tables.others) + 1} rankers" if tables.others else "this model does not"
    verb = "has" if tables.others else "have"
    meaning = f"Never visited, beyond two hops; {rankers} {verb} it among the first {tables.k}{removed}."
    rank = records[c.RANK].to_numpy(float)
    middle = np.median(rank[mask]) if mask.any() else 0.0
    return mask, np.abs(rank - middle), meaning, ""  # a middling miss, not the nearest and not the most hopeless


_SEARCHES: Final = {
    "popular": _popular,
    "own_visits": _own_visits,
    "two_hops": _two_hops,
    "both": _both,
    "wrong": _wrong,
    "flipped": _flipped,
    "nothing": _nothing,
}
