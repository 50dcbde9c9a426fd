"""The chart "What adds up to the score": two places' contributions by group, and their difference."""

from collections.abc import Collection, Iterable
from typing import Final, NamedTuple

from analysis.explain.explanation import CaseExplanation
from analysis.explain.model_words import curve_label
from analysis.explain.types import ExplainedPlace
from analysis.figures.elements import Element, element, share
from analysis.figures.palette import Palette, translucent
from analysis.formatting import MINUS, points, signed_points
from analysis.records.ablations import part_label
from recap.features.catalogue import PAST, PATHS, TIME, TRANSITIONS
from recap.machine.printable import shortened
from recap.model.recap import CORRECTION

_ROW_PX: Final = 46
_TERM_ROW: Final = 0.7
"""Height of a term's row, in rows."""
_BAR: Final = 0.6
_LONGEST_TERM: Final = 28
_LONGEST_NAME: Final = 22
_NUMBER: Final = "4.6em"
"""Width of a column of numbers."""


class WaterfallBar(NamedTuple):
    """One bar of a place; it starts where the previous one ends."""

    name: str
    start: float
    value: float

    @property
    def ends(self) -> tuple[float, float]:
        return self.start, self.start + self.value


def waterfall(entry: ExplainedPlace) -> list[WaterfallBar]:
    """One bar per group in order, and the score.

    >>> entry = ExplainedPlace(poi=0, name="", category="", rank=1, probability=1, score=1.5, gate=None, terms={},
    ...     groups={"core": 2.0, "past visits": -0.5})
    >>> tuple((bar.start, bar.value) for bar in waterfall(entry))
    ((0.0, 2.0), (2.0, -0.5), (0.0, 1.5))
    """
    bars, level = [], 0.0
    for group, value in entry.groups.items():
        bars.append(WaterfallBar(group, level, value))
        level += value
    return [*bars, WaterfallBar("score", 0.0, entry.score)]


def group_colour(group: str, palette: Palette) -> str:
    """Colour of a group: the user's own past, transitions from here, or neither."""
    if group in (PAST, TIME, CORRECTION):
        return palette.revisits.fill
    return palette.paths.fill if group in (TRANSITIONS, PATHS) else palette.unseen


class _Row(NamedTuple):
    """A row of the chart: a group, a term of an open group, or the score.

    Attributes:
        y: position in rows from the top.
        group: that it opens or belongs to; empty for the score.
        bars: of both places.
    """

    label: str
    y: float
    group: str
    is_term: bool
    bars: tuple[WaterfallBar, WaterfallBar]

    @property
    def difference(self) -> float:
        return self.bars[0].value - self.bars[1].value


def terms_of(shown: CaseExplanation, group: str) -> list[str]:
    """Terms of a group that add to either score; none if the group has one term."""
    terms = shown.groups.get(group, [])
    return [term for term in terms if shown.a.terms[term] or shown.b.terms[term]] if len(terms) > 1 else []


def rows_of(shown: CaseExplanation, opened: Collection[str]) -> list[_Row]:
    """Rows from top to bottom: groups, the terms of open ones, and the score."""
    both = [waterfall(entry) for entry in (shown.a, shown.b)]
    rows, y = [], 0.0
    for number, group in enumerate(shown.a.groups):
        bars = both[0][number], both[1][number]
        rows.append(_Row(part_label(group), y, group, False, bars))
        y += 1
        levels = [bar.start for bar in bars]
        for term in terms_of(shown, group) if group in opened else []:
            values = shown.a.terms[term], shown.b.terms[term]
            pair = tuple(WaterfallBar(term, level, value) for level, value in zip(levels, values, strict=True))
            rows.append(_Row(curve_label(term), y - (1 - _TERM_ROW) / 2, group, True, (pair[0], pair[1])))
            levels = [level + value for level, value in zip(levels, values, strict=True)]
            y += _TERM_ROW
    rows.append(_Row("Score", y, "", False, (both[0][-1], both[1][-1])))
    return rows


def draw_contributions(shown: CaseExplanation, palette: Palette, *, opened: Collection[str] = ()) -> Element:
    """The target, the runner-up, and the difference, row by row; a click on a row returns its group."""
    hues = [palette.of_role(role) for role in shown.roles]
    rows = rows_of(shown, opened)
    scale = _scale([bar for row in rows for bar in row.bars])
    apart = _scale([WaterfallBar("", 0.0, row.difference) for row in rows], least=(scale[1] - scale[0]) / 2)
    named = [
        (shortened(entry.name, _LONGEST_NAME), hue.text, 700)
        for entry, hue in zip((shown.a, shown.b), hues, strict=True)
    ]
    head = [
        element("th", text, style={"color": colour, "font_weight": weight}, scope="col", colspan="2")
        for text, colour, weight in [*named, ("Difference", palette.quiet, 400)]
    ]
    lines = [element("tr", element("td"), *head, style={"height": f"{_ROW_PX}px"})]
    for row in rows:
        fills = [hue.fill if not row.group else group_colour(row.group, palette) for hue in hues]
        ahead = translucent((hues[0] if row.difference > 0 else hues[1]).fill, 0.4 if row.group else 1)
        cells = [
            *_cells(row, row.bars[0], scale, fills[0], hues[0].text, palette),
            *_cells(row, row.bars[1], scale, fills[1], hues[1].text, palette),
            *_cells(row, WaterfallBar("", 0.0, row.difference), apart, ahead, palette.ink, palette),
        ]
        opens = bool(row.group) and not row.is_term and bool(terms_of(shown, row.group))
        height = {"height": f"{_height(row):g}px"} | ({} if row.group else {"border_top": f"1px solid {palette.grid}"})
        picked = {"data_pick": row.group} if opens else {}
        lines.append(element("tr", _label(row, palette, opens=opens, opened=opened), *cells, style=height, **picked))
    widths = [element("col", style={"width": width}) for width in ("24%", *("auto", _NUMBER) * 2, "13%", _NUMBER)]
    return element("table", element("colgroup", *widths), element("tbody", *lines))


def contributions_height(shown: CaseExplanation, opened: Collection[str]) -> int:
    """Height of the picture in pixels."""
    return round(_ROW_PX + sum(_height(row) for row in rows_of(shown, opened)) + 2)


def describe_contributions(shown: CaseExplanation) -> str:
    places = []
    for entry in (shown.a, shown.b):
        listed = ", ".join(f"{part_label(group)} {signed_points(value)}" for group, value in entry.groups.items())
        places.append(f"{entry.name}: {listed}; score {points(entry.score)}")
    return ". ".join(places).replace(MINUS, "minus ")


def _scale(bars: Iterable[WaterfallBar], least: float = 1e-6) -> tuple[float, float]:
    """Lowest and highest end of some bars, including 0; they differ by at least ``least``."""
    ends = [0.0, *(end for bar in bars for end in bar.ends)]
    low, high = min(ends), max(ends)
    extra = max(0.0, least - (high - low))
    return (low - extra / 2, high + extra / 2) if low < 0 else (low, high + extra)


def _height(row: _Row) -> float:
    return _ROW_PX * (_TERM_ROW if row.is_term else 1)


def _cells(
    row: _Row, bar: WaterfallBar, scale: tuple[float, float], fill: str, score_colour: str, palette: Palette
) -> tuple[Element, Element]:
    low, high = scale
    left, right = sorted((end - low) / (high - low) for end in bar.ends)
    look = {
        "background": fill,
        "height": f"{_BAR * _height(row):g}px",
        "margin_left": share(left),
        "min_width": "1px",
        "opacity": 0.55 if row.is_term else 0.25 if row.group == CORRECTION else 1,
        "width": share(right - left),
    }
    is_score = not row.group
    colour = score_colour if is_score else palette.quiet if row.is_term else palette.ink
    size = {"font_size": "12px"} if row.is_term else {}
    number: dict[str, object] = {
        "text_align": "right",
        "color": colour,
        "font_weight": 700 if is_score else 400,
        "padding_right": "12px",
    }
    text = points(bar.value) if is_score and bar.name else signed_points(bar.value)
    return element("td", element("div", style=look)), element("td", text, style=number | size)


def _label(row: _Row, palette: Palette, *, opens: bool, opened: Collection[str]) -> Element:
    if row.is_term:
        look = {"padding_left": "28px", "color": palette.quiet, "font_size": "12px"}
        return element("th", shortened(row.label, _LONGEST_TERM), style=look, scope="row")
    if not row.group:
        return element("th", row.label, style={"font_weight": 700}, scope="row")
    if not opens:
        return element("th", row.label, style={"padding_left": "14px"}, scope="row")
    is_open = row.group in opened
    arrow = element(
        "span", "▾" if is_open else "▸", style={"display": "inline-block", "width": "14px", "text_indent": 0}
    )
    hanging = {"padding_left": "14px", "text_indent": "-14px"}
    named = {"type": "button", "aria_expanded": str(is_open).lower(), "data_pick": row.group}
    return element("th", element("button", arrow, row.label, **named, style=hanging), scope="row")
