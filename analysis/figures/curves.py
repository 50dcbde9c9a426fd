"""Learned curves as small multiples on one scale, with the density of candidates' values and marks of two places."""

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

import plotly.graph_objects as go

from analysis.explain.curves import GATE_BINS, Curve
from analysis.explain.model_words import GATE_TITLE, curve_label
from analysis.explain.types import Role
from analysis.figures.charts import assembled
from analysis.figures.contributions import group_colour
from analysis.figures.palette import Palette, translucent

COLUMNS: Final = 4
_ROW: Final = 152
_TITLE: Final = 24
_TICKS: Final = 22
_GAP: Final = 0.035
"""Between columns, as a share of the width."""
_STRIP: Final = 0.16
"""Of a panel's height, for the density below the curve."""
_HOURS: Final = {0.0: "0", 1.0: "1 h", 24.0: "1 day", 168.0: "1 week", 1440.0: "2 months", 8760.0: "1 year"}
_NICE: Final = tuple(digit * 10.0**power for power in range(-4, 7) for digit in (1, 2, 5))
_CLOSEST: Final = 0.24
"""Ticks are at least this share of the width from each other."""


class Gates(NamedTuple):
    """One more panel: how often the gate took each value.

    Attributes:
        counts: of candidates, in equal parts of [-1, 1].
        own: gates of the marked places, None where none acts.
    """

    counts: Sequence[int]
    own: Sequence[float | None]


Marks = Mapping[str, Sequence[float | None]]
"""Values of places by feature, None where a place has none."""


def plot_curves(
    curves: Sequence[Curve],
    palette: Palette,
    *,
    span: tuple[float, float],
    marks: Marks | None = None,
    roles: Sequence[Role] = (),
    others: Sequence[Sequence[Curve]] = (),
    gates: Gates | None = None,
) -> go.Figure:
    """Each curve on the scale that it is learned on, labelled in its unit.

    Args:
        span: lowest and highest points of all panels.
        marks, roles: values of places on each curve, and what these places are.
        others: the curves of other seeds, as thin lines.
    """
    panels: list[Curve | Gates] = [*curves, *([gates] if gates is not None else [])]
    rows = -(-len(panels) // COLUMNS)
    height = rows * _ROW
    width = (1.0 - _GAP * (COLUMNS - 1)) / COLUMNS
    low, high = span
    floor = low - (high - low) * _STRIP
    data: list[dict[str, Any]] = []
    layout: dict[str, Any] = {"annotations": [], "bargap": 0}
    for at, panel in enumerate(panels):
        row, column = divmod(at, COLUMNS)
        left, top = column * (width + _GAP), 1.0 - row * _ROW / height
        bottom = top - (_ROW - _TICKS) / height
        tail = "" if at == 0 else str(at + 1)
        axes = {"xaxis": f"x{tail}", "yaxis": f"y{tail}"}
        xaxis: dict[str, Any] = {"domain": [left, left + width], "anchor": f"y{tail}", "automargin": False}
        yaxis: dict[str, Any] = {"domain": [bottom, top - _TITLE / height], "anchor": f"x{tail}", "nticks": 5}
        if isinstance(panel, Curve):
            seeds = [curve for replicate in others for curve in replicate if curve.name == panel.name]
            values = [] if marks is None else list(zip(marks[panel.name], roles, strict=True))
            data += [trace | axes for trace in _curve(panel, seeds, values, (floor, low), palette)]
            xaxis |= _ranged(panel.knots) | ticks(panel)
            yaxis |= {"range": [floor, high], "zeroline": True, "zerolinecolor": palette.baseline}
            yaxis["showticklabels"] = column == 0
            title, unit = curve_label(panel.name), panel.unit if panel.unit not in ("yes", "hours") else ""
        else:
            data += [trace | axes for trace in _gates(panel, roles, palette)]
            xaxis |= {"range": [-1, 1], "tickvals": [-1, 0, 1], "ticktext": ["−1", "0", "+1"]}
            yaxis |= {"range": [0, 1.15], "visible": False}
            title, unit = GATE_TITLE, ""
        layout |= {f"xaxis{tail}": xaxis, f"yaxis{tail}": yaxis}
        text = f"<b>{title}</b>" + (f'  <span style="color:{palette.quiet}">{unit}</span>' if unit else "")
        layout["annotations"].append(_title(left, top, text, palette))
    return assembled(data, layout, palette, height=height, margin={"l": 30, "r": 4, "t": 0})


def ticks(curve: Curve) -> dict[str, Any]:
    """Where labels are on the axis of values, and what they say."""
    if curve.scale == "linear":
        return {"tickvals": [0, 1], "ticktext": ["no", "yes"]} if curve.unit == "yes" else {"nticks": 4}
    wanted = _HOURS if curve.unit == "hours" else {amount: f"{amount:,.15g}" for amount in (0.0, *_NICE)}
    low, high = min(curve.knots), max(curve.knots)
    at: dict[float, str] = {}
    for amount, text in wanted.items():
        value = curve.value_of(amount)
        if low <= value <= high and all(abs(value - other) >= _CLOSEST * (high - low) for other in at):
            at[value] = text
    return {"tickvals": list(at), "ticktext": list(at.values())}


def _curve(
    curve: Curve,
    seeds: Sequence[Curve],
    marks: Sequence[tuple[float | None, Role]],
    strip: tuple[float, float],
    palette: Palette,
) -> list[dict[str, Any]]:
    colour = group_colour(curve.group, palette)
    thin = {"color": translucent(colour, 0.35), "width": 1}
    data: list[dict[str, Any]] = [_density(curve, strip, palette)]
    data += [_line(seed, thin) | {"hoverinfo": "skip"} for seed in seeds]
    line = {"color": colour, "width": 2.5}
    data.append(
        _line(curve, line)
        | {
            "customdata": curve.amounts,
            "hovertemplate": f"%{{customdata:.3~g}} {curve.unit}: %{{y:+.2f}}<extra></extra>",
        }
    )
    data += [_mark(value, curve.at(value), role, palette) for value, role in marks if value is not None]
    return data


def _line(curve: Curve, line: dict[str, Any]) -> dict[str, Any]:
    """Flat at one knot."""
    mode = "lines" if len(curve.knots) > 1 else "markers"
    look = {"mode": mode, "line": line, "marker": {"color": line["color"], "size": 6}}
    return {"type": "scatter", "x": curve.knots, "y": curve.points} | look


def _mark(x: float, y: float, role: Role, palette: Palette) -> dict[str, Any]:
    """A ring for the truth, a disc for a prediction."""
    hue = palette.of_role(role)
    is_truth = role == "truth"
    line = {"width": 3, "color": hue.fill}
    marker = {"size": 12, "color": palette.page if is_truth else hue.fill, "line": line, "opacity": 1}
    return {"type": "scatter", "x": [x], "y": [y], "mode": "markers", "marker": marker, "hoverinfo": "skip"}


def _density(curve: Curve, strip: tuple[float, float], palette: Palette) -> dict[str, Any]:
    """How many candidates lie between neighbouring knots, for each stretch of the axis."""
    widths = [end - start for start, end in zip(curve.knots, curve.knots[1:], strict=False)]
    dense = [count / width for count, width in zip(curve.density, widths, strict=True)]
    bottom, top = strip
    highest = max(dense, default=0.0) or 1.0
    return {
        "type": "bar",
        "x": [start + width / 2 for start, width in zip(curve.knots, widths, strict=False)],
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
        "x": [-1.0 + width * (at + 0.5) for at in range(len(counts))],
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


def _ranged(knots: Sequence[float]) -> dict[str, Any]:
    low, high = min(knots), max(knots)
    edge = 0.04 * max(high - low, 1e-9)
    return {"range": [low - edge, max(high, low + 1e-6) + edge]}


def _title(x: float, y: float, text: str, palette: Palette) -> dict[str, Any]:
    font = {"size": 13, "color": palette.ink}
    place = {"x": x, "y": y, "xref": "paper", "yref": "paper", "xanchor": "left", "yanchor": "top"}
    return place | {"text": text, "font": font}
