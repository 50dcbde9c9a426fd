"""Saltmere's map, drawn by hand in map.toml. Metres from Tram Square.

The city is invented and lies in the open Atlantic, where no real place is. No seed changes its shape.
"""

import tomllib
from pathlib import Path
from typing import Any, Final, NamedTuple

from recap.synthetic.shapes import Line, Point

CITY: Final = "Saltmere"
LATITUDE_0: Final = 46_000_000  # microdegrees
LONGITUDE_0: Final = -16_000_000
FAR: Final = 90_000  # metres; a camera never reaches the edge of the map


def _with_points(value: Any) -> Any:
    """Values read from TOML, with tuples in place of lists of whole numbers."""
    if isinstance(value, dict):
        return {name: _with_points(inner) for name, inner in value.items()}
    if not isinstance(value, list):
        return value
    return tuple(value) if all(isinstance(inner, int) for inner in value) else [_with_points(inner) for inner in value]


_MAP: Final = _with_points(tomllib.loads(Path(__file__).with_name("map.toml").read_text(encoding="utf-8")))


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


COAST: Final[Line] = _MAP["coast"]
"""Land lies north of it, sea south of it; west to east."""
RIVER: Final[Line] = _MAP["river"]
RIVER_WIDTHS: Final[tuple[int, ...]] = _MAP["river_widths"]
AIRFIELD: Final[Line] = _MAP["airfield"]
RUNWAY: Final[Line] = _MAP["runway"]
ISLANDS: Final[dict[str, Line]] = _MAP["islands"]
LAKES: Final[dict[str, Line]] = _MAP["lakes"]
QUAYS: Final[dict[str, Line]] = _MAP["quays"]
PARKS: Final[dict[str, Line]] = _MAP["parks"]
ROADS: Final[dict[str, Line]] = _MAP["roads"]
RAILS: Final[dict[str, Line]] = _MAP["rails"]
FERRIES: Final[dict[str, Line]] = _MAP["ferries"]
BRIDGES: Final[dict[str, str]] = _MAP["bridges"]
"""What carries a road or a railway over the river: road or railway -> name of its bridge."""
DISTRICTS: Final = tuple(District(**values) for values in _MAP["districts"])
HUBS: Final = tuple(Hub(*values) for values in _MAP["hubs"])
WATER_LABELS: Final[list[tuple[str, Point]]] = _MAP["water_labels"]
PARK_LABELS: Final[list[tuple[str, Point]]] = _MAP["park_labels"]
