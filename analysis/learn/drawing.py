"""A lesson's chart as a plotly figure."""

import math
import textwrap
from typing import Any

import numpy as np
import plotly.graph_objects as go

from analysis.figures.charts import escape_tags, note, styled
from analysis.figures.palette import Hue, Palette, translucent
from analysis.formatting import percent
from analysis.learn.charts import Bars, Chart, Dots, Lines, Meaning, Picture, PlaceMap, Way

_BAR_PX = 50
_BAR_SHARE = 0.42
_LABEL_PX = 22
_TEXT_LETTERS, _AXIS_LETTERS = 26, 48
"""Of one line, so that it fits a phone."""
_LETTER_PX = 7
_MAP_PX = 430


def draw(chart: Chart, palette: Palette) -> go.Figure:
    match chart:
        case Bars():
            return _draw_bars(chart, palette)
        case Lines():
            return _draw_lines(chart, palette)
        case PlaceMap():
            return _draw_map(chart, palette)
        case Picture():
            return chart.plot(palette)


def fill_of(meaning: Meaning, palette: Palette) -> str:
    return _colours(meaning, palette)[0]


def _colours(meaning: Meaning, palette: Palette) -> tuple[str, str]:
    """Of marks, and of words."""
    if meaning in ("baseline", "ink"):
        return (palette.baseline, palette.quiet) if meaning == "baseline" else (palette.ink, palette.ink)
    hue: Hue = getattr(palette, meaning)
    return hue.fill, hue.text


def _draw_bars(chart: Bars, palette: Palette) -> go.Figure:
    figure = go.Figure()
    rows = list(range(len(chart.bars)))
    figure.add_bar(
        y=rows,
        width=_BAR_SHARE,
        x=[bar.value for bar in chart.bars],
        orientation="h",
        marker_color=[fill_of(bar.meaning, palette) for bar in chart.bars],
        hoverinfo="skip",
    )
    line = {"color": palette.ink, "width": 1.5}
    for row, bar in enumerate(chart.bars):
        if bar.low is not None and bar.high is not None:
            figure.add_scatter(x=[bar.low, bar.high], y=[row, row], mode="lines", line=line, hoverinfo="skip")
    values = [v for bar in chart.bars for v in (bar.value, bar.low, bar.high) if v is not None]
    low, high = min(0.0, *values), max(0.0, *values) if chart.top is None else chart.top
    span = (high - low) or 1.0
    texts = ["<br>".join(textwrap.wrap(bar.text, _TEXT_LETTERS)) for bar in chart.bars]
    more = 20 * any("<br>" in text for text in texts)
    for row, bar in enumerate(chart.bars):
        end = max(bar.value, bar.high if bar.high is not None else bar.value, 0.0)
        figure.add_annotation(note(end, row, f"<b>{texts[row]}</b>", palette.ink, 14, xshift=6, align="left"))
        above: dict[str, Any] = {"xref": "paper", "yshift": _LABEL_PX + more // 2}
        figure.add_annotation(note(0, row, escape_tags(bar.label), palette.ink, 14, **above))
    axis: dict[str, Any] = {"xref": "paper", "yref": "paper", "yanchor": "top", "yshift": -4, "align": "left"}
    lines = textwrap.wrap(chart.axis, _AXIS_LETTERS)
    figure.add_annotation(note(0, 0, "<br>".join(lines), palette.quiet, **axis))
    longest = max(len(line) for text in texts for line in text.split("<br>"))
    styled(
        figure,
        palette,
        height=(_BAR_PX + more) * len(rows) + 16 * len(lines) + 12,
        margin={"b": 16 * len(lines) + 12, "l": 0, "r": 8 * longest + 12, "t": 0},
    )
    figure.update_xaxes(range=[low, low + span], showticklabels=False)
    figure.add_vline(x=0, line={"color": palette.grid, "width": 1})
    figure.update_yaxes(range=[len(rows) - 0.6, -0.8], showgrid=False, showticklabels=False)
    return figure


def _draw_lines(chart: Lines, palette: Palette) -> go.Figure:
    figure = go.Figure()
    dashes = ("solid", "dash", "dot")
    for line, dash in zip(chart.series, dashes, strict=False):
        figure.add_scatter(
            x=list(chart.columns),
            y=list(line.values),
            mode="lines",
            line={"color": fill_of(line.meaning, palette), "width": 2.5, "dash": dash},
            hovertemplate=f"{line.label}: %{{text}}<extra></extra>",
            text=[percent(value) for value in line.values],
        )
        figure.add_scatter(
            x=[chart.columns[chart.at]],
            y=[line.values[chart.at]],
            mode="markers",
            marker={"color": fill_of(line.meaning, palette), "size": 10, "opacity": 1},
            hoverinfo="skip",
        )
    values = [value for line in chart.series for value in line.values]
    low, high = min(0.0, *values), max(1.0, *values)
    span = (high - low) or 1.0
    beneath = -math.inf
    for line in sorted(chart.series, key=lambda series: series.values[-1]):
        beneath = max(line.values[-1], beneath + 0.11 * span)
        colour = _colours(line.meaning, palette)[1]
        figure.add_annotation(note(chart.columns[-1], beneath, line.label, colour, 14, xshift=10))
    right = _LETTER_PX * max(len(line.label) for line in chart.series) + 24
    styled(figure, palette, height=300, margin={"b": 36, "r": right, "l": 44})
    figure.update_yaxes(range=[low - 0.05 * span, high + 0.12 * span], tickformat=".0%")
    figure.update_xaxes(type="category", title={"text": chart.axis, "standoff": 8})
    if len(chart.columns) > 12:
        few = list(chart.columns[:: max(4, len(chart.columns) // 2)])
        figure.update_xaxes(tickangle=0, tickvals=few, ticktext=[column.replace(" ", "<br>") for column in few])
    figure.add_vline(x=chart.at, line={"color": palette.quiet, "width": 1, "dash": "dot"})
    return figure


def _draw_map(chart: PlaceMap, palette: Palette) -> go.Figure:
    figure = go.Figure()
    for way in chart.ways:
        across, up = _line_of(chart, way)
        figure.add_scatter(
            x=across,
            y=up,
            mode="lines",
            line={
                "shape": "spline",
                "color": palette.paths.fill if way.taken else palette.quiet,
                "width": way.width,
                "dash": "solid" if way.taken else "dot",
            },
            hoverinfo="skip",
        )
    for dots in chart.dots:
        figure.add_scatter(
            x=chart.longitude[list(dots.places)].tolist(),
            y=chart.latitude[list(dots.places)].tolist(),
            mode="markers",
            customdata=list(dots.places),
            text=[escape_tags(chart.names.get(place, "")) for place in dots.places],
            hovertemplate="%{text}<extra></extra>" if chart.clickable else None,
            hoverinfo=None if chart.clickable else "skip",
            marker=_marker(dots, palette),
            unselected={"marker": {"opacity": 1}},
        )
    for place, name in chart.names.items():
        x, y = float(chart.longitude[place]), float(chart.latitude[place])
        above = {"xanchor": "center", "yshift": 19, "bgcolor": translucent(palette.page, 0.75)}
        figure.add_annotation(note(x, y, escape_tags(name), palette.ink, 12, **above))
    styled(figure, palette, height=_MAP_PX)
    figure.update_xaxes(visible=False)
    middle = float(chart.latitude.mean())
    figure.update_yaxes(visible=False, scaleanchor="x", scaleratio=1 / max(0.2, abs(math.cos(math.radians(middle)))))
    return figure


def _line_of(chart: PlaceMap, way: Way) -> tuple[list[float], list[float]]:
    """A way's points: straight, or around the nearest place that a straight line would run through."""
    points = np.column_stack((chart.longitude, chart.latitude))
    start, end = points[way.source], points[way.target]
    along = end - start
    across = np.array([-along[1], along[0]])
    length = max(float(along @ along), 1e-12)
    share, aside = (points - start) @ along / length, (points - start) @ across / length
    hit = np.flatnonzero((share > 0.1) & (share < 0.9) & (np.abs(aside) < 0.1))
    if not len(hit):
        return [start[0], end[0]], [start[1], end[1]]
    worst = hit[np.argmin(np.abs(aside[hit]))]
    bend = start + share[worst] * along + (-0.25 if aside[worst] >= 0 else 0.25) * across
    return [start[0], bend[0], end[0]], [start[1], bend[1], end[1]]


def _marker(dots: Dots, palette: Palette) -> dict[str, object]:
    colour = translucent(palette.quiet, 0.45) if dots.meaning == "faint" else fill_of(dots.meaning, palette)
    if dots.ring:
        return {"size": dots.size, "symbol": "circle-open", "color": colour, "line": {"width": 3}, "opacity": 1}
    return {"size": dots.size, "color": colour, "opacity": 1, "line": {"width": 0}}
