"""The city's shape: outlines of water, streets, sites for venues, from a map drawn by hand in map.toml.

Metres from Tram Square. The city is invented and lies in the open Atlantic, where no real place is. No seed changes its
shape.
"""

import tomllib
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from recap.synthetic.draws import Draws
from recap.synthetic.shapes import Line, Point, inside, roughen, runs, smooth, widen

FAR: Final = 90_000  # metres; a camera never reaches the edge of the map


MAP: Final[dict[str, Any]] = tomllib.loads(Path(__file__).with_name("map.toml").read_text(encoding="utf-8"))
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


_SHAPE_SEED = 1  # for shores and missing street blocks
_STEP = 40  # metres between possible sites
_STRIDE = 10
_SETBACK = 15  # metres from street to site
_SHORE_MARGIN = 35  # metres from water and park edges
# Per mille
_MISSING_BLOCKS = {"centre": 40, "harbour": 120, "nightlife": 50, "business": 60, "works": 170, "campus": 130}


class Layout(NamedTuple):
    """Outlines in metres. `streets` and `sites` are per district, in the order of `DISTRICTS`."""

    sea: Line
    coast: Line
    river: Line
    islands: dict[str, Line]
    lakes: dict[str, Line]
    parks: dict[str, Line]
    streets: list[list[Line]]
    sites: list[Line]

    def in_water(self, points: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
        """Whether points (rows of x, y in metres) lie in water. Quays count as sea."""
        sea = inside(points, self.sea) & ~_inside_any(points, self.islands.values())
        return sea | _inside_any(points, (self.river, *self.lakes.values()))

    def in_park(self, points: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
        return _inside_any(points, (MAP["airfield"], *self.parks.values()))


@lru_cache(maxsize=1)
def build_layout() -> Layout:
    """Build the city's shape. The result is shared: do not change it."""
    draws = Draws(_SHAPE_SEED, 0)
    coast = smooth(roughen(MAP["coast"], draws, rounds=2, reach=7), 1)
    centre = smooth(roughen(MAP["river"], draws, rounds=1, reach=12), 2)
    last = len(centre) - 1
    widths = MAP["river_widths"]
    layout = Layout(
        sea=[*coast, (FAR, -FAR), (-FAR, -FAR)],
        coast=coast,
        river=widen(centre, [widths[index * (len(widths) - 1) // last] for index in range(last + 1)]),
        islands=_soft(MAP["islands"], draws),
        lakes=_soft(MAP["lakes"], draws),
        parks={name: smooth(outline, 2, closed=True) for name, outline in MAP["parks"].items()},
        streets=[],
        sites=[],
    )
    for district in DISTRICTS:
        streets, sites = _lay_streets(district, layout, draws)
        layout.streets.append(streets)
        layout.sites.append(sites)
    return layout


def _inside_any(points: npt.NDArray[np.int64], outlines: Iterable[Line]) -> npt.NDArray[np.bool_]:
    return np.any([inside(points, outline) for outline in outlines], axis=0)


def dry_shore(points: npt.NDArray[np.int64], layout: Layout) -> npt.NDArray[np.bool_]:
    """Whether points are on land, with a margin to the water on all sides."""
    dry = ~layout.in_water(points)
    for shift in ((_SHORE_MARGIN, 0), (-_SHORE_MARGIN, 0), (0, _SHORE_MARGIN), (0, -_SHORE_MARGIN)):
        dry &= ~layout.in_water(points + np.array(shift))
    return dry


def _soft(outlines: dict[str, Line], draws: Draws) -> dict[str, Line]:
    return {
        name: smooth(roughen(outline, draws, rounds=1, reach=9, closed=True), 3, closed=True)
        for name, outline in outlines.items()
    }


def _lay_streets(district: District, layout: Layout, draws: Draws) -> tuple[list[Line], Line]:
    heart_x, heart_y = district.heart
    reach = max(max(abs(x - heart_x), abs(y - heart_y)) for x, y in district.outline) * 3 // 2
    missing = _MISSING_BLOCKS.get(district.kind, 150)
    along = np.arange(-reach, reach + 1, _STEP, dtype=np.int64)
    lines, besides, built = [], [], []
    for across in (False, True):
        spacing, block = district.blocks[::-1] if across else district.blocks
        for number in range(-reach // spacing, reach // spacing + 1):
            offset = number * spacing + draws.between(-spacing // 8, spacing // 8)
            side = offset + (_SETBACK if number % 2 else -_SETBACK)
            lines.append(_place(district, along, offset, across))
            besides.append(_place(district, along, side, across))
            open_blocks = [not draws.chance(missing) for _ in range(2 * reach // block + 2)]
            built.append([open_blocks[(v + reach) // block] for v in along.tolist()])
    points = np.concatenate(lines)
    kept = np.array(built).ravel() & inside(points, district.outline)
    kept[kept] = ~layout.in_water(points[kept]) & ~layout.in_park(points[kept])
    streets: list[Line] = []
    for line, ok in zip(lines, kept.reshape(len(lines), -1), strict=True):
        if ok.any():
            streets += runs(line.tolist(), ok.tolist(), every=_STRIDE if district.bend else len(line))
    sites = np.concatenate(besides)[kept]
    dry = ~layout.in_park(sites) & dry_shore(sites, layout)
    return [[(x, y) for x, y in street] for street in streets], [(x, y) for x, y in sites[dry].tolist()]


def _place(district: District, along: npt.NDArray[np.int64], offset: int, across: bool) -> npt.NDArray[np.int64]:
    """Points of one street in metres, on the district's bent and turned grid."""
    u, v = (along, np.full_like(along, offset)) if across else (np.full_like(along, offset), along)
    if district.bend:
        u, v = u + v * v // district.bend, v - u * u // district.bend
    east, north, hypotenuse = district.grid
    x = district.heart[0] + (east * u - north * v) // hypotenuse
    y = district.heart[1] + (north * u + east * v) // hypotenuse
    return np.stack([x, y], axis=1)
