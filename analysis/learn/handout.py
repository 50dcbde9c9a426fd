"""The printable pages of the course as HTML: the handout with plan and questions, and the answer key.

Pictures are bars and maps as SVG; other figures are tables.
"""

import re
from collections.abc import Sequence
from functools import cache
from typing import Final, Literal

import numpy as np
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from analysis.figures.palette import LIGHT
from analysis.learn.charts import Bars, Chart, PlaceMap
from analysis.learn.course import COURSE, MINUTES, ROUTE
from analysis.learn.drawing import fill_of
from analysis.learn.lesson import Lesson
from analysis.learn.plan import CLASS_MINUTES, class_plan
from recap.machine.printable import shortened

PrintedPage = Literal["handout", "answer_key"]
_WIDTH, _NAMES, _TEXTS, _ROW = 820, 270, 270, 22
_HEIGHT, _MARGIN = 330, 30
_LONGEST_NAME = 40
_ESCAPED: Final = re.compile(r"\\([^\w\s])")
_ENTITY: Final = {"&lt;": "<", "&gt;": ">", "&amp;": "&"}


def sheet_html(sheet: PrintedPage, city: str, lessons: Sequence[Lesson | None]) -> str:
    """A page as HTML; None in the course's order leaves a lesson's questions out."""
    items = [
        {"outline": entry.outline, "lesson": lesson, "number": number + 1}
        for number, (entry, lesson) in enumerate(zip(COURSE, lessons, strict=True))
    ]
    times = {"minutes": CLASS_MINUTES, "route": ROUTE, "route_minutes": MINUTES, "plan": class_plan()}
    template = _environment().get_template(f"{sheet}.html.j2")
    return template.render(title="Next-place prediction", city=city, items=items, **times)


def plain_text(markdown: str) -> str:
    """Text without the marks of Markdown.

    >>> plain_text("**Bar \\\\*A\\\\*** and more")
    'Bar *A* and more'
    """
    text = markdown.replace("**", "")
    text = _ESCAPED.sub(r"\1", text)
    for entity, character in _ENTITY.items():
        text = text.replace(entity, character)
    return text


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("analysis.learn"), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
    environment.filters["plain"] = plain_text
    environment.filters["figure"] = figure_html
    return environment


def figure_html(chart: Chart | None) -> Markup:
    """A figure with its description for screen readers; nothing for None."""
    if chart is None:
        return Markup()
    if not isinstance(chart, Bars | PlaceMap):
        return Markup(f"<figure>{chart.table().to_html(index=False, border=0)}</figure>")  # noqa: S704 # to_html escapes
    height, marks = _bars(chart) if isinstance(chart, Bars) else _map(chart)
    svg = Markup('<figure><svg viewBox="0 0 {} {}" role="img" aria-label="{}" font-size="12">{}</svg></figure>')
    return svg.format(_WIDTH, height, chart.says, Markup().join(marks))


def _bars(chart: Bars) -> tuple[int, list[Markup]]:
    top = chart.top or max((bar.value for bar in chart.bars), default=1.0) or 1.0
    marks = []
    for at, bar in enumerate(chart.bars):
        y, length = at * _ROW, (_WIDTH - _NAMES - _TEXTS) * bar.value / top
        marks.append(_text(_NAMES - 8, y + 15, shortened(bar.label, _LONGEST_NAME), "end"))
        box = Markup('<rect x="{}" y="{}" width="{:.1f}" height="{}" fill="{}"/>')
        marks.append(box.format(_NAMES, y + 3, length, _ROW - 6, fill_of(bar.meaning, LIGHT)))
        marks.append(_text(_NAMES + length + 6, y + 15, bar.text, "start"))
    marks.append(_text(_NAMES, len(chart.bars) * _ROW + 15, chart.axis, "start"))
    return (len(chart.bars) + 1) * _ROW, marks


def _map(chart: PlaceMap) -> tuple[int, list[Markup]]:
    """Places on a plain ground; a degree of longitude is as long as at their mean latitude."""
    east = chart.longitude * np.cos(np.radians(np.nanmean(chart.latitude)))
    span = max(np.ptp(east) / (_WIDTH - 2 * _MARGIN), np.ptp(chart.latitude) / (_HEIGHT - 2 * _MARGIN)) or 1.0
    x = _WIDTH / 2 + (east - (east.min() + east.max()) / 2) / span
    y = _HEIGHT / 2 - (chart.latitude - (chart.latitude.min() + chart.latitude.max()) / 2) / span
    marks = []
    for way in chart.ways:
        line = Markup('<path d="M{:.1f} {:.1f}L{:.1f} {:.1f}" stroke="{}" stroke-width="{}" stroke-dasharray="{}"/>')
        dash = "none" if way.taken else "3 4"
        ends = (x[way.source], y[way.source], x[way.target], y[way.target])
        marks.append(line.format(*ends, LIGHT.quiet, max(way.width, 1), dash))
    for dots in chart.dots:
        colour = LIGHT.head if dots.meaning == "faint" else fill_of(dots.meaning, LIGHT)
        paint = f"none;stroke:{colour};stroke-width:2" if dots.ring else colour
        disc = Markup('<circle cx="{:.1f}" cy="{:.1f}" r="{:.1f}" style="fill:{}"/>')
        marks += [disc.format(x[place], y[place], dots.size / 2, paint) for place in dots.places]
    marks += [_text(x[place] + 8, y[place] - 6, name, "start") for place, name in chart.names.items()]
    return _HEIGHT, marks


def _text(x: float, y: float, text: str, anchor: str) -> Markup:
    return Markup('<text x="{:.1f}" y="{:.1f}" text-anchor="{}">{}</text>').format(x, y, anchor, escape(text))
