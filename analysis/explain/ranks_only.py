"""Explain a model without terms: ranks, edits of check-ins, and visits removed one at a time."""

from typing import Final

from pydantic import Field

from analysis.explain.edited_case import EditedCase, build_edited_case, local_iso, without_visits
from analysis.explain.edits import Edit
from analysis.explain.what_if import WhatIf, what_if
from recap import columns as c
from recap.asking.predictor import CaseRanker
from recap.config import Config
from recap.evaluation.ranks import rank_of
from recap.history.moments import Moment

REMOVED: Final = 30
"""Latest visits that are removed, one at a time."""
_FEWEST_CHECKINS: Final = 3
"""Two visits and the current check-in: one visit before the source must stay."""


class RankedPlace(Config):
    poi: int
    name: str
    rank: float
    score: float


class RemovedVisit(Config):
    visit: int = Field(description="Its number, see `analysis.explain.edits`.")
    name: str
    local_time: str
    rank_without: float


class RanksOnly(Config):
    """An explanation without contributions."""

    model: str
    case: int | None = Field(description="None for a moment that is no test case.")
    num_places: int
    source: str
    local_time: str = Field(description="Of the current check-in, as edited; ISO 8601 without offset.")
    about: RankedPlace
    truth: int | None = Field(description="The true next place; None where it is hidden or not known yet.")
    truth_name: str = Field(description="Empty where it is hidden; “not known yet” after the user's last check-in.")
    best: list[RankedPlace]
    removed: list[RemovedVisit] = Field(description="The visit without which the place ranks worst comes first.")
    what_if: WhatIf | None


def explain_ranks(
    ranker: CaseRanker,
    case: int | Moment,
    *,
    about: int | None = None,
    edits: tuple[Edit, ...] = (),
    top: int = 10,
    hide_truth: bool = False,
    split: int = c.TEST,
) -> RanksOnly:
    """Explain one case or moment, as edited, for any model; errors are those of `build_edited_case`.

    The place in question (``about``) is by default the true next place, or without it the best one.
    """
    edited_case = build_edited_case(ranker, case, edits, split).asked(about, hide_truth=hide_truth)
    labels, total_P, moment = ranker.dataset.poi_labels, edited_case.total_P, edited_case.moment

    def ranked(poi: int) -> RankedPlace:
        return RankedPlace(poi=poi, name=labels[poi], rank=rank_of(total_P, poi), score=float(total_P[poi]))

    best = total_P.topk(min(top, len(total_P))).indices.tolist()
    other = next((poi for poi in best if poi != edited_case.target), edited_case.target)
    return RanksOnly(
        model=ranker.checkpoint.label,
        case=moment.case,
        num_places=len(total_P),
        source=labels[edited_case.source],
        local_time=edited_case.local_time,
        about=ranked(edited_case.target),
        truth=edited_case.truth,
        truth_name=edited_case.truth_name,
        best=[ranked(poi) for poi in best],
        removed=_removed_visits(edited_case),
        what_if=what_if(edited_case, other) if edits else None,
    )


def _removed_visits(edited_case: EditedCase) -> list[RemovedVisit]:
    history = edited_case.variant.history
    if len(history) < _FEWEST_CHECKINS:
        return []
    positions = range(max(0, len(history) - 1 - REMOVED), len(history) - 1)
    visits = [int(edited_case.visit_H[position]) for position in positions]
    ranks = edited_case.ranks(without_visits(edited_case, visits))
    removed = [
        RemovedVisit(
            visit=visit,
            name=edited_case.ranker.dataset.poi_labels[int(history.poi_H[position])],
            local_time=local_iso(int(history.local_seconds_H[position])),
            rank_without=rank,
        )
        for position, visit, rank in zip(positions, visits, ranks, strict=True)
    ]
    return sorted(removed, key=lambda entry: -entry.rank_without)
