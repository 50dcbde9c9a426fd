"""The curves on which two places differ most, each with the value and the points of both."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import plotly.graph_objects as go

from analysis.explain.curves import Curve
from analysis.explain.explanation import CaseExplanation
from analysis.explain.sentences import term_label
from analysis.figures.charts import assembled, escape_tags
from analysis.figures.contributions import group_colour
from analysis.figures.curves import ticks
from analysis.figures.palette import Palette
from analysis.formatting import signed_points

SHOWN: Final = 6
_COLUMNS: Final = 3
_ROW_PX: Final = 185
_GAP: Final = 0.05
"""Between neighbouring curves, as a share of the width."""
_ROOM: Final = 0.3
"""Of a row, for the title above a curve and the labels below it."""


def plot_case_curves(
    shown: CaseExplanation,
    palette: Palette,
    *,
    curves: Sequence[Curve],
    values: Mapping[str, Sequence[float | None]],
) -> go.Figure:
    """Small multiples on one scale of points; a ring or a disc where each place lies.

    Args:
        curves: of the model.
        values: of each feature at the target and the runner-up; None where the place has none.
    """
    known = {curve.name: curve for curve in curves}
    names = [name for name in shown.a.terms if name in known]
    names = sorted(names, key=lambda name: -abs(shown.a.terms[name] - shown.b.terms[name]))[:SHOWN]
    ends = [0.0, *(point for name in names for point in known[name].points)]
    span = [min(ends) - 0.15, max(ends) + 0.15]
    rows = max(1, -(-len(names) // _COLUMNS))
    data: list[dict[str, Any]] = []
    notes: list[dict[str, Any]] = []
    layout: dict[str, Any] = {"annotations": notes}
    for at, name in enumerate(names):
        curve, end = known[name], "" if at == 0 else str(at + 1)
        left, bottom, width, height = _cell(at, rows)
        data += [{"xaxis": f"x{end}", "yaxis": f"y{end}"} | trace for trace in _traces(curve, palette)]
        data += [
            {"xaxis": f"x{end}", "yaxis": f"y{end}"} | mark for mark in _marks(shown, curve, values[name], palette)
        ]
        unit = "" if curve.unit == "yes" else f"  {escape_tags(curve.unit)}"
        title = f"<b>{escape_tags(term_label(name))}</b>{unit}"
        notes.append(
            {"x": left, "y": bottom + height, "xref": "paper", "yref": "paper", "text": title}
            | {"xanchor": "left", "yanchor": "bottom", "font": {"size": 12, "color": palette.ink}}
        )
        low, high = min(curve.knots), max(curve.knots)
        edge = 0.04 * max(high - low, 1e-9)
        layout[f"xaxis{end}"] = {
            "domain": [left, left + width],
            "anchor": f"y{end}",
            "range": [low - edge, max(high, low + 1e-6) + edge],
        } | ticks(curve)
        layout[f"yaxis{end}"] = {
            "domain": [bottom, bottom + height],
            "anchor": f"x{end}",
            "range": span,
            "nticks": 4,
            "zeroline": True,
            "zerolinecolor": palette.quiet,
        }
    return assembled(data, layout, palette, height=_ROW_PX * rows, margin={"t": 4, "b": 24})


def _cell(at: int, rows: int) -> tuple[float, float, float, float]:
    """Left, bottom, width and height of a curve, as shares of the figure."""
    row, column = divmod(at, _COLUMNS)
    width = (1 - _GAP * (_COLUMNS - 1)) / _COLUMNS
    height = (1 - _ROOM) / rows
    return column * (width + _GAP), 1 - (row + 1) / rows + (_ROOM - 0.16) / rows, width, height


def _traces(curve: Curve, palette: Palette) -> list[dict[str, Any]]:
    colour = group_colour(curve.group, palette)
    return [
        {
            "type": "scatter",
            "x": curve.knots,
            "y": curve.points,
            "mode": "lines" if len(curve.knots) > 1 else "markers",
            "line": {"color": colour, "width": 2.5},
            "marker": {"color": colour, "size": 6},
            "customdata": curve.amounts,
            "hovertemplate": f"%{{customdata:.3~g}} {curve.unit}: %{{y:+.2f}}<extra></extra>",
        }
    ]


def _marks(
    shown: CaseExplanation, curve: Curve, values: Sequence[float | None], palette: Palette
) -> list[dict[str, Any]]:
    marks = []
    for entry, role, value in zip((shown.a, shown.b), shown.roles, values, strict=True):
        if value is None:
            continue
        hue = palette.of_role(role)
        is_truth = role == "truth"
        told = f"{escape_tags(entry.name)}: {signed_points(curve.at(value))}"
        marks.append(
            {
                "type": "scatter",
                "x": [value],
                "y": [curve.at(value)],
                "mode": "markers",
                "marker": {
                    "size": 13 if is_truth else 10,
                    "symbol": "circle-open" if is_truth else "circle",
                    "color": hue.fill,
                    "line": {"width": 3, "color": hue.fill},
                },
                "hovertemplate": f"{told}<extra></extra>",
            }
        )
    return marks[::-1]  # the ring of the target lies over the disc of the runner-up
