"""Records of several models over the same drawn cases, more and more of them until all cases are in."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
import pandas as pd

from analysis.records.case_draw import draw_order, draw_sizes
from analysis.records.table_cache import Pieces
from recap import columns as c

CASES_PER_PIECE: Final = 4096
"""Cases that are kept on disk together, so that a later start goes on from there."""
SCORES_AT_A_TIME: Final = 4_000_000
"""Cases times places that are ranked before somebody else may have the processor: a fifth of a second."""
LISTS: Final = (c.TOP_POIS, c.TOP_SCORES)
"""Columns that hold a list for every case: three quarters of all bytes, and no figure is made of them."""

Rank = Callable[[pd.DataFrame], pd.DataFrame]
"""Cases -> their records, in the same order."""


@dataclass(frozen=True, eq=False)
class DrawnRecords:
    """What several models say about the same drawn cases.

    Attributes:
        models: key -> records of the drawn cases, in case order.
        num_drawn: how many cases that are.
        num_cases: how many there are in all.
    """

    models: Mapping[str, pd.DataFrame]
    num_drawn: int
    num_cases: int

    @property
    def is_whole(self) -> bool:
        """Whether all cases are in: then these are the evaluation records."""
        return self.num_drawn == self.num_cases


@dataclass(frozen=True)
class Ranker:
    """How one model's records come about.

    Attributes:
        rank: ranks cases, or looks them up where they were ranked before.
        pieces: where finished pieces lie; None for records that are kept anyway.
    """

    rank: Rank
    pieces: Pieces | None = None


def grow_records(
    cases: pd.DataFrame,
    rankers: Mapping[str, Ranker],
    *,
    num_pois: int,
    sizes: list[int] | None = None,
    report: Callable[[int], None] = lambda cases: None,
) -> Iterator[DrawnRecords]:
    """Rank larger and larger draws of the test cases; every draw is ranked by all models before it is given.

    Args:
        cases: all test cases, see `recap.evaluation.cases.describe_cases`.
        rankers: model key -> ranker.
        num_pois: places that each case is ranked among.
        sizes: of the draws, ascending; `draw_sizes` by default.
        report: told after some cases were ranked by one model, how many.

    Yields:
        each draw, the last with all cases. Columns of `LISTS` are left out where they were kept in pieces, see
        `whole_records`.
    """
    order = draw_order(len(cases))
    at_a_time = max(1, SCORES_AT_A_TIME // num_pois)
    parts: dict[str, list[pd.DataFrame]] = {key: [] for key in rankers}
    for size, pieces in _draws(draw_sizes(len(cases)) if sizes is None else sizes):
        for first, last in pieces:
            drawn = cases.iloc[np.sort(order[first:last])]
            for key, ranker in rankers.items():
                parts[key].append(_piece(ranker, drawn, _name(first), at_a_time, report))
        parts = {key: [_joined(tables)] for key, tables in parts.items()}
        yield DrawnRecords({key: _in_case_order(tables[0]) for key, tables in parts.items()}, size, len(cases))


def whole_records(drawn: pd.DataFrame, pieces: Pieces, sizes: list[int]) -> pd.DataFrame | None:
    """A model's records over all cases with their lists; None where a piece is gone.

    Args:
        drawn: the model's records of the last draw, in case order.
        sizes: of all draws.
    """
    if all(name in drawn for name in LISTS):
        return drawn
    found = []
    for first, last in (ends for _, of_draw in _draws(sizes) for ends in of_draw):
        piece = pieces.read(_name(first), last - first)
        if piece is None:
            return None
        found.append(piece)
    return _in_case_order(pd.concat(found, ignore_index=True))


def _draws(sizes: list[int]) -> Iterator[tuple[int, list[tuple[int, int]]]]:
    """Each draw's size, and beginnings and ends of the pieces that it has more than the draw before."""
    start = 0
    for size in sizes:
        yield size, [(first, min(first + CASES_PER_PIECE, size)) for first in range(start, size, CASES_PER_PIECE)]
        start = size


def _name(first: int) -> str:
    return f"drawn-{first:08d}"


def _piece(
    ranker: Ranker, drawn: pd.DataFrame, name: str, at_a_time: int, report: Callable[[int], None]
) -> pd.DataFrame:
    """Records of one piece's cases, from the disk where they are kept there."""
    if ranker.pieces is not None:
        kept = ranker.pieces.read(name, len(drawn), LISTS)
        if kept is not None and np.array_equal(kept[c.CASE].to_numpy(), drawn[c.CASE].to_numpy()):
            report(len(drawn))
            return kept
    ranked = []
    for start in range(0, len(drawn), at_a_time):
        some = drawn.iloc[start : start + at_a_time]
        ranked.append(ranker.rank(some))
        report(len(some))
    piece = pd.concat(ranked, ignore_index=True)
    is_kept = ranker.pieces is not None and ranker.pieces.write(name, piece)
    return piece.drop(columns=list(LISTS), errors="ignore") if is_kept else piece


def _joined(tables: list[pd.DataFrame]) -> pd.DataFrame:
    """One table; without lists where some of them lie on the disk."""
    if not all(set(LISTS) <= set(table) for table in tables):
        tables = [table.drop(columns=list(LISTS), errors="ignore") for table in tables]
    return pd.concat(tables, ignore_index=True)


def _in_case_order(records: pd.DataFrame) -> pd.DataFrame:
    return records.sort_values(c.CASE, kind="stable", ignore_index=True)
