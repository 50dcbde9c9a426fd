"""What adds up to the score: two places' contributions by group and their difference, on one scale."""

from typing import Any, Final, NamedTuple

import plotly.graph_objects as go

from analysis.explain.explanation import CaseExplanation
from analysis.explain.model_words import curve_label
from analysis.explain.sentences import part_label
from analysis.explain.types import Candidate
from analysis.figures.charts import assembled, escape_tags
from analysis.figures.palette import Palette, translucent
from analysis.formatting import MINUS, points, signed_points
from recap.features.catalogue import PAST, PATHS, TIME, TRANSITIONS
from recap.printable import shortened

ROW_PX: Final = 34
_TERM_ROW: Final = 0.7
"""Height of a term's row, in rows."""
_BAR: Final = 0.6
_LONGEST_TERM: Final = 28
_COLUMNS: Final = ((0.24, 0.52), (0.54, 0.82), (0.84, 1.0))
"""Where the panels of the target, the runner-up and the difference begin and end, as shares of the width."""
_LABEL_SHARE: Final = 0.08
"""Of a panel's width, at its right, for the number."""


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


class Row(NamedTuple):
    """A line of the chart: a group, a term of the group that is open, or the score.

    Attributes:
        y: its height, in rows from the top.
        group: that it opens or belongs to; empty for the score.
        bars: of both places.
    """

    label: str
    y: float
    group: str
    is_term: bool
    bars: tuple[Bar, Bar]

    @property
    def difference(self) -> float:
        return self.bars[0].value - self.bars[1].value


def terms_of(shown: CaseExplanation, group: str) -> list[str]:
    """The terms of a group that add to either score; none where the group is one term."""
    terms = shown.groups.get(group, [])
    return [term for term in terms if shown.a.terms[term] or shown.b.terms[term]] if len(terms) > 1 else []


def rows_of(shown: CaseExplanation, opened: str | None) -> list[Row]:
    """Groups from top to bottom, under one of them its terms, the score last."""
    both = [waterfall(entry) for entry in (shown.a, shown.b)]
    rows, y = [], 0.0
    for at, group in enumerate(shown.a.groups):
        bars = both[0][at], both[1][at]
        rows.append(Row(part_label(group), y, group, False, bars))
        y += 1
        levels = [bar.start for bar in bars]
        for term in terms_of(shown, group) if group == opened else []:
            values = shown.a.terms[term], shown.b.terms[term]
            pair = tuple(Bar(term, level, value) for level, value in zip(levels, values, strict=True))
            rows.append(Row(curve_label(term), y - (1 - _TERM_ROW) / 2, group, True, (pair[0], pair[1])))
            levels = [level + value for level, value in zip(levels, values, strict=True)]
            y += _TERM_ROW
    rows.append(Row("Score", y, "", False, (both[0][-1], both[1][-1])))
    return rows


def plot_contributions(shown: CaseExplanation, palette: Palette, *, opened: str | None = None) -> go.Figure:
    """The target, the runner-up, and the difference, row by row; a click on a row brings its group as ``customdata``.

    Args:
        opened: the group whose terms are shown.
    """
    hues = [palette.of_role(role) for role in shown.roles]
    rows = rows_of(shown, opened)
    ends = [0.0, *(end for row in rows for bar in row.bars for end in bar.ends)]
    low, high = min(ends), max(max(ends), min(ends) + 1e-6)
    data = []
    notes = [_label(row, palette, opens=bool(terms_of(shown, row.group)), opened=opened) for row in rows]
    for at, (entry, hue) in enumerate(zip((shown.a, shown.b), hues, strict=True), start=1):
        bars = [row.bars[at - 1] for row in rows]
        colours = [_row_colour(row, palette) for row in rows[:-1]] + [hue.fill]
        data.append(_bars(rows, [bar.value for bar in bars], [bar.start for bar in bars], colours, at))
        notes.append(_note(_COLUMNS[at - 1][0], -1, f"<b>{_short(entry.name)}</b>", hue.text, "left"))
        numbers = [signed_points(bar.value) for bar in bars[:-1]]
        notes += [_number(_COLUMNS[at - 1][1], *pair, palette) for pair in zip(rows, numbers, strict=False)]
        notes.append(_note(_COLUMNS[at - 1][1], rows[-1].y, f"<b>{points(entry.score)}</b>", hue.text, "right"))
    differences = [row.difference for row in rows]
    favour = [hues[0].fill if value > 0 else hues[1].fill for value in differences]
    colours = [*(translucent(colour, 0.4) for colour in favour[:-1]), favour[-1]]
    data += [_bars(rows, differences, [0.0] * len(rows), colours, 3), _click_area(rows, shown)]
    notes.append(_note(_COLUMNS[2][0], -1, "Difference", palette.quiet, "left"))
    texts = [signed_points(value) for value in differences]
    texts[-1] = f"<b>{texts[-1]}</b>"
    notes += [_number(_COLUMNS[2][1], *pair, palette) for pair in zip(rows, texts, strict=True)]
    spans = [(low, high), (low, high), (min(0.0, *differences), max(0.0, *differences))]
    layout: dict[str, Any] = {"annotations": notes, "bargap": 0, "barmode": "overlay"}
    for at, ((left, right), span) in enumerate(zip(_COLUMNS, spans, strict=True), start=1):
        layout[f"xaxis{'' if at == 1 else at}"] = {
            "domain": [left, right - _LABEL_SHARE],
            "range": _widened(span, high - low if at < 3 else max(span[1] - span[0], (high - low) / 2)),
            "visible": False,
        }
    layout["xaxis4"] = {"domain": [0, _COLUMNS[0][0] - 0.01], "range": [0, 1], "visible": False}
    bottom = rows[-1].y
    layout["yaxis"] = {"range": [bottom + 0.6, -1.5], "visible": False}
    rule = {"type": "line", "xref": "paper", "x0": 0, "x1": 1, "y0": bottom - 0.5, "y1": bottom - 0.5}
    layout["shapes"] = [rule | {"line": {"color": palette.grid, "width": 1}}]
    return assembled(data, layout, palette, height=round(ROW_PX * (bottom + 2.1)), margin={"t": 2, "b": 2})


def describe_contributions(shown: CaseExplanation) -> str:
    """The figure in words, for those who cannot see it."""
    lines = []
    for entry in (shown.a, shown.b):
        listed = ", ".join(f"{part_label(group)} {signed_points(value)}" for group, value in entry.groups.items())
        lines.append(f"{entry.name}: {listed}; score {points(entry.score)}")
    return ". ".join(lines).replace(MINUS, "minus ")


def _widened(span: tuple[float, float], length: float) -> list[float]:
    low, high = span
    extra = max(0.0, length - (high - low)) / 2
    return [low - (extra if low < 0 else 0.0), high + (extra if low < 0 else 2 * extra)]


def _bars(rows: list[Row], values: list[float], starts: list[float], colours: list[str], at: int) -> dict[str, Any]:
    return {
        "type": "bar",
        "x": values,
        "base": starts,
        "y": [row.y for row in rows],
        "width": [_BAR * (_TERM_ROW if row.is_term else 1.0) for row in rows],
        "orientation": "h",
        "xaxis": f"x{'' if at == 1 else at}",
        "marker": {"color": colours},
        "customdata": [row.group for row in rows],
        "hoverinfo": "none",
    }


def _click_area(rows: list[Row], shown: CaseExplanation) -> dict[str, Any]:
    """What cannot be seen over the labels of the rows that open: a shape or a note takes no click."""
    opening = [row for row in rows if not row.is_term and terms_of(shown, row.group)]
    return {
        "type": "bar",
        "x": [1] * len(opening),
        "y": [row.y for row in opening],
        "width": 1,
        "orientation": "h",
        "xaxis": "x4",
        "marker": {"color": "rgba(0,0,0,0)"},
        "customdata": [row.group for row in opening],
        "hoverinfo": "none",
    }


def _label(row: Row, palette: Palette, *, opens: bool, opened: str | None) -> dict[str, Any]:
    if row.is_term:
        return _note(0.035, row.y, shortened(row.label, _LONGEST_TERM), palette.quiet, "left", size=12)
    if not row.group:
        return _note(0.0, row.y, "<b>Score</b>", palette.ink, "left")
    mark = "▾ " if row.group == opened else "▸ " if opens else ""
    return _note(0.0 if mark else 0.018, row.y, f"{mark}{row.label}", palette.ink, "left")


def _number(x: float, row: Row, text: str, palette: Palette) -> dict[str, Any]:
    return _note(x, row.y, text, palette.quiet if row.is_term else palette.ink, "right", size=12 if row.is_term else 13)


def _row_colour(row: Row, palette: Palette) -> str:
    colour = group_colour(row.group, palette)
    return translucent(colour, 0.55) if row.is_term else colour


def _note(x: float, y: float, text: str, colour: str, anchor: str, size: int = 13) -> dict[str, Any]:
    font = {"color": colour, "size": size}
    return {"x": x, "xref": "paper", "y": y, "text": text, "xanchor": anchor, "font": font}


def _short(name: str) -> str:
    return escape_tags(shortened(name, 22))
