"""An edit in a few words, with names instead of numbers."""

from collections.abc import Sequence
from datetime import datetime

from analysis.explain.edits import (
    WEEKDAYS,
    AddVisit,
    CutPath,
    Edit,
    MoveVisit,
    RemoveVisit,
    SetEdge,
    SetHour,
    SetSource,
    SetWeekday,
    SwitchOff,
)
from analysis.explain.explanation import CaseExplanation
from analysis.explain.sentences import part_words
from analysis.formatting import day
from analysis.records.ablations import slug
from recap.counterfactuals import GRAPH_TOKEN


def describe_edit(edit: Edit, labels: Sequence[str], before: CaseExplanation) -> str:
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
            return f"leaving from {labels[edit.poi]}"
        case SetEdge():
            way = f"transition {labels[edit.source]} → {labels[edit.destination]}"
            return f"no {way} in training" if edit.count == 0 else f"{way} in training: {edit.count:,} ×"
        case CutPath():
            return f"without the path through {labels[edit.middle]} to {labels[edit.destination]}"
        case SwitchOff():
            names = {slug(name): name for name in (*before.groups, GRAPH_TOKEN)}
            return f"without {part_words(names.get(slug(edit.name), edit.name.replace('_', ' ')))}"


def _visit(number: int, before: CaseExplanation) -> str:
    for place in before.visits:
        for visit in place.visits:
            if visit.visit == number:
                return f"the visit to {place.name}, {_moment(datetime.fromisoformat(visit.local_time))}"
    return f"check-in {number + 1:,}"


def _moment(moment: datetime) -> str:
    return f"{day(moment)} {moment:%H:%M}"
