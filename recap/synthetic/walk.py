"""A person's days: exploration and preferential return (Song et al., Nature Physics 2010) along a timetable.

At each errand the person either tries a place never visited, with chance rho * S**-gamma (S: places known so far), or
returns to a known one in proportion to earlier visits. Both depend on distance (gravity) and opening hours. New places
are first sought along shared routes: those of people simulated before, from here to a middle, and on from there. Real
check-ins have such routes too.
"""

from collections import defaultdict
from itertools import pairwise
from math import isqrt
from typing import Final, NamedTuple

from recap.synthetic.categories import BUSY, CATEGORIES, CIRCLE, EXPLORE, GROUPS, TIMETABLES
from recap.synthetic.draws import REACH, Draws, Gravity
from recap.synthetic.people import Person
from recap.synthetic.venues import City

_EXPLORE_PART: Final = 600  # per mille of `EXPLORE`
_KNOWN: Final = Gravity(softening=5, power=3)
_SAME_ERRAND: Final = 6  # weight of an earlier visit on the same errand; that of any other is 1
_SAME_WEEKDAY: Final = 16  # and of one on the same errand and weekday
_LOOKS: Final = 40  # shared routes tried per errand
_ROUTE_METRES: Final = 12_000  # longest route, along the axes
_LATEST: Final = 1_590  # minutes; end of the longest day
_SECOND_OFFICE: Final = 200  # per mille of working days, for those with two workplaces
_LECTURES: Final = (0, 1, 0, 2, 0, 1)  # a student's building, by weekday and lecture

# Earlier visits to a place known before the record
_FAMILIARITY: Final = (1, 1, 2, 2, 3, 3, 4, 5, 7, 10)
_ANY: Final = -1  # key of a place's visits on any errand; also: nowhere yet today


class Stop(NamedTuple):
    """One visit: local minutes since the first midnight, and the venue."""

    minute: int
    venue: int


_ONE_WALK: Final = 1_440  # minutes; after a longer pause, no transition counts


class Routes:
    """Transitions between check-ins, counted by repetition; ``category`` of every venue, an index into `CATEGORIES`."""

    def __init__(self, category: list[int]) -> None:
        self._group = [CATEGORIES[index].group for index in category]
        self._onward: dict[int, list[int]] = defaultdict(list)
        self._onward_to: dict[tuple[int, str], list[int]] = defaultdict(list)

    def add(self, recorded: list[Stop]) -> None:
        """Add one person's check-ins, in time order."""
        for before, after in pairwise(recorded):
            if after.minute - before.minute < _ONE_WALK and after.venue != before.venue:
                self._onward[before.venue].append(after.venue)
                self._onward_to[before.venue, self._group[after.venue]].append(after.venue)

    def follow(self, here: int, group: str, draws: Draws) -> int | None:
        """A venue of the group two hops from here, drawn by the counts of both hops; None if there is none."""
        middles = self._onward.get(here)
        if not middles:
            return None
        ends = self._onward_to.get((middles[draws.below(len(middles))], group))
        return ends[draws.below(len(ends))] if ends else None


class Life:
    """A person with a memory of places."""

    def __init__(self, person: Person, city: City, routes: Routes, draws: Draws) -> None:
        self.person = person
        self.city = city
        self.routes = routes
        self.draws = draws
        self.errands = TIMETABLES[person.timetable]
        self._groups = ["home" if errand.group == "friend" else errand.group for errand in self.errands]
        self._known: dict[str, list[int]] = {group: [] for group in GROUPS}
        # Visits to each known place: in all (_ANY), by errand, and by errand and weekday
        self._memory: dict[int, dict[int | tuple[int, int], int]] = {}
        own = {"home": person.home, "family": person.family, "school run": person.school, "airport": city.airport}
        own |= {"home_hub": city.hub_near(person.home), "work_hub": city.hub_near(person.anchors[0])}
        self._own = [own.get(errand.group, -1) for errand in self.errands]
        self._chances = [
            [
                (errand.weekday, errand.saturday, errand.sunday)[max(day - 4, 0)]
                * (2 if day == 4 and errand.group in ("night", "dinner", "show") else 1)
                * habit[day]
                // 100
                * (errand.group != "school run" or person.school >= 0)
                for errand, habit in zip(self.errands, person.habits, strict=True)
            ]
            for day in range(7)
        ]
        self._settle_in()

    def _settle_in(self) -> None:
        """Remember places known before the record begins."""
        person, draws = self.person, self.draws
        for number, errand in enumerate(self.errands):
            group = self._groups[number]
            if self._own[number] >= 0 or group not in CIRCLE:
                continue
            categories = [c for c in GROUPS[group] if person.tastes[c]] or GROUPS[group]
            shares = [CATEGORIES[c].share * (1 + person.tastes[c]) for c in categories]
            for _ in range((CIRCLE[group] * person.circle // 100 + draws.below(100)) // 100):
                origin = person.home if errand.near == "home" or draws.chance(400) else person.anchors[0]
                venue = self.city.discover(
                    categories[draws.pick(shares)], origin, [*self._known[group], person.home], draws
                )
                if venue is not None:
                    self._remember(venue, number, draws.below(7), _FAMILIARITY[draws.below(len(_FAMILIARITY))])

    def live(self) -> list[Stop]:
        person, draws = self.person, self.draws
        stops: list[Stop] = []
        for day in range(person.first_day, person.last_day):
            weekday = day % 7
            here, minute = _ANY, 0
            for number, chance in enumerate(self._chances[weekday]):
                if not chance or not draws.chance(chance):
                    continue
                errand = self.errands[number]
                start = draws.between(errand.start, errand.end) + (person.shift if weekday < 5 else 0)
                start = max(start, minute + draws.between(5, 20))
                if start >= _LATEST:
                    break
                venue = self._choose(number, weekday, start // 60 % 24, person.home if here == _ANY else here)
                if venue is None or venue == here:
                    continue
                self._remember(venue, number, weekday)
                stops.append(Stop(day * 1440 + start, venue))
                here, minute = venue, start
        return stops

    def _remember(self, venue: int, number: int, weekday: int, times: int = 1) -> None:
        memory = self._memory.get(venue)
        if memory is None:
            memory = self._memory[venue] = {}
            if venue != self.person.home:
                self._known[CATEGORIES[self.city.category[venue]].group].append(venue)
        for key in (_ANY, number, (number, weekday)):
            memory[key] = memory.get(key, 0) + times

    def _choose(self, number: int, weekday: int, hour: int, here: int) -> int | None:
        errand, person, draws = self.errands[number], self.person, self.draws
        if self._own[number] >= 0:
            return self._own[number]
        if errand.group == "campus":
            return person.anchors[_LECTURES[(weekday + number) % len(_LECTURES)]]
        if errand.group == "anchor":
            return person.anchors[-1 if draws.chance(_SECOND_OFFICE) else 0]
        familiar = self._known[self._groups[number]]
        origin = person.home if errand.near == "home" else here
        busy = BUSY[weekday >= 5][hour]
        explore = EXPLORE[min(len(self._memory), len(EXPLORE) - 1)] * _EXPLORE_PART * person.curiosity // 100
        if not familiar or draws.below(1_000_000) < explore:
            venue = self._follow(number, here, busy)
            if venue is None:
                venue = self._discover(number, familiar, origin, busy)
            if venue is not None or not familiar:
                return venue
        return self._return(number, weekday, familiar, origin, busy)

    def _follow(self, number: int, here: int, busy: tuple[int, ...]) -> int | None:
        """Explore along a shared route: an open, unknown venue not far from here."""
        point_of, (x, y) = self.city.at, self.city.at[here]
        for _ in range(_LOOKS):
            venue = self.routes.follow(here, self._groups[number], self.draws)
            if venue is None or venue in self._memory or venue in (here, self.person.home):
                continue
            away = abs(point_of[venue][0] - x) + abs(point_of[venue][1] - y)
            if away < _ROUTE_METRES and busy[self.city.category[venue]]:
                return venue
        return None

    def _discover(self, number: int, familiar: list[int], origin: int, busy: tuple[int, ...]) -> int | None:
        """Explore: a kind of venue by taste and opening hours, then a venue by appeal and gravity."""
        categories = GROUPS[self._groups[number]]
        shares = [CATEGORIES[c].share * busy[c] * (1 + self.person.tastes[c]) for c in categories]
        if not any(shares):
            return None
        return self.city.discover(
            categories[self.draws.pick(shares)], origin, [*familiar, self.person.home], self.draws
        )

    def _return(self, number: int, weekday: int, familiar: list[int], origin: int, busy: tuple[int, ...]) -> int | None:
        """Preferential return: in proportion to earlier visits."""
        point_of, category, memory = self.city.at, self.city.category, self._memory
        (x, y), pull, day = point_of[origin], _KNOWN.by_distance, (number, weekday)
        weights = []
        for venue in familiar:
            weight = busy[category[venue]]
            if weight:
                past, (venue_x, venue_y) = memory[venue], point_of[venue]
                away = isqrt((venue_x - x) * (venue_x - x) + (venue_y - y) * (venue_y - y)) // 100
                visits = past[_ANY] + _SAME_ERRAND * past.get(number, 0) + _SAME_WEEKDAY * past.get(day, 0)
                weight *= visits * pull[min(away, REACH)]
            weights.append(weight)
        return familiar[self.draws.pick(weights)] if any(weights) else None


_MOOD_CHANGES: Final = 400  # per mille of days on which activity may change
_PASSIVE: Final = 25  # per mille of the usual chance on passive days
_MOMENTUM_MINUTES: Final = 180  # how long a check-in makes the next one likelier,
_MOMENTUM: Final = 200  # by so many per cent
_AGAIN: Final = 36  # per mille of check-ins that are repeated before the person moves on
_CERTAIN: Final = 100_000_000_000  # per mille of eagerness, of the category, of the mood, and per cent of momentum


def check_in(person: Person, city: City, stops: list[Stop], draws: Draws) -> list[Stop]:
    """The visits that are checked in: on active days, by eagerness and category.

    Most visits are never recorded, and check-ins come in bursts.
    """
    chances = [
        person.eagerness * category.recorded * tell // 1000
        for category, tell in zip(CATEGORIES, person.tells, strict=True)
    ]
    recorded: list[Stop] = []
    active, today, last = draws.chance(person.active_days), -1, -_MOMENTUM_MINUTES
    for place, stop in enumerate(stops):
        day = stop.minute // 1440
        if day != today:
            if draws.chance(_MOOD_CHANGES):
                active = draws.chance(person.active_days)
            today = day
        chance = chances[city.category[stop.venue]] * (1_000 if active else _PASSIVE)
        chance *= _MOMENTUM if stop.minute - last < _MOMENTUM_MINUTES else 100
        if draws.below(_CERTAIN) >= chance:
            continue
        recorded.append(stop)
        last = stop.minute
        if draws.chance(_AGAIN):
            later = stop.minute + draws.between(20, 180)
            if place + 1 == len(stops) or later < stops[place + 1].minute:
                recorded.append(Stop(later, stop.venue))
                last = later
    return recorded
