"""Who lives in the city: a home, a workplace or campus, habits of their own, and how eagerly they check in."""

from dataclasses import dataclass
from math import isqrt
from typing import Final

from recap.data.synthetic import places
from recap.data.synthetic.categories import CATEGORIES, GROUPS, HOME, HOTEL
from recap.data.synthetic.draws import Draws
from recap.data.synthetic.shapes import Point
from recap.data.synthetic.timetables import TIMETABLES, Errand
from recap.data.synthetic.venues import Venue

DAYS: Final = 294
_TYPES: Final = (("commuter", 270), ("worker", 390), ("student", 130), ("local", 130), ("visitor", 80))
# Share of a person's visits that may be checked in at all, per mille; drawn evenly. Few people write down most of it.
_EAGERNESS: Final = (1971, 2077, 2182, 2288, 2429, 2570, 2710, 2886, 3098, 3344, 3626, 3978, 4576, 5632, 7392, 10560)
_WALK: Final = 300  # metres that count as next door when a home or a workplace is sought
# How much a person cares to tell of a kind of venue, per mille
_TELLS: Final = (50, 200, 500, 800, 1200, 1600, 2200)
_RHYTHM: Final = (10, 20, 40, 80, 150, 300)  # per cent, by weekday
# Minutes by which a person's weekdays run early or late
_SHIFTS: Final = (-60, -45, -30, -20, -10, 0, 0, 10, 20, 30, 45, 60, 75, 90, 150, 330)
# Share of days on which a person checks in, per mille; drawn evenly
_ACTIVE_DAYS: Final = (55, 59, 63, 68, 74, 79, 86, 96, 110, 132, 173, 265)


@dataclass(frozen=True)
class Person:
    """One walker. Venues are indices; `first_day` .. `last_day` (excluded) is the stay; chances are per mille."""

    kind: str
    timetable: str
    home: int
    anchors: tuple[int, ...]
    family: int
    home_hub: int
    work_hub: int
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


def build_people(venues: list[Venue], seed: int, people: int) -> list[Person]:
    """Draw the city's people one after the other; homes and workplaces fill up as they go."""
    towns = _Town(venues)
    return [_settle(towns, Draws(seed, 2, number)) for number in range(people)]


class _Town:
    """Venues by use, with how much room each still has."""

    def __init__(self, venues: list[Venue]) -> None:
        self.venues = venues
        self.room = [venue.appeal * 64 for venue in venues]
        self.flats = [index for index, venue in enumerate(venues) if venue.category == HOME]
        self.outlying = {index for index, venue in enumerate(venues) if _in_town(venue)}
        self.hotels = [index for index, venue in enumerate(venues) if venue.category == HOTEL]
        self.work = _of_group(venues, "work")
        self.campus = _of_group(venues, "campus")
        self.hubs = _of_group(venues, "hub")
        self.heart = next(district.heart for district in places.DISTRICTS if district.kind == "campus")

    def take(self, choices: list[int], draws: Draws, near: Point | None = None, fills: int = 1) -> int:
        """A venue in proportion to its room and, with `near`, to gravity; its room shrinks by the factor `fills`."""
        weights = [self.room[index] * 64 for index in choices]
        if near is not None:
            weights = [
                weight * 10**16 // (_WALK + _metres(self.venues[index].at, near)) ** 4
                for weight, index in zip(weights, choices, strict=True)
            ]
        taken = choices[draws.pick(weights)]
        self.room[taken] = max(self.room[taken] // fills, 1)
        return taken


def _settle(town: _Town, draws: Draws) -> Person:
    """One person: type first, then a home, then a workplace that suits it."""
    kind = _TYPES[draws.pick([share for _, share in _TYPES])][0]
    visiting = kind == "visitor"
    if visiting:
        home = town.take(town.hotels, draws)
    elif kind == "student":
        home = town.take(town.flats, draws, near=town.heart, fills=6)
    else:
        home = town.take([i for i in town.flats if (i in town.outlying) == (kind == "commuter")], draws, fills=16)
    anchors: tuple[int, ...] = (home,)
    if kind == "student":
        anchors = tuple(town.take(town.campus, draws) for _ in range(3))
    elif kind == "worker":
        anchors = (town.take(town.work, draws, near=town.venues[home].at, fills=8),)
    elif kind == "commuter":
        anchors = (town.take([i for i in town.work if i not in town.outlying], draws, fills=8),)
    if kind in ("worker", "commuter") and draws.chance(300):
        anchors = (*anchors, town.take(town.work, draws, near=town.venues[anchors[0]].at, fills=8))
    family = town.take(town.flats, draws, near=town.venues[home].at, fills=16)
    timetable = "worker" if kind == "commuter" else kind
    first, last = 0, DAYS
    if visiting:
        first = draws.below(DAYS - 12)
        last = first + draws.between(6, 24)
    elif draws.chance(200):
        first = draws.below(DAYS // 3)
    return Person(
        kind=kind,
        timetable=timetable,
        home=home,
        anchors=anchors,
        family=family,
        home_hub=_closest(town.venues, town.hubs, town.venues[home].at),
        work_hub=_closest(town.venues, town.hubs, town.venues[anchors[0]].at),
        first_day=first,
        last_day=min(last, DAYS),
        habits=tuple(_habit(errand, draws) for errand in TIMETABLES[timetable]),
        tastes=tuple(draws.below(4) * draws.below(4) for _ in CATEGORIES),
        tells=tuple(_TELLS[draws.below(len(_TELLS))] for _ in CATEGORIES),
        shift=_SHIFTS[draws.below(len(_SHIFTS))],
        curiosity=draws.between(40, 160) * (3 if visiting else 1),
        circle=0 if visiting else draws.between(30, 170),
        eagerness=900 if visiting else _EAGERNESS[draws.below(len(_EAGERNESS))],
        active_days=900 if visiting else _ACTIVE_DAYS[draws.below(len(_ACTIVE_DAYS))],
    )


def _habit(errand: Errand, draws: Draws) -> tuple[int, ...]:
    """How a person bends the chance of an errand on each weekday, per cent: work and home little, the rest a lot."""
    liking = draws.between(30, 170)
    if errand.group in ("anchor", "campus", "home"):
        return (liking,) * 7
    return tuple(liking * _RHYTHM[draws.below(len(_RHYTHM))] // 100 for _ in range(7))


def _in_town(venue: Venue) -> bool:
    return venue.district >= 0 and places.DISTRICTS[venue.district].kind == "town"


def _of_group(venues: list[Venue], group: str) -> list[int]:
    return [index for index, venue in enumerate(venues) if venue.category in GROUPS[group]]


def _closest(venues: list[Venue], choices: list[int], at: tuple[int, int]) -> int:
    return min(choices, key=lambda index: _metres(venues[index].at, at))


def _metres(a: tuple[int, int], b: tuple[int, int]) -> int:
    return isqrt((a[0] - b[0]) ** 2 + (a[1] - b[1]) ** 2)
