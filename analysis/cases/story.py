"""One case as four screens for a room: where they were, what the model said, why, and what would have changed it.

Everything on a screen is a number of this case, or the outcome of a removal or edit that was ranked again over all
places. At most three numbers stand on a screen, and no word that needs a textbook. "The list" is the model's first
`MISSED_ABOVE` places; the last screen says so.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal

import numpy as np
import torch

from analysis.cases.causes_told import CaseFindings, tell_why
from analysis.cases.picture import Marks, latest_stops
from analysis.cases.screen import Number, Piece, Screen, join, name
from analysis.cases.small_changes import SmallChange, describe_edits, try_small_changes
from analysis.explain.edited_case import EditedCase, build_edited_case
from analysis.explain.edits import SetEdge, parse_edits
from analysis.explain.paths import training_rows, two_hop_paths
from analysis.formatting import chance, ordinal, percent
from analysis.long_tail.notable_cases import visits_before
from analysis.records.ablations import ABLATIONS, describe_ablations
from analysis.records.case_filters import MISSED_ABOVE
from analysis.trajectories.trajectory import read_trajectory
from analysis.workspace import Workspace
from recap import columns as c
from recap.device import one_thread
from recap.evaluation.ranks import rank_of
from recap.predictor import Predictor

Step = Literal["where", "said", "why", "change"]
STEPS: Final[dict[Step, str]] = {
    "where": "Where they were",
    "said": "What it said",
    "why": "Why",
    "change": "What would change it",
}
_MOST_MIDDLES: Final = 2
_LIST_WORD: Final = {20: "twenty"}.get(MISSED_ABOVE, str(MISSED_ABOVE))


@dataclass(frozen=True)
class Story:
    """The screens of one case in order, and every place that any of them shows."""

    case: int
    screens: dict[Step, Screen]
    places: tuple[int, ...]


@one_thread()
def tell_case(predictor: Predictor, opened: Workspace, case: int, edits: str = "") -> Story:
    """Tell one case.

    Args:
        edits: of a saved view; they are what the last screen changes.

    Raises:
        CaseError: no such case, or edits that do not fit it.
    """
    as_it_was = build_edited_case(predictor, case)
    findings = _findings(as_it_was, opened)
    trail = latest_stops(read_trajectory(opened, case).stops[c.POI].tolist()[: _stop(opened, case)])
    changed = _saved_change(predictor, case, edits) if edits else None
    tried = None if changed else try_small_changes(as_it_was)
    middles = findings.middles if findings.source != findings.truth else ()
    base = Marks(
        source=findings.source,
        truth=findings.truth,
        predicted=(findings.first,),
        truth_rank=findings.rank,
        visited=findings.visits > 0,
    )
    why = tell_why(findings)
    shows_paths = why.about in ("paths", "both")
    why_marks = Marks(**(vars(base) | {"middles": middles if shows_paths else ()}))
    best = changed or (tried.best if tried else None)
    screens: dict[Step, Screen] = {
        "where": _where(findings, opened, case, trail),
        "said": _said(findings, base),
        "why": why.screen.showing(why_marks),
        "change": _changed(findings, best, base, middles)
        if best
        else _nothing(findings, tried.tried if tried else 0, why_marks),
    }
    places = [poi for screen in screens.values() if screen.marks for poi in screen.marks.places]
    return Story(case, screens, tuple(dict.fromkeys(places)))


def _stop(opened: Workspace, case: int) -> int:
    return read_trajectory(opened, case).stop_of(case)


def _findings(edited_case: EditedCase, opened: Workspace) -> CaseFindings:
    """All numbers that screens are made of."""
    total_P = edited_case.total_P
    source, truth, user = edited_case.source, edited_case.case.target, edited_case.case.user
    first = int(total_P.argmax())
    share_P = torch.softmax(total_P.double(), 0)
    rows = training_rows(edited_case.predictor)
    paths = [path for path in two_hop_paths(edited_case, truth) if path.middle not in (source, truth)]
    legs = [rows.users(*leg) for path in paths for leg in ((source, path.middle), (path.middle, truth))]
    everyone = np.unique(np.concatenate(legs)) if legs else np.zeros(0, dtype=np.int64)
    by_others = bool(paths) and all(bool((leg != user).any()) for leg in legs[:2])
    number = edited_case.case.number
    return CaseFindings(
        names={poi: opened.labels[poi] for poi in (source, truth, first, *(path.middle for path in paths))},
        source=source,
        truth=truth,
        first=first,
        first_share=float(share_P[first]),
        rank=rank_of(total_P, truth),
        num_places=len(total_P),
        without=_ranks_without(edited_case),
        visits=visits_before(opened, number),
        first_visits=_visits(opened, number, first),
        direct=int(opened.case(number)[c.TRANSITION_COUNT]),
        within_two_hops=edited_case.case.within_two_hops,
        middles=tuple(path.middle for path in paths[:_MOST_MIDDLES]),
        people=int((everyone != user).sum()),
        by_others=by_others,
    )


def _ranks_without(edited_case: EditedCase) -> dict[str, float | None]:
    predictor = edited_case.predictor
    measured = describe_ablations(predictor, predictor.cases.iloc[[edited_case.case.number]]).iloc[0]
    ranks = {name: float(measured[f"without_{name}"]) for name in ABLATIONS}
    return {name: None if rank != rank else rank for name, rank in ranks.items()}


def _visits(opened: Workspace, case: int, poi: int) -> int:
    row = int(opened.case(case)[c.ROW])
    return int((opened.visits.poi_T[int(opened.visits.first_T[row]) : row] == poi).sum())


def _where(findings: CaseFindings, opened: Workspace, case: int, trail: tuple[int, ...]) -> Screen:
    row = int(opened.case(case)[c.ROW])
    when = opened.dataset.local_time.iloc[row]
    title = ("A user is at ", name(findings.names[findings.source], "source"), ". Where do they go next?")
    numbers = (
        Number("When", _part_of_week(when)),
        Number("Stop of this outing", ordinal(_stop(opened, case))),
        Number("Places to choose from", f"{findings.num_places:,}"),
    )
    detail = f"The model ranks all of them. Its list is the first {_LIST_WORD}."
    return Screen(join(*title), numbers, detail, Marks(source=findings.source, trail=trail))


def _part_of_week(when: datetime) -> str:
    """A weekday and a part of the day: enough for a room, and no date.

    >>> _part_of_week(datetime(2013, 5, 14, 17, 41))
    'Tuesday evening'
    """
    if when.hour < 5:
        return f"Early on {when:%A}"
    parts = ((12, "morning"), (17, "afternoon"), (22, "evening"), (24, "night"))
    return f"{when:%A} {next(word for until, word in parts if when.hour < until)}"


def _said(findings: CaseFindings, marks: Marks) -> Screen:
    truth, first = name(findings.names[findings.truth], "truth"), name(findings.names[findings.first], "model")
    stayed = findings.truth == findings.source
    if findings.first == findings.truth:
        verb = "stayed there" if stayed else "went there"
        title: tuple[str | Piece, ...] = ("The model said ", truth, f", and they {verb}.")
        right = (
            Number("The model's share for it", chance(findings.first_share)),
            Number("Places it chose from", f"{findings.num_places:,}"),
        )
        return Screen(join(*title), right, "", marks)
    went = "They checked in again at " if stayed else "They went to "
    title = ("The model said ", first, ". ", went, truth, ".")
    numbers = (
        Number("Its share for its first choice", chance(findings.first_share)),
        Number("Where the true place came", ordinal(findings.rank)),
        Number("Places in all", f"{findings.num_places:,}"),
    )
    return Screen(join(*title), numbers, "", marks)


def _saved_change(predictor: Predictor, case: int, edits: str) -> SmallChange:
    edited = build_edited_case(predictor, case, parse_edits(edits))
    before = rank_of(build_edited_case(predictor, case).total_P, edited.case.target)
    one = edited.edits[0] if len(edited.edits) == 1 else None
    return SmallChange(
        "ablation",
        one,
        describe_edits(edited),
        before,
        rank_of(edited.total_P, edited.case.target),
        isinstance(one, SetEdge),
    )


def _changed(findings: CaseFindings, change: SmallChange, base: Marks, middles: tuple[int, ...]) -> Screen:
    truth = name(findings.names[findings.truth], "truth")
    numbers = (
        Number("As it was", ordinal(change.rank_before)),
        Number("With this change", ordinal(change.rank)),
    )
    seen = {
        "truth_rank": change.rank,
        "middles": middles if change.path else (),
        "faded": change.path,
        "visited": (base.visited or change.kind == "visit") and not change.takes_last_visit,
    }
    marks = Marks(**(vars(base) | seen))
    before, named, after = change.clause.partition(truth.text)
    subject: tuple[str | Piece, ...] = (before, truth, f"{after}, it") if named else (f"{change.clause}, ", truth)
    title = join(*subject, f" {_turn(change)}.")
    return Screen(title, numbers, "All places were ranked again with this one change.", marks)


def _turn(change: SmallChange) -> str:
    """What the change does, in words.

    >>> _turn(SmallChange("clock", None, "", 40.0, 3.0)), _turn(SmallChange("clock", None, "", 1.0, 2.0))
    ('would have been on the list', 'would not have come first')
    """
    before, after = change.rank_before, change.rank
    if after <= 1 < before:
        return "would have come first"
    if after <= MISSED_ABOVE < before:
        return "would have been on the list"
    if before <= MISSED_ABOVE < after:
        return "would have dropped off the list"
    if before <= 1 < after:
        return "would not have come first"
    return (
        "would come as before"
        if after == before
        else "would have come nearer"
        if after < before
        else "would have come later"
    )


def _nothing(findings: CaseFindings, tried: int, marks: Marks) -> Screen:
    truth = name(findings.names[findings.truth], "truth")
    stays = (
        "still comes first"
        if findings.rank <= 1
        else "stays on the list"
        if findings.rank <= MISSED_ABOVE
        else "stays off the list"
    )
    numbers = (
        Number("Small changes tried", f"{tried:,}"),
        Number("Where it came", ordinal(findings.rank)),
    )
    detail = "Tried: taking away single visits and paths, other hours and weekdays, a visit the day before."
    return Screen(join("Nothing small changes it: ", truth, f" {stays}."), numbers, detail, marks)


def tell_limits(found: float, num_cases: int, *, invented: bool) -> Screen:
    """The last screen: what these pictures cannot show.

    Args:
        found: share of test cases whose true place is on the list.
    """
    numbers = (
        Number("True place on the list", percent(found)),
        Number("Cases tested", f"{num_cases:,}"),
        Number("Places on the list", f"{MISSED_ABOVE}"),
    )
    told = [
        "- A few chosen cases show how the model works, not how often it is right.",
        "- Taking something away shows what the model used, not why people went.",
        "- The model's share says how it divides its bets; it is no tested chance.",
        "- The city and its people are invented." if invented else "- Decide nothing about a person by this.",
    ]
    return Screen(join("What these cases cannot show"), numbers, "\n".join(told), None)
