"""The chart "What adds up to the score": two places' contributions by group, and their difference."""

from collections.abc import Collection, Iterable
from typing import Any, Final, NamedTuple

from analysis.explain.explanation import CaseExplanation
from analysis.explain.model_words import curve_label
from analysis.explain.sentences import part_label
from analysis.explain.types import Candidate
from analysis.figures.charts import FONT
from analysis.figures.palette import Palette, translucent
from analysis.formatting import MINUS, points, signed_points
from recap.features.catalogue import PAST, PATHS, TIME, TRANSITIONS
from recap.model.recap import CORRECTION
from recap.printable import shortened

ROW_PX: Final = 34
_BELOW_PX: Final = 20
"""Space that Streamlit leaves below every Vega chart."""
_TERM_ROW: Final = 0.7
_BAR: Final = 0.6
_LONGEST_TERM: Final = 28
_LONGEST_NAME: Final = 22
PICKED: Final = "picked"
_LABEL_SHARE: Final = 0.08
"""Share of a panel's width for the number at its right."""


class Bar(NamedTuple):
    """One bar of a place; it starts where the previous one ends."""

    name: str
    start: float
    value: float

    @property
    def ends(self) -> tuple[float, float]:
        return self.start, self.start + self.value


def waterfall(entry: Candidate) -> list[Bar]:
    """One bar per group in order, and the score.

    >>> entry = Candidate(poi=0, name="", category="", rank=1, probability=1, score=1.5, gate=None, terms={},
    ...     groups={"core": 2.0, "past visits": -0.5})
    >>> tuple((bar.start, bar.value) for bar in waterfall(entry))
    ((0.0, 2.0), (2.0, -0.5), (0.0, 1.5))
    """
    found, level = [], 0.0
    for group, value in entry.groups.items():
        found.append(Bar(group, level, value))
        level += value
    return [*found, Bar("score", 0.0, entry.score)]


def group_colour(group: str, palette: Palette) -> str:
    """The colour of a group: the user's own past, where people go from here, or neither."""
    if group in (PAST, TIME, CORRECTION):
        return palette.revisits.fill
    return palette.paths.fill if group in (TRANSITIONS, PATHS) else palette.unseen


class Row(NamedTuple):
    """A row of the chart: a group, a term of an open group, or the score.

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
    """Terms of a group that add to either score; none if the group has one term."""
    terms = shown.groups.get(group, [])
    return [term for term in terms if shown.a.terms[term] or shown.b.terms[term]] if len(terms) > 1 else []


def rows_of(shown: CaseExplanation, opened: Collection[str]) -> list[Row]:
    """Rows from top to bottom: groups, the terms of open ones, and the score."""
    both = [waterfall(entry) for entry in (shown.a, shown.b)]
    rows, y = [], 0.0
    for at, group in enumerate(shown.a.groups):
        bars = both[0][at], both[1][at]
        rows.append(Row(part_label(group), y, group, False, bars))
        y += 1
        levels = [bar.start for bar in bars]
        for term in terms_of(shown, group) if group in opened else []:
            values = shown.a.terms[term], shown.b.terms[term]
            pair = tuple(Bar(term, level, value) for level, value in zip(levels, values, strict=True))
            rows.append(Row(curve_label(term), y - (1 - _TERM_ROW) / 2, group, True, (pair[0], pair[1])))
            levels = [level + value for level, value in zip(levels, values, strict=True)]
            y += _TERM_ROW
    rows.append(Row("Score", y, "", False, (both[0][-1], both[1][-1])))
    return rows


_MARKS: Final = ("mark", "rule", "rect", "bar", "text")
"""Kinds of marks; the chart has an alternative text, so single marks need none."""


def contributions_chart(shown: CaseExplanation, palette: Palette, *, opened: Collection[str] = ()) -> dict[str, Any]:
    """The target, the runner-up, and the difference, row by row, as a Vega-Lite specification.

    A click on a row selects its ``group`` in the parameter `PICKED`. Vega is a sixth of plotly's size, and this picture
    leads its page.

    Args:
        opened: the groups whose terms are shown.
    """
    hues = [palette.of_role(role) for role in shown.roles]
    rows = rows_of(shown, opened)
    bottom = rows[-1].y
    marks, words = [], [_label(row, palette, opens=bool(terms_of(shown, row.group)), opened=opened) for row in rows]
    scale = _scale([bar for row in rows for bar in row.bars])
    for at, (entry, hue) in enumerate(zip((shown.a, shown.b), hues, strict=True)):
        panel = _PANELS[at]
        words.append(_word(panel.left, -1, shortened(entry.name, _LONGEST_NAME), hue.text, bold=True))
        for row in rows:
            bar, is_score = row.bars[at], not row.group
            colour = hue.fill if is_score else group_colour(row.group, palette)
            start, end = (panel.at(value, *scale) for value in bar.ends)
            marks.append(_bar(row, start, end, colour))
            text = points(bar.value) if is_score else signed_points(bar.value)
            words.append(_number(panel, row, text, hue.text if is_score else None, palette))
    panel, span = _PANELS[2], _scale([Bar("", 0.0, row.difference) for row in rows], least=(scale[1] - scale[0]) / 2)
    words.append(_word(panel.left, -1, "Difference", palette.quiet))
    for row in rows:
        colour = translucent((hues[0] if row.difference > 0 else hues[1]).fill, 0.4 if row.group else 1)
        marks.append(_bar(row, panel.at(0.0, *span), panel.at(row.difference, *span), colour))
        words.append(_number(panel, row, signed_points(row.difference), None, palette))
    opening = [
        {"group": row.group, "x": 0, "x2": 1, "y": row.y - 0.5, "y2": row.y + 0.5}
        for row in rows
        if not row.is_term and terms_of(shown, row.group)
    ]
    x, y = _axis("x", 0, 1), _axis("y", -1.5, bottom + 0.5, reverse=True)
    return {
        "width": "container",
        "height": round(ROW_PX * (bottom + 2.0)) + _BELOW_PX,
        "autosize": {"type": "fit", "contains": "padding"},
        "padding": 0,
        "background": "transparent",
        "config": {"view": {"stroke": None}, "font": FONT, "aria": False} | {kind: {"aria": False} for kind in _MARKS},
        "layer": [
            {
                "data": {"values": [{"y": bottom - 0.5}]},
                "mark": {"type": "rule", "color": palette.grid},
                "encoding": {"y": y},
            },
            {
                "data": {"values": marks},
                "mark": {"type": "rect", "fillOpacity": {"expr": "datum.opacity"}},
                "encoding": {"x": x, "x2": {"field": "x2"}, "y": y, "y2": {"field": "y2"}}
                | {name: {"field": "colour", "type": "nominal", "scale": None} for name in ("fill", "stroke")},
            },
            {
                "data": {"values": words},
                "mark": {
                    "type": "text",
                    "baseline": "middle",
                    **{name: {"expr": f"datum.{name}"} for name in ("align", "fontSize", "fontWeight")},
                },
                "encoding": {
                    "x": x,
                    "y": y,
                    "text": {"field": "text"},
                    "color": {"field": "colour", "type": "nominal", "scale": None},
                },
            },
            {
                "data": {"values": opening},
                "params": [{"name": PICKED, "select": {"type": "point", "fields": ["group"], "toggle": "true"}}],
                "mark": {"type": "rect", "opacity": 0, "cursor": "pointer"},
                "encoding": {"x": x, "x2": {"field": "x2"}, "y": y, "y2": {"field": "y2"}},
            },
        ],
    }


def describe_contributions(shown: CaseExplanation) -> str:
    """The figure as text, for screen readers."""
    said = []
    for entry in (shown.a, shown.b):
        listed = ", ".join(f"{part_label(group)} {signed_points(value)}" for group, value in entry.groups.items())
        said.append(f"{entry.name}: {listed}; score {points(entry.score)}")
    return ". ".join(said).replace(MINUS, "minus ")


class _Panel(NamedTuple):
    """A place's panel or the differences': shares of the chart's width, with the number at its right."""

    left: float
    right: float

    def at(self, value: float, low: float, high: float) -> float:
        return self.left + (self.right - _LABEL_SHARE - self.left) * (value - low) / (high - low)


_PANELS: Final = (_Panel(0.24, 0.52), _Panel(0.54, 0.82), _Panel(0.84, 1.0))


def _scale(bars: Iterable[Bar], least: float = 1e-6) -> tuple[float, float]:
    """Lowest and highest end of some bars, including 0.

    Args:
        least: how far apart they are at least.
    """
    ends = [0.0, *(end for bar in bars for end in bar.ends)]
    low, high = min(ends), max(ends)
    extra = max(0.0, least - (high - low))
    return (low - extra / 2, high + extra / 2) if low < 0 else (low, high + extra)


def _axis(name: str, start: float, end: float, *, reverse: bool = False) -> dict[str, Any]:
    scale = {"domain": [start, end], "nice": False, "zero": False, "reverse": reverse}
    return {"field": name, "type": "quantitative", "axis": None, "scale": scale}


def _bar(row: Row, start: float, end: float, colour: str) -> dict[str, Any]:
    half = _BAR / 2 * (_TERM_ROW if row.is_term else 1.0)
    opacity = 0.55 if row.is_term else 0.25 if row.group == CORRECTION else 1.0
    return {"x": start, "x2": end, "y": row.y - half, "y2": row.y + half, "colour": colour, "opacity": opacity}


def _label(row: Row, palette: Palette, *, opens: bool, opened: Collection[str]) -> dict[str, Any]:
    if row.is_term:
        return _word(0.035, row.y, shortened(row.label, _LONGEST_TERM), palette.quiet, size=12)
    if not row.group:
        return _word(0.0, row.y, row.label, palette.ink, bold=True)
    mark = "▾ " if row.group in opened else "▸ " if opens else ""
    return _word(0.0 if mark else 0.018, row.y, f"{mark}{row.label}", palette.ink)


def _number(panel: _Panel, row: Row, text: str, colour: str | None, palette: Palette) -> dict[str, Any]:
    colour = colour or (palette.quiet if row.is_term else palette.ink)
    size = 12 if row.is_term else 13
    return _word(panel.right, row.y, text, colour, align="right", bold=not row.group, size=size)


def _word(
    x: float, y: float, text: str, colour: str, *, align: str = "left", bold: bool = False, size: int = 13
) -> dict[str, Any]:
    look = {"align": align, "fontSize": size, "fontWeight": 700 if bold else 400}
    return {"x": x, "y": y, "text": text, "colour": colour} | look
