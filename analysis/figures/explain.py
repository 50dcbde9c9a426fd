"""Figures of one explanation: the clickable two-hop graph, and the visits over time."""

from collections.abc import Sequence
from typing import Any, Final

import plotly.graph_objects as go

from analysis.explain.explanation import CaseExplanation
from analysis.explain.types import PathTerms
from analysis.figures.case_layout import place_paths
from analysis.figures.charts import assembled, escape_tags
from analysis.figures.palette import Palette, translucent
from analysis.formatting import days
from recap.printable import shortened

_LONGEST_NAME: Final = 24
_MOST_PATHS: Final = 5
"""Paths drawn; the table lists all."""

_NAME_SHIFT: Final = 45
"""Pixels between a place and its name; the narrowest chart has space for it."""


def plot_paths(explanation: CaseExplanation, palette: Palette, *, cut: Sequence[PathTerms] = ()) -> go.Figure:
    """Source, middle places and target; middle places carry their POI as ``customdata`` for clicks.

    Args:
        cut: paths that edits have taken away, drawn dashed.
    """
    gone = {path.middle for path in cut}
    placed = place_paths(sorted([*explanation.paths, *cut], key=lambda path: -path.product), limit=_MOST_PATHS)
    data: list[dict[str, Any]] = []
    notes: list[dict[str, Any]] = []
    for item in placed:
        data.append(
            {
                "type": "scatter",
                "x": [0, 0.5 * item.x, item.x, (1 + item.x) / 2, 1],
                "y": [0.5, (0.5 + 3 * item.y) / 4, item.y, (0.5 + 3 * item.y) / 4, 0.5],
                "mode": "lines",
                "line": {
                    "shape": "spline",
                    "width": 1.5 if item.path.middle in gone else 1.5 + 11 * item.path.share,
                    "color": palette.quiet if item.path.middle in gone else translucent(palette.paths.fill, 0.55),
                    "dash": "dot" if item.path.middle in gone else "solid",
                },
                "hoverinfo": "skip",
            }
        )
        path = item.path
        ends = ((0.5 * item.x, path.count_in, path.total_in), ((1 + item.x) / 2, path.count_out, path.total_out))
        for x, count, total in ends:
            notes.append(
                {
                    "x": x,
                    "y": (0.5 + 3 * item.y) / 4,
                    "text": f"{count:,} of {total:,}",
                    "bgcolor": palette.page,
                    "font": {"size": 12, "color": palette.quiet},
                }
            )
    data.append(
        {
            "type": "scatter",
            "x": [item.x for item in placed],
            "y": [item.y for item in placed],
            "mode": "markers+text",
            "marker": {
                "size": 16,
                "color": [palette.quiet if item.path.middle in gone else palette.paths.fill for item in placed],
                "line": {"width": 2, "color": palette.page},
                "opacity": 1,
            },
            "unselected": {"marker": {"opacity": 1}, "textfont": {"color": palette.ink}},
            "text": [f"<b>{_short(item.path.name)}</b>" for item in placed],
            "textposition": "top center",
            "textfont": {"color": palette.ink, "size": 13},
            "customdata": [item.path.middle for item in placed],
            "hovertext": [
                "Click to bring it back" if item.path.middle in gone else "Click to cut this path" for item in placed
            ],
            "hovertemplate": "%{hovertext}<extra></extra>",
        }
    )
    goal = palette.of_role(explanation.roles[0])
    named = (  # names reach inwards: centred below their places, long ones are cut off in a narrow chart
        (0, "left", explanation.source_name, "circle", palette.ink, palette.ink),
        (1, "right", explanation.target_name, "circle-open", goal.fill, goal.text),
    )
    for x, anchor, name, symbol, colour, text_colour in named:
        marker = {"size": 17, "symbol": symbol, "color": colour, "line": {"width": 4}}
        data.append({"type": "scatter", "x": [x], "y": [0.5], "mode": "markers", "marker": marker, "hoverinfo": "skip"})
        notes.append(
            {
                "x": x,
                "y": 0.5,
                "yshift": -24,
                "xanchor": anchor,
                "xshift": _NAME_SHIFT if anchor == "right" else -_NAME_SHIFT,
                "text": _short(name),
                "bgcolor": translucent(palette.page, 0.85),
                "font": {"color": text_colour, "size": 13},
            }
        )
    room = 30 / (52 * max(len(placed), 1))  # for the name above the highest path
    layout = {
        "annotations": notes,
        "xaxis": {"visible": False, "range": [-0.16, 1.16]},
        "yaxis": {"visible": False, "range": [1.1 + room / 2, -0.1 - room]},
    }
    return assembled(data, layout, palette, height=130 + 52 * max(len(placed), 1), margin={"t": 26, "b": 30})


def plot_visits(explanation: CaseExplanation, palette: Palette) -> go.Figure:
    """Timelines of the target and the runner-up; one dot per visit, now at the right."""
    data: list[dict[str, Any]] = []
    notes: list[dict[str, Any]] = []
    start = max(explanation.first_days_ago, 1e-3)
    hues = [palette.of_role(role) for role in explanation.roles]
    for row, (place, hue) in enumerate(zip(explanation.visits, hues, strict=True)):
        line = {"color": palette.grid, "width": 3}
        data.append(
            {"type": "scatter", "x": [-start, 0], "y": [row, row], "mode": "lines", "line": line, "hoverinfo": "skip"}
        )
        data.append(
            {
                "type": "scatter",
                "x": [-visit.days_ago for visit in place.visits],
                "y": [row] * len(place.visits),
                "mode": "markers",
                "marker": {"size": 13, "color": palette.revisits.fill, "opacity": 0.75},
                "customdata": [visit.local_time.replace("T", " ")[:16] for visit in place.visits],
                "hovertemplate": "%{customdata}<extra></extra>",
            }
        )
        font = {"color": hue.text, "size": 13}
        notes.append(
            {"x": 0, "xref": "paper", "y": row - 0.36, "text": _short(place.name), "xanchor": "left", "font": font}
        )
    quiet = {"color": palette.quiet, "size": 13}
    notes.append({"x": 0, "y": 1.55, "text": "now", "xanchor": "right", "font": quiet})
    notes.append({"x": -start, "y": 1.55, "text": f"{days(start)} ago", "xanchor": "left", "font": quiet})
    layout = {
        "annotations": notes,
        "xaxis": {"visible": False, "range": [-1.02 * start, 0.02 * start]},
        "yaxis": {"visible": False, "range": [1.8, -0.6]},
    }
    return assembled(data, layout, palette, height=170)


def _short(name: str) -> str:
    """A short, escaped name."""
    return escape_tags(shortened(name, _LONGEST_NAME))
