"""Map of cells, stronger where a larger share of their cases is missed."""

from typing import Any

import numpy as np
import pandas as pd
import pydeck as pdk

from analysis.figures import deck_layers
from analysis.figures.palette import Palette, rgb
from analysis.figures.scale_bar import scale_bar
from analysis.figures.table_rows import rows
from analysis.formatting import percent
from analysis.geography import fit_camera

_MAP_SIZE = (560, 400)
_NARROWEST_PX = 360
"""Narrowest map that still shows the scale bar."""


def miss_deck(cells: pd.DataFrame, *, k: int, map_style: str, palette: Palette) -> pdk.Deck:
    """The deck of at least one cell of `analysis.long_tail.miss_map.miss_cells`."""
    ends = [np.concatenate([cells[low], cells[high]]) for low, high in (("south", "north"), ("west", "east"))]
    camera = fit_camera(*ends, width_px=_MAP_SIZE[0], height_px=_MAP_SIZE[1], padding_px=20)
    squares = [_square(cell, k, palette) for cell in rows(cells)]
    layer = pdk.Layer(
        "PolygonLayer",
        id="cells",
        data=squares,
        get_polygon="polygon",
        get_fill_color="fill",
        stroked=True,
        get_line_color=rgb(palette.land),
        line_width_min_pixels=1,
        pickable=True,
    )
    bar = scale_bar(camera, (_NARROWEST_PX / 2, _MAP_SIZE[1] / 2))
    return deck_layers.deck([layer, *deck_layers.scale(bar, palette)], camera, map_style)


def _square(cell: dict[str, Any], k: int, palette: Palette) -> dict[str, Any]:
    west, east, south, north = (cell[name] for name in ("west", "east", "south", "north"))
    tip = f"{cell['missed']:,} of {cell['cases']:,} cases missed at {k} ({percent(cell['share'])})"
    return {
        "polygon": [[west, south], [east, south], [east, north], [west, north]],
        "fill": rgb(palette.ink, round(15 + 190 * cell["share"])),
        "tip": f"{tip}, {cell['users']} users",
    }
