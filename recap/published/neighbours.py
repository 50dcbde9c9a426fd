"""Trajectories as packed check-ins, and the earlier ones that a case reads.

Shape suffixes: B cases, J trajectories, H check-ins of all of them, N neighbours of all cases, P POIs, T check-ins.
"""

from dataclasses import dataclass
from typing import Final

import torch
from torch import Tensor

from recap.history import CheckinTensors, Histories
from recap.published.city import City
from recap.ragged import expand_ranges

_CELLS_AT_ONCE: Final = 1 << 23


@dataclass(frozen=True, eq=False)
class Packed:
    """The check-ins of some trajectories, packed. ``owner_H``: each check-in's trajectory, non-decreasing; ``last_J``:
    the row of each trajectory's last (visible) check-in.
    """

    checkins: CheckinTensors
    owner_H: Tensor
    row_H: Tensor
    last_J: Tensor

    @classmethod
    def of(cls, checkins: CheckinTensors, first_J: Tensor, last_J: Tensor, longest: int) -> "Packed":
        """From first and last rows, at most the last ``longest`` check-ins."""
        first_J = torch.maximum(first_J, last_J - longest + 1)
        return cls(checkins, *expand_ranges(first_J, last_J - first_J + 1), last_J)

    def __len__(self) -> int:
        return len(self.last_J)


@dataclass(frozen=True, eq=False)
class Outline:
    """First and last rows of a table's trajectories. ``number_T``: each row's trajectory."""

    number_T: Tensor
    first_J: Tensor
    last_J: Tensor

    @classmethod
    def of(cls, checkins: CheckinTensors) -> "Outline":
        row_T = torch.arange(len(checkins.poi_T), device=checkins.device)
        begins_T = checkins.first_T == row_T
        begins_T[1:] |= checkins.trajectory_T[1:] != checkins.trajectory_T[:-1]
        first_J = row_T[begins_T]
        return cls(begins_T.long().cumsum(0) - 1, first_J, torch.cat([first_J[1:], row_T[-1:] + 1]) - 1)

    def earlier(self, histories: Histories, most: int) -> tuple[Tensor, Tensor]:
        """The user's latest trajectories before each source's: history and trajectory, (N,) each."""
        now_B, first_B = self.number_T[histories.row_B], self.number_T[histories.first_B]
        from_B = torch.maximum(first_B, now_B - most)
        return expand_ranges(from_B, now_B - from_B)

    def prefixes(self, histories: Histories, longest: int) -> Packed:
        """Each source's trajectory up to the source."""
        return Packed.of(histories.checkins, self.first_J[self.number_T[histories.row_B]], histories.row_B, longest)


class SimilarTrajectories:
    """Finds training trajectories by shared places."""

    def __init__(self, city: City) -> None:
        self.checkins = CheckinTensors.from_arrays(
            user=city.user_N.numpy(),
            poi=city.poi_N.numpy(),
            seconds=city.seconds_N.numpy(),
            local_seconds=city.local_seconds_N.numpy(),
            trajectory=city.trajectory_N.numpy(),
        )
        self.outline = Outline.of(self.checkins)
        self.user_J = self.checkins.user_T[self.outline.first_J]
        self.end_J = self.checkins.seconds_T[self.outline.last_J]
        pair = torch.unique(self.checkins.poi_T * len(self.user_J) + self.outline.number_T)
        self.of_place_L = pair % len(self.user_J)
        self.degree_P = torch.bincount(pair // len(self.user_J), minlength=city.num_pois)
        self.begin_P = self.degree_P.cumsum(0) - self.degree_P
        self.places_J = torch.bincount(self.of_place_L, minlength=len(self.user_J))
        span_J = (self.end_J - self.end_J.min()).double()
        self.late_J = 1e-9 * span_J / span_J.max().clamp_min(1)
        """Of equally similar trajectories the later one is taken; places shared differ by far more."""

    def find(self, prefixes: Packed, start_B: Tensor, most: int, least: float) -> tuple[Tensor, Tensor]:
        """Others' trajectories that ended before a prefix began, most similar by the Jaccard index of places.
        ``start_B``: UTC seconds at which each prefix's trajectory began. Returns case and trajectory, (N,) each.
        """
        device, total = start_B.device, len(self.user_J)
        poi_H, cases = prefixes.checkins.poi_T[prefixes.row_H], len(prefixes)
        pair = torch.unique(prefixes.owner_H * len(self.degree_P) + poi_H).cpu()
        case_C, poi_C = pair // len(self.degree_P), pair % len(self.degree_P)
        size_B = torch.bincount(case_C, minlength=cases)
        user_B = prefixes.checkins.user_T[prefixes.last_J].cpu()
        found_case, found_trajectory = [], []
        for part_B in torch.arange(cases).split(max(1, _CELLS_AT_ONCE // total)):
            mine_C = (case_C >= part_B[0]) & (case_C <= part_B[-1])
            at_C, poi_of_C = case_C[mine_C] - part_B[0], poi_C[mine_C]
            which_L, edge_L = expand_ranges(self.begin_P[poi_of_C], self.degree_P[poi_of_C])
            cell = at_C[which_L] * total + self.of_place_L[edge_L]
            cell, shared = torch.unique(cell, return_counts=True)
            at, trajectory = cell // total, cell % total
            case = at + part_B[0]
            alike = shared.double() / (size_B[case] + self.places_J[trajectory] - shared)
            fits = (alike >= least) & (self.end_J[trajectory] <= start_B.cpu()[case])
            fits &= self.user_J[trajectory] != user_B[case]
            case, trajectory, alike = case[fits], trajectory[fits], (alike + self.late_J[trajectory])[fits]
            order = torch.argsort(-alike, stable=True)
            order = order[torch.argsort(case[order], stable=True)]
            case, trajectory = case[order], trajectory[order]
            count_B = torch.bincount(case, minlength=cases)
            place = torch.arange(len(case)) - (count_B.cumsum(0) - count_B)[case]
            found_case.append(case[place < most])
            found_trajectory.append(trajectory[place < most])
        return torch.cat(found_case).to(device), torch.cat(found_trajectory).to(device)
