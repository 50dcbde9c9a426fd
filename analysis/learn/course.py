"""The course: a route of three lessons and further ones, and a plan of a class of 90 minutes."""

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
CLASS_MINUTES: Final = 90
_ARRIVAL: Final = 5
_REPORT: Final = 3
MINUTES: Final = sum(entry.outline.minutes for entry in COURSE[:ROUTE])
"""Of the route."""


@dataclass(frozen=True)
class PlanRow:
    minutes: str
    part: str
    does: str
    needs: str


def class_plan() -> list[PlanRow]:
    """The route together, one further lesson in each group, and a talk."""
    rows = [PlanRow(f"0 to {_ARRIVAL}", "Start", "Opens the page.", "Its address or QR code; a screen for two.")]
    start = _ARRIVAL
    for number, entry in enumerate(COURSE):
        outline, title = entry.outline, f"{number + 1}. {entry.outline.title}"
        together = number < ROUTE
        if number == ROUTE:
            further = sum(each.outline.minutes for each in COURSE[ROUTE:])
            work = further - _REPORT * (len(COURSE) - ROUTE)
            does = f"Takes one lesson in each group ({work} minutes). Each group then explains its lesson ({_REPORT})."
            rows.append(PlanRow(f"{start} to {start + further}", "Groups", does, "A screen for each group."))
        when = f"{start} to {start + outline.minutes}" if together else "one group"
        rows.append(PlanRow(when, title, outline.does, outline.needs))
        start += outline.minutes
    talk = "Talks about the questions below the lessons."
    return [*rows, PlanRow(f"{start} to {CLASS_MINUTES}", "Talk", talk, "The questions of the handout.")]
