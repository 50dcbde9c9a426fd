"""A class of 90 minutes: what happens when, and what each part needs."""

from dataclasses import dataclass
from typing import Final

from analysis.learn.course import COURSE, ROUTE

CLASS_MINUTES: Final = 90
_ARRIVAL: Final = 5
_REPORT: Final = 3


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
