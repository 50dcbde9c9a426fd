"""Small changes to one case, each ranked again exactly over all places: what would have changed the answer.

A change counts where it moves the true place into or out of the first place or the first K. Taking away something that
was recorded is preferred to another hour or weekday, and these to a visit that never was.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Literal

import numpy as np

from analysis.cases.screen import LONGEST_NAME
from analysis.explain.edited_case import EditedCase, apply_edit
from analysis.explain.edits import AddVisit, Edit, RemoveVisit, SetEdge, SetHour, SetWeekday, SwitchOff
from analysis.explain.paths import two_hop_paths
from analysis.records.case_filters import MISSED_ABOVE
from recap.device import one_thread
from recap.evaluation.ranks import rank_of
from recap.history import SECONDS_PER_DAY, local_weekday
from recap.printable import shortened
from recap.privacy import WEEKDAYS

Kind = Literal["ablation", "clock", "visit"]
_ORDER: Final[dict[str, int]] = {"ablation": 0, "clock": 1, "visit": 2}
_VISITS: Final = 6
_PATHS: Final = 4
_HOURS: Final = (-3, -2, -1, 1, 2, 3)
_HOUR_WORDS: Final = {1: "an hour", 2: "two hours", 3: "three hours"}


@dataclass(frozen=True)
class SmallChange:
    """One change and what it does to the true place.

    Attributes:
        kind: a removal, another clock, or a visit that never was.
        edit: as Explain applies it; None where several edits of a saved view are one change.
        clause: in words, as the beginning of a sentence.
        rank_before, rank: of the true place.
        path: whether the change takes a two-hop path away.
    """

    kind: Kind
    edit: Edit | None
    clause: str
    rank_before: float
    rank: float
    path: bool = False

    @property
    def takes_last_visit(self) -> bool:
        """After it the user was never at the place before."""
        return self.clause.startswith("Without their only earlier visit")

    def turns(self, k: int = MISSED_ABOVE) -> bool:
        """Whether the true place enters or leaves the first place, or the first K."""
        return any((self.rank_before <= bar) != (self.rank <= bar) for bar in (1, k))


@dataclass(frozen=True)
class Tried:
    """The change that tells most, if any turns the answer, and how many were tried."""

    best: SmallChange | None
    tried: int


@one_thread()
def try_small_changes(edited_case: EditedCase, k: int = MISSED_ABOVE) -> Tried:
    """Rank the true place again under every small change, in one batch.

    Args:
        edited_case: without edits, of its true place.
    """
    candidates = list(_candidates(edited_case))
    if not candidates:
        return Tried(None, 0)
    variants = [apply_edit(edited_case, edit).variant for _, edit, _ in candidates]
    ranks = edited_case.predictor.standings(variants, edited_case.case.target).rank_M.tolist()
    before = rank_of(edited_case.total_P, edited_case.case.target)
    changes = [
        SmallChange(kind, edit, clause, before, float(rank), isinstance(edit, SetEdge))
        for (kind, edit, clause), rank in zip(candidates, ranks, strict=True)
    ]
    turning = [change for change in changes if change.turns(k)]
    turning.sort(
        key=lambda change: (
            _ORDER[change.kind],
            (change.rank <= k)
            == (before <= k),  # in or out of the first K tells more than in or out of the first place
            -abs(np.log(change.rank / before)),
        )
    )
    return Tried(turning[0] if turning else None, len(changes))


def describe_edits(edited_case: EditedCase) -> str:
    """The edits of a saved view as the beginning of a sentence."""
    clauses = [_clause(edited_case, edit) for edit in edited_case.edits]
    return clauses[0] if len(clauses) == 1 else "With several things changed at once"


def _candidates(edited_case: EditedCase) -> Iterator[tuple[Kind, Edit, str]]:
    for edit in _ablations(edited_case):
        yield "ablation", edit, _clause(edited_case, edit)
    history = edited_case.variant.history
    local = int(history.local_seconds_H[len(history) - 2])
    hour, today = local % SECONDS_PER_DAY // 3600, local_weekday(local)
    for shift in _HOURS:
        if 0 <= hour + shift < 24:
            yield "clock", SetHour(hour=hour + shift, minute=local % 3600 // 60), _later(shift)
    for weekday in range(len(WEEKDAYS)):
        if weekday != today:
            other_day = SetWeekday(weekday=weekday)
            yield "clock", other_day, _clause(edited_case, other_day)
    day_before = datetime(1970, 1, 1) + timedelta(seconds=local - SECONDS_PER_DAY)
    visit = AddVisit(poi=edited_case.case.target, local_time=day_before)
    yield "visit", visit, f"{_clause(edited_case, visit)} the day before"


def _ablations(edited_case: EditedCase) -> Iterator[Edit]:
    """The latest visits to the true and to the first place, and the edges of their strongest two-hop paths."""
    history, source = edited_case.variant.history, edited_case.source
    now = len(history) - 2
    both = dict.fromkeys((edited_case.case.target, int(edited_case.total_P.argmax())))
    for poi in both if now > 0 else ():
        positions = np.flatnonzero(history.poi_H[:now] == poi)[-_VISITS:]
        yield from (RemoveVisit(visit=int(edited_case.visit_H[at])) for at in positions[::-1].tolist())
    for poi in both:
        for path in two_hop_paths(edited_case, poi)[:_PATHS]:
            middle = path.middle
            if middle not in (source, poi) and "transitions" in edited_case.supported_edits:
                yield SetEdge(source=source, destination=middle, count=0)
                yield SetEdge(source=middle, destination=poi, count=0)


def _later(shift: int) -> str:
    return f"{_HOUR_WORDS[abs(shift)][:1].upper()}{_HOUR_WORDS[abs(shift)][1:]} {'later' if shift > 0 else 'earlier'}"


def _clause(edited_case: EditedCase, edit: Edit) -> str:
    """What an edit changes, in plain words and without numbers."""
    match edit:
        case RemoveVisit(visit=visit):
            position = int(np.flatnonzero(edited_case.visit_H == visit)[0]) if visit in edited_case.visit_H else -1
            if position < 0:
                return "Without one of their earlier visits"
            poi = int(edited_case.variant.history.poi_H[position])
            visits = np.flatnonzero(edited_case.variant.history.poi_H[: len(edited_case.variant.history) - 2] == poi)
            which = "only earlier" if len(visits) == 1 else "last" if position == visits[-1] else "one earlier"
            return f"Without {'their ' if which != 'one earlier' else ''}{which} visit to {_name(edited_case, poi)}"
        case SetEdge(source=source, destination=destination, count=count):
            trips = f"trips from {_name(edited_case, source)} to {_name(edited_case, destination)}"
            return f"Without the {trips}" if count == 0 else f"With another number of {trips}"
        case SetHour():
            return "At another hour of the day"
        case SetWeekday(weekday=weekday):
            return f"On a {WEEKDAYS[weekday]}"
        case SwitchOff():
            return "With one part of the model switched off"
        case AddVisit(poi=poi):
            return f"With a visit of their own to {_name(edited_case, poi)}"
    return "With one visit at another time" if edit.kind == "move" else "From another place"


def _name(edited_case: EditedCase, poi: int) -> str:
    """Of a place, cut so that a title with three of them still fits a screen."""
    return shortened(edited_case.predictor.dataset.poi_labels[poi], LONGEST_NAME)
