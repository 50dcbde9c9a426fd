"""Which visits are checked in: most of what people do is never recorded, and what is comes in bursts."""

from typing import Final

from recap.data.synthetic.categories import CATEGORIES
from recap.data.synthetic.draws import Draws
from recap.data.synthetic.people import Person
from recap.data.synthetic.stops import Stop
from recap.data.synthetic.walk import City

_MOOD_CHANGES: Final = 400  # per mille of days on which active may turn passive and back
_PASSIVE: Final = 25  # per mille of the usual chance on passive days
_MOMENTUM_MINUTES: Final = 180  # for so long after a check-in the next one comes easier,
_MOMENTUM: Final = 200  # by so many per cent
_AGAIN: Final = 36  # per mille of check-ins that are repeated before the person moves on
_CERTAIN: Final = 100_000_000_000  # per mille of eagerness, of the category, of the mood, and per cent of momentum


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
