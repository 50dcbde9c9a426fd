"""Figures of a comparison: differences by transition count, and seeds.

A is the baseline's grey, B the model's blue. A full disc's interval excludes 0, an open one's holds it.
"""

import math
from typing import Final

import pandas as pd
import plotly.graph_objects as go

from analysis.figures.charts import escape_tags, styled
from analysis.figures.palette import Palette
from analysis.formatting import signed
from analysis.records.accuracy import METRIC_LABELS
from recap import columns as c
from recap.graph import TAIL_MAX_COUNT

_HEIGHT: Final = 380
_ROWS: Final = (("never", "Never seen"), ("once", "Seen once"), ("head", "Seen twice or more"), ("all", "All cases"))


def plot_differences(bins: pd.DataFrame, *, a: str, b: str, metric: str, palette: Palette) -> go.Figure:
    """B minus A in each bin of the step's count, with 95 % intervals; marks carry the bin as customdata.

    Args:
        bins: `analysis.compare.comparison.Comparison.bins`.
        a, b: the sides' names.
    """
    figure = go.Figure()
    known = bins[bins["n"] > 0]
    reach = max([0.01, *known["low"].abs().tolist(), *known["high"].abs().tolist()])
    top = 1.3 * (reach if math.isfinite(reach) else 0.01)
    tail_bins = int((bins["high_count"].between(0, TAIL_MAX_COUNT)).sum())
    figure.add_shape(
        type="rect",
        x0=-0.5,
        x1=tail_bins - 0.5,
        y0=0,
        y1=1,
        yref="y domain",
        fillcolor=palette.band,
        line_width=0,
        layer="below",
    )
    _note(figure, -0.42, top, "<b>tail</b>", palette.quiet, yanchor="top")
    _note(figure, len(bins) - 0.55, top, f"↑ {escape_tags(b)} is better", palette.quiet, xanchor="right", yanchor="top")
    _note(
        figure,
        len(bins) - 0.55,
        -top,
        f"↓ {escape_tags(a)} is better",
        palette.quiet,
        xanchor="right",
        yanchor="bottom",
    )
    figure.add_hline(y=0, line={"color": palette.quiet, "width": 1})
    for position, row in enumerate(bins.to_dict(orient="records")):
        _note(
            figure, position, -top, f"{row['n']:,}", palette.quiet, xanchor="center", yanchor="top", yshift=-24, size=11
        )
        if row["n"] == 0:
            continue
        differs, clear = row["low"] != 0 or row["high"] != 0, row["low"] > 0 or row["high"] < 0
        colour = (palette.model.fill if row["low"] > 0 else palette.ink) if clear else palette.quiet
        if differs:
            line = {"color": colour, "width": 3 if clear else 2}
            figure.add_scatter(
                x=[position, position], y=[row["low"], row["high"]], mode="lines", line=line, hoverinfo="skip"
            )
        words = (
            f"{METRIC_LABELS[metric]}: {escape_tags(a)} {row['a']:.3f}, {escape_tags(b)} {row['b']:.3f}<br>"
            f"{signed(row['difference'])} ({signed(row['low'])} to {signed(row['high'])})<br>n = {row['n']:,}"
        )
        figure.add_scatter(
            x=[position],
            y=[row["difference"]],
            mode="markers",
            marker={
                "size": 15 if clear else 11 if differs else 9,
                "color": colour if clear else palette.page,
                "line": {"color": colour, "width": 2},
                "opacity": 1,
            },
            customdata=[[c.TRANSITION_COUNT, int(row["low_count"]), int(row["high_count"])]],
            hovertext=words if differs else f"{words}<br>no case differs",
            hoverinfo="text",
        )
        if clear:
            text = f"<b>{signed(row['difference'])}</b>"
            _note(figure, position, row["difference"], text, colour, xanchor="left", xshift=12)
    styled(figure, palette, height=_HEIGHT, margin={"l": 58, "b": 74})
    figure.update_xaxes(
        tickvals=list(range(len(bins))),
        ticktext=bins["bin"].tolist(),
        range=[-0.5, len(bins) - 0.5],
        title_text="Times this step occurred in training, and cases",
        title_standoff=28,
    )
    figure.update_yaxes(range=[-top, top], tickformat="+.2f" if top > 0.05 else "+.3f", nticks=6)
    return figure


def plot_seeds(seeds: pd.DataFrame, *, metric: str, palette: Palette, each: str = "one dot for each seed") -> go.Figure:
    """Each seed's difference as a dot on the band within which two seeds of one model differ.

    Args:
        seeds: from `analysis.compare.seeds.seed_table`.
        each: what a dot is, in words.
    """
    figure = go.Figure()
    rows = {str(row["group"]): row for row in seeds.to_dict(orient="records")}
    shown = [(group, label) for group, label in _ROWS if group in rows]
    reach = 1.15 * max(
        1e-3, *(max(row["band"], *(abs(value) for value in row["each"])) for row in map(rows.__getitem__, dict(shown)))
    )
    for position, (group, label) in enumerate(reversed(shown)):
        row = rows[group]
        figure.add_shape(
            type="rect",
            x0=-row["band"],
            x1=row["band"],
            y0=position - 0.3,
            y1=position + 0.3,
            fillcolor=palette.head,
            line_width=0,
            layer="below",
        )
        clear = bool(row["larger"])
        figure.add_scatter(
            x=row["each"],
            y=[position] * len(row["each"]),
            mode="markers",
            marker={
                "size": 11,
                "color": palette.model.fill if clear else palette.page,
                "line": {"color": palette.model.fill, "width": 2},
                "opacity": 1,
            },
            hovertext=[f"{label}: {signed(value, 4)}" for value in row["each"]],
            hoverinfo="text",
        )
        word = f"<b>{'larger' if clear else 'within'}</b>" if clear else "within"
        colour = palette.model.text if clear else palette.quiet
        _note(figure, 1, position, word, colour, xanchor="right", size=14, xref="paper")
    figure.add_vline(x=0, line={"color": palette.quiet, "width": 1})
    styled(figure, palette, height=80 + 52 * len(shown), margin={"l": 140, "b": 50, "r": 4})
    figure.update_xaxes(
        range=[-reach, 1.25 * reach],
        tickformat="+.3f",
        nticks=7,
        title_text=f"Difference in {METRIC_LABELS[metric]}, {each}",
    )
    names = [label for _, label in reversed(shown)]
    figure.update_yaxes(
        tickvals=list(range(len(names))), ticktext=names, tickfont={"color": palette.ink}, showgrid=False
    )
    return figure


def _note(
    figure: go.Figure,
    x: float,
    y: float,
    text: str,
    colour: str,
    *,
    size: int = 13,
    xanchor: str = "left",
    yanchor: str = "middle",
    xshift: int = 0,
    yshift: int = 0,
    xref: str = "x",
) -> None:
    figure.add_annotation(
        x=x,
        y=y,
        xref=xref,
        text=text,
        showarrow=False,
        xanchor=xanchor,
        yanchor=yanchor,
        xshift=xshift,
        yshift=yshift,
        font={"size": size, "color": colour},
    )
