"""Turn an explanation into a shared case, field by field.

Scores, ranks and contributions stay exact; who, where and when follow the rule. Other places' contributions and the
places of earlier check-ins are left out.
"""

from datetime import datetime
from typing import Final

from analysis.explain.edits import parse_edits
from analysis.explain.explanation import CaseExplanation
from analysis.explain.links import CaseLink
from analysis.explain.types import ExplainedPlace, PastVisits, PathTerms
from analysis.explain.what_if import RankChange, WhatIf
from analysis.sharing.masking import Masking, places_by_name
from analysis.sharing.reidentification import SharedPoint
from analysis.sharing.shared_case import SharedCase, SharedDot, SharedPath, SharedRank, SharedVisits
from analysis.sharing.traces import traces_of
from recap import columns as c

LISTED_PLACES: Final = 5
"""Best places that a masked export lists."""


def share_case(explanation: CaseExplanation, masking: Masking, number: int, note: str = "") -> SharedCase:
    """One case as the export shows it; its number is that on the page, and a person's note is shown unchanged."""
    e, exact = explanation, masking.is_exact
    place = masking.number
    for poi in (e.source, e.target, e.runner_up):  # numbered in the order a reader meets them
        place(poi)
    shown = places_by_name(e)
    listed = e.candidates if exact else e.candidates[:LISTED_PLACES]
    return SharedCase(
        number=number,
        case=e.case if exact else None,
        user=masking.user(e.user),
        when=_when(e.local_time, masking),
        time_given=_when(e.time_given, masking),
        headline=masking.sentence(e.headline, shown),
        sentences=[masking.sentence(one, shown) for one in e.sentences if exact or one.about != "time"],
        note=note,
        source=place(e.source),
        target=place(e.target),
        runner_up=place(e.runner_up),
        truth=None if e.truth is None else place(e.truth),
        has_truth=e.has_truth,
        roles=e.roles,
        num_places=e.num_places,
        inactive=e.inactive,
        edits=masking.edits(parse_edits(e.edits)),
        a=_candidate(e.a, masking),
        b=_candidate(e.b, masking),
        without=e.without,
        flip=None if e.flip is None else masking.edits([e.flip.edit]),
        tried=e.tried,
        best=[SharedRank(place=place(x.poi), rank=x.rank, probability=x.probability, score=x.score) for x in listed],
        paths=[_path(path, masking) for path in e.paths],
        visits=[_visits(visits, masking) for visits in e.visits],
        what_if=_what_if(e, masking),
        checks=[check.cells for check in e.checks or []],
        link=_link(e) if exact else None,
        matching_users=None,
    )


def shared_points(explanation: CaseExplanation, masking: Masking) -> list[SharedPoint]:
    """Places and times of the user that the case shows, as dataset indices."""
    assert masking.opened is not None
    traces, row = traces_of(masking.opened.dataset), explanation.row
    visited = [place.poi for place in explanation.visits if place.visits]
    seen = set(traces.poi[: row + 2][traces.user[: row + 2] == explanation.user].tolist())  # edits may add places
    shown = visited if explanation.truth is None else [explanation.truth, *visited]
    places = [poi for poi in dict.fromkeys(shown) if poi in seen]
    timed = explanation.truth if explanation.time_given else None  # the next check-in's place and time
    now = SharedPoint(int(traces.poi[row]), row)
    return [now, *(SharedPoint(poi, row + 1 if poi == timed else None) for poi in places)]


def _candidate(entry: ExplainedPlace, masking: Masking) -> ExplainedPlace:
    named = {"poi": masking.number(entry.poi), "name": masking.name(entry.poi)}
    kept = entry.model_dump(include={"rank", "probability", "score", "groups", "terms", "gate"})
    return ExplainedPlace(**named, category=masking.places.category[entry.poi], **kept)


def _path(path: PathTerms, masking: Masking) -> SharedPath:
    return SharedPath(place=masking.number(path.middle), **path.model_dump(include={*SharedPath.model_fields}))


def _visits(place: PastVisits, masking: Masking) -> SharedVisits:
    exact, days = masking.is_exact, None if place.last is None else place.last.days_ago
    return SharedVisits(
        place=masking.number(place.poi),
        count=len(place.visits),
        days_ago=days if days is None or (exact and days < 2) else float(int(days)),  # as sentences say it
        dots=[
            SharedDot(
                weeks_ago=visit.days_ago / 7 if exact else float(int(visit.days_ago / 7)),
                label=visit.local_time.replace("T", " ") if exact else "",
            )
            for visit in place.visits
        ],
    )


def _what_if(e: CaseExplanation, masking: Masking) -> WhatIf | None:
    if e.what_if is None:
        return None
    return WhatIf(target=_change(e.what_if.target, masking), runner_up=_change(e.what_if.runner_up, masking))


def _change(change: RankChange, masking: Masking) -> RankChange:
    kept = change.model_dump(include={"rank_before", "rank", "score_before", "score"})
    return RankChange(poi=masking.number(change.poi), name=masking.name(change.poi), **kept)


def _when(local_time: str, masking: Masking) -> str:
    """A local ISO time as the export shows it; empty for none."""
    if not local_time:
        return ""
    part = masking.moment(datetime.fromisoformat(local_time))
    return f"{part} ({local_time})" if masking.is_exact else part


def _link(e: CaseExplanation) -> str:
    return CaseLink(
        checkpoint=e.checkpoint_hash[:12],
        dataset=e.dataset_hash[:12],
        **e.moment.fields,
        split=c.TEST if e.split is None else c.SPLIT_NAMES.index(e.split),
        about=None if e.target == e.truth else e.target,
        against=e.runner_up,
        edits=e.edits,
    ).query
