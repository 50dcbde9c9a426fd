"""The four evidence cohorts of tail cases as two by two squares: visited before or not, within two hops or beyond."""

from collections.abc import Callable, Hashable, Mapping
from typing import Any, Final, NamedTuple

import pandas as pd
import plotly.graph_objects as go

from analysis.figures.charts import add_notes, styled
from analysis.figures.palette import Palette, ink_on
from recap import columns as c

WITHIN: Final = "Within<br>two hops"
BEYOND: Final = "Beyond<br>two hops"
Row = Mapping[Hashable, Any]


class Line(NamedTuple):
    """A line of words in a square: how far above its middle, what, and how large."""

    above: float
    text: str
    size: int


def plot_squares(
    table: pd.DataFrame,
    palette: Palette,
    *,
    ground: Callable[[Row], str],
    lines: Callable[[Row], list[Line]],
    hover: Callable[[Row], str],
    within: str,
    beyond: str,
    height: int,
) -> go.Figure:
    """One square for each row; it carries ``[in_history, within_two_hops]`` as customdata.

    Args:
        table: with the columns ``in_history`` and ``within_two_hops``.
        ground, lines, hover: a square's colour, its words, and what it says under the pointer.
        within, beyond: what the rows of squares are called.
        height: of the figure, pixels.
    """
    figure, notes = go.Figure(), []
    for row in table.to_dict(orient="records"):
        flags = [bool(row[c.IN_HISTORY]), bool(row[c.WITHIN_TWO_HOPS])]
        x, y = int(not flags[0]), int(flags[1])
        colour = ground(row)
        figure.add_shape(
            type="rect",
            x0=x - 0.485,
            x1=x + 0.485,
            y0=y - 0.47,
            y1=y + 0.47,
            fillcolor=colour,
            line_width=0,
            layer="below",
        )
        figure.add_scatter(
            x=[x],
            y=[y],
            mode="markers",
            marker={"symbol": "square", "size": height * 0.3, "color": colour, "opacity": 0},
            customdata=[flags],
            hovertext=hover(row),
            hoverinfo="text",
        )
        notes += [_note(x, y + line.above, line.text, ink_on(colour, palette), line.size) for line in lines(row)]
    notes += [
        _note(x, 1.62, f"<b>{text}</b>", palette.revisits.text, 14)
        for x, text in ((0, "Visited before"), (1, "Never visited"))
    ]
    notes += [
        _note(-0.53, y, f"<b>{text}</b>", palette.paths.text, 14, xanchor="right")
        for y, text in ((1, within), (0, beyond))
    ]
    add_notes(figure, notes)
    styled(figure, palette, height=height)
    figure.update_xaxes(visible=False, range=[-1.05, 1.5])
    figure.update_yaxes(visible=False, range=[-0.5, 1.75])
    return figure


def _note(x: float, y: float, text: str, colour: str, size: int, xanchor: str = "center") -> dict[str, Any]:
    return {"x": x, "y": y, "text": text, "xanchor": xanchor, "align": xanchor, "font": {"size": size, "color": colour}}
