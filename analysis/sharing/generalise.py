"""From an explanation to what may be shown of it: every field that leaves is filled here, on purpose.

Scores, ranks and addends stay exact; who, where and when become what the rule allows. Other places' addends, the places
of earlier check-ins and the training rows of other people stay behind.
"""

from typing import Final

from analysis.explain.contrast import Contrast
from analysis.explain.edits import parse_edits
from analysis.explain.explanation import FullExplanation
from analysis.explain.headline import headline
from analysis.explain.links import CaseLink
from analysis.explain.paths import PathEvidence
from analysis.explain.revisits import RevisitEvidence, Visit
from analysis.explain.types import ScoreDecomposition
from analysis.explain.what_if import RankChange
from analysis.sharing.reidentification import SharedPoint
from analysis.sharing.shared_case import (
    SharedCase,
    SharedDot,
    SharedLeftOut,
    SharedPath,
    SharedRank,
    SharedVisits,
    SharedWhatIf,
)
from analysis.sharing.telling import Telling, places_by_name
from analysis.sharing.traces import traces_of
from recap import columns as c

BEST: Final = 5
"""Of the model's best places a private export lists so many."""


def share_case(explanation: FullExplanation, telling: Telling, number: int, note: str = "") -> SharedCase:
    """One case as the export tells it.

    Args:
        number: on the page, from 1.
        note: somebody's own words, told as they are.
    """
    e, exact = explanation, telling.is_exact
    place = telling.number
    for poi in (e.source, e.target, e.rival):  # numbered in the order a reader meets them
        place(poi)
    shown = places_by_name(e)
    listed = e.candidates if exact else e.candidates[:BEST]
    return SharedCase(
        number=number,
        case=e.case if exact else None,
        walker=telling.walker(e.user),
        when=_when(e, telling),
        headline=telling.sentence(headline(e), shown),
        sentences=[telling.sentence(sentence, shown) for sentence in e.sentences],
        note=note,
        source=place(e.source),
        target=place(e.target),
        rival=place(e.rival),
        truth=None if e.truth is None else place(e.truth),
        roles=e.roles,
        target_rank=e.target_rank,
        num_places=e.num_places,
        num_hops=e.num_hops,
        max_prior=e.max_prior,
        transition_count=e.transition_count,
        a2_source_target=e.a2_source_target,
        rank_without_two_hops=e.rank_without_two_hops,
        inactive_terms=e.inactive_terms,
        weighs_evidence_alone=e.weighs_evidence_alone,
        edits=telling.edits(parse_edits(e.edits)),
        contrast=Contrast(
            a=_score(e.contrast.a, telling),
            b=_score(e.contrast.b, telling),
            margin=e.contrast.margin,
            parts=e.contrast.parts,
            residual=e.contrast.residual,
            tried=e.contrast.tried,
        ),
        flip=None if e.contrast.flip is None else telling.edits([e.contrast.flip.edit]),
        best=[SharedRank(place=place(x.poi), rank=x.rank, probability=x.probability, total=x.total) for x in listed],
        paths=[_path(path, telling) for path in e.path_evidence],
        visits=[_visits(revisits, telling) for revisits in e.revisits],
        left_out=[
            SharedLeftOut(label=_capital(telling.item(x.item).label), outcome=x.outcome, masked=x.masked)
            for x in e.leave_one_out or []
        ],
        what_if=_what_if(e, telling),
        checks=[check.cells for check in e.checks or []],
        link=_link(e) if exact else None,
        fitting_walkers=None,
    )


def shared_points(explanation: FullExplanation, telling: Telling) -> list[SharedPoint]:
    """Where and when the case shows its walker to have been, in the dataset's terms."""
    assert telling.opened is not None
    traces, dataset = traces_of(telling.opened.dataset), telling.opened.dataset
    row = int(dataset.cases(c.SPLIT_NAMES.index(explanation.split))[explanation.case])
    visited = [revisits.poi for revisits in explanation.revisits if revisits.count]
    seen = set(traces.poi[: row + 2][traces.user[: row + 2] == explanation.user].tolist())  # edits may add places
    told = visited if explanation.truth is None else [explanation.truth, *visited]
    places = [poi for poi in dict.fromkeys(told) if poi in seen]
    return [SharedPoint(int(traces.poi[row]), row), *(SharedPoint(poi) for poi in places)]


def _score(entry: ScoreDecomposition, telling: Telling) -> ScoreDecomposition:
    return ScoreDecomposition(
        poi=telling.number(entry.poi),
        name=telling.name(entry.poi),
        category=telling.places.category[entry.poi],
        rank=entry.rank,
        probability=entry.probability,
        core=entry.core,
        count=entry.count,
        recency=entry.recency,
        window=entry.window,
        clip_loss=entry.clip_loss,
        prior=entry.prior,
        gate=entry.gate,
        correction=entry.correction,
        evidence=entry.evidence,
        evidence_terms=entry.evidence_terms,
        total=entry.total,
        residual=entry.residual,
    )


def _path(path: PathEvidence, telling: Telling) -> SharedPath:
    rows = [path.rows_in, path.rows_out]
    told = [
        f"{walker}, trajectory {trajectory}, {time}"
        for half in rows
        for walker, trajectory, time in zip(half.walkers, half.trajectories, half.times, strict=True)
    ]
    return SharedPath(
        place=telling.number(path.middle),
        count_in=path.count_in,
        count_out=path.count_out,
        p_in=path.p_in,
        p_out=path.p_out,
        product=path.product,
        share=path.share,
        addend=path.addend,
        people=len({walker for half in rows for walker in half.walkers}),
        frozen_rank=None if path.frozen is None else path.frozen.rank,
        recounted_in_rank=None if path.recounted_in is None else path.recounted_in.rank,
        recounted_out_rank=None if path.recounted_out is None else path.recounted_out.rank,
        rows=told if telling.is_exact else [],
    )


def _visits(revisits: RevisitEvidence, telling: Telling) -> SharedVisits:
    exact = telling.is_exact
    days = revisits.recency_days
    return SharedVisits(
        place=telling.number(revisits.poi),
        count=revisits.count,
        recency_steps=revisits.recency_steps if exact else None,
        days_ago=days if days is None or exact else float(int(days)),
        in_recent_window=revisits.in_recent_window,
        last=telling.moment(revisits.last_weekday, revisits.last_hour) if exact else "",
        now=telling.moment(revisits.now_weekday, revisits.now_hour),
        gate=revisits.gate,
        correction=revisits.correction,
        dots=[_dot(visit, exact) for visit in revisits.visits],
    )


def _dot(visit: Visit, exact: bool) -> SharedDot:
    weeks = visit.days_ago / 7
    return SharedDot(
        weeks_ago=weeks if exact else float(int(weeks)),
        freshness=0.35 + 0.65 / (1 + (visit.steps_ago / 20 if exact else int(weeks))),
        in_recent_window=visit.in_recent_window,
        label=visit.local_time.replace("T", " ") if exact else "",
    )


def _what_if(e: FullExplanation, telling: Telling) -> SharedWhatIf | None:
    if e.what_if is None:
        return None
    after = e.what_if
    return SharedWhatIf(
        target=_change(after.target, telling),
        rival=_change(after.rival, telling),
        lead_before=after.lead_before,
        lead=after.lead,
    )


def _change(change: RankChange, telling: Telling) -> RankChange:
    return RankChange(
        poi=telling.number(change.poi),
        name=telling.name(change.poi),
        rank_before=change.rank_before,
        rank=change.rank,
        total_before=change.total_before,
        total=change.total,
        probability_before=change.probability_before,
        probability=change.probability,
    )


def _when(e: FullExplanation, telling: Telling) -> str:
    now = e.revisits[0]
    part = telling.moment(now.now_weekday, now.now_hour)
    return f"{part} ({now.now_time})" if telling.is_exact else part


def _link(e: FullExplanation) -> str:
    return CaseLink(
        checkpoint=e.checkpoint_hash[:12],
        dataset=e.dataset_hash[:12],
        case=e.case,
        split=c.SPLIT_NAMES.index(e.split),
        about=None if e.target == e.truth else e.target,
        against=e.rival,
        edits=e.edits,
    ).query


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
