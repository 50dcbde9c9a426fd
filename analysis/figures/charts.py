"""Shared style of plotly figures."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

import plotly.graph_objects as go

from analysis.figures.library_internals import unchecked_figure
from analysis.figures.palette import Palette

FONT: Final = '"Source Sans", sans-serif'
PLOT_CONFIG: Final[dict[str, Any]] = {
    "displaylogo": False,
    "modeBarButtons": [["toImage"]],
    "toImageButtonOptions": {"format": "png", "scale": 3},
    "scrollZoom": False,
}
"""Configuration of every chart; its only tool downloads the picture."""


def escape_tags(text: object) -> str:
    """Escape text from data, so that plotly finds no tag or entity in it.

    >>> escape_tags('<a href="https://x.y">Fish & Chips</a>')
    '&lt;a href="https://x.y"&gt;Fish &amp; Chips&lt;/a&gt;'
    """
    return str(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def assembled(
    data: Iterable[Mapping[str, Any]],
    layout: Mapping[str, Any],
    palette: Palette,
    *,
    height: int,
    margin: dict[str, int] | None = None,
) -> go.Figure:
    """A figure of plain dictionaries in the shared style; plotly does not validate it, which saves time.

    Args:
        data: traces, each with its ``type``.
        layout: differences from the shared style; ``annotations`` are from `note`.
    """
    whole = _merged(_house_style(layout, palette, height, margin), layout)
    # Tests let plotly validate every such figure. The empty template stops plotly from computing its default one.
    figure = unchecked_figure(data, whole | {"template": {}})
    figure.layout.template = None
    return figure


def styled(figure: go.Figure, palette: Palette, *, height: int, margin: dict[str, int] | None = None) -> go.Figure:
    """Apply the shared style: transparent background, one font, no legend, no zoom by dragging.

    The layout is merged as plain dictionaries and validated once; plotly's own updates took seven times as long.
    Plotly's default template, 7 kB in each figure, is left out.
    """
    figure.layout.template = None
    there = figure.layout.to_plotly_json()
    figure.layout = _merged(_house_style(there, palette, height, margin), there)
    figure.layout.template = None  # assigning a layout brings the default one back
    return figure


def _house_style(
    layout: Mapping[str, Any], palette: Palette, height: int, margin: dict[str, int] | None
) -> dict[str, Any]:
    axis = {
        "zeroline": False,
        "fixedrange": True,
        "automargin": True,
        "ticks": "",
        "color": palette.quiet,
        "title": {"font": {"size": 13}, "standoff": 15},
        "tickfont": {"size": 13},
    }
    style: dict[str, Any] = {
        "height": height,
        "margin": {"l": 0, "r": 0, "t": 8, "b": 0} | (margin or {}),
        "paper_bgcolor": palette.page,  # also of the PNG, which would be unreadable on a dark slide
        "plot_bgcolor": "rgba(0,0,0,0)",
        "font": {"family": FONT, "size": 14, "color": palette.quiet},
        "modebar": {"bgcolor": "rgba(0,0,0,0)", "color": palette.model.text, "activecolor": palette.ink},
        "showlegend": False,
        "dragmode": False,
        "clickmode": "event+select",
        "hovermode": "closest",
        "hoverlabel": {
            "align": "left",
            "bgcolor": palette.page,
            "font": {"family": FONT, "size": 13, "color": palette.ink},
        },
        "bargap": 0.38,
    }
    for letter, own in (("x", {"showgrid": False, "linecolor": palette.grid}), ("y", {"gridcolor": palette.grid})):
        names = [name for name in layout if name.startswith(f"{letter}axis")] or [f"{letter}axis"]
        style |= dict.fromkeys(names, axis | own)
    return style


def note(x: float | str, y: float | str, text: str, colour: str, size: float = 13, **more: Any) -> dict[str, Any]:
    """Text without an arrow; (x, y) is its left end unless ``more`` (plotly's fields) says otherwise."""
    place = {"x": x, "y": y, "xanchor": "left", "yanchor": "middle"}
    return place | {"text": text, "showarrow": False, "font": {"color": colour, "size": size}} | more


def _merged(there: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    both = {**there, **new}
    for name in there.keys() & new.keys():
        if isinstance(there[name], Mapping) and isinstance(new[name], Mapping):
            both[name] = _merged(there[name], new[name])
    return both
