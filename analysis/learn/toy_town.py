"""A town of thirty places whose transitions follow known rules.

Each of twelve houses has its own stop; each of six squares belongs to two houses. Users go from a house to its stop,
and from a stop to its square. Every outing is one transition. Two kinds can be mixed in:

- **Two-hop**: straight from a house to its square. From the six open houses users also do so in training. From the
  closed ones nobody does before the test, so only the path house -> stop -> square predicts it.
- **Returns**: from a square to a place that the user prefers this season. Only the user's latest visits predict it.

The first weeks are ordinary, so that every path exists.

Positions are an input of the core. Each kind of place therefore has its own quarter, and all houses are in one street.
Otherwise the core would learn squares from positions.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from typing import Any, Final, Literal

import numpy as np
import pandas as pd

from recap import columns as c
from recap.data.cleaning import DataConfig
from recap.data.dataset import Dataset
from recap.data.preparation import prepare_dataset
from recap.errors import ConfigError

HOUSES: Final = 12
SQUARES: Final = 6
TOWN_PLACES: Final = 2 * HOUSES + SQUARES
MAX_SHARE: Final = 0.5
"""Of each planted kind: at most half of all transitions."""

Kind = Literal["ordinary", "two_hop", "return"]

_KIND: Final = "kind"
_PEOPLE: Final = 60
_OUTINGS: Final = {"train": 24, "val": 4, "test": 8}
"""Outings of each person."""
_SEASON: Final = 8
"""Outings until a person takes to another place."""
_START: Final = pd.Timestamp("2024-01-08 08:00", tz="UTC")
EARLY_SHARE: Final = 0.25
"""Share of the training that is ordinary; users leave closed houses only then. A model that trains on the rest knows
the first hop of the path from the graph alone."""
_FROM_CLOSED: Final = 0.3
"""Share of the early transitions that leave a closed house."""
_STREET: Final = (45.04, -30.0)
"""Where the street of the houses begins; degrees in the open Atlantic."""
_SOUTH: Final = 44.94
"""Latitude of the quarter of the squares."""
_DOOR: Final = 1e-4
"""Degrees of longitude, some 8 m, from a house to the next."""


@dataclass(frozen=True)
class ToyTown:
    """A generated town: check-ins with the town's own split, and the kind of every test case."""

    dataset: Dataset
    kinds: tuple[Kind, ...]


def stop_of(house: int) -> int:
    """The stop of a house. Houses are places 0 to 11, stops 12 to 23, squares 24 to 29.

    >>> stop_of(0), square_of(0), square_of(6), square_of(7)
    (12, 24, 24, 25)
    """
    return HOUSES + house


def square_of(house: int) -> int:
    """The square of a house's path; an open and a closed house share one."""
    return 2 * HOUSES + house % SQUARES


def build_toy_town(two_hop_share: float, return_share: float, seed: int = 0) -> ToyTown:
    """Generate a town of sixty users.

    ConfigError: a share of planted transitions (straight to the square; back to a place of this season) is above
    `MAX_SHARE` or negative.
    """
    for name, share in (("two_hop_share", two_hop_share), ("return_share", return_share)):
        if not 0 <= share <= MAX_SHARE:
            raise ConfigError(f"{name} must be between 0 and {MAX_SHARE:g}, not {share!r}")
    generator = np.random.default_rng([seed, round(100 * two_hop_share), round(100 * return_share)])
    spots = [_position(place, seed) for place in range(TOWN_PLACES)]
    rows = [row for person in range(_PEOPLE) for row in _life(person, two_hop_share, return_share, spots, generator)]
    table = pd.DataFrame(rows).astype({c.TZ_OFFSET_MINUTES: "int64", c.SPLIT: "int8"})
    table[c.TIME], kinds = table[c.TIME].dt.as_unit("s"), table.pop(_KIND)
    dataset = prepare_dataset(
        table,
        DataConfig(min_poi_checkins=1, min_user_checkins=1, min_trajectory_length=1),
        name="Toy town",
        source_format="synthetic",
        synthetic=True,
    )
    tested = dataset.checkins[c.SOURCE_ROW].to_numpy()[dataset.cases(c.TEST)]
    return ToyTown(dataset, tuple(kinds[tested]))


def _life(
    person: int, two_hop: float, returns: float, spots: list[tuple[float, float]], generator: np.random.Generator
) -> Iterator[dict[str, Any]]:
    """A person's outings, one a day, each of two check-ins; validation and test are one season, the last."""
    favourite, days = 0, count()
    for split, outings in _OUTINGS.items():
        early = int(EARLY_SHARE * outings) if split == "train" else 0
        first_weeks: list[Kind] = ["ordinary"] * early
        for index, kind in enumerate([*first_weeks, *_mix(outings - early, two_hop, returns, generator)]):
            if split != "test" and index % _SEASON == 0:
                favourite = int(generator.integers(TOWN_PLACES))
            day = next(days)
            began = _START + pd.Timedelta(days=day, minutes=person)
            ends = _ends(kind, split, index < early, favourite, generator)
            for place, time in zip(ends, (began, began + pd.Timedelta(hours=2)), strict=True):
                yield {
                    c.USER_ID: f"person {person + 1:02d}",
                    c.POI_ID: f"place {place:02d}",
                    c.POI_NAME: place_name(place),
                    c.CATEGORY_ID: kind_of_place(place),
                    c.CATEGORY: kind_of_place(place),
                    c.LATITUDE: spots[place][0],
                    c.LONGITUDE: spots[place][1],
                    c.TZ_OFFSET_MINUTES: 0,
                    c.TIME: time,
                    c.TRAJECTORY_ID: f"{person}-{day}",
                    c.SPLIT: c.SPLIT_NAMES.index(split),
                    _KIND: kind,
                }


def _mix(outings: int, two_hop: float, returns: float, generator: np.random.Generator) -> list[Kind]:
    """Kinds of a person's transitions, in the given shares on average."""
    planted: dict[Kind, float] = {"two_hop": two_hop, "return": returns}
    kinds = [kind for kind, share in planted.items() for _ in range(int(share * outings + generator.random()))]
    every: list[Kind] = [*kinds, *["ordinary"] * outings]  # type: ignore[list-item] # a literal
    return [every[outing] for outing in generator.permutation(outings)]


def _ends(kind: Kind, split: str, is_early: bool, favourite: int, generator: np.random.Generator) -> tuple[int, int]:
    if kind == "two_hop":
        house = int(generator.integers(SQUARES)) + (0 if split == "train" else SQUARES)
        return house, square_of(house)
    while kind == "return":
        source = 2 * HOUSES + int(generator.integers(SQUARES))
        if source != favourite:
            return source, favourite
    if is_early and generator.random() < _FROM_CLOSED:
        house = int(generator.integers(SQUARES, HOUSES))
        return house, stop_of(house)
    place = int(generator.choice([*range(SQUARES), *range(HOUSES, 2 * HOUSES)]))
    return place, stop_of(place) if place < HOUSES else square_of(place - HOUSES)


def kind_of_place(place: int) -> str:
    return "House" if place < HOUSES else "Stop" if place < 2 * HOUSES else "Square"


def place_name(place: int) -> str:
    """The name on the lesson's map.

    >>> place_name(0), place_name(12), place_name(29)
    ('House 1', 'Stop 1', 'Square 6')
    """
    return f"{kind_of_place(place)} {_number_in_kind(place) + 1}"


def map_position(place: int, seed: int) -> tuple[float, float]:
    """Position on the lesson's map in degrees: squares in the middle, then stops, then houses.

    The seed gives the order on each ring. The dataset has other positions.
    """
    rings = {"Square": (SQUARES, 0.011), "Stop": (HOUSES, 0.022), "House": (HOUSES, 0.03)}
    number, radius = rings[kind_of_place(place)]
    slots = np.random.default_rng([seed, number, int(1000 * radius)]).permutation(number)
    angle = 2 * np.pi * slots[_number_in_kind(place)] / number
    return round(45.0 + radius * float(np.sin(angle)), 5), round(-30.0 + 1.4 * radius * float(np.cos(angle)), 5)


def _position(place: int, seed: int) -> tuple[float, float]:
    """Position of a place in the dataset, in degrees."""
    if place < HOUSES:
        return _STREET[0], round(_STREET[1] + _DOOR * place, 5)
    latitude, longitude = map_position(place, seed)
    if kind_of_place(place) == "Square":
        latitude = _SOUTH + (latitude - 45.0) / 3
    return round(latitude, 5), longitude


def _number_in_kind(place: int) -> int:
    return place - {"House": 0, "Stop": HOUSES, "Square": 2 * HOUSES}[kind_of_place(place)]
