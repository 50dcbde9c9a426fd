"""A browser's map as a PNG: the layers of its deck, drawn flat over the ground."""

import json
from typing import Any, Final

import numpy as np
import pydeck as pdk

from analysis.figures.deck_layers import DOT
from analysis.figures.letters import Letters
from analysis.figures.map_ground import (
    ANCHORS,
    SCALE,
    SIZE,
    MapGround,
    Pixel,
    draw_disc,
    draw_ground,
    draw_plate,
    draw_time,
    pixels,
    to_png,
)
from analysis.figures.palette import Palette, mix
from analysis.figures.svg_draw import Pen, SvgDraw
from analysis.geography import Camera

_LETTERS: Final = 1.85
"""Pixels of Pillow's letters, which are wide, for one of the browser's."""
_DOT: Final = 0.2
"""Radius of a dot in pixels of the browser, as a share of its letters' size."""


def draw_map_image(
    deck: pdk.Deck, ground: MapGround, *, palette: Palette, time_given: str = "", svg: bool = False
) -> bytes:
    """A PNG of 1520 x 1080 pixels, or for ``svg`` what `vector.js` reads; ``time_given`` in words."""
    view = deck.initial_view_state
    camera = Camera(view.latitude, view.longitude, view.zoom)
    image, draw = draw_ground(ground, camera, palette, svg=svg)
    for layer in json.loads(deck.to_json())["layers"]:
        if not layer["id"].startswith("scale"):  # the ground has its own
            for row in layer["data"]:
                _draw_row(draw, _Row(layer, row, camera, palette), palette, ground.letters)
    draw_time(draw, time_given, palette, ground.letters)
    return draw.to_json(SIZE[0]) if isinstance(draw, SvgDraw) else to_png(image)


class _Row:
    """One row of a layer, with what deck.gl reads from it."""

    def __init__(self, layer: dict[str, Any], row: dict[str, Any], camera: Camera, palette: Palette) -> None:
        self._layer, self._row, self._camera, self._land = layer, row, camera, palette.land

    def __getitem__(self, name: str) -> Any:
        value = self._layer.get(name)
        return self._row[value[3:]] if isinstance(value, str) and value.startswith("@@=") else value

    def colour(self, name: str) -> str | None:
        """Opaque, as it looks on land; None for one that is not seen."""
        *channels, alpha = self[name]
        return mix("#" + "".join(f"{value:02X}" for value in channels), self._land, alpha / 255) if alpha else None

    def at(self, *positions: list[float]) -> list[Pixel]:
        longitude, latitude = np.array(positions).T
        return pixels(self._camera, latitude, longitude)

    def px(self, name: str) -> int:
        return round(SCALE * self[name])


def _draw_row(draw: Pen, row: _Row, palette: Palette, letters: Letters) -> None:
    kind = row["@@type"]
    if kind == "ScatterplotLayer":
        (centre,), fill, line = row.at(row["getPosition"]), row.colour("getFillColor"), row.colour("getLineColor")
        draw_disc(draw, centre, SCALE * row["getRadius"], fill=fill, outline=line, width=row.px("getLineWidth"))
    elif kind == "TextLayer":
        ((x, y),), (right, down) = row.at(row["getPosition"]), row["getPixelOffset"] or (0, 0)
        centre, colour = (x + SCALE * right, y + SCALE * down), row.colour("getColor") or palette.ink
        text, font = letters.fit(row["getText"]), letters.font(round(_LETTERS * row["getSize"]))
        if row["getText"] == DOT:
            draw_disc(draw, centre, SCALE * _DOT * row["getSize"], fill=colour, outline=None, width=0)
        elif row["background"]:
            draw_plate(draw, centre, text, colour, font, palette, anchor=ANCHORS[row["getTextAnchor"]])
        else:
            draw.text(centre, text, fill=colour, font=font, anchor="mm")
    elif kind == "PolygonLayer":
        draw.polygon(row.at(*row["getPolygon"]), fill=row.colour("getFillColor") or palette.land)
    else:
        way = row["getPath"] or [row["getSourcePosition"], row["getTargetPosition"]]
        draw.line(row.at(*way), fill=row.colour("getColor"), width=row.px("getWidth"))
