"""The city's kinds of venues and its people's days, both from days.toml."""

import tomllib
from pathlib import Path
from typing import Any, Final, NamedTuple

KINDS: Final = ("centre", "harbour", "nightlife", "business", "works", "homes", "campus", "village", "town")
"""Kinds of districts, in the order of the digits of `Category.where`."""

_DAYS: Final[dict[str, Any]] = tomllib.loads(Path(__file__).with_name("days.toml").read_text(encoding="utf-8"))
_HOURS: Final[dict[str, list[str]]] = _DAYS["hours"]
"""Busyness by hour of the day, one digit per hour from midnight; 0 is closed. Monday to Friday, Saturday and Sunday."""
EXPLORE: Final[list[int]] = _DAYS["explore"]
"""Chance that a new place is tried, by number of places known."""
MIX: Final[dict[str, Any]] = _DAYS["people"]
"""What people are drawn from."""
CIRCLE: Final[dict[str, int]] = _DAYS["circle"]
"""Number of places known before the record, by group."""


class Category(NamedTuple):
    """One kind of venue.

    venues: number in a city of 620 people. group: the errand it serves. share: its weight in the group when a new place
    is tried. where: density in each of `KINDS` (a digit each). hours: a key of the busyness table. recorded: visits
    checked in, per mille. spread: how unequal venues are in appeal (0 alike, 3 very unequal).
    """

    name: str
    group: str
    venues: int
    share: int
    where: str
    hours: str
    recorded: int
    spread: int


CATEGORIES: Final = tuple(Category(*values) for values in _DAYS["categories"])
CATEGORY_INDEX: Final = {category.name: index for index, category in enumerate(CATEGORIES)}
GROUPS: Final = {
    group: tuple(i for i, category in enumerate(CATEGORIES) if category.group == group)
    for group in dict.fromkeys(category.group for category in CATEGORIES)
}
BUSY: Final = tuple(
    tuple(tuple(int(_HOURS[category.hours][weekend][hour]) for category in CATEGORIES) for hour in range(24))
    for weekend in (False, True)
)
"""Busyness, 0 to 9, by weekend (0 or 1), local hour and category."""


class Errand(NamedTuple):
    """One possible stop of a day.

    group: a venue group, or the person's own 'home', 'anchor' (workplace), 'family',
        'school run', 'airport', 'home_hub' and 'work_hub' (the stations next to them).
    start, end: local minutes of the day between which it begins. weekday, saturday, sunday: chance per mille.
    near: where a venue is sought from, 'here' (the last stop) or 'home'.
    """

    name: str
    group: str
    start: int
    end: int
    weekday: int
    saturday: int
    sunday: int
    near: str = "here"


TIMETABLES: Final[dict[str, tuple[Errand, ...]]] = {
    kind: tuple(Errand(*values) for values in errands) for kind, errands in _DAYS["timetables"].items()
}
"""What fills a day, by type of person."""
