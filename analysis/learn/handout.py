"""The printable pages of the course as HTML: the handout with plan and questions, and the answer key.

The template of figures draws bars and maps as SVG; other figures are tables.
"""

from collections.abc import Sequence
from functools import cache
from typing import Literal

import numpy as np
from jinja2 import Environment, PackageLoader, StrictUndefined

from analysis.figures.palette import LIGHT
from analysis.learn.charts import Meaning, PlaceMap
from analysis.learn.course import CLASS_MINUTES, COURSE, MINUTES, ROUTE, class_plan
from analysis.learn.drawing import fill_of
from analysis.learn.lesson import Lesson
from recap.machine.printable import shortened, unmarked

PrintedPage = Literal["handout", "answer_key"]
_WIDTH, _HEIGHT, _MARGIN = 820, 330, 30
"""Of a map on paper, as in its template."""


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
    return unmarked(markdown.replace("**", ""))


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("analysis.learn"), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
    environment.filters |= {"plain": plain_text, "fill": _fill, "points": _points, "shortened": shortened}
    environment.globals["quiet"] = LIGHT.quiet
    return environment


def _fill(meaning: Meaning | Literal["faint"]) -> str:
    return LIGHT.head if meaning == "faint" else fill_of(meaning, LIGHT)


def _points(chart: PlaceMap) -> list[str]:
    """Where each place is on paper; a degree of longitude is as long as at their mean latitude."""
    east = chart.longitude * np.cos(np.radians(np.nanmean(chart.latitude)))
    span = max(np.ptp(east) / (_WIDTH - 2 * _MARGIN), np.ptp(chart.latitude) / (_HEIGHT - 2 * _MARGIN)) or 1.0
    x = _WIDTH / 2 + (east - (east.min() + east.max()) / 2) / span
    y = _HEIGHT / 2 - (chart.latitude - (chart.latitude.min() + chart.latitude.max()) / 2) / span
    return [f"{across:.1f} {down:.1f}" for across, down in zip(x, y, strict=True)]
