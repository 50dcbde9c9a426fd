"""Figures of one explanation: the score parts as a waterfall, the clickable two-hop graph, the visits over time."""

from typing import Final

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from analysis.explain.explanation import FullExplanation
from analysis.explain.types import ScoreDecomposition
from analysis.figures.case_layout import part_is_active, place_paths, place_visits, shown_parts, waterfall
from analysis.figures.charts import styled
from analysis.figures.palette import Hue, Palette, translucent
from analysis.formatting import MINUS, points, signed_points
from analysis.registers import Words

_WIDTHS: Final = [0.38, 0.38, 0.24]
"""Of the columns of the score parts: two places and their difference."""
_ROW_PX = 44
_LONGEST_NAME = 24


def plot_score_parts(explanation: FullExplanation, palette: Palette, words: Words | None = None) -> go.Figure:
    """Target, rival and their difference on shared rows; numbers stand in a column of their own."""
    a, b = explanation.contrast.a, explanation.contrast.b
    parts = shown_parts(explanation)
    labels = [_row_label(part, explanation, words or Words()) for part in parts]
    rows = [*labels, "Total"]
    figure = make_subplots(
        rows=1,
        cols=3,
        shared_yaxes=True,
        column_widths=_WIDTHS,
        horizontal_spacing=0.05,
        subplot_titles=[_short(a.name), _short(b.name), "Difference"],
    )
    first, second = (palette.of_role(role) for role in explanation.roles)
    for column, (entry, hue) in enumerate(((a, first), (b, second)), start=1):
        _waterfall_column(figure, entry, explanation, rows, hue, palette, column)
    differences = [explanation.contrast.parts[part] for part in parts]
    favour = [first.fill if value > 0 else second.fill for value in differences]
    total_hue = first.fill if explanation.contrast.margin > 0 else second.fill
    figure.add_bar(
        y=rows,
        x=[*differences, explanation.contrast.margin],
        orientation="h",
        marker={"color": [*(translucent(colour, 0.35) for colour in favour), total_hue]},
        text=[signed_points(value) for value in (*differences, explanation.contrast.margin)],
        textposition="outside",
        textfont={"color": palette.ink},
        cliponaxis=False,
        hoverinfo="skip",
        row=1,
        col=3,
    )
    styled(figure, palette, height=90 + _ROW_PX * len(rows), margin={"t": 34, "l": 150, "r": 8})
    figure.update_yaxes(
        autorange="reversed", showgrid=False, ticksuffix="  ", tickfont={"color": palette.ink, "size": 14}
    )
    figure.update_xaxes(showticklabels=False, zeroline=True, zerolinecolor=palette.grid)
    for column, ends in enumerate(_one_scale(figure), start=1):
        figure.update_xaxes(range=ends, row=1, col=column)
    for annotation, colour in zip(figure.layout.annotations, (first.text, second.text, palette.quiet), strict=False):
        annotation.font = {"color": colour, "size": 15, "weight": 600}
    return figure


def _waterfall_column(
    figure: go.Figure,
    entry: ScoreDecomposition,
    explanation: FullExplanation,
    rows: list[str],
    hue: Hue,
    palette: Palette,
    column: int,
) -> None:
    bars = waterfall(entry, explanation)
    own = {"core": palette.baseline, "evidence": palette.quiet}
    colours = [own.get(bar.part, palette.revisits.fill) for bar in bars]
    hatched = ["/" if bar.part in ("correction", "clip_loss") else "" for bar in bars]
    shown = [points(bar.value) if bar.part == "core" else signed_points(bar.value) for bar in bars]
    figure.add_bar(
        y=rows,
        x=[*(bar.value for bar in bars), entry.total],
        base=[*(bar.start for bar in bars), 0.0],
        orientation="h",
        marker={
            "color": [*colours, hue.fill],
            "pattern": {"shape": [*hatched, ""], "fgcolor": palette.page, "size": 5, "solidity": 0.4},
        },
        text=[*shown, points(entry.total)],
        textposition="none",
        customdata=[*shown, points(entry.total)],
        hovertemplate="%{y}: %{customdata}<extra></extra>",
        row=1,
        col=column,
    )
    for row, value in zip(rows, [*shown, points(entry.total)], strict=True):
        figure.add_annotation(
            x=1,
            xref=f"x{'' if column == 1 else column} domain",
            y=row,
            yref="y",
            text=f"<b>{value}</b>" if row == "Total" else value,
            showarrow=False,
            xanchor="right",
            font={"color": hue.text if row == "Total" else palette.ink, "size": 14},
        )


def _row_label(part: str, explanation: FullExplanation, words: Words) -> str:
    label = words.term(part)
    return label if part_is_active(part, explanation) else f"{label} {words.say('inactive_row')}"


def _one_scale(figure: go.Figure) -> list[list[float]]:
    """Ranges in which a point is equally long in all three columns, and zero lies at one place in the first two."""
    found = [_range(figure, column) for column in (1, 2, 3)]
    both = min(found[0][0], found[1][0]), max(found[0][1], found[1][1])
    needed = []
    for low, high in (both, both, found[2]):
        span = max(high - low, 1e-6)
        needed.append((low - 0.28 * span * (low < 0), high + 0.34 * span))
    unit = max((high - low) / width for (low, high), width in zip(needed, _WIDTHS, strict=True))
    ranges = []
    for (low, high), width in zip(needed, _WIDTHS, strict=True):
        room = unit * width - (high - low)
        ranges.append([low - 0.3 * room * (low < 0), high + room * (1 - 0.3 * (low < 0))])
    return ranges


def _range(figure: go.Figure, column: int) -> tuple[float, float]:
    axis = "x" if column == 1 else f"x{column}"
    ends = [0.0]
    for trace in figure.data:
        if trace.xaxis == axis:
            bases = trace.base if trace.base is not None else [0.0] * len(trace.x)
            ends += [*bases, *(base + length for base, length in zip(bases, trace.x, strict=True))]
    return min(ends), max(ends)


def plot_paths(explanation: FullExplanation, palette: Palette) -> go.Figure:
    """Source, middle places and target; middle places carry their POI as ``customdata``, so that a click can cut."""
    placed = place_paths(explanation.path_evidence)
    figure = go.Figure()
    for item in placed:
        figure.add_scatter(
            x=[0, 0.5 * item.x, item.x, (1 + item.x) / 2, 1],
            y=[0.5, (0.5 + 3 * item.y) / 4, item.y, (0.5 + 3 * item.y) / 4, 0.5],
            mode="lines",
            line={
                "shape": "spline",
                "width": 1.5 + 11 * item.path.share,
                "color": translucent(palette.paths.fill, 0.75),
                "dash": "solid",
            },
            hoverinfo="skip",
        )
        for x, count in ((0.5 * item.x, item.path.count_in), ((1 + item.x) / 2, item.path.count_out)):
            figure.add_annotation(
                x=x,
                y=(0.5 + 3 * item.y) / 4,
                text=f"{count:,}×",
                showarrow=False,
                bgcolor=palette.page,
                font={"size": 12, "color": palette.quiet},
            )
    figure.add_scatter(
        x=[item.x for item in placed],
        y=[item.y for item in placed],
        mode="markers+text",
        marker={"size": 15, "color": palette.paths.fill, "line": {"width": 2, "color": palette.page}},
        text=[f"<b>{_short(item.path.name)}</b>" for item in placed],
        textposition="top center",
        textfont={"color": palette.ink, "size": 13},
        customdata=[item.path.middle for item in placed],
        hovertemplate="Click to cut this path<extra></extra>",
    )
    goal = palette.of_role(explanation.roles[0])
    ends = (
        (0, explanation.source_name, "circle", palette.ink, palette.ink),
        (1, explanation.target_name, "circle-open", goal.fill, goal.text),
    )
    for x, name, symbol, colour, text_colour in ends:
        figure.add_scatter(
            x=[x],
            y=[0.5],
            mode="markers",
            marker={"size": 17, "symbol": symbol, "color": colour, "line": {"width": 4}},
            hoverinfo="skip",
        )
        figure.add_annotation(
            x=x,
            y=0.5,
            yshift=-24,
            text=_short(name),
            showarrow=False,
            bgcolor=translucent(palette.page, 0.85),
            font={"color": text_colour, "size": 13},
        )
    styled(figure, palette, height=130 + 52 * max(len(placed), 1), margin={"t": 26, "b": 30})
    figure.update_xaxes(visible=False, range=[-0.16, 1.16])
    room = 30 / (52 * max(len(placed), 1))  # for the name above the highest path
    figure.update_yaxes(visible=False, range=[1.1 + room / 2, -0.1 - room])
    return figure


def plot_visits(explanation: FullExplanation, palette: Palette) -> go.Figure:
    """One line for the target, one for the rival; one dot per visit, stronger when fresher; now at the right."""
    figure = go.Figure()
    hues = [palette.of_role(role) for role in explanation.roles]
    for row, (evidence, hue) in enumerate(zip(explanation.revisits, hues, strict=True)):
        dots = place_visits(evidence)
        figure.add_scatter(
            x=[0, 1], y=[row, row], mode="lines", line={"color": palette.grid, "width": 3}, hoverinfo="skip"
        )
        figure.add_scatter(
            x=[dot.x for dot in dots],
            y=[row] * len(dots),
            mode="markers",
            marker={
                "size": 14,
                "color": palette.revisits.fill,
                "opacity": [dot.freshness for dot in dots],
                "line": {"width": [2 if dot.in_recent_window else 0 for dot in dots], "color": palette.ink},
            },
            customdata=[dot.local_time.replace("T", " ")[:16] for dot in dots],
            hovertemplate="%{customdata}<extra></extra>",
        )
        figure.add_annotation(
            x=-0.02,
            y=row,
            text=f"<b>{_short(evidence.name)}</b>",
            showarrow=False,
            xanchor="right",
            font={"color": hue.text, "size": 13},
        )
    figure.add_vline(x=1, line={"color": palette.ink, "width": 1.5})
    figure.add_annotation(
        x=1, y=-0.62, text="now", showarrow=False, xanchor="right", xshift=-5, font={"color": palette.quiet, "size": 13}
    )
    first = (explanation.revisits[0].first_time or explanation.revisits[0].now_time)[:10]
    figure.add_annotation(
        x=0, y=1.62, text=first, showarrow=False, xanchor="left", font={"color": palette.quiet, "size": 13}
    )
    styled(figure, palette, height=170)
    figure.update_xaxes(visible=False, range=[-0.36, 1.03])
    figure.update_yaxes(visible=False, range=[1.85, -0.85])
    return figure


def _short(name: str) -> str:
    """A name that fits, made harmless: plotly reads a few tags in texts."""
    text = name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 1]}…"
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def describe_score_parts(explanation: FullExplanation, words: Words | None = None) -> str:
    """The waterfall in words, for those who cannot see it."""
    contrast, words = explanation.contrast, words or Words()
    told = {part: signed_points(contrast.parts[part]) for part in shown_parts(explanation)}
    parts = ", ".join(f"{words.term(part)} {value}" for part, value in told.items())
    text = f"{contrast.a.name} against {contrast.b.name}: {parts}; total difference {signed_points(contrast.margin)}"
    return text.replace(MINUS, "minus ")
