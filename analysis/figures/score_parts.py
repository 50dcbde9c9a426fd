"""The score parts of two places and their difference, one figure each: side by side where there is room, else stacked.

Names stand above their bars, so that a panel needs no margin and reads alone; a point is equally long in all three.
"""

from typing import Any, Final

import plotly.graph_objects as go

from analysis.explain.explanation import FullExplanation
from analysis.explain.types import ScoreDecomposition
from analysis.figures.case_layout import part_is_active, shown_parts, waterfall
from analysis.figures.charts import assembled
from analysis.figures.palette import Hue, Palette, translucent
from analysis.formatting import MINUS, points, signed_points
from analysis.registers import Words

ROW_PX: Final = 34
_BAR: Final = 0.34
_LONGEST_NAME: Final = 26


def score_panels(
    explanation: FullExplanation, palette: Palette, words: Words | None = None
) -> tuple[go.Figure, go.Figure, go.Figure]:
    """Target, rival, and their difference, with the same rows from top to bottom and the total below."""
    words, contrast = words or Words(), explanation.contrast
    parts = shown_parts(explanation)
    labels = [*(_row_label(part, explanation, words) for part in parts), "Total"]
    first, second = (palette.of_role(role) for role in explanation.roles)
    ranges = _ranges(explanation)
    first_panel, second_panel = (
        _place_panel(entry, explanation, labels, hue, palette, span)
        for entry, hue, span in ((contrast.a, first, ranges[0]), (contrast.b, second, ranges[1]))
    )
    differences = [*(contrast.parts[part] for part in parts), contrast.margin]
    favour = [first.fill if value > 0 else second.fill for value in differences]
    colours = [*(translucent(colour, 0.35) for colour in favour[:-1]), favour[-1]]
    difference = _panel(
        _titles("Difference", palette.quiet, labels, palette)
        + _values([signed_points(value) for value in differences], palette.ink, palette),
        _bars(differences, [0.0] * len(labels), colours, [""] * len(labels), palette),
        ranges[2],
        palette,
    )
    return first_panel, second_panel, difference


def describe_score_parts(explanation: FullExplanation, words: Words | None = None) -> tuple[str, str, str]:
    """The three panels in words, for those who cannot see them."""
    words, contrast = words or Words(), explanation.contrast
    parts = shown_parts(explanation)
    told = []
    for entry in (contrast.a, contrast.b):
        bars = {bar.part: bar.value for bar in waterfall(entry, explanation)}
        listed = ", ".join(f"{words.term(part)} {signed_points(bars[part])}" for part in parts)
        told.append(f"{entry.name}: {listed}; total {points(entry.total)}")
    listed = ", ".join(f"{words.term(part)} {signed_points(contrast.parts[part])}" for part in parts)
    total = f"total difference {signed_points(contrast.margin)}"
    told.append(f"{contrast.a.name} against {contrast.b.name}: {listed}; {total}")
    first, second, third = (text.replace(MINUS, "minus ") for text in told)
    return first, second, third


def _place_panel(
    entry: ScoreDecomposition,
    explanation: FullExplanation,
    labels: list[str],
    hue: Hue,
    palette: Palette,
    span: list[float],
) -> go.Figure:
    bars = waterfall(entry, explanation)
    own = {"core": palette.baseline, "evidence": palette.quiet}
    colours = [*(own.get(bar.part, palette.revisits.fill) for bar in bars), hue.fill]
    hatched = [*("/" if bar.part in ("correction", "clip_loss") else "" for bar in bars), ""]
    lengths, starts = [*(bar.value for bar in bars), entry.total], [*(bar.start for bar in bars), 0.0]
    shown = [points(bar.value) if bar.part == "core" else signed_points(bar.value) for bar in bars]
    return _panel(
        _titles(entry.name, hue.text, labels, palette) + _values([*shown, points(entry.total)], hue.text, palette),
        _bars(lengths, starts, colours, hatched, palette),
        span,
        palette,
    )


def _panel(notes: list[dict[str, Any]], bars: dict[str, Any], span: list[float], palette: Palette) -> go.Figure:
    rows = len(bars["x"])
    layout = {
        "annotations": notes,
        "xaxis": {
            "range": span,
            "showticklabels": False,
            "showline": False,
            "zeroline": True,
            "zerolinecolor": palette.grid,
        },
        "yaxis": {"range": [rows - 0.4, -1.1], "visible": False},
    }
    return assembled([bars], layout, palette, height=34 + ROW_PX * rows, margin={"t": 2, "b": 2})


def _titles(title: str, colour: str, labels: list[str], palette: Palette) -> list[dict[str, Any]]:
    """A panel's title and the names of its rows; a name that is too long ends in an ellipsis and is told whole on
    hover."""
    short = title if len(title) <= _LONGEST_NAME else f"{title[: _LONGEST_NAME - 1]}…"
    notes = [(short, -0.75, colour, 15, 600, title)]
    notes += [(label, row - 0.22, palette.ink, 13, 400, "") for row, label in enumerate(labels)]
    return [
        {
            "x": 0,
            "xref": "paper",
            "y": y,
            "text": _harmless(text),
            "hovertext": _harmless(whole) if whole != text else "",
            "xanchor": "left",
            "font": {"color": ink, "size": size, "weight": weight},
        }
        for text, y, ink, size, weight, whole in notes
    ]


def _bars(
    lengths: list[float], starts: list[float], colours: list[str], hatched: list[str], palette: Palette
) -> dict[str, Any]:
    return {
        "type": "bar",
        "y": [row + 0.2 for row in range(len(lengths))],
        "x": lengths,
        "base": starts,
        "width": _BAR,
        "orientation": "h",
        "marker": {
            "color": colours,
            "pattern": {"shape": hatched, "fgcolor": palette.page, "size": 5, "solidity": 0.4},
        },
        "hoverinfo": "skip",
    }


def _values(texts: list[str], total_colour: str, palette: Palette) -> list[dict[str, Any]]:
    """Numbers in a column at the right, on the line of their row's name."""
    last = len(texts) - 1
    return [
        {
            "x": 1,
            "xref": "paper",
            "y": row - 0.22,
            "text": f"<b>{text}</b>" if row == last else text,
            "xanchor": "right",
            "font": {"color": total_colour if row == last else palette.ink, "size": 13},
        }
        for row, text in enumerate(texts)
    ]


def _ranges(explanation: FullExplanation) -> list[list[float]]:
    """Ranges of one length, so that a point is equally long; both places' panels have the same."""
    both = [0.0]
    for entry in (explanation.contrast.a, explanation.contrast.b):
        both += [end for bar in waterfall(entry, explanation) for end in (bar.start, bar.end)] + [entry.total]
    parts = [explanation.contrast.parts[part] for part in shown_parts(explanation)]
    difference = [0.0, *parts, explanation.contrast.margin]
    ends = [(min(both), max(both))] * 2 + [(min(difference), max(difference))]
    span = 1.02 * max(max(high - low for low, high in ends), 1e-6)
    return [[(low + high - span) / 2, (low + high + span) / 2] if low < 0 else [low, low + span] for low, high in ends]


def _row_label(part: str, explanation: FullExplanation, words: Words) -> str:
    label = words.term(part)
    return label if part_is_active(part, explanation) else f"{label} {words.say('inactive_row')}"


def _harmless(text: str) -> str:
    """Plotly reads a few tags in texts."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
