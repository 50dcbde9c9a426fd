"""The course: a route of three lessons, and further ones."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from analysis.learn.lesson import OUTLINES, Lesson, Outline
from analysis.learn.lessons import clock, curve, hops, privacy, rare, score, two_hops, visits
from analysis.workspace import Workspace


@dataclass(frozen=True)
class Entry:
    outline: Outline
    build: Callable[[Workspace], Lesson]


_MODULES: Final = (rare, two_hops, visits, curve, score, hops, clock, privacy)
COURSE: Final = tuple(Entry(outline, module.build) for outline, module in zip(OUTLINES.values(), _MODULES, strict=True))
ROUTE: Final = 3
"""So many lessons fill one class; the others are extra."""
MINUTES: Final = sum(entry.outline.minutes for entry in COURSE[:ROUTE])
"""Of the route."""
