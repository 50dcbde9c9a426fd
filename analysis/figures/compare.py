"""Figures of a comparison in points: differences by transition count, and by seed.

A is grey, B is blue. A full disc is a clear difference, an open one a tie.
"""

import math
from collections.abc import Mapping
from typing import Final

import pandas as pd
import plotly.graph_objects as go

from analysis.compare.words import as_points
from analysis.figures.bars import SlideBar, accuracy_bar
from analysis.figures.charts import escape_tags, note, styled
from analysis.figures.palette import Palette
from analysis.records.accuracy import METRIC_LABELS
from recap import columns as c
from recap.history.graph import TAIL_MAX_COUNT

_HEIGHT: Final = 280
_ROWS: Final = (("tail", "Rare"), ("head", "Frequent"), ("all", "All cases"))


def plot_differences(bins: pd.DataFrame, *, a: str, b: str, metric: str, palette: Palette) -> go.Figure:
    """B minus A in each of `Comparison.bins`, with 95 % intervals; marks carry the bin as customdata."""
    figure = go.Figure()
    known = bins[bins["n"] > 0]
    reach = 100 * max([0.01, *known["low"].abs().tolist(), *known["high"].abs().tolist()])
    top = 1.8 * (reach if math.isfinite(reach) else 1.0)
    rare = int((bins["high_count"].between(0, TAIL_MAX_COUNT)).sum())
    band = {"x0": -0.5, "x1": rare - 0.5, "y0": 0, "y1": 1, "yref": "y domain"}
    figure.add_shape(type="rect", **band, fillcolor=palette.band, line_width=0, layer="below")
    figure.add_annotation(note(-0.42, top, "<b>rare</b>", palette.quiet, yanchor="top"))
    better = ((top, f"↑ {escape_tags(b)}", "top"), (-top, f"↓ {escape_tags(a)}", "bottom"))
    for y, text, yanchor in better:
        figure.add_annotation(
            note(len(bins) - 0.55, y, f"{text} is better", palette.quiet, xanchor="right", yanchor=yanchor)
        )
    figure.add_hline(y=0, line={"color": palette.quiet, "width": 1})
    for position, row in enumerate(bins.to_dict(orient="records")):
        figure.add_annotation(
            note(position, -top, f"{row['n']:,}", palette.quiet, size=11, xanchor="center", yanchor="top", yshift=-24)
        )
        if row["n"] == 0:
            continue
        differs, clear = row["low"] != 0 or row["high"] != 0, row["verdict"] != "close"
        colour = (palette.model.fill if row["verdict"] == "b" else palette.ink) if clear else palette.quiet
        middle, low, high = (100 * row[name] for name in ("difference", "low", "high"))
        if differs:
            line = {"color": colour, "width": 3 if clear else 2}
            figure.add_scatter(x=[position] * 2, y=[low, high], mode="lines", line=line, hoverinfo="skip")
        tip = (
            f"{METRIC_LABELS[metric]}: {escape_tags(a)} {row['a']:.3f}, {escape_tags(b)} {row['b']:.3f}<br>"
            f"{as_points(row['difference'])} points ({as_points(row['low'])} to {as_points(row['high'])})"
            f"<br>{row['n']:,} cases"
        )
        figure.add_scatter(
            x=[position],
            y=[middle],
            mode="markers",
            marker=_disc(15 if clear else 11 if differs else 9, colour, palette, clear=clear),
            customdata=[[c.TRANSITION_COUNT, int(row["low_count"]), int(row["high_count"])]],
            hovertext=tip if differs else f"{tip}<br>no case differs",
            hoverinfo="text",
        )
        if clear:
            end, beyond = (high, 16) if middle > 0 else (low, -16)
            figure.add_annotation(
                note(position, end, f"<b>{as_points(row['difference'])}</b>", colour, xanchor="center", yshift=beyond)
            )
    styled(figure, palette, height=_HEIGHT, margin={"l": 50, "b": 74})
    figure.update_xaxes(
        tickvals=list(range(len(bins))),
        ticktext=bins["bin"].tolist(),
        range=[-0.5, len(bins) - 0.5],
        title_text="Times this transition occurred in training, and cases",
        title_standoff=28,
    )
    figure.update_yaxes(range=[-top, top], tickformat=".0f" if top > 5 else ".1f", nticks=6)
    return figure


def _disc(size: int, colour: str, palette: Palette, *, clear: bool) -> dict[str, object]:
    """A full disc for a clear difference, an open one for a tie."""
    fill = colour if clear else palette.page
    return {"size": size, "color": fill, "line": {"color": colour, "width": 2}, "opacity": 1}


def plot_reliability(curves: Mapping[str, pd.DataFrame], *, palette: Palette) -> go.Figure:
    """How often first choices came true, by their probability, from `reliability_curve` of each model, A first."""
    figure = go.Figure()
    figure.add_scatter(x=[0, 100], y=[0, 100], mode="lines", line={"color": palette.quiet, "dash": "dash"})
    colours = (palette.quiet, palette.model.fill)[-len(curves) :]
    for (label, curve), colour in zip(curves.items(), colours, strict=True):
        figure.add_scatter(
            x=100 * curve["probability"],
            y=100 * curve["right"],
            mode="lines+markers",
            line={"color": colour, "width": 2.5},
            customdata=curve["n"],
            hovertemplate=f"{escape_tags(label)}: %{{x:.0f}} % said, %{{y:.0f}} % right, %{{customdata:,}} cases"
            "<extra></extra>",
        )
    styled(figure, palette, height=_HEIGHT, margin={"l": 50, "b": 50})
    figure.update_xaxes(range=[0, 100], title_text="Probability of the first choice, %")
    figure.update_yaxes(range=[0, 100], title_text="Came true, %")
    return figure


def plot_seeds(seeds: pd.DataFrame, rows: pd.DataFrame, *, palette: Palette) -> go.Figure:
    """Each seed's difference as a dot on the band within which two seeds of one model differ, of `Comparison.seeds`."""
    figure = go.Figure()
    verdicts = dict(zip(rows["group"], rows["verdict"], strict=True))
    row_of = {str(row["group"]): row for row in seeds.to_dict(orient="records")}
    shown = [(group, label) for group, label in _ROWS if group in row_of]
    ends = [abs(end) for group, _ in shown for end in (row_of[group]["band"], *row_of[group]["each"])]
    reach = 115 * max(1e-3, *ends)
    for position, (group, label) in enumerate(reversed(shown)):
        row, clear = row_of[group], verdicts[group] != "close"
        band = {"x0": -100 * row["band"], "x1": 100 * row["band"], "y0": position - 0.3, "y1": position + 0.3}
        figure.add_shape(type="rect", **band, fillcolor=palette.head, line_width=0, layer="below")
        colour = palette.ink if verdicts[group] == "a" else palette.model.fill
        figure.add_scatter(
            x=[100 * value for value in row["each"]],
            y=[position] * len(row["each"]),
            mode="markers",
            marker=_disc(11, colour, palette, clear=clear),
            hovertext=[f"{label}: {as_points(value)} points" for value in row["each"]],
            hoverinfo="text",
        )
    figure.add_vline(x=0, line={"color": palette.quiet, "width": 1})
    styled(figure, palette, height=70 + 56 * len(shown), margin={"l": 80, "b": 40, "r": 4})
    figure.update_xaxes(range=[-reach, reach], tickformat=".1f", nticks=6, title_text="One dot for each seed")
    names = [label for _, label in reversed(shown)]
    ticks = {"tickvals": list(range(len(names))), "ticktext": names, "tickfont": {"color": palette.ink}}
    figure.update_yaxes(**ticks, showgrid=False)
    return figure


def comparison_bars(rows: pd.DataFrame, metric: str, *, a: str, b: str) -> list[tuple[str, list[SlideBar]]]:
    """The accuracy of each side on rare, frequent and all cases, of `Comparison.rows`, for a slide."""
    groups = rows.set_index("group")
    sides = (("b", b), ("a", a))
    return [
        (label, [accuracy_bar(name, groups[side][group], metric, mine=side == "b") for side, name in sides])
        for group, label in _ROWS
        if groups["n"][group] > 0
    ]
