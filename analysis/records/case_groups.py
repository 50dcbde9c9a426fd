"""Groups of cases: by training count of the transition or the place, and by the target's kind; popular places."""

from typing import Final, Literal

import numpy as np
import pandas as pd

from recap import columns as c
from recap.errors import ConfigError
from recap.evaluation.cases import is_known_place
from recap.history.graph import TAIL_MAX_COUNT

PANELS: Final = ("tail_known", "tail_new", "head")
"""Rare transitions to places the user knows, rare ones to new places, and frequent ones: no case is in two of them."""

By = Literal["transition_count", "destination_count"]

STEP_BINS: Final = (*range(10), 10)
"""Lower edges: 0, 1, ..., 9 and 10 or more (Fig. 10)."""

POPULAR_SHARE: Final = 0.1

PLACE_BINS: Final = (0, 10, 20, 50, 100, 200)
"""Lower edges of the target's training check-ins (Fig. 2)."""

COHORTS: Final = ((True, True), (False, True), (True, False), (False, False))
"""(known place, within two hops), row by row of Fig. 7."""


def count_bins(by: str) -> pd.DataFrame:
    """The bins of a count: ``bin`` (its name), ``low, high`` (both included, -1 for open).

    ConfigError: another count than ``transition_count`` or ``destination_count``.
    """
    edges = _edges(by)
    high = [*(edge - 1 for edge in edges[1:]), -1]
    names = [_bin_name(low, upper) for low, upper in zip(edges, high, strict=True)]
    return pd.DataFrame({"bin": names, "low": edges, "high": high})


def bin_of_cases(cases: pd.DataFrame, by: str) -> np.ndarray:
    """The row in `count_bins` of each case (case table or records)."""
    return np.searchsorted(_edges(by), cases[by].to_numpy(np.int64), side="right") - 1


def cohort_of_cases(cases: pd.DataFrame, eta: int = TAIL_MAX_COUNT) -> np.ndarray:
    """The row in `COHORTS` of each tail case (seen at most eta times); -1 for the others."""
    known, hops = is_known_place(cases), cases[c.WITHIN_TWO_HOPS].to_numpy(bool)
    cohort = np.where(hops, np.where(known, 0, 1), np.where(known, 2, 3))
    return np.where(cases[c.TRANSITION_COUNT].to_numpy(np.int64) <= eta, cohort, -1)


def panel_of_cases(cases: pd.DataFrame, eta: int = TAIL_MAX_COUNT) -> np.ndarray:
    """The index in `PANELS` of each case."""
    new = (~is_known_place(cases)).astype(np.int64)
    return np.where(cases[c.TRANSITION_COUNT].to_numpy(np.int64) <= eta, new, PANELS.index("head"))


def popular_bar(train_checkins: np.ndarray, share: float = POPULAR_SHARE) -> int:
    """Fewest training check-ins of a popular place, one of the most visited ``share`` of places.

    Args:
        train_checkins: of every place, (P,); unvisited places are never popular.

    >>> popular_bar(np.array([9, 4, 4, 0, 0]), 0.4), popular_bar(np.array([0, 0]))
    (4, 1)
    """
    if len(train_checkins) == 0:
        return 1
    number = max(1, round(share * len(train_checkins)))
    return max(1, int(np.sort(train_checkins)[::-1][number - 1]))


def _edges(by: str) -> tuple[int, ...]:
    if by == c.TRANSITION_COUNT:
        return STEP_BINS
    if by == c.DESTINATION_COUNT:
        return PLACE_BINS
    raise ConfigError(f"unknown column {by!r}; choose transition_count or destination_count")


def _bin_name(low: int, high: int) -> str:
    return f"{low}+" if high < 0 else str(low) if low == high else f"{low}–{high}"
