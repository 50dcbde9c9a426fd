"""What is known of users up to a moment, as tensors, and their revisit candidates (Sec. 3.3).

Shape suffixes: T check-ins, B histories or cases, H past check-ins of all histories, C packed candidates.
"""

from dataclasses import dataclass, fields
from functools import cached_property
from typing import Final, TypeVar

import numpy as np
import pandas as pd
import torch
from torch import Tensor
from torch.nn import functional as F

from recap import columns as c
from recap.arithmetic.ragged import expand_ranges
from recap.data.dataset import Dataset
from recap.data.schema import seconds_of
from recap.history.visits import NEVER, Visits

SECONDS_PER_DAY: Final = 86_400

Seconds = TypeVar("Seconds", int, Tensor)


@dataclass(frozen=True, eq=False)
class CheckinTensors:
    """Check-ins as aligned int64 tensors, rows sorted by (user, time): `Visits` of each user or edited
    history (see `Histories.next_visit`), UTC and local wall-clock seconds since 1970, and the trajectory.
    """

    user_T: Tensor
    poi_T: Tensor
    first_T: Tensor
    next_visit_T: Tensor
    visit_number_T: Tensor
    seconds_T: Tensor
    local_seconds_T: Tensor
    trajectory_T: Tensor

    @cached_property
    def hour_T(self) -> Tensor:
        """Local time of day in hours, float64."""
        return 24.0 * local_hour_fraction(self.local_seconds_T)

    @cached_property
    def day_T(self) -> Tensor:
        """Local days since 1970, int64."""
        return torch.div(self.local_seconds_T, SECONDS_PER_DAY, rounding_mode="floor")

    @cached_property
    def weekday_T(self) -> Tensor:
        """Local day of the week, 0 Monday to 6 Sunday."""
        return local_weekday(self.local_seconds_T).to(torch.uint8)

    @cached_property
    def trajectory_number_T(self) -> Tensor:
        """Trajectories numbered from 0 in the order of rows, int64; two users share none."""
        begins_T = self.first_T == torch.arange(len(self.poi_T), device=self.device)
        begins_T[1:] |= self.trajectory_T[1:] != self.trajectory_T[:-1]
        return begins_T.cumsum(0) - 1

    def trajectory_rows(self, number_J: Tensor) -> tuple[Tensor, Tensor]:
        """First and last rows of trajectories by their numbers."""
        return torch.searchsorted(self.trajectory_number_T, number_J), torch.searchsorted(
            self.trajectory_number_T, number_J, right=True
        ) - 1

    @classmethod
    def from_dataset(cls, dataset: Dataset, device: torch.device | str = "cpu") -> "CheckinTensors":
        """Tensors of a dataset's check-ins."""
        return cls.from_table(dataset.checkins, Visits.of(dataset)).to(device)

    @classmethod
    def from_table(cls, table: pd.DataFrame, visits: Visits | None = None) -> "CheckinTensors":
        """Tensors of some rows of `Dataset.checkins`."""
        user, poi, trajectory = (table[name].to_numpy(np.int64) for name in (c.USER, c.POI, c.TRAJECTORY))
        seconds = seconds_of(table)
        local_seconds = seconds + 60 * table[c.TZ_OFFSET_MINUTES].to_numpy(np.int64)
        return cls.from_arrays(
            user=user, poi=poi, seconds=seconds, local_seconds=local_seconds, trajectory=trajectory, visits=visits
        )

    @classmethod
    def from_arrays(
        cls,
        *,
        user: np.ndarray,
        poi: np.ndarray,
        seconds: np.ndarray,
        local_seconds: np.ndarray,
        trajectory: np.ndarray,
        segment: np.ndarray | None = None,
        visits: Visits | None = None,
    ) -> "CheckinTensors":
        """From int64 arrays, grouped by ``segment`` (one history, by default a user's) and ordered in time; ``visits``:
        if found before.
        """
        visits = visits or Visits.of_segments(user if segment is None else segment, poi)
        kept = (visits.poi_T, visits.first_T, visits.next_visit_T, visits.visit_number_T)
        arrays = (user, *kept, seconds, local_seconds, trajectory)
        return cls(*(torch.from_numpy(np.ascontiguousarray(array, dtype=np.int64)) for array in arrays))

    def to(self, device: torch.device | str) -> "CheckinTensors":
        return CheckinTensors(*(getattr(self, field.name).to(device) for field in fields(self)))

    @property
    def device(self) -> torch.device:
        return self.poi_T.device


@dataclass(frozen=True, eq=False)
class Histories:
    """What was known of each user at a moment: all that a scorer may read. Histories share one table; each ends at its
    own last check-in ``row_B``, the source of what comes next, and no later row belongs to it.
    ``next_local_seconds_B``: local seconds of the check-in to predict, for a model asked where at a given time.
    """

    checkins: CheckinTensors
    row_B: Tensor
    next_local_seconds_B: Tensor | None = None

    @property
    def user_B(self) -> Tensor:
        return self.checkins.user_T[self.row_B]

    @property
    def source_B(self) -> Tensor:
        """s_t = p_t."""
        return self.checkins.poi_T[self.row_B]

    @property
    def first_B(self) -> Tensor:
        """The row where each begins."""
        return self.checkins.first_T[self.row_B]

    @property
    def local_seconds_B(self) -> Tensor:
        """Local wall-clock seconds of the last check-in."""
        return self.checkins.local_seconds_T[self.row_B]

    @property
    def now_local_seconds_B(self) -> Tensor:
        """Local wall-clock seconds of what features call now: the last check-in, or the time given."""
        return self.local_seconds_B if self.next_local_seconds_B is None else self.next_local_seconds_B

    @property
    def now_seconds_B(self) -> Tensor:
        """The same in UTC; a time given is read in the zone of the last check-in, and never before it: clocks that are
        set back do not turn time back.
        """
        later_B = (self.now_local_seconds_B - self.local_seconds_B).clamp_min(0)
        return self.checkins.seconds_T[self.row_B] + later_B

    def __len__(self) -> int:
        return len(self.row_B)

    def select(self, index_N: Tensor | slice) -> "Histories":
        """Some of them."""
        next_B = self.next_local_seconds_B
        return Histories(self.checkins, self.row_B[index_N], None if next_B is None else next_B[index_N])

    def asked(self, *, given_time: bool) -> "Histories":
        """Without the time of the next check-in, unless the model reads it."""
        return self if given_time else Histories(self.checkins, self.row_B)

    def past_rows(self) -> tuple[Tensor, Tensor]:
        """Every check-in of each history, its last one included, packed: history and row."""
        return expand_ranges(self.first_B, self.row_B - self.first_B + 1)

    def next_visit(self, case_H: Tensor, row_H: Tensor) -> Tensor:
        """Row of the next check-in at the same POI inside the history, `NEVER` if none, (H,)."""
        next_H = self.checkins.next_visit_T[row_H]
        return next_H.masked_fill(next_H > self.row_B[case_H], NEVER)

    def latest_visits(self) -> tuple[Tensor, Tensor]:
        """The last check-in at each distinct POI of each history, packed: history and row."""
        case_H, row_H = self.past_rows()
        is_last_H = self.next_visit(case_H, row_H) == NEVER
        return case_H[is_last_H], row_H[is_last_H]

    def known_places(self, num_pois: int) -> Tensor:
        """Places each user has visited, the source included: bool (B, P)."""
        case_H, row_H = self.past_rows()
        known_BP = torch.zeros(len(self), num_pois, dtype=torch.bool, device=self.row_B.device)
        known_BP[case_H, self.checkins.poi_T[row_H]] = True
        return known_BP


@dataclass(frozen=True, eq=False)
class CaseBatch:
    """Cases: histories whose next check-in is known. Only ranks, metrics and losses read it. ``row_B``: source rows t;
    the target is row t + 1.
    """

    checkins: CheckinTensors
    row_B: Tensor

    @property
    def target_B(self) -> Tensor:
        """y_t = p_{t+1}."""
        return self.checkins.poi_T[self.row_B + 1]

    @property
    def target_local_seconds_B(self) -> Tensor:
        return self.checkins.local_seconds_T[self.row_B + 1]

    def batch(self, index_N: Tensor) -> "CaseBatch":
        """Some of them."""
        return CaseBatch(self.checkins, self.row_B[index_N])

    def histories(self, *, target_time: bool = False) -> Histories:
        """What is known before the target. ``target_time``: with the target's time, for a scorer that reads it."""
        return Histories(self.checkins, self.row_B, self.target_local_seconds_B if target_time else None)

    def __len__(self) -> int:
        return len(self.row_B)


@dataclass(frozen=True, eq=False)
class RevisitCandidates:
    """The POIs d of C_t of a batch of histories, packed, with non-decreasing positions ``case_C`` in the batch: the row
    of the last visit q*_t(d) before step t (Eq. 20), n_t(d) visits before t, r_t(d) = t - q*_t(d) in check-ins, and
    whether d is in W_t, the recent_window check-ins before t.
    """

    case_C: Tensor
    poi_C: Tensor
    last_row_C: Tensor
    count_C: Tensor
    recency_steps_C: Tensor
    in_recent_window_C: Tensor

    def padded(self, multiple: int) -> "RevisitCandidates":
        """With zeros at the end, up to the next multiple; the caller drops their results."""
        missing = -len(self.case_C) % multiple
        return RevisitCandidates(**{name: F.pad(values_C, (0, missing)) for name, values_C in vars(self).items()})


def find_revisit_candidates(
    histories: Histories, *, recent_window: int = 10, max_candidates: int | None = 256
) -> RevisitCandidates:
    """Collect C_t = {p_q | q < t} with n_t, r_t and whether d is among the last ``recent_window`` (L_win) check-ins;
    of each history at most ``max_candidates``, the most recent. Row q < t is the last visit of its POI before t exactly
    when no row before t is the next visit.
    """
    checkins, row_B = histories.checkins, histories.row_B
    case_H, q_H = expand_ranges(histories.first_B, row_B - histories.first_B)
    is_last_H = histories.next_visit(case_H, q_H) >= row_B[case_H]
    case_C, q_C = case_H[is_last_H], q_H[is_last_H]
    if max_candidates is not None:
        keep_C = _most_recent(case_C, len(row_B), max_candidates)
        case_C, q_C = case_C[keep_C], q_C[keep_C]
    recency_C = row_B[case_C] - q_C
    return RevisitCandidates(
        case_C=case_C,
        poi_C=checkins.poi_T[q_C],
        last_row_C=q_C,
        count_C=checkins.visit_number_T[q_C],
        recency_steps_C=recency_C,
        in_recent_window_C=recency_C <= recent_window,
    )


def _most_recent(case_C: Tensor, num_cases: int, limit: int) -> Tensor:
    """Mask of the last ``limit`` entries of each case."""
    size_B = torch.bincount(case_C, minlength=num_cases)
    end_B = torch.cumsum(size_B, 0)
    from_end_C = end_B[case_C] - torch.arange(len(case_C), device=case_C.device)
    return from_end_C <= limit


def local_hour_fraction(local_seconds: Tensor) -> Tensor:
    """Time of day as a fraction of the local day in [0, 1), float64."""
    return torch.remainder(local_seconds, SECONDS_PER_DAY).double() / SECONDS_PER_DAY


def local_weekday(local_seconds: Seconds) -> Seconds:
    """Day of the week, 0 Monday to 6 Sunday (1 January 1970 was a Thursday).

    >>> local_weekday(0), local_weekday(4 * SECONDS_PER_DAY), local_weekday(-1)
    (3, 0, 2)
    """
    return (local_seconds // SECONDS_PER_DAY + 3) % 7
