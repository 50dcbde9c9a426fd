"""The ledger of two places and their difference, one figure each: side by side where there is room, else stacked.

Names stand above their bars, so that a panel needs no margin and reads alone; a point is equally long in all three.
"""

from typing import Any, Final

import plotly.graph_objects as go

from analysis.explain.explanation import FullExplanation
from analysis.explain.types import ScoreDecomposition
from analysis.figures.charts import assembled, escape_tags
from analysis.figures.ledger import LedgerRow, Step, ledger, steps
from analysis.figures.palette import Hue, Palette, translucent
from analysis.formatting import MINUS, points, signed_points
from analysis.phrases import phrase
from recap.printable import shortened

ROW_PX: Final = 34
_BAR: Final = 0.34
_LONGEST_NAME: Final = 26


def score_panels(explanation: FullExplanation, palette: Palette) -> tuple[go.Figure, go.Figure, go.Figure]:
    """Target, rival, and their difference, with the same rows from top to bottom and the total below."""
    contrast = explanation.contrast
    rows = ledger(explanation)
    labels = [*(row.name() + ("" if row.is_active else f" {phrase('inactive_row')}") for row in rows), "Total"]
    first, second = (palette.of_role(role) for role in explanation.roles)
    ranges = _ranges(explanation, rows)
    first_panel, second_panel = (
        _place_panel(entry, bars, labels, hue, palette, span)
        for entry, bars, hue, span in (
            (contrast.a, steps(rows, "a", contrast.a.total), first, ranges[0]),
            (contrast.b, steps(rows, "b", contrast.b.total), second, ranges[1]),
        )
    )
    differences = [*(row.difference for row in rows), contrast.margin]
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


def describe_score_parts(explanation: FullExplanation) -> tuple[str, str, str]:
    """The three panels in words, for those who cannot see them."""
    contrast = explanation.contrast
    rows = ledger(explanation)
    names = [row.name() for row in rows]
    told = []
    for entry, values in ((contrast.a, [row.a for row in rows]), (contrast.b, [row.b for row in rows])):
        told.append(f"{entry.name}: {_listed(names, values)}; total {points(entry.total)}")
    listed = _listed(names, [row.difference for row in rows])
    total = f"total difference {signed_points(contrast.margin)}"
    told.append(f"{contrast.a.name} against {contrast.b.name}: {listed}; {total}")
    first, second, third = (text.replace(MINUS, "minus ") for text in told)
    return first, second, third


def _listed(names: list[str], values: list[float]) -> str:
    return ", ".join(f"{name} {signed_points(value)}" for name, value in zip(names, values, strict=True))


def _place_panel(
    entry: ScoreDecomposition, bars: list[Step], labels: list[str], hue: Hue, palette: Palette, span: list[float]
) -> go.Figure:
    own = dict.fromkeys(("evidence", "others_transitions", "popularity", "distance"), palette.quiet)
    own |= {"core": palette.baseline, "two_hop_addends": palette.paths.fill, "total": hue.fill}
    shown = [signed_points(bar.value) for bar in bars]
    shown[-1] = points(entry.total)
    if bars[0].key == "core":  # what the others are added to
        shown[0] = points(bars[0].value)
    return _panel(
        _titles(entry.name, hue.text, labels, palette) + _values(shown, hue.text, palette),
        _bars(
            [bar.value for bar in bars],
            [bar.start for bar in bars],
            [own.get(bar.key, palette.revisits.fill) for bar in bars],
            ["/" if bar.key in ("correction", "clip_loss") else "" for bar in bars],
            palette,
        ),
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
    notes = [(shortened(title, _LONGEST_NAME), -0.75, colour, 15, 600, title)]
    notes += [(label, row - 0.22, palette.ink, 13, 400, "") for row, label in enumerate(labels)]
    return [
        {
            "x": 0,
            "xref": "paper",
            "y": y,
            "text": escape_tags(text),
            "hovertext": escape_tags(whole) if whole != text else "",
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


def _ranges(explanation: FullExplanation, rows: list[LedgerRow]) -> list[list[float]]:
    """Ranges of one length, so that a point is equally long; both places' panels have the same."""
    contrast = explanation.contrast
    bars = [*steps(rows, "a", contrast.a.total), *steps(rows, "b", contrast.b.total)]
    both = [0.0, *(end for bar in bars for end in bar.ends)]
    difference = [0.0, *(row.difference for row in rows), contrast.margin]
    ends = [(min(both), max(both))] * 2 + [(min(difference), max(difference))]
    span = 1.02 * max(max(high - low for low, high in ends), 1e-6)
    return [[(low + high - span) / 2, (low + high + span) / 2] if low < 0 else [low, low + span] for low, high in ends]
