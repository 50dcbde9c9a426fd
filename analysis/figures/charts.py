"""Shared style of plotly figures: background, fonts, margins, and an empty figure."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

import plotly.graph_objects as go

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
    """Escape text from data, so that plotly reads no tag or entity in it.

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
    """A figure of plain dictionaries in the shared style; faster than `styled`, because plotly does not check it.

    Args:
        data: traces, each with its ``type``.
        layout: what differs from the house style; ``annotations`` have no arrow unless they say so.
    """
    style = _house_style(layout, palette, height, margin)
    whole = _merged(style, {**layout, "annotations": [_note(note) for note in layout.get("annotations", ())]})
    # Plotly Express does the same with what it made itself; the tests let plotly check every such figure.
    # With a template of its own, were it empty, plotly does not work out its default one, which nobody sees.
    figure = go.Figure(data=[dict(trace) for trace in data], layout={**whole, "template": {}}, _validate=False)
    figure.layout.template = None
    return figure


def styled(figure: go.Figure, palette: Palette, *, height: int, margin: dict[str, int] | None = None) -> go.Figure:
    """Apply the shared style: transparent background, one font, no legend, no zoom by dragging.

    The layout is merged as plain dictionaries and validated once: plotly's own updates took seven times as long. Its
    default template, 7 kB in each figure, is left out; its visible parts are set here.
    """
    figure.layout.template = None
    there = figure.layout.to_plotly_json()
    style = _house_style(there, palette, height, margin)
    standoffs = {name: _own_standoff(axis) for name, axis in there.items() if name in style and "axis" in name}
    figure.layout = _merged(_merged(there, style), standoffs)
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
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "font": {"family": FONT, "size": 14, "color": palette.quiet},
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


def _note(note: Mapping[str, Any]) -> dict[str, Any]:
    return {"showarrow": False} | dict(note)


def add_notes(figure: go.Figure, notes: Iterable[Mapping[str, Any]]) -> None:
    """Add annotations all at once; one by one, plotly validates all earlier ones again.

    Args:
        notes: fields of `plotly.graph_objects.layout.Annotation`; no arrow unless they say so.
    """
    figure.layout.annotations = [*figure.layout.annotations, *map(_note, notes)]


def _own_standoff(axis: Mapping[str, Any]) -> dict[str, Any]:
    """Distance between an axis and its title, if the figure sets one."""
    standoff = axis.get("title", {}).get("standoff")
    return {} if standoff is None else {"title": {"standoff": standoff}}


def _merged(there: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    both = {**there, **new}
    for name in there.keys() & new.keys():
        if isinstance(there[name], Mapping) and isinstance(new[name], Mapping):
            both[name] = _merged(there[name], new[name])
    return both
