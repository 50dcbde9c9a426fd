"""How many users match the places of one trail, as recorded and generalised."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np

from analysis.sharing.places import MaskedPlaces
from analysis.sharing.reidentification import Crowd, SharedPoint
from analysis.sharing.share import WIDEST
from analysis.sharing.traces import traces_of
from analysis.workspace import Workspace
from recap.privacy import Generalisation

_SALT: Final = "lesson"
"""Nothing here is named by it."""


@dataclass(frozen=True)
class Generalised:
    """The result of generalising a trail.

    Attributes:
        fits: users who were in all of its cells.
        cell_km: side of the smallest cell.
        reached: whether at least k users match.
    """

    fits: int
    cell_km: float
    reached: bool


@lru_cache(maxsize=16)
def crowd_at(opened: Workspace, k: int) -> Crowd:
    """Everyone's points; places of fewer than k users are cells, times are weekday and part of the day."""
    rule = Generalisation(salt=_SALT, min_users=k)
    traces = traces_of(opened.dataset)
    return Crowd(traces, MaskedPlaces.generalised(opened, rule), traces.part_of_week(rule.hours))


def trail(opened: Workspace, user: int, number: int) -> list[int]:
    """At most ``number`` distinct places of a user, evenly spread in the order of first visits."""
    traces = traces_of(opened.dataset)
    own = traces.poi[traces.user == user]
    _, first = np.unique(own, return_index=True)
    places = own[np.sort(first)]
    spread = np.linspace(0, len(places) - 1, min(number, len(places))).astype(int)
    return [int(place) for place in places[spread]]


def fitting(opened: Workspace, places: list[int]) -> int:
    exact = MaskedPlaces.exact(opened)
    traces = traces_of(opened.dataset)
    return Crowd(traces, exact, np.zeros_like(traces.poi)).fitting([SharedPoint(place) for place in places])


@lru_cache(maxsize=256)
def generalised_for(opened: Workspace, places: tuple[int, ...], k: int) -> Generalised:
    """The smallest cells, doubled step by step, for which at least k users match.

    As in `analysis.sharing.share`. ``reached`` is False if even the widest cells are too fine.
    """
    traces = traces_of(opened.dataset)
    rule = Generalisation(salt=_SALT, min_users=k)
    for level in range(WIDEST):
        wide = rule.model_copy(update={"cell_degrees": rule.cell_degrees * 2**level})
        masked = MaskedPlaces.generalised(opened, wide, frozenset(places))
        fits = Crowd(traces, masked, np.zeros_like(traces.poi)).fitting([SharedPoint(place) for place in places])
        if fits >= k:
            break
    return Generalised(fits, wide.cell_km, fits >= k)
