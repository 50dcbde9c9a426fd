"""The demo city as raw check-ins."""

from datetime import UTC, datetime
from typing import Final

import numpy as np
import pandas as pd

from recap import columns as c
from recap.errors import ConfigError
from recap.synthetic.categories import CATEGORIES
from recap.synthetic.draws import Draws
from recap.synthetic.people import build_people
from recap.synthetic.shapes import Point
from recap.synthetic.venues import City, build_venues
from recap.synthetic.walk import Life, Routes, check_in

PINNED_SEED: Final = 23
PEOPLE: Final = 550
FIRST_DAY: Final = datetime(2024, 1, 8, tzinfo=UTC)  # a Monday; local midnight is UTC midnight in winter
# Days from FIRST_DAY on which clocks change: summer time, one hour ahead, from 31 March to 27 October 2024
_SUMMER: Final = range(83, 293)
_MAX_PEOPLE: Final = 3_000
_LATITUDE_0: Final = 46_000_000  # microdegrees
_LONGITUDE_0: Final = -16_000_000


def build_demo_city(seed: int = PINNED_SEED, people: int = PEOPLE) -> pd.DataFrame:
    """Simulate invented people in Saltmere for 42 weeks and return their check-ins.

    The model is that of `walk`; the table is the same on every machine (`draws`). Returns raw check-ins
    sorted by time: `recap.columns.RAW_COLUMNS` plus `poi_name`, in the open Atlantic, with offsets of 0 in winter and
    60 minutes in summer. Raises ConfigError: the seed is not in [0, 2**32), or people not in [1, 3000].

    Args:
        seed: decides people and venues, not the city's shape.
        people: how many; the number of venues grows with it.
    """
    if not isinstance(seed, int) or isinstance(seed, bool) or not 0 <= seed < 2**32:
        raise ConfigError(f"the demo city's seed must be a whole number from 0 to {2**32 - 1}, not {seed!r}")
    if not isinstance(people, int) or isinstance(people, bool) or not 1 <= people <= _MAX_PEOPLE:
        raise ConfigError(f"the demo city takes 1 to {_MAX_PEOPLE} people, not {people!r}")
    venues = build_venues(seed, people)
    city = City(venues)
    routes = Routes(city.category)
    rows: list[tuple[int, int, int, int]] = []
    for number, person in enumerate(build_people(city, seed, people)):
        stops = Life(person, city, routes, Draws(seed, 3, number)).live()
        seconds = Draws(seed, 4, number)
        recorded = check_in(person, city, stops, seconds)
        routes.add(recorded)
        for stop in recorded:
            offset = 60 if stop.minute // 1440 in _SUMMER else 0
            rows.append(((stop.minute - offset) * 60 + seconds.below(60), number, stop.venue, offset))
    rows.sort()
    table = np.array(rows, dtype=np.int64).reshape(-1, 4)
    second, user, venue, offset_column = table.T
    longitude, latitude = (np.array(axis) for axis in zip(*map(degrees_of_metres, city.at), strict=True))
    category = np.array(city.category)[venue]
    frame = pd.DataFrame(
        {
            c.USER_ID: _names("w{:04d}", people)[user],
            c.POI_ID: _names("v{:04d}", len(venues))[venue],
            c.CATEGORY_ID: _names("c{:02d}", len(CATEGORIES))[category],
            c.CATEGORY: np.array([kind.name for kind in CATEGORIES], dtype=object)[category],
            c.LATITUDE: latitude[venue],
            c.LONGITUDE: longitude[venue],
            c.TZ_OFFSET_MINUTES: offset_column.astype(np.int64),
            c.TIME: pd.to_datetime(second + int(FIRST_DAY.timestamp()), unit="s", utc=True).as_unit("s"),
            c.POI_NAME: np.array([v.name for v in venues], dtype=object)[venue],
        }
    )
    return frame[[*c.RAW_COLUMNS, c.POI_NAME]]


def degrees_of_metres(point: Point, digits: int = 5) -> tuple[float, float]:
    """(longitude, latitude) of a point in metres from the city's middle, in integer arithmetic: one degree is 111,195 m
    of latitude and 77,243 m of longitude, exact within 0.5 % in the whole city.
    """
    x, y = point
    unit = 10 ** (6 - digits)
    longitude = (_LONGITUDE_0 + x * 12_946 // 1000) // unit
    latitude = (_LATITUDE_0 + y * 8_993 // 1000) // unit
    return longitude / 10**digits, latitude / 10**digits


def _names(pattern: str, count: int) -> np.ndarray:
    return np.array([pattern.format(number + 1) for number in range(count)], dtype=object)
