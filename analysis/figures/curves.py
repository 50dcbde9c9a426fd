"""Learned curves as small multiples on one scale, with candidates' densities and marks of two places."""

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
import plotly.graph_objects as go

from analysis.explain.curves import GATE_BINS, Curve
from analysis.explain.model_words import RATIOS, curve_label, shown_amount, shown_unit
from analysis.explain.types import Role
from analysis.figures.charts import assembled, note
from analysis.figures.contributions import group_colour
from analysis.figures.palette import Palette, translucent
from analysis.formatting import MINUS, signed_points

_COLUMNS: Final = 4
_ROW: Final = 148
_TITLE: Final = 24
_TICKS: Final = 34
"""Space for tick labels above the next row."""
_GAP: Final = 0.035
"""Space between columns, as a share of the width."""
_STRIP: Final = 0.16
"""Share of a panel's height for the density below the curve."""
_HOURS: Final = {
    0.0: "0",
    1.0: "1 h",
    24.0: "1 day",
    168.0: "1 week",
    720.0: "1 month",
    1440.0: "2 months",
    8760.0: "1 year",
}
_NICE: Final = tuple(digit * 10.0**power for power in range(-4, 7) for digit in (1, 2, 5))
_RATIOS: Final = (1.0, 10.0, 0.1, 100.0, 0.01, 1000.0, 0.001, 2.0, 0.5, 5.0, 0.2)
"""Ticks of a ratio, the most useful first."""
_PERCENTS: Final = (0, 50, 100, 10, 20)
_PIECES: Final = 6
"""Segments of a line between two knots, where the axis bends it."""
_CLOSEST: Final = 0.08
"""Smallest distance of ticks, as a share of the figure's width."""


class Gates(NamedTuple):
    """A further panel: how often the gate took each value.

    Attributes:
        counts: of candidates, in equal parts of [-1, 1].
        own: gates of the marked places; None where none acts.
    """

    counts: Sequence[int]
    own: Sequence[float | None]


_Marks = Mapping[str, Sequence[float | None]]
"""Values of places by feature; None where a place has none."""


def plot_curves(
    curves: Sequence[Curve],
    palette: Palette,
    *,
    marks: _Marks | None = None,
    roles: Sequence[Role] = (),
    others: Sequence[Sequence[Curve]] = (),
    gates: Gates | None = None,
    columns: int = _COLUMNS,
    row_height: int = _ROW,
) -> go.Figure:
    """Each curve on the scale that it was learned on, with labels in its unit.

    Args:
        marks, roles: values of places on each curve, and the roles of these places.
        others: curves of other seeds, as thin lines.
        row_height: pixels of each row of panels.
    """
    panels: list[Curve | Gates] = [*curves, *([gates] if gates is not None else [])]
    rows = -(-len(panels) // columns)
    height = rows * row_height
    width = (1.0 - _GAP * (columns - 1)) / columns
    ends = [point for curve in curves for point in curve.points]
    low, high = min(0.0, *ends), max(1e-6, *ends)
    low, high = low - 0.05 * (high - low), high + 0.1 * (high - low)
    floor = low - (high - low) * _STRIP
    data: list[dict[str, Any]] = []
    layout: dict[str, Any] = {"annotations": [], "bargap": 0}
    for number, panel in enumerate(panels):
        row, column = divmod(number, columns)
        left, top = column * (width + _GAP), 1.0 - row * row_height / height
        bottom = top - (row_height - _TICKS) / height
        tail = "" if number == 0 else str(number + 1)
        axes = {"xaxis": f"x{tail}", "yaxis": f"y{tail}"}
        xaxis: dict[str, Any] = {"domain": [left, left + width], "anchor": f"y{tail}", "automargin": False}
        yaxis: dict[str, Any] = {
            "domain": [bottom, top - _TITLE / height],
            "anchor": f"x{tail}",
            "dtick": _step(high - low),
        }
        if isinstance(panel, Curve):
            seeds = [curve for replicate in others for curve in replicate if curve.name == panel.name]
            values = [] if marks is None else list(zip(marks[panel.name], roles, strict=True))
            data += [trace | axes for trace in _curve(panel, seeds, values, (floor, low), palette)]
            xaxis |= _ranged(panel) | ticks(panel, _CLOSEST * max(columns, 3))
            yaxis |= {"range": [floor, high], "zeroline": True, "zerolinecolor": palette.baseline}
            yaxis["showticklabels"] = column == 0
            title = curve_label(panel.name)
        else:
            data += [trace | axes for trace in _gates(panel, roles, palette)]
            xaxis |= {"range": [-1.05, 1.05], "tickvals": [-1, 0, 1], "ticktext": ["−1", "0", "+1"]}
            yaxis |= {"range": [0, 1.15], "visible": False}
            title = "Gate γ"
        layout |= {f"xaxis{tail}": xaxis, f"yaxis{tail}": yaxis}
        above = note(left, top, f"<b>{title}</b>", palette.ink, xref="paper", yref="paper", yanchor="top")
        layout["annotations"].append(above)
    return assembled(data, layout, palette, height=height, margin={"l": 30, "r": 4, "t": 0})


def describe_curves(curves: Sequence[Curve]) -> str:
    ends = [(curve_label(curve.name), min(curve.points), max(curve.points)) for curve in curves]
    text = "; ".join(f"{name} from {signed_points(low)} to {signed_points(high)} points" for name, low, high in ends)
    return text.replace(MINUS, "minus ")


def ticks(curve: Curve, closest: float = _CLOSEST * _COLUMNS) -> dict[str, Any]:
    """Positions and labels of an axis of values, at least ``closest`` of its length from each other."""
    if curve.unit == "yes":
        return {"tickvals": [0, 1], "ticktext": ["no", "yes"]}
    wanted = _wanted_ticks(curve)
    low, high = (_across(curve, end) for end in (curve.knots[0], curve.knots[-1]))
    label_of: dict[float, str] = {0.0: "never"} if curve.scale == "log, visited" else {}
    for amount, text in wanted.items():
        value = _across(curve, curve.feature.from_unit(amount))
        if low <= value <= high and all(abs(value - other) >= closest * (high - low) for other in label_of):
            label_of[value] = text
    return {"tickvals": list(label_of), "ticktext": list(label_of.values())}


def _wanted_ticks(curve: Curve) -> dict[float, str]:
    """Labels by amount, the most useful first."""
    if curve.name in RATIOS:
        return {RATIOS[curve.name] * math.log(ratio): f"{ratio:,g}×" for ratio in _RATIOS}
    if curve.name == "new_lately":
        return {percent / 100.0: f"{percent} %" for percent in _PERCENTS}
    return _HOURS if curve.unit == "hours" else {amount: f"{amount:,.15g}" for amount in (0.0, *_NICE)}


def _across(curve: Curve, value: float) -> float:
    """Position of a value on the axis; sums of path weights are on a log scale that includes 0."""
    if curve.unit != "path weight" or len(curve.knots) == 1:
        return value
    return math.log1p(max(0.0, value) / curve.knots[1])


def _step(span: float) -> float:
    """Points between grid lines, at most six over the span."""
    return next((step for step in (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50) if span / step <= 6), 100.0)


def _curve(
    curve: Curve,
    seeds: Sequence[Curve],
    marks: Sequence[tuple[float | None, Role]],
    strip: tuple[float, float],
    palette: Palette,
) -> list[dict[str, Any]]:
    colour = group_colour(curve.group, palette)
    thin = {"color": translucent(colour, 0.35), "width": 1}
    data: list[dict[str, Any]] = [] if curve.unit == "yes" else [_density(curve, strip, palette)]
    data += [_line(seed, thin) | {"hoverinfo": "skip"} for seed in seeds]
    line = {"color": colour, "width": 2.5}
    unit = shown_unit(curve.name, curve.unit)
    hover = "%{y:+.2f} points" if curve.unit == "yes" else f"%{{customdata:.3~g}} {unit}: %{{y:+.2f}} points"
    data.append(_line(curve, line) | {"hovertemplate": f"{hover}<extra></extra>"})
    data += [_mark(_across(curve, value), curve.at(value), role, palette) for value, role in marks if value is not None]
    return data


def _line(curve: Curve, line: dict[str, Any]) -> dict[str, Any]:
    last = len(curve.knots) - 1
    values = np.interp(np.linspace(0, last, _PIECES * last + 1), range(last + 1), curve.knots).tolist()
    return {
        "type": "scatter",
        "x": [_across(curve, value) for value in values],
        "y": [curve.at(value) for value in values],
        "customdata": [shown_amount(curve.name, curve.feature.in_unit(value)) for value in values],
        "mode": "lines" if last else "markers",
        "line": line,
        "marker": {"color": line["color"], "size": 6},
    }


def _mark(x: float, y: float, role: Role, palette: Palette) -> dict[str, Any]:
    """A ring for the truth, a disc for a prediction; the disc fits into the ring."""
    hue = palette.of_role(role)
    is_truth = role == "truth"
    line = {"width": 3 if is_truth else 1, "color": hue.fill}
    marker = {
        "size": 13 if is_truth else 9,
        "color": palette.page if is_truth else hue.fill,
        "line": line,
        "opacity": 1,
    }
    return {"type": "scatter", "x": [x], "y": [y], "mode": "markers", "marker": marker, "hoverinfo": "skip"}


def _density(curve: Curve, strip: tuple[float, float], palette: Palette) -> dict[str, Any]:
    """Density of candidates between neighbouring knots."""
    ends = [_across(curve, knot) for knot in curve.knots]
    widths = [end - start for start, end in itertools.pairwise(ends)]
    dense = [count / width for count, width in zip(curve.density, widths, strict=True)]
    bottom, top = strip
    highest = max(dense, default=0.0) or 1.0
    return {
        "type": "bar",
        "x": [start + width / 2 for start, width in zip(ends, widths, strict=False)],
        "y": [value / highest * 0.85 * (top - bottom) for value in dense],
        "base": bottom,
        "width": widths,
        "marker": {"color": palette.unseen, "line": {"width": 0}},
        "hoverinfo": "skip",
    }


def _gates(gates: Gates, roles: Sequence[Role], palette: Palette) -> list[dict[str, Any]]:
    counts = gates.counts
    width = 2.0 / GATE_BINS
    highest = max(counts, default=0) or 1
    bars: dict[str, Any] = {
        "type": "bar",
        "x": [-1.0 + width * (number + 0.5) for number in range(len(counts))],
        "y": [count / highest for count in counts],
        "width": [width] * len(counts),
        "marker": {"color": translucent(palette.revisits.fill, 0.55), "line": {"width": 0}},
        "customdata": list(counts),
        "hovertemplate": "%{customdata:,} candidates<extra></extra>",
    }
    return [
        bars,
        *(_mark(gate, 0.04, role, palette) for gate, role in zip(gates.own, roles, strict=True) if gate is not None),
    ]


def _ranged(curve: Curve) -> dict[str, Any]:
    low, high = (_across(curve, end) for end in (curve.knots[0], curve.knots[-1]))
    edge = 0.04 * max(high - low, 1e-9)
    return {"range": [low - edge, max(high, low + 1e-6) + edge]}
