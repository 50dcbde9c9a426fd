"""Figures of one explanation: the clickable two-hop graph, and the visits over time."""

import plotly.graph_objects as go

from analysis.explain.explanation import FullExplanation
from analysis.figures.case_layout import place_paths, place_visits
from analysis.figures.charts import add_notes, styled
from analysis.figures.palette import Palette, translucent

_LONGEST_NAME = 24


def plot_paths(explanation: FullExplanation, palette: Palette) -> go.Figure:
    """Source, middle places and target; middle places carry their POI as ``customdata``, so that a click can cut."""
    placed = place_paths(explanation.path_evidence)
    figure, notes = go.Figure(), []
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
            notes.append(
                {
                    "x": x,
                    "y": (0.5 + 3 * item.y) / 4,
                    "text": f"{count:,}×",
                    "bgcolor": palette.page,
                    "font": {"size": 12, "color": palette.quiet},
                }
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
        notes.append(
            {
                "x": x,
                "y": 0.5,
                "yshift": -24,
                "text": _short(name),
                "bgcolor": translucent(palette.page, 0.85),
                "font": {"color": text_colour, "size": 13},
            }
        )
    add_notes(figure, notes)
    styled(figure, palette, height=130 + 52 * max(len(placed), 1), margin={"t": 26, "b": 30})
    figure.layout.xaxis.update(visible=False, range=[-0.16, 1.16])
    room = 30 / (52 * max(len(placed), 1))  # for the name above the highest path
    figure.layout.yaxis.update(visible=False, range=[1.1 + room / 2, -0.1 - room])
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
    figure.layout.xaxis.update(visible=False, range=[-0.36, 1.03])
    figure.layout.yaxis.update(visible=False, range=[1.85, -0.85])
    return figure


def _short(name: str) -> str:
    """A name that fits, made harmless: plotly reads a few tags in texts."""
    text = name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 1]}…"
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
