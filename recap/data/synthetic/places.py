"""Saltmere's map, drawn by hand in map.toml. Metres from Tram Square.

The city is invented and lies in the open Atlantic, where no real place is. No seed changes its shape.
"""

import tomllib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from recap.data.synthetic.shapes import Line, Point

CITY: Final = "Saltmere"
LATITUDE_0: Final = 46_000_000  # microdegrees
LONGITUDE_0: Final = -16_000_000
FAR: Final = 90_000  # metres; a camera never reaches the edge of the map
_MAP: Final[dict[str, Any]] = tomllib.loads(Path(__file__).with_name("map.toml").read_text(encoding="utf-8"))


def _point(at: Sequence[int]) -> Point:
    x, y = at
    return x, y


def _line(points: Iterable[Sequence[int]]) -> Line:
    return [_point(at) for at in points]


def _lines(name: str) -> dict[str, Line]:
    return {name: _line(points) for name, points in _MAP[name].items()}


class District(NamedTuple):
    """A named quarter: `kind` decides what opens there; `grid` is the direction of streets (east, north, length), a
    Pythagorean triple; `blocks` the spacing of streets and cross streets in metres; `bend` the radius of their curves
    (0: straight); `heart` the busiest point.
    """

    name: str
    kind: str
    outline: Line
    grid: tuple[int, int, int]
    blocks: tuple[int, int]
    bend: int
    heart: Point
    label: Point


class Hub(NamedTuple):
    """A station or stop."""

    name: str
    category: str
    at: Point
    weight: int


COAST: Final = _line(_MAP["coast"])
"""Land lies north of it, sea south of it; west to east."""
RIVER: Final = _line(_MAP["river"])
RIVER_WIDTHS: Final[tuple[int, ...]] = tuple(_MAP["river_widths"])
AIRFIELD: Final = _line(_MAP["airfield"])
RUNWAY: Final = _line(_MAP["runway"])
ISLANDS: Final = _lines("islands")
LAKES: Final = _lines("lakes")
QUAYS: Final = _lines("quays")
PARKS: Final = _lines("parks")
ROADS: Final = _lines("roads")
RAILS: Final = _lines("rails")
FERRIES: Final = _lines("ferries")
BRIDGES: Final[dict[str, str]] = _MAP["bridges"]
"""What carries a road or a railway over the river: road or railway -> name of its bridge."""
DISTRICTS: Final = tuple(
    District(
        values["name"],
        values["kind"],
        _line(values["outline"]),
        tuple(values["grid"]),
        tuple(values["blocks"]),
        values["bend"],
        _point(values["heart"]),
        _point(values["label"]),
    )
    for values in _MAP["districts"]
)
HUBS: Final = tuple(Hub(name, category, _point(at), weight) for name, category, at, weight in _MAP["hubs"])
WATER_LABELS: Final = tuple((name, _point(at)) for name, at in _MAP["water_labels"])
PARK_LABELS: Final = tuple((name, _point(at)) for name, at in _MAP["park_labels"])
