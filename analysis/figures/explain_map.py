"""The map of an explanation: where the user is, the two places compared, and the two-hop paths between."""

from typing import Any, Final, NamedTuple

import numpy as np
import pydeck as pdk

from analysis.explain.explanation import FullExplanation
from analysis.figures.palette import Palette, rgb
from analysis.geography import fit_camera
from analysis.records.loaded_dataset import LoadedDataset
from recap import columns as c

MAP_SIZE = (520, 330)
NARROWEST_PX = 270
_PIXELS: Final[Any] = pdk.types.String("pixels")
Positions = dict[int, list[float]]
"""Longitude and latitude in degrees by POI, five decimals."""


def explain_deck(explanation: FullExplanation, opened: LoadedDataset, *, map_style: str, palette: Palette) -> pdk.Deck:
    """Paths in green (wider for a larger share), the source a full dot, the truth a ring, predictions discs."""
    middles = [path.middle for path in explanation.path_evidence]
    shown = np.array([explanation.source, explanation.target, explanation.rival, *middles])
    camera = fit_camera(opened.latitude[shown], opened.longitude[shown], width_px=NARROWEST_PX, height_px=MAP_SIZE[1])
    position = {int(poi): at for poi, at in zip(shown, _positions(opened, shown), strict=True)}
    marks = _marks(explanation, palette)
    return pdk.Deck(
        layers=[
            _path_layer(explanation, position, palette),
            _place_layer(explanation, marks, position, palette),
            _name_layer(explanation, marks, position, palette),
        ],
        initial_view_state=pdk.ViewState(latitude=camera.latitude, longitude=camera.longitude, zoom=camera.zoom),
        map_provider="carto",
        map_style=map_style,
        tooltip={"text": "{tip}"},
    )


class _Mark(NamedTuple):
    """The source or one of the two places compared: radius in pixels, colours as RGBA."""

    poi: int
    radius: int
    fill: list[int]
    line: list[int]
    name: str


def _marks(explanation: FullExplanation, palette: Palette) -> list[_Mark]:
    marks = [_Mark(explanation.source, 8, rgb(palette.ink), rgb(palette.land), explanation.source_name)]
    pair = ((explanation.rival, explanation.contrast.b.name), (explanation.target, explanation.target_name))
    for (poi, name), role in zip(pair, reversed(explanation.roles), strict=True):
        fill = rgb(palette.of_role(role).fill)
        if role == "truth":
            marks.append(_Mark(poi, 11, [0, 0, 0, 0], fill, name))
        else:
            marks.append(_Mark(poi, 9, fill, rgb(palette.land), name))
    return marks


def _path_layer(explanation: FullExplanation, position: Positions, palette: Palette) -> pdk.Layer:
    paths = [
        {
            "path": [position[explanation.source], position[path.middle], position[explanation.target]],
            "w": round(1.5 + 6 * path.share, 1),
            "tip": f"via {path.name}: {path.count_in:,} and {path.count_out:,} training steps, share {path.share:.3f}",
        }
        for path in explanation.path_evidence
    ]
    return pdk.Layer(
        "PathLayer",
        id="paths",
        data=paths,
        get_path="path",
        get_width="w",
        width_units=_PIXELS,
        get_color=rgb(palette.paths.fill, 170),
        pickable=True,
    )


def _place_layer(explanation: FullExplanation, marks: list[_Mark], position: Positions, palette: Palette) -> pdk.Layer:
    middle = rgb(palette.paths.fill), rgb(palette.land)
    dots = [_Mark(path.middle, 5, *middle, path.name) for path in explanation.path_evidence]
    return pdk.Layer(
        "ScatterplotLayer",
        id="places",
        data=[
            {
                "at": position[mark.poi],
                "r": mark.radius,
                "fill": mark.fill,
                "line": mark.line,
                "tip": mark.name,
                c.POI: mark.poi,
            }
            for mark in (*dots, *marks)
        ],
        get_position="at",
        get_radius="r",
        radius_units=_PIXELS,
        get_fill_color="fill",
        get_line_color="line",
        line_width_units=_PIXELS,
        get_line_width=3,
        stroked=True,
        pickable=True,
    )


def _name_layer(explanation: FullExplanation, marks: list[_Mark], position: Positions, palette: Palette) -> pdk.Layer:
    """The source's name stands above its dot, the others' below: the first place is often next door."""
    names = [
        {"at": position[mark.poi], "name": mark.name[:24], "shift": [0, -20 if mark.poi == explanation.source else 22]}
        for mark in marks
    ]
    return pdk.Layer(
        "TextLayer",
        id="names",
        data=names,
        get_position="at",
        get_text="name",
        get_size=13,
        get_color=rgb(palette.ink),
        get_pixel_offset="shift",
        background=True,
        get_background_color=rgb(palette.land, 225),
        background_padding=[4, 2],
        character_set=pdk.types.String("auto"),
        font_family=pdk.types.String('"Source Sans", sans-serif'),
        pickable=False,
    )


def _positions(opened: LoadedDataset, pois: np.ndarray) -> list[list[float]]:
    return [[round(float(opened.longitude[poi]), 5), round(float(opened.latitude[poi]), 5)] for poi in pois]
