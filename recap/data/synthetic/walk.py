"""A person's days: exploration and preferential return (Song et al., Nature Physics 2010) along a timetable.

At each errand the person either tries a place never visited, with chance rho * S**-gamma (S: places known so far), or
returns to a known one in proportion to earlier visits. Both are weighed by distance (gravity) and opening hours. Which
visits are checked in is decided afterwards (`check_in`), so gaps in the record are not gaps in the life.
"""

from math import isqrt
from typing import Final, NamedTuple

import numpy as np

from recap.data.synthetic.categories import BUSY, CATEGORIES, GROUPS
from recap.data.synthetic.draws import Draws
from recap.data.synthetic.people import Person
from recap.data.synthetic.timetables import TIMETABLES
from recap.data.synthetic.venues import Venue

# 0.6 * S**-0.21 per mille for S = 1 .. 64 places (rho and gamma of Song et al.); the last one holds beyond
_EXPLORE: Final = (
    600, 519, 476, 448, 428, 412, 399, 388, 378, 370, 363, 356, 350, 345, 340, 335, 331, 327, 323, 320, 317, 314, 311,
    308, 305, 303, 300, 298, 296, 294, 292, 290, 288, 286, 284, 283, 281, 280, 278, 277, 275, 274, 272, 271, 270, 268,
    267, 266, 265, 264, 263, 262, 261, 260, 259, 258, 257, 256, 255, 254, 253, 252, 251, 251,
)  # fmt: skip
_EXPLORE_PART: Final = 600  # per mille of the above: most errands of a timetable are settled habits
_REACH: Final = 600  # hundreds of metres
# Pull of a place by its distance in hundreds of metres, as whole numbers: steep for new places, gentler for known ones
_PULL: Final = [10**12 // (away + 3) ** 4 for away in range(_REACH + 1)]
_RETURN_PULL: Final = [10**12 // (away + 5) ** 3 for away in range(_REACH + 1)]
# _PULL by squared distance, for whole arrays of venues
_PULL_SQUARED: Final = np.repeat(np.array(_PULL, dtype=np.int64), [2 * away + 1 for away in range(_REACH + 1)])
_SAME_ERRAND: Final = 6  # weight of an earlier visit on the same errand, beside 1 for any earlier visit
_SAME_WEEKDAY: Final = 16  # and of one on the same errand and weekday
# Places known on arrival per errand of a group, in hundredths for a circle of 100; and how often each was visited
_CIRCLE: Final = {
    "coffee": 200, "lunch": 300, "dinner": 400, "night": 300, "grocery": 200, "service": 200, "sport": 150, "shop": 200,
    "outdoor": 300, "culture": 200, "show": 150, "home": 200, "work": 200,
}  # fmt: skip
_FAMILIARITY: Final = (1, 1, 2, 2, 3, 3, 4, 5, 7, 10)
_MOOD_CHANGES: Final = 400  # per mille of days on which active may turn passive and back
_PASSIVE: Final = 40  # per mille of the usual chance on passive days
_MOMENTUM_MINUTES: Final = 180  # for so long after a check-in the next one comes easier,
_MOMENTUM: Final = 200  # by so many per cent
_AGAIN: Final = 22  # per mille of check-ins that are repeated before the person moves on
_LATEST: Final = 1_590  # minutes after midnight at which the longest day ends


class Stop(NamedTuple):
    """One visit: minutes of local time since the first midnight, and the venue."""

    minute: int
    venue: int


class City:
    """Venues arranged for quick choices."""

    def __init__(self, venues: list[Venue]) -> None:
        self.at = [venue.at for venue in venues]
        self.category = [venue.category for venue in venues]
        self._members: list[tuple[list[int], np.ndarray, np.ndarray]] = []
        for category in range(len(CATEGORIES)):
            members = [index for index, venue in enumerate(venues) if venue.category == category]
            where = np.array([self.at[index] for index in members], dtype=np.int64).reshape(-1, 2)
            self._members.append(
                (members, where, np.array([venues[index].appeal for index in members], dtype=np.int64))
            )

    def discover(self, category: int, origin: int, known: list[int], draws: Draws) -> int | None:
        """A venue of the category that is not known yet, by appeal and gravity; None when all are known."""
        members, where, appeal = self._members[category]
        away = (where - np.array(self.at[origin])) // 100
        squared = np.minimum((away * away).sum(axis=1), len(_PULL_SQUARED) - 1)
        weights = appeal * _PULL_SQUARED[squared]
        for index in known:
            if self.category[index] == category:
                weights[members.index(index)] = 0
        sums = weights.cumsum()
        if not len(sums) or sums[-1] <= 0:
            return None
        return members[int(np.searchsorted(sums, draws.below(int(sums[-1])), side="right"))]


class Walker:
    """A person with a memory of places."""

    def __init__(self, person: Person, city: City, draws: Draws) -> None:
        self.person = person
        self.city = city
        self.draws = draws
        self.errands = TIMETABLES[person.timetable]
        self._known: dict[str, list[int]] = {group: [] for group in GROUPS}
        self._places = 0
        self._visits: dict[int, int] = {}
        self._routine: dict[tuple[int, int], int] = {}
        own = {"home": person.home, "home_hub": person.home_hub, "work_hub": person.work_hub, "family": person.family}
        self._own = [own.get(errand.group, -1) for errand in self.errands]
        self._chances = [
            [
                (errand.weekday, errand.saturday, errand.sunday)[max(day - 4, 0)]
                * (2 if day == 4 and errand.group in ("night", "dinner", "show") else 1)
                * habit[day]
                // 100
                for errand, habit in zip(self.errands, person.habits, strict=True)
            ]
            for day in range(7)
        ]

    def settle_in(self) -> None:
        """Remember the places known from the years before the record begins: some around home, some around work."""
        person, draws = self.person, self.draws
        for number, errand in enumerate(self.errands):
            group = "home" if errand.group == "friend" else errand.group
            if self._own[number] >= 0 or group not in _CIRCLE:
                continue
            for _ in range((_CIRCLE[group] * person.circle // 100 + draws.below(100)) // 100):
                origin = person.home if errand.near == "home" or draws.chance(400) else person.anchors[0]
                categories = [c for c in GROUPS[group] if person.tastes[c]] or GROUPS[group]
                category = categories[draws.pick([CATEGORIES[c].share * (1 + person.tastes[c]) for c in categories])]
                venue = self.city.discover(category, origin, self._known[group], draws)
                if venue is not None:
                    times = _FAMILIARITY[draws.below(len(_FAMILIARITY))]
                    self._remember(venue, number, draws.below(7), times)

    def live(self) -> list[Stop]:
        """All visits of the stay, in time order."""
        person, draws = self.person, self.draws
        stops: list[Stop] = []
        for day in range(person.first_day, person.last_day):
            weekday = day % 7
            here, minute = -1, 0
            for number, chance in enumerate(self._chances[weekday]):
                if not draws.chance(chance):
                    continue
                errand = self.errands[number]
                start = draws.between(errand.start, errand.end) + (person.shift if weekday < 5 else 0)
                start = max(start, minute + draws.between(5, 20))
                if start >= _LATEST:
                    break
                venue = self._choose(number, weekday, start // 60 % 24, person.home if here < 0 else here)
                if venue is None or venue == here:
                    continue
                self._remember(venue, number, weekday)
                stops.append(Stop(day * 1440 + start, venue))
                here, minute = venue, start
        return stops

    def _remember(self, venue: int, number: int, weekday: int, times: int = 1) -> None:
        if venue not in self._visits:
            self._visits[venue] = 0
            self._places += 1
            self._known[CATEGORIES[self.city.category[venue]].group].append(venue)
        self._visits[venue] += times
        for routine in ((venue, number), (venue, 100 * (weekday + 1) + number)):
            self._routine[routine] = self._routine.get(routine, 0) + times

    def _choose(self, number: int, weekday: int, hour: int, here: int) -> int | None:
        """Where an errand is done: at the person's own places, at a known place, or at a new one."""
        errand, person, draws = self.errands[number], self.person, self.draws
        if self._own[number] >= 0:
            return self._own[number]
        if errand.group == "campus":
            return person.anchors[(0, 1, 0, 2, 0, 1)[(weekday + number) % 6]]
        if errand.group == "anchor":
            return person.anchors[-1 if draws.chance(200) else 0]
        group = "home" if errand.group == "friend" else errand.group
        familiar = [venue for venue in self._known[group] if venue != person.home]
        origin = person.home if errand.near == "home" else here
        explore = _EXPLORE[min(max(self._places, 1), len(_EXPLORE)) - 1] * _EXPLORE_PART * person.curiosity // 100
        if not familiar or draws.below(1_000_000) < explore:
            found = self._discover(group, familiar, origin, weekday >= 5, hour)
            if found is not None or not familiar:
                return found
        x, y = self.city.at[origin]
        weights = []
        for venue in familiar:
            busy = BUSY[self.city.category[venue]][weekday >= 5][hour]
            if busy:
                vx, vy = self.city.at[venue]
                memory = (
                    self._visits[venue]
                    + _SAME_ERRAND * self._routine.get((venue, number), 0)
                    + _SAME_WEEKDAY * self._routine.get((venue, 100 * (weekday + 1) + number), 0)
                )
                away = isqrt((vx - x) * (vx - x) + (vy - y) * (vy - y)) // 100
                busy *= memory * _RETURN_PULL[away if away < _REACH else _REACH]
            weights.append(busy)
        return familiar[draws.pick(weights)] if sum(weights) else None

    def _discover(self, group: str, familiar: list[int], origin: int, weekend: bool, hour: int) -> int | None:
        categories, tastes = GROUPS[group], self.person.tastes
        shares = [CATEGORIES[c].share * BUSY[c][weekend][hour] * (1 + tastes[c]) for c in categories]
        if not sum(shares):
            return None
        return self.city.discover(categories[self.draws.pick(shares)], origin, familiar, self.draws)


def check_in(person: Person, city: City, stops: list[Stop], draws: Draws) -> list[Stop]:
    """The visits that are checked in: on active days, by eagerness and by what the person cares to tell."""
    chances = [
        person.eagerness * category.recorded * tell // 1000
        for category, tell in zip(CATEGORIES, person.tells, strict=True)
    ]
    recorded: list[Stop] = []
    active, today, last = draws.chance(person.active_days), -1, -_MOMENTUM_MINUTES
    for place, stop in enumerate(stops):
        day = stop.minute // 1440
        if day != today:
            # Active days come in stretches
            if draws.chance(_MOOD_CHANGES):
                active = draws.chance(person.active_days)
            today = day
        momentum = _MOMENTUM if stop.minute - last < _MOMENTUM_MINUTES else 100
        mood = 1_000 if active else _PASSIVE
        if draws.below(100_000_000_000) < chances[city.category[stop.venue]] * momentum * mood:
            recorded.append(stop)
            last = stop.minute
            if draws.chance(_AGAIN):
                later = stop.minute + draws.between(20, 180)
                if place + 1 == len(stops) or later < stops[place + 1].minute:
                    recorded.append(Stop(later, stop.venue))
                    last = later
    return recorded
