"""An edit in a few words, with names instead of numbers."""

from collections.abc import Sequence
from datetime import datetime

from analysis.explain.edits import (
    WEEKDAYS,
    AddVisit,
    Edit,
    MoveVisit,
    RemoveVisit,
    SetEdge,
    SetHour,
    SetSource,
    SetWeekday,
    SwitchOff,
)
from analysis.explain.explanation import FullExplanation
from analysis.formatting import day
from analysis.glossary import TERMS


def describe_edit(edit: Edit, labels: Sequence[str], before: FullExplanation) -> str:
    """What an edit changes, as a reader would say it.

    Args:
        labels: names of all places.
        before: the case without edits, which knows the visits to both places.
    """
    match edit:
        case RemoveVisit():
            return f"without {_visit(edit.visit, before)}"
        case AddVisit():
            return f"one more visit to {labels[edit.poi]}, {_moment(edit.local_time)}"
        case MoveVisit():
            return f"{_visit(edit.visit, before)} moved to {_moment(edit.local_time)}"
        case SetHour():
            return f"at {edit.hour:02d}:{edit.minute:02d}"
        case SetWeekday():
            return f"on a {WEEKDAYS[edit.weekday].capitalize()}"
        case SetSource():
            return f"standing at {labels[edit.poi]}"
        case SetEdge():
            step = f"{labels[edit.source]} → {labels[edit.destination]}"
            return f"no step {step} in training" if edit.count == 0 else f"step {step} in training: {edit.count:,} ×"
        case SwitchOff():
            return f"{TERMS[edit.component].word.lower()} off"


def _visit(number: int, before: FullExplanation) -> str:
    for evidence in before.revisits:
        for visit in evidence.visits:
            if visit.visit == number:
                return f"the visit to {evidence.name}, {_moment(datetime.fromisoformat(visit.local_time))}"
    return f"check-in {number + 1:,}"


def _moment(moment: datetime) -> str:
    return f"{day(moment)} {moment:%H:%M}"
