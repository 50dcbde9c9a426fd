"""A training's curves over its curriculum; each stage has the colour of its new part."""

import math
from collections.abc import Mapping
from typing import Final

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from analysis.figures.charts import note, styled
from analysis.figures.palette import Palette
from analysis.training_progress import StageSpan

_HEIGHT: Final = 340
_DASHES: Final = {"All": "solid", "Rare": "dot", "Frequent": "dash", "main": "solid", "warm": "dot"}
_NARROW: Final = 0.15
"""A stage shorter than this share of the run has its name lower, so that names do not overlap on a phone."""


def plot_training(
    table: pd.DataFrame,
    spans: list[StageSpan],
    epochs: int,
    palette: Palette,
    *,
    levels: Mapping[str, float],
) -> go.Figure:
    """Curves of one quantity.

    Args:
        table: ``epoch, series, value`` from `curve_table`.
        spans: the curriculum over all planned epochs.
        levels: each counter's value over all cases of the same kind, drawn as dashed lines.
    """
    figure = go.Figure()
    fills = {"core": palette.band, "paths": palette.paths.chip, "revisits": palette.revisits.chip}
    inks = {"core": palette.quiet, "paths": palette.paths.text, "revisits": palette.revisits.text}
    fills["model"], inks["model"] = palette.model.chip, palette.model.text
    level, gap = 0, {"color": palette.page, "width": 3}
    for span in spans:
        left, right = span.first - 0.5, span.last + 0.5
        figure.add_vrect(x0=left, x1=right, fillcolor=fills[span.meaning], line=gap, layer="below")
        share = (span.last - span.first + 1) / epochs
        lines = span.name.removeprefix("+ ").split(" + ")
        level = (level + 1) % 3 if share < _NARROW * max(map(len, lines)) / 8 else 0
        plus = "+ " * span.name.startswith("+ ")
        text = "<br>".join(f"<b>{plus}{line}</b>" for line in lines)
        more = {"xref": "x", "yref": "paper", "align": "left", "yanchor": "top", "xshift": 5}
        figure.add_annotation(note(left, 1.0 - 0.075 * level, text, inks[span.meaning], 12, **more))
    _draw_levels(figure, levels, table, epochs, palette)
    for series, rows in table.groupby("series", sort=False):
        figure.add_scatter(
            x=rows["epoch"],
            y=rows["value"],
            mode="lines+markers",
            marker={"size": [0] * (len(rows) - 1) + [8], "line": {"width": 0}},
            line={"color": palette.model.fill, "width": 2.5, "dash": _DASHES.get(str(series), "dash")},
            name=str(series),
            hovertemplate=f"Epoch %{{x}}, {series} %{{y:.4g}}<extra></extra>",
        )
    _name_ends(figure, table, epochs, palette)
    styled(figure, palette, height=_HEIGHT, margin={"l": 44, "b": 40, "r": 8})
    figure.update_xaxes(
        range=[0.5, epochs + 0.5], title_text="Epoch", dtick=max(1, round(epochs / 8)), tick0=1, tickformat="d"
    )
    heights = [*table["value"], *levels.values()]
    if heights:
        low, high = min(heights), max(heights)
        room = (high - low) or abs(high) or 1.0
        figure.update_yaxes(range=[low - 0.08 * room, high + 0.32 * room])
        if levels:  # a share: no tick above 1, although the stages' names stand there
            step = next(step for step in (0.01, 0.02, 0.05, 0.1, 0.2) if room / step < 7 or step == 0.2)
            marks = np.arange(math.floor(low / step), math.floor(min(high + 0.3 * room, 1.0) / step + 1e-9) + 1)
            figure.update_yaxes(tickvals=np.round(step * marks, 2).tolist())
    return figure


def _draw_levels(
    figure: go.Figure, levels: Mapping[str, float], table: pd.DataFrame, epochs: int, palette: Palette
) -> None:
    """Draw shapes and names instead of traces, so that only the curves react to the mouse."""
    late = bool((table["epoch"] > 0.6 * epochs).any())  # then the curves' own names are at the right
    for place, (label, value) in enumerate(sorted(levels.items(), key=lambda level: -level[1])):
        figure.add_hline(y=value, line={"color": palette.quiet, "width": 1.2, "dash": "10px,8px"})
        x, xanchor, xshift = (0.5, "left", 6) if late else (epochs + 0.5, "right", -6)
        more = {"xanchor": xanchor, "xshift": xshift, "yanchor": "top" if place else "bottom"}
        figure.add_annotation(note(x, value, f"{label} {value:.3f}", palette.quiet, 12, **more))


def _name_ends(figure: go.Figure, table: pd.DataFrame, epochs: int, palette: Palette) -> None:
    last = table.groupby("series", sort=False).last().sort_values("value")
    room = (table["value"].max() - table["value"].min()) if len(table) else 1.0
    previous = float("-inf")
    for series, row in last.iterrows():
        height = max(row["value"], previous + 0.09 * room)
        previous = height
        text = f"<b>{series} {_shown(row['value'])}</b>"
        more = {"xshift": 8} if row["epoch"] < 0.8 * epochs else {"xanchor": "right", "yanchor": "bottom"}
        figure.add_annotation(note(row["epoch"], height, text, palette.model.text, **more))


def _shown(value: float) -> str:
    return f"{value:.3f}" if 0.01 <= abs(value) < 1 else f"{value:.3g}"
