"""Recipes: named searches over all test cases; the same input gives the same cases."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Final

import numpy as np
import pandas as pd

from analysis.cases.diversity import diverse_order
from analysis.cases.words import (
    NO_ABLATIONS,
    NO_SHARES,
    RECIPES,
    RecipeName,
    clear_line,
    recipe_headline,
    recipe_meaning,
)
from analysis.records.ablations import HOPS_ABLATIONS
from analysis.records.accuracy import CLEAR_SHARE, is_hit, listed_share
from analysis.records.case_groups import popular_bar
from analysis.records.causes import found_by
from recap import columns as c
from recap.errors import ConfigError


@dataclass(frozen=True, eq=False)
class RecipeTables:
    """Tables that recipes search, with one row per test case in the same order.

    Attributes:
        train_checkins: check-ins of every place in training.
        others: records of other models by label; cases flip against the first.
        ablations: from `Workspace.ablations`, or None.
        probabilistic: whether a softmax of the model's scores means a probability.
        k: found means a rank of at most K.
    """

    model: str
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
    def models(self) -> list[str]:
        """All models' labels, the explained one first."""
        return [self.model, *self.others]

    @property
    def baseline(self) -> str:
        """The model that cases flip against; empty if there is none."""
        return next(iter(self.others), "")

    def ablation(self, recipe: RecipeName) -> str | None:
        """The ablation of a recipe; None if it was not run, or this model has none of two-hop paths."""
        table = self.ablations
        if table is None or recipe == "past_visits":
            return None if table is None else recipe
        return next((name for name in HOPS_ABLATIONS if table[f"without_{name}"].notna().any()), None)


@dataclass(frozen=True, eq=False)
class FoundCases:
    """The result of a recipe.

    Attributes:
        headline, meaning: the finding, and what was searched, in one sentence each.
        cases: case numbers, best first; the first ones repeat a user or place only if that is unavoidable.
        absent: why the recipe cannot be computed; empty where it can.
    """

    recipe: RecipeName
    headline: str
    meaning: str
    cases: np.ndarray
    absent: str

    @property
    def count(self) -> int:
        return len(self.cases)


def find_all(tables: RecipeTables, *, first: int = 12) -> dict[RecipeName, FoundCases]:
    return {recipe: find(tables, recipe, first=first) for recipe in RECIPES}


def find(tables: RecipeTables, recipe: str, *, first: int = 12) -> FoundCases:
    """Find the cases of one recipe, the most striking first; ConfigError for an unknown recipe.

    The ``first`` ones repeat no user and no place unless that is unavoidable.
    """
    if recipe not in RECIPES:
        raise ConfigError(f"unknown recipe {recipe!r}; choose one of {', '.join(RECIPES)}")
    name: RecipeName = RECIPES[RECIPES.index(recipe)]
    records, absent = tables.records, _absent(tables, name)
    numbers = records[c.CASE].to_numpy(np.int64)
    mask, order = (np.zeros(len(records), dtype=bool), 0.0) if absent else _SEARCHES[name](tables)
    table = pd.DataFrame({c.ROW: np.arange(len(records)), "order": order, c.CASE: numbers})[mask]
    rows = table.sort_values(["order", c.CASE], kind="stable")[c.ROW].to_numpy()
    user, source, target = (records[column].to_numpy(np.int64)[rows] for column in (c.USER, c.SOURCE, c.TARGET))
    rows = rows[diverse_order(user, source, target, first)]
    headline = recipe_headline(name, tables.model, tables.baseline, len(rows), len(records))
    meaning = recipe_meaning(name, tables.models, tables.k)
    if name in ("wrong", "right") and not absent:
        clear = listed_share(records) >= CLEAR_SHARE
        meaning += f" {clear_line(int(is_hit(records[clear], 1).sum()), int(clear.sum()))}" if clear.any() else ""
    return FoundCases(name, headline, meaning, numbers[rows], absent)


def _absent(tables: RecipeTables, recipe: RecipeName) -> str:
    if recipe in ("wrong", "right") and not tables.probabilistic:
        return NO_SHARES
    if recipe in ("past_visits", "two_hop_paths") and tables.ablation(recipe) is None:
        return NO_ABLATIONS
    return ""


Search = tuple[np.ndarray, np.ndarray | float]
"""Which cases match, and what orders them (lowest first)."""


def _wrong(tables: RecipeTables) -> Search:
    share = listed_share(tables.records)
    return ~is_hit(tables.records, tables.k) & (share >= CLEAR_SHARE), -share


def _right(tables: RecipeTables) -> Search:
    share = listed_share(tables.records)
    rarest = tables.records[c.TRANSITION_COUNT].to_numpy(float)
    return is_hit(tables.records, 1) & (share >= CLEAR_SHARE), rarest - share


def _popular(tables: RecipeTables) -> Search:
    records, visits = tables.records, np.asarray(tables.train_checkins)
    there = visits[records[c.TARGET].to_numpy(np.int64)]
    moves = (records[c.SOURCE] != records[c.TARGET]).to_numpy()
    mask = (there >= popular_bar(visits)) & (records[c.TRANSITION_COUNT] == 0).to_numpy() & moves
    return mask, -there.astype(float)


def _lost(tables: RecipeTables, recipe: RecipeName) -> Search:
    ablation = tables.ablation(recipe)
    assert tables.ablations is not None and ablation is not None
    mask = found_by(tables.ablations, ablation, tables.k).to_numpy()
    return mask, -tables.ablations[f"without_{ablation}"].to_numpy(float)


def _flipped(tables: RecipeTables) -> Search:
    if not tables.baseline:
        return np.zeros(len(tables.records), dtype=bool), np.zeros(len(tables.records))
    other = tables.others[tables.baseline]
    mine, theirs = (table[c.RANK].to_numpy(float) for table in (tables.records, other))
    return is_hit(tables.records, tables.k) != is_hit(other, tables.k), -np.abs(np.log(mine) - np.log(theirs))


def _nothing(tables: RecipeTables) -> Search:
    mask = ~is_hit(tables.records, tables.k)
    for other in tables.others.values():
        mask &= ~is_hit(other, tables.k)
    rank = tables.records[c.RANK].to_numpy(float)
    middle = np.median(rank[mask]) if mask.any() else 0.0
    return mask, np.abs(rank - middle)  # a typical miss, neither the nearest nor the farthest


_SEARCHES: Final[dict[RecipeName, Callable[[RecipeTables], Search]]] = {
    "wrong": _wrong,
    "right": _right,
    "popular": _popular,
    "past_visits": partial(_lost, recipe="past_visits"),
    "two_hop_paths": partial(_lost, recipe="two_hop_paths"),
    "flipped": _flipped,
    "nothing": _nothing,
}
