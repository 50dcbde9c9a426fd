"""Places by their embeddings, coloured by category; colours of their own, since blue, orange, violet have meanings."""

from typing import Final

import pandas as pd
import plotly.graph_objects as go

from analysis.figures.charts import escape_tags, styled
from analysis.figures.palette import Palette
from recap import columns as c

COLOURS: Final = {  # Paul Tol's "muted" and "light" schemes
    "light": ("#332288", "#44AA99", "#117733", "#999933", "#CC6677", "#882255", "#88CCEE", "#DDCC77"),
    "dark": ("#77AADD", "#EE8866", "#EEDD88", "#FFAABB", "#99DDFF", "#44BB99", "#BBCC33", "#AAAA00"),
}
SYMBOLS: Final = ("circle", "square", "diamond", "triangle-up", "cross", "x", "star", "triangle-down")
OTHER: Final = "Other"


def plot_embedding(table: pd.DataFrame, palette: Palette) -> go.Figure:
    """One mark per place; the most frequent categories have a colour and a shape, all others are grey.

    Args:
        table: ``poi, name, category, x, y``.
    """
    frequent = table[c.CATEGORY].value_counts(sort=True).index[: len(SYMBOLS)].tolist()
    figure = go.Figure()
    groups = [(OTHER, table[~table[c.CATEGORY].isin(frequent)])]
    groups += [(name, table[table[c.CATEGORY] == name]) for name in frequent]
    for position, (name, rows) in enumerate(groups):
        other = position == 0
        figure.add_scattergl(
            x=rows["x"],
            y=rows["y"],
            mode="markers",
            name=escape_tags(name),
            customdata=[[int(poi)] for poi in rows[c.POI]],  # lists: an array is sent packed, and clicks lose it
            text=rows["name"].map(escape_tags) + "<br>" + rows[c.CATEGORY].astype(str).map(escape_tags),
            hoverinfo="text",
            marker={
                "size": 5 if other else 7,
                "color": palette.baseline if other else COLOURS[palette.theme][position - 1],
                "symbol": "circle" if other else SYMBOLS[position - 1],
                "opacity": 0.5 if other else 0.85,
                "line": {"width": 0},
            },
            visible=True if len(rows) else "legendonly",
        )
    styled(figure, palette, height=430)
    figure.update_xaxes(visible=False)
    figure.update_yaxes(visible=False, scaleanchor="x")
    figure.update_layout(
        showlegend=True,
        legend={"orientation": "h", "y": -0.02, "yanchor": "top"},
        margin={"l": 0, "r": 0, "t": 8, "b": 0},
    )
    return figure
