"""What all plotly figures share: ground, fonts, margins, and how a figure of nothing looks."""

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
"""Configuration for every chart: the one tool is the picture's download."""


def styled(figure: go.Figure, palette: Palette, *, height: int, margin: dict[str, int] | None = None) -> go.Figure:
    """The house style: transparent ground, one font, no legend, no zoom by dragging.

    The layout is merged as plain dictionaries and validated once: plotly's own updates took seven times as long. Its
    default template, 7 kB in each figure, is left out; what of it is seen stands here.
    """
    figure.layout.template = None
    there = figure.layout.to_plotly_json()
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
        names = [name for name in there if name.startswith(f"{letter}axis")] or [f"{letter}axis"]
        style |= {name: _merged(axis | own, _own_standoff(there.get(name, {}))) for name in names}
    figure.layout = _merged(there, style)
    figure.layout.template = None  # assigning a layout brings the default one back
    return figure


def add_notes(figure: go.Figure, notes: Iterable[Mapping[str, Any]]) -> None:
    """Words on a figure, all at once: added one by one, plotly validates all earlier ones again for each.

    Args:
        notes: fields of `plotly.graph_objects.layout.Annotation`; no arrow unless they say so.
    """
    new = ({"showarrow": False} | dict(note) for note in notes)
    figure.layout.annotations = [*figure.layout.annotations, *new]


def _own_standoff(axis: Mapping[str, Any]) -> dict[str, Any]:
    """The room that a figure keeps between an axis and its title, where it asks for some."""
    standoff = axis.get("title", {}).get("standoff")
    return {} if standoff is None else {"title": {"standoff": standoff}}


def _merged(there: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    both = {**there, **new}
    for name in there.keys() & new.keys():
        if isinstance(there[name], Mapping) and isinstance(new[name], Mapping):
            both[name] = _merged(there[name], new[name])
    return both
