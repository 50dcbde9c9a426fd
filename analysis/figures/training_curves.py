"""A training's curves over its curriculum: each stage shaded in the colour of what it switched on."""

from typing import Final

import pandas as pd
import plotly.graph_objects as go

from analysis.figures.charts import styled
from analysis.figures.palette import Hue, Palette
from analysis.training_progress import StageSpan

_HEIGHT: Final = 340
_DASHES: Final = {"All": "solid", "Tail": "dot", "Head": "dash", "main": "solid", "warm": "dot"}
_NARROW: Final = 0.12
"""Stages shorter than this share of the run carry their name lower, so that names do not meet."""


def plot_training(table: pd.DataFrame, spans: list[StageSpan], epochs: int, palette: Palette) -> go.Figure:
    """Curves of one quantity.

    Args:
        table: ``epoch, series, value`` from `curve_table`.
        spans: the curriculum; drawn over all planned epochs, also those still to come.
    """
    figure = go.Figure()
    fills = {"core": palette.band, "paths": _chip(palette.paths), "revisits": _chip(palette.revisits)}
    inks = {"core": palette.quiet, "paths": palette.paths.text, "revisits": palette.revisits.text}
    fills["model"], inks["model"] = _chip(palette.model), palette.model.text
    level = 0
    for span in spans:
        left, right = span.first - 0.5, span.last + 0.5
        figure.add_vrect(x0=left, x1=right, fillcolor=fills[span.meaning], line_width=0, layer="below")
        share = (span.last - span.first + 1) / epochs
        level = (level + 1) % 3 if share < _NARROW * len(span.name) / 8 else 0
        figure.add_annotation(
            x=span.first - 0.5,
            y=1.0 - 0.075 * level,
            xref="x",
            yref="paper",
            text=f"<b>{span.name}</b>",
            showarrow=False,
            xanchor="left",
            yanchor="top",
            xshift=5,
            font={"size": 12, "color": inks[span.meaning]},
        )
    for series, rows in table.groupby("series", sort=False):
        figure.add_scatter(
            x=rows["epoch"],
            y=rows["value"],
            mode="lines+markers" if len(rows) < 3 else "lines",
            line={"color": palette.model.fill, "width": 2.5, "dash": _DASHES.get(str(series), "dash")},
            name=str(series),
            hovertemplate=f"Epoch %{{x}}, {series} %{{y:.4g}}<extra></extra>",
        )
    _name_ends(figure, table, palette)
    styled(figure, palette, height=_HEIGHT, margin={"b": 36, "r": 8})
    figure.update_xaxes(
        range=[0.5, epochs + 0.5], title_text="Epoch", dtick=max(1, round(epochs / 8)), tick0=1, tickformat="d"
    )
    if not table.empty:
        low, high = table["value"].min(), table["value"].max()
        room = (high - low) or abs(high) or 1.0
        figure.update_yaxes(range=[low - 0.08 * room, high + 0.32 * room])
    return figure


def _name_ends(figure: go.Figure, table: pd.DataFrame, palette: Palette) -> None:
    last = table.groupby("series", sort=False).last().sort_values("value")
    room = (table["value"].max() - table["value"].min()) if len(table) else 1.0
    previous = float("-inf")
    for series, row in last.iterrows():
        height = max(row["value"], previous + 0.09 * room)
        previous = height
        figure.add_annotation(
            x=row["epoch"],
            y=height,
            text=f"<b>{series} {row['value']:.3g}</b>",
            showarrow=False,
            xanchor="right" if row["epoch"] > 3 else "left",
            yanchor="bottom",
            font={"size": 13, "color": palette.model.text},
        )


def _chip(hue: Hue) -> str:
    return hue.chip
