"""The kinds of deck.gl layers on our maps; sizes in pixels."""

from typing import Any, Final

import pandas as pd
import pydeck as pdk

from analysis.figures.palette import Palette, rgb
from analysis.figures.scale_bar import ScaleBar
from analysis.figures.table_rows import rows
from analysis.geography import Camera

DOT: Final = "●"
"""A letter as a mark, because only letters have a shift in pixels."""
_PIXELS: Final[Any] = pdk.types.String("pixels")
_FONT: Final[Any] = pdk.types.String('"Source Sans", sans-serif')
_MIDDLE: Final[Any] = pdk.types.String("middle")


def deck(layers: list[pdk.Layer], camera: Camera, map_style: str) -> pdk.Deck:
    return pdk.Deck(
        layers=layers,
        initial_view_state=pdk.ViewState(
            latitude=round(camera.latitude, 6), longitude=round(camera.longitude, 6), zoom=round(camera.zoom, 3)
        ),
        map_provider="carto",
        map_style=map_style,
        tooltip={"text": "{tip}"},
    )


def discs(
    name: str, data: pd.DataFrame, *, fill: list[int] | str | None, line: list[int] | str, line_px: float
) -> pdk.Layer:
    """Discs of radius ``r`` at ``at``; rings where ``fill`` is None. A colour may be a column's name."""
    return pdk.Layer(
        "ScatterplotLayer",
        id=name,
        data=rows(data),
        get_position="at",
        get_radius="r",
        radius_units=_PIXELS,
        filled=fill is not None,
        get_fill_color=fill or [0, 0, 0, 0],
        stroked=True,
        get_line_color=line,
        get_line_width=line_px,
        line_width_units=_PIXELS,
        pickable=True,
    )


def lines(name: str, data: pd.DataFrame, start: str, end: str, *, colour: list[int] | str, width: float) -> pdk.Layer:
    return pdk.Layer(
        "LineLayer",
        id=name,
        data=rows(data),
        get_source_position=start,
        get_target_position=end,
        get_color=colour,
        get_width=width,
        width_units=_PIXELS,
        pickable=False,
    )


def two_hops(
    paths: pd.DataFrame, middles: pd.DataFrame, palette: Palette, *, opacity: int, rim_px: float
) -> list[pdk.Layer]:
    """Lines through three positions, ``path``, of width ``w``, and discs on their middle places."""
    lines = pdk.Layer(
        "PathLayer",
        id="paths",
        data=rows(paths[["path", "w", "tip"]]),
        get_path="path",
        get_width="w",
        width_units=_PIXELS,
        get_color=rgb(palette.paths.fill, opacity),
        pickable=True,
        joint_rounded=True,
        cap_rounded=True,
    )
    fill, rim = rgb(palette.paths.fill), rgb(palette.land)
    return [lines, discs("middles", middles[["at", "r", "tip"]], fill=fill, line=rim, line_px=rim_px)]


def texts(
    name: str, data: pd.DataFrame, column: str, colour: list[int], *, size: int, weight: int = 400, shift: bool = False
) -> pdk.Layer:
    """Words centred on ``at``; ``shift`` names a column of pixel offsets."""
    look: dict[str, Any] = {"get_text": column, "get_color": colour, "get_size": size, "font_weight": weight}
    return _words(name, data, get_text_anchor=_MIDDLE, **look, **({"get_pixel_offset": "shift"} if shift else {}))


def names(
    data: pd.DataFrame, colours: dict[str, str], palette: Palette, *, name: str = "names", size: int = 14
) -> pdk.Layer:
    """Labels on plates: ``at, text, shift, anchor`` and ``of`` for the colour."""
    hues = data["of"].map({of: rgb(colour) for of, colour in colours.items()})
    look: dict[str, Any] = {"get_text": "text", "get_color": "colour", "get_size": size, "font_weight": 600}
    look |= {"get_pixel_offset": "shift", "get_text_anchor": "anchor", "background": True}
    look |= {"get_background_color": rgb(palette.land, 225), "background_padding": [5, 2]}
    table = data[["at", "text", "shift", "anchor"]].assign(colour=hues)
    return _words(name, table, background_border_radius=4, **look)


def _words(name: str, data: pd.DataFrame, **look: Any) -> pdk.Layer:
    """Words at ``at`` in our font."""
    return pdk.Layer(
        "TextLayer",
        id=name,
        data=rows(data),
        get_position="at",
        get_alignment_baseline=pdk.types.String("center"),
        font_family=_FONT,
        character_set=pdk.types.String("auto"),
        pickable=False,
        **look,
    )


def scale(bar: ScaleBar, palette: Palette) -> list[pdk.Layer]:
    """A scale bar that is fixed to the ground, so it is right at every zoom."""
    ends = pd.DataFrame({"from": [bar.ends[0]], "to": [bar.ends[1]]})
    words = pd.DataFrame(
        {"at": [bar.ends[0]], "text": [bar.text], "shift": [[0, -11]], "anchor": ["start"], "of": ["scale"]}
    )
    return [
        lines("scale", ends, "from", "to", colour=rgb(palette.quiet), width=3),
        names(words, {"scale": palette.quiet}, palette, name="scale-text", size=12),
    ]
