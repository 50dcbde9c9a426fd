"""One learned curve: points against the feature in its own unit, with the density of candidates' values below."""

from collections.abc import Sequence
from typing import Any, Final

import plotly.graph_objects as go

from analysis.explain.curves import Curve
from analysis.explain.types import Role
from analysis.figures.charts import assembled
from analysis.figures.contributions import group_colour
from analysis.figures.palette import Palette, translucent

HEIGHT: Final = 190
_HOURS: Final = {0.0: "0", 1.0: "1 h", 24.0: "1 day", 168.0: "1 week", 1440.0: "2 months", 8760.0: "1 year"}
_NICE: Final = tuple(digit * 10.0**power for power in range(-4, 7) for digit in (1, 2, 5))
_APART: Final = 0.2
"""Ticks are at least this share of the width apart."""


def plot_curve(
    curve: Curve,
    palette: Palette,
    *,
    others: Sequence[Curve] = (),
    marks: Sequence[tuple[float, Role]] = (),
    span: tuple[float, float] | None = None,
) -> go.Figure:
    """The curve on the scale that it is learned on, labelled in its unit.

    Args:
        others: the same curve of other seeds, as thin lines.
        marks: values of places, with what each place is.
        span: lowest and highest points, for curves on one scale.
    """
    colour = group_colour(curve.group, palette)
    data = [
        {"type": "scatter", "x": other.knots, "y": other.points, "mode": "lines", "hoverinfo": "skip"}
        | {"line": {"color": translucent(colour, 0.35), "width": 1}}
        for other in others
    ]
    data.append(
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
    )
    for value, role in marks:
        hue = palette.of_role(role)
        marker = {"size": 11, "color": hue.fill, "symbol": "circle-open" if role == "truth" else "circle"}
        marker["line"] = {"width": 3, "color": hue.fill}
        at: dict[str, Any] = {"x": [value], "y": [curve.at(value)], "mode": "markers", "marker": marker}
        data.append(at | {"type": "scatter", "hoverinfo": "skip"})
    data.append(_density(curve, palette))
    low, high = min(curve.knots), max(curve.knots)
    edge = 0.03 * max(high - low, 1e-9)
    xaxis: dict[str, Any] = {"range": [low - edge, max(high, low + 1e-6) + edge], "anchor": "y2"}
    yaxis: dict[str, Any] = {"domain": [0.2, 1], "zeroline": True, "zerolinecolor": palette.grid, "nticks": 4}
    if span is not None:
        yaxis["range"] = list(span)
    layout = {
        "xaxis": xaxis | ticks(curve),
        "yaxis": yaxis,
        "yaxis2": {"domain": [0, 0.14], "visible": False},
        "bargap": 0,
    }
    return assembled(data, layout, palette, height=HEIGHT, margin={"r": 4})


def ticks(curve: Curve) -> dict[str, Any]:
    """Where labels are on the axis of values, and what they say."""
    feature = curve.feature
    if feature.scale == "linear":
        return {"nticks": 4}
    wanted = _HOURS if feature.unit == "hours" else {amount: f"{amount:,.15g}" for amount in (0.0, *_NICE)}
    low, high = min(curve.knots), max(curve.knots)
    at: dict[float, str] = {}
    for amount, text in wanted.items():
        value = feature.from_unit(amount)
        if low <= value <= high and all(abs(value - other) >= _APART * (high - low) for other in at):
            at[value] = text
    return {"tickvals": list(at), "ticktext": list(at.values())}


def _density(curve: Curve, palette: Palette) -> dict[str, Any]:
    """How many candidates lie between neighbouring knots, for each stretch of the axis."""
    widths = [end - start for start, end in zip(curve.knots, curve.knots[1:], strict=False)]
    return {
        "type": "bar",
        "x": [start + width / 2 for start, width in zip(curve.knots, widths, strict=False)],
        "y": [count / width for count, width in zip(curve.density, widths, strict=True)],
        "width": widths,
        "yaxis": "y2",
        "marker": {"color": palette.unseen},
        "hoverinfo": "skip",
    }
