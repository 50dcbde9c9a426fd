"""What adds up to the score: two places' contributions by group and their difference, on one scale."""

from typing import Any, Final, NamedTuple, Protocol

import plotly.graph_objects as go

from analysis.explain.sentences import part_label
from analysis.explain.types import Candidate, Role
from analysis.figures.charts import assembled, escape_tags
from analysis.figures.palette import Palette, translucent
from analysis.formatting import MINUS, points, signed_points
from recap.features.catalogue import PAST, PATHS, TIME, TRANSITIONS
from recap.printable import shortened

ROW_PX: Final = 34
_COLUMNS: Final = ((0.24, 0.52), (0.54, 0.82), (0.84, 1.0))
"""Where the panels of the target, the runner-up and the difference begin and end, as shares of the width."""
_LABEL_SHARE: Final = 0.08
"""Of a panel's width, at its right, for the number."""


class Compared(Protocol):
    """Two places compared: an explanation, or what is shared of one."""

    @property
    def a(self) -> Candidate: ...

    @property
    def b(self) -> Candidate: ...

    @property
    def roles(self) -> tuple[Role, Role]: ...


class Bar(NamedTuple):
    """One bar of a place: it begins where the one before ended, the score at 0."""

    name: str
    start: float
    value: float

    @property
    def ends(self) -> tuple[float, float]:
        return self.start, self.start + self.value


def waterfall(entry: Candidate) -> list[Bar]:
    """A bar for each group in order, and the score.

    >>> entry = Candidate(poi=0, name="", category="", rank=1, probability=1, score=1.5, gate=None, terms={},
    ...     groups={"core": 2.0, "past visits": -0.5})
    >>> [(bar.start, bar.value) for bar in waterfall(entry)]
    [(0.0, 2.0), (2.0, -0.5), (0.0, 1.5)]
    """
    found, level = [], 0.0
    for group, value in entry.groups.items():
        found.append(Bar(group, level, value))
        level += value
    return [*found, Bar("score", 0.0, entry.score)]


def group_colour(group: str, palette: Palette) -> str:
    """The colour of a group: the user's own past, where people go from here, or neither."""
    if group in (PAST, TIME):
        return palette.revisits.fill
    return palette.paths.fill if group in (TRANSITIONS, PATHS) else palette.unseen


def plot_contributions(explanation: Compared, palette: Palette) -> go.Figure:
    """Groups from top to bottom, the score below: the target, the runner-up, and the difference."""
    a, b = explanation.a, explanation.b
    hues = [palette.of_role(role) for role in explanation.roles]
    both = [waterfall(entry) for entry in (a, b)]
    names = [*(part_label(group) for group in a.groups), "Score"]
    ends = [0.0, *(end for bars in both for bar in bars for end in bar.ends)]
    low, high = min(ends), max(max(ends), min(ends) + 1e-6)
    data, notes = [], [_note(0.0, row, name, palette.ink, "left") for row, name in enumerate(names)]
    for at, (entry, bars, hue) in enumerate(zip((a, b), both, hues, strict=True), start=1):
        colours = [group_colour(bar.name, palette) for bar in bars[:-1]] + [hue.fill]
        data.append(_bars([bar.value for bar in bars], [bar.start for bar in bars], colours, at))
        notes.append(_note(_COLUMNS[at - 1][0], -1, f"<b>{_short(entry.name)}</b>", hue.text, "left"))
        texts = [*(signed_points(bar.value) for bar in bars[:-1]), f"<b>{points(entry.score)}</b>"]
        colours = [palette.ink] * (len(bars) - 1) + [hue.text]
        numbers = enumerate(zip(texts, colours, strict=True))
        notes += [_note(_COLUMNS[at - 1][1], row, text, colour, "right") for row, (text, colour) in numbers]
    differences = [*(a.groups[group] - b.groups[group] for group in a.groups), a.score - b.score]
    favour = [hues[0].fill if value > 0 else hues[1].fill for value in differences]
    colours = [*(translucent(colour, 0.4) for colour in favour[:-1]), favour[-1]]
    data.append(_bars(differences, [0.0] * len(names), colours, 3))
    notes.append(_note(_COLUMNS[2][0], -1, "Difference", palette.quiet, "left"))
    texts = [*(signed_points(value) for value in differences[:-1]), f"<b>{signed_points(differences[-1])}</b>"]
    notes += [_note(_COLUMNS[2][1], row, text, palette.ink, "right") for row, text in enumerate(texts)]
    spans = [(low, high), (low, high), (min(0.0, *differences), max(0.0, *differences))]
    layout: dict[str, Any] = {"annotations": notes, "bargap": 0.4}
    for at, ((left, right), span) in enumerate(zip(_COLUMNS, spans, strict=True), start=1):
        layout[f"xaxis{'' if at == 1 else at}"] = {
            "domain": [left, right - _LABEL_SHARE],
            "range": _widened(span, high - low if at < 3 else max(span[1] - span[0], (high - low) / 2)),
            "showticklabels": False,
            "showline": False,
            "zeroline": True,
            "zerolinecolor": palette.grid,
        }
    layout["yaxis"] = {"range": [len(names) - 0.4, -1.5], "visible": False}
    return assembled(data, layout, palette, height=10 + ROW_PX * (len(names) + 1), margin={"t": 2, "b": 2})


def describe_contributions(explanation: Compared) -> str:
    """The figure in words, for those who cannot see it."""
    told = []
    for entry in (explanation.a, explanation.b):
        listed = ", ".join(f"{part_label(group)} {signed_points(value)}" for group, value in entry.groups.items())
        told.append(f"{entry.name}: {listed}; score {points(entry.score)}")
    return ". ".join(told).replace(MINUS, "minus ")


def _widened(span: tuple[float, float], length: float) -> list[float]:
    low, high = span
    extra = max(0.0, length - (high - low)) / 2
    return [low - (extra if low < 0 else 0.0), high + (extra if low < 0 else 2 * extra)]


def _bars(values: list[float], starts: list[float], colours: list[str], at: int) -> dict[str, Any]:
    return {
        "type": "bar",
        "x": values,
        "base": starts,
        "y": list(range(len(values))),
        "orientation": "h",
        "xaxis": f"x{'' if at == 1 else at}",
        "marker": {"color": colours},
        "hoverinfo": "skip",
    }


def _note(x: float, y: float, text: str, colour: str, anchor: str) -> dict[str, Any]:
    font = {"color": colour, "size": 13}
    return {"x": x, "xref": "paper", "y": y, "text": text, "xanchor": anchor, "font": font}


def _short(name: str) -> str:
    return escape_tags(shortened(name, 22))
