"""The words of a whole explanation: alternative texts, lines below charts, and edits in words."""

from collections.abc import Callable, Sequence
from datetime import datetime

from analysis.explain.edits import (
    AddVisit,
    CutPath,
    Edit,
    MoveVisit,
    RemoveVisit,
    SetArrival,
    SetEdge,
    SetHour,
    SetSource,
    SetWeekday,
    SwitchOff,
)
from analysis.explain.explanation import CaseExplanation
from analysis.explain.ranks_only import RanksOnly
from analysis.explain.sentences import rank_headline
from analysis.explain.types import Piece, Sentence
from analysis.explain.what_if import Flip
from analysis.formatting import capitalised, day, signed, signed_points
from analysis.records.ablations import part_label, part_words
from recap.features.catalogue import PATHS
from recap.privacy import WEEKDAYS


def describe_ranks(shown: RanksOnly) -> Sentence:
    """Headline for a model without contributions."""
    first = None if shown.best[0].poi == shown.about.poi else Piece(text=shown.best[0].name, kind="runner_up")
    about = Piece(text=shown.about.name, kind="target")
    return rank_headline(shown.model, about, shown.about.rank, shown.num_places, shown.truth_name, first)


def case_map_alt(shown: CaseExplanation) -> str:
    through = ", ".join(path.name for path in shown.paths)
    hops = f", two hops through {through}" if through else ""
    return f"Map from {shown.source_name} to {shown.target_name}{hops}; also {shown.b.name}"


def visits_alt(shown: CaseExplanation) -> str:
    return "; ".join(f"{place.name}: {len(place.visits)} visits" for place in shown.visits)


def describe_chart(shown: CaseExplanation) -> str:
    """At most two short sentences, for one line below the chart."""
    sentences = ["Click a row to open it."]
    if shown.inactive:
        sentences.append(f"Inactive at this epoch: {', '.join(shown.inactive).replace('_', ' ')}.")
    if shown.core_scope == "unvisited" and shown.visits[0].visits and shown.visits[1].visits:
        sentences.append("The sequence model scores new places only.")
    gates = [f"{entry.name} {signed(entry.gate, 2)}" for entry in (shown.a, shown.b) if entry.gate is not None]
    if gates:
        sentences.append(f"The gate scales the correction: {', '.join(gates)}.")
    return " ".join(sentences[:2])


def describe_paths(shown: CaseExplanation, part: str) -> str:
    every = "“All paths” to cut them for every place" if part == PATHS else f"“{part_label(part)}” to leave it out"
    whose = "Counts: other users' transitions in training. " if part == PATHS else ""
    return (
        f"{whose}Tick a path to cut it for {shown.target_name}; tick {every}. Effects of several cuts need not add up."
    )


def describe_visits(shown: CaseExplanation) -> str:
    return f"Points and ranks of {shown.target_name}. Tick a visit to remove it."


def describe_changes(edits: Sequence[Edit], labels: Sequence[str], before: CaseExplanation) -> str:
    if not edits:
        return f"Each change re-ranks all {before.num_places:,} places."
    words = "; ".join(describe_edit(edit, labels.__getitem__, before) for edit in edits)
    return f"{capitalised(words)}. All {before.num_places:,} places re-ranked."


def describe_flip(flip: Flip | None, tried: int, labels: Sequence[str], shown: CaseExplanation) -> str:
    if flip is None:
        return f"None of {tried} changes swaps the two places."
    edit = describe_edit(flip.edit, labels.__getitem__, shown)
    return f"The smallest of {tried} changes tried: {edit}. The lead would be {signed_points(flip.lead)}."


def describe_edit(edit: Edit, place: Callable[[int], str], before: CaseExplanation | None = None) -> str:
    """What an edit changes, in words.

    Args:
        place: a place's name.
        before: the case without edits; without it, no visit or time is named.
    """
    match edit:
        case RemoveVisit():
            return f"without {_visit_words(edit.visit, before)}"
        case AddVisit():
            when = "" if before is None else f", {_moment(edit.local_time)}"
            return f"one more visit to {place(edit.poi)}{when}"
        case MoveVisit():
            when = "at another time" if before is None else f"moved to {_moment(edit.local_time)}"
            return f"{_visit_words(edit.visit, before)} {when}"
        case SetHour():
            return "at another time of day" if before is None else f"at {edit.hour:02d}:{edit.minute:02d}"
        case SetArrival():
            return "arriving at another time" if before is None else f"arriving at {edit.hour:02d}:{edit.minute:02d}"
        case SetWeekday():
            return "on another weekday" if before is None else f"on a {WEEKDAYS[edit.weekday]}"
        case SetSource():
            return f"leaving from {place(edit.poi)}"
        case SetEdge():
            way = f"transition {place(edit.source)} → {place(edit.destination)}"
            return f"no {way} in training" if edit.count == 0 else f"{way} in training: {edit.count:,} ×"
        case CutPath():
            return f"without the path through {place(edit.middle)} to {place(edit.destination)}"
        case SwitchOff():
            return f"without {part_words(edit.name)}"


def _visit_words(number: int, before: CaseExplanation | None) -> str:
    if before is None:
        return "one visit"
    for place in before.visits:
        for visit in place.visits:
            if visit.visit == number:
                return f"the visit to {place.name}, {_moment(datetime.fromisoformat(visit.local_time))}"
    return f"check-in {number + 1:,}"


def _moment(moment: datetime) -> str:
    return f"{day(moment)} {moment:%H:%M}"
