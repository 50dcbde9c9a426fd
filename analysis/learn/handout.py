"""The printable handout of the course: one HTML file with questions first and answers on separate pages."""

import re
from collections.abc import Sequence
from functools import cache
from typing import Final

from jinja2 import Environment, PackageLoader, StrictUndefined

from analysis.learn.course import COURSE, MINUTES, ROUTE
from analysis.learn.handout_figures import figure_html
from analysis.learn.lesson import Lesson

_ESCAPED: Final = re.compile(r"\\([^\w\s])")
_ENTITY: Final = {"&lt;": "<", "&gt;": ">", "&amp;": "&"}


def handout_html(city: str, lessons: Sequence[Lesson | None]) -> str:
    """The handout as HTML.

    Args:
        lessons: of the course, in order; None leaves a lesson's questions out.
    """
    items = [
        {"outline": entry.outline, "lesson": lesson, "number": number + 1}
        for number, (entry, lesson) in enumerate(zip(COURSE, lessons, strict=True))
    ]
    return _environment().get_template("handout.html.j2").render(city=city, minutes=MINUTES, route=ROUTE, items=items)


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
