"""Where validation and test begin, found in two passes over check-ins that are never in memory together."""

from collections import Counter
from dataclasses import dataclass
from typing import Final

import numpy as np

from recap.data.splitting import SplitConfig

_BIN: Final = 12
"""A bin of the first pass holds 2^12 seconds, about an hour: few enough bins to count, few enough rows to sort."""


@dataclass(frozen=True)
class SplitEnds:
    """The first check-ins of validation and of test, as (seconds, source row); None where there is none.

    `split_by_time` shares out check-ins in this order, so a check-in's split follows from these two.
    """

    validation: tuple[int, int] | None
    test: tuple[int, int] | None

    def codes(self, seconds_T: np.ndarray, row_T: np.ndarray) -> np.ndarray:
        """Split codes (int8) of check-ins."""
        codes = np.zeros(len(seconds_T), dtype=np.int8)
        for end in (self.validation, self.test):
            if end is not None:
                codes += (seconds_T > end[0]) | ((seconds_T == end[0]) & (row_T >= end[1]))
        return codes


class SplitEndFinder:
    """Finds the ends: `count` every block, then `collect` every block, then ask for `ends`."""

    def __init__(self, config: SplitConfig) -> None:
        self._config = config
        self._counts: Counter[int] = Counter()
        self._places: list[tuple[int, int] | None] | None = None
        self._kept: list[tuple[np.ndarray, np.ndarray]] = []

    def count(self, seconds_T: np.ndarray) -> None:
        """First pass: how many check-ins each bin has."""
        bins, counts = np.unique(seconds_T >> _BIN, return_counts=True)
        self._counts.update(dict(zip(bins.tolist(), counts.tolist(), strict=True)))

    def collect(self, seconds_T: np.ndarray, row_T: np.ndarray) -> None:
        """Second pass: keep the check-ins of the two bins in which an end lies."""
        self._places = self._places or self._find()
        inside = np.isin(seconds_T >> _BIN, [place[0] for place in self._places if place is not None])
        self._kept.append((seconds_T[inside], row_T[inside]))

    def ends(self) -> SplitEnds:
        """The ends, once all blocks have passed twice."""
        assert self._places is not None
        seconds_T, row_T = (np.concatenate(columns) for columns in zip(*self._kept, strict=True))
        order = np.lexsort((row_T, seconds_T))
        seconds_T, row_T = seconds_T[order], row_T[order]
        ends: list[tuple[int, int] | None] = []
        for place in self._places:
            if place is None:
                ends.append(None)
                continue
            number, before = place
            at = int(np.searchsorted(seconds_T, number << _BIN)) + before
            ends.append((int(seconds_T[at]), int(row_T[at])))
        return SplitEnds(*ends)

    def _find(self) -> list[tuple[int, int] | None]:
        """For each end its bin, and how many check-ins of that bin come before it."""
        bins = np.array(sorted(self._counts))
        reached = np.cumsum([self._counts[number] for number in bins.tolist()])
        places: list[tuple[int, int] | None] = []
        for share in (self._config.train_end, self._config.val_end):
            end = int(share * reached[-1])
            if end >= reached[-1]:
                places.append(None)
                continue
            index = int(np.searchsorted(reached, end, side="right"))
            places.append((int(bins[index]), end - int(reached[index - 1] if index else 0)))
        return places
