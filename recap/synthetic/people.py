"""The city's people."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

import numpy as np
import numpy.typing as npt

from recap.synthetic.categories import CATEGORIES, CATEGORY_INDEX, GROUPS, MIX, TIMETABLES, Errand
from recap.synthetic.draws import Draws, pick_weighted
from recap.synthetic.layout import DISTRICTS
from recap.synthetic.shapes import Point
from recap.synthetic.venues import NEAR, City

_T = TypeVar("_T")
DAYS: Final = 294
_VISITOR_EAGERNESS: Final = 900
_VISITOR_ACTIVE_DAYS: Final = 900


@dataclass(frozen=True)
class Person:
    """One user.

    Attributes:
        home .. school: venue indices; `school` is -1 for people who take no child there.
        first_day, last_day: the stay, in days since the record begins; the last one is excluded.
        habits: factor on the chance of each errand of the timetable, per cent, by weekday.
        tastes: weight by category when a new place is tried.
        tells: how readily visits to a category are checked in, per mille.
        shift: minutes by which weekdays run early or late.
        curiosity, circle: per cent of the usual urge to explore, and of the usual number of places known before.
        eagerness: how readily the person checks in, per mille. active_days: share of days with check-ins, per mille.
    """

    timetable: str
    home: int
    anchors: tuple[int, ...]
    family: int
    school: int
    first_day: int
    last_day: int
    habits: tuple[tuple[int, ...], ...]
    tastes: tuple[int, ...]
    tells: tuple[int, ...]
    shift: int
    curiosity: int
    circle: int
    eagerness: int
    active_days: int


def build_people(city: City, seed: int, people: int) -> list[Person]:
    """Draw the people one by one; homes and workplaces fill up."""
    town = _Town(city)
    draws = Draws(seed, 5)
    kinds = _deal([kind for kind, share in MIX["types"].items() for _ in range(share)], people, draws)
    eagerness = _deal(MIX["eagerness"], people, draws)
    active_days = _deal(MIX["active_days"], people, draws)
    return [
        _settle(town, kind, eager, active, Draws(seed, 2, number))
        for number, (kind, eager, active) in enumerate(zip(kinds, eagerness, active_days, strict=True))
    ]


def _deal(values: Sequence[_T], people: int, draws: Draws) -> list[_T]:
    """One value for each person, each value equally often: every seed has the same mix."""
    return [values[position * len(values) // people] for position in draws.shuffled(people)]


class _Town:
    def __init__(self, city: City) -> None:
        self.city = city
        self._room = city.appeal * 64
        groups = ("home", "hotel", "work", "campus")
        self.flats, self.hotels, self.work, self.campus = (city.of(*GROUPS[group]) for group in groups)
        self.schools = city.of(CATEGORY_INDEX["School"])
        outlying = city.district_kind == "town"
        self.town_flats = _some(self.flats, outlying)
        self.city_flats = _some(self.flats, ~outlying)
        self.city_work = _some(self.work, ~outlying)
        self.heart = next(district.heart for district in DISTRICTS if district.kind == "campus")

    def take(self, choices: npt.NDArray[np.int64], draws: Draws, near: Point | None = None, fills: int = 1) -> int:
        """A venue in proportion to its room and, with `near`, to gravity; its room shrinks by `fills`."""
        weights = self._room[choices]
        if near is not None:
            weights = weights * NEAR.of_all(self.city.where[choices], near)
        place = pick_weighted(weights, draws)
        assert place is not None, "room never shrinks to nothing"
        taken = int(choices[place])
        self._room[taken] = max(int(self._room[taken]) // fills, 1)
        return taken


def _settle(town: _Town, kind: str, eagerness: int, active_days: int, draws: Draws) -> Person:
    visiting = kind == "visitor"
    anchors: tuple[int, ...]
    match kind:
        case "student":
            home = town.take(town.flats, draws, near=town.heart, fills=6)
            anchors = tuple(town.take(town.campus, draws) for _ in range(3))
        case "worker":
            home = town.take(town.city_flats, draws, fills=16)
            anchors = (town.take(town.work, draws, near=town.city.at[home], fills=16),)
        case "commuter":
            home = town.take(town.town_flats, draws, fills=16)
            anchors = (town.take(town.city_work, draws, fills=16),)
        case _:
            home = town.take(town.hotels, draws) if visiting else town.take(town.city_flats, draws, fills=16)
            anchors = (home,)
    if kind in ("worker", "commuter") and draws.chance(300):
        anchors = (*anchors, town.take(town.work, draws, near=town.city.at[anchors[0]], fills=16))
    family = town.take(town.flats, draws, near=town.city.at[home], fills=16)
    school = -1
    if kind in ("worker", "commuter", "local") and draws.chance(MIX["parents"]):
        school = town.take(town.schools, draws, near=town.city.at[home], fills=4)
    timetable = "worker" if kind == "commuter" else kind
    first, last = 0, DAYS
    if visiting:
        first = draws.below(DAYS - 12)
        last = first + draws.between(6, 24)
    elif draws.chance(200):
        first = draws.below(DAYS // 3)
    return Person(
        timetable=timetable,
        home=home,
        anchors=anchors,
        family=family,
        school=school,
        first_day=first,
        last_day=min(last, DAYS),
        habits=tuple(_habit(errand, draws) for errand in TIMETABLES[timetable]),
        tastes=tuple(draws.below(4) * draws.below(4) for _ in CATEGORIES),
        tells=tuple(_one_of("tells", draws) for _ in CATEGORIES),
        shift=_one_of("shifts", draws),
        curiosity=draws.between(40, 160) * (3 if visiting else 1),
        circle=0 if visiting else draws.between(30, 170),
        eagerness=_VISITOR_EAGERNESS if visiting else eagerness,
        active_days=_VISITOR_ACTIVE_DAYS if visiting else active_days,
    )


def _habit(errand: Errand, draws: Draws) -> tuple[int, ...]:
    """Factor on an errand's chance, per cent by weekday; constant for work and home."""
    liking = draws.between(30, 170)
    if errand.group in ("anchor", "campus", "home"):
        return (liking,) * 7
    return tuple(liking * _one_of("rhythm", draws) // 100 for _ in range(7))


def _one_of(name: str, draws: Draws) -> int:
    values: list[int] = MIX[name]
    return values[draws.below(len(values))]


def _some(choices: npt.NDArray[np.int64], fit: npt.NDArray[np.bool_]) -> npt.NDArray[np.int64]:
    fitting = choices[fit[choices]]
    return fitting if len(fitting) else choices
