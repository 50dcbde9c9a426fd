"""Saltmere's map, drawn by hand in map.toml. Metres from Tram Square.

The city is invented and lies in the open Atlantic, where no real place is. No seed changes its shape.
"""

import tomllib
from pathlib import Path
from typing import Any, Final, NamedTuple

from recap.synthetic.shapes import Line, Point

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


MAP: Final[dict[str, Any]] = _with_points(
    tomllib.loads(Path(__file__).with_name("map.toml").read_text(encoding="utf-8"))
)
"""Outlines and lines by name. Land lies north of the coast, sea south of it; west to east."""


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


DISTRICTS: Final = tuple(District(**values) for values in MAP["districts"])
