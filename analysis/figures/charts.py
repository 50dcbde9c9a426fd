"""What all plotly figures share: ground, fonts, margins, and how a figure of nothing looks."""

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
    """The house style: transparent ground, one font, no legend, no zoom by dragging."""
    figure.update_layout(
        height=height,
        margin={"l": 0, "r": 0, "t": 8, "b": 0} | (margin or {}),
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
        font={"family": FONT, "size": 14, "color": palette.quiet},
        showlegend=False,
        dragmode=False,
        clickmode="event+select",
        hoverlabel={"font": {"family": FONT, "size": 13, "color": palette.ink}, "bgcolor": palette.page},
        bargap=0.38,
    )
    axis = {"zeroline": False, "fixedrange": True, "color": palette.quiet, "title_font_size": 13, "tickfont_size": 13}
    figure.update_xaxes(showgrid=False, linecolor=palette.grid, **axis)
    figure.update_yaxes(gridcolor=palette.grid, **axis)
    return figure
