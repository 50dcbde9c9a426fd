"""What is true of any model's case: ranks, edits of the history with everything ranked again, and leave-one-out.

A rival's score is one number for each place. It is no sum, so nothing here splits it up; what a visit means is what
ranking again without that visit shows.
"""

from typing import Final

import pandas as pd
from pydantic import Field

from analysis.explain.edited_case import EditedCase, build_edited_case, without_visits
from analysis.explain.edits import Edit
from analysis.explain.effects import Effect, effects
from analysis.explain.what_if import WhatIf, what_if
from recap import columns as c
from recap.config import Config
from recap.evaluation.ranks import rank_of
from recap.predictor import CaseRanker

LEFT_OUT: Final = 30
"""So many of the latest visits are left out, one at a time."""
_FEWEST_CHECKINS: Final = 4
"""Two visits, the current check-in and the target: one visit before the source must stay."""


class RankedPlace(Config):
    """A place and where the model puts it."""

    poi: int
    name: str
    rank: float
    score: float


class VisitLeftOut(Config):
    """One visit, and what ranking again without it does to the place in question."""

    visit: int = Field(description="Its number, see `analysis.explain.edits`.")
    name: str
    when: str = Field(description="Local date and time.")
    outcome: Effect


class RanksOnly(Config):
    """One case of a model without parts."""

    model: str
    case: int
    num_places: int = Field(description="Places that are ranked: all.")
    source: str
    about: RankedPlace
    truth: str | None = Field(description="The true next place; None where it is hidden.")
    best: list[RankedPlace]
    left_out: list[VisitLeftOut] = Field(description="The visit whose removal harms most comes first.")
    earlier_visits: int = Field(description="Visits before those that were left out one at a time.")
    what_if: WhatIf | None


def explain_ranks(
    ranker: CaseRanker,
    number: int,
    *,
    about: int | None = None,
    edits: tuple[Edit, ...] = (),
    top: int = 10,
    hide_truth: bool = False,
    split: int = c.TEST,
) -> RanksOnly:
    """One case, as edited, for any model.

    Args:
        about: the place in question; the true next place, or where that is hidden the best one.

    Raises:
        CaseError: no such case or place.
        EditError: an edit that does not fit, or that needs a model with parts.
    """
    edited_case = build_edited_case(ranker, number, edits, split)
    if about is not None:
        edited_case = edited_case.explaining(about)
    if hide_truth:
        edited_case = edited_case.hiding_truth()
    labels, total_P = ranker.dataset.poi_labels, edited_case.total_P

    def ranked(poi: int) -> RankedPlace:
        return RankedPlace(poi=poi, name=labels[poi], rank=rank_of(total_P, poi), score=float(total_P[poi]))

    best = total_P.topk(min(top, len(total_P))).indices.tolist()
    other = next((poi for poi in best if poi != edited_case.target), edited_case.target)
    left_out = leave_visits_out(edited_case)
    return RanksOnly(
        model=ranker.checkpoint.label,
        case=number,
        num_places=len(total_P),
        source=labels[edited_case.source],
        about=ranked(edited_case.target),
        truth=None if edited_case.truth is None else labels[edited_case.truth],
        best=[ranked(poi) for poi in best],
        left_out=left_out,
        earlier_visits=max(0, len(edited_case.variant.history) - 2 - LEFT_OUT),
        what_if=what_if(edited_case, other, top=top) if edits else None,
    )


def leave_visits_out(edited_case: EditedCase) -> list[VisitLeftOut]:
    """Each of the latest visits before the current check-in taken away alone, all places ranked again.

    A visit is removed as if it had not happened. The current check-in stays: a prediction starts there.
    """
    history = edited_case.variant.history
    if len(history) < _FEWEST_CHECKINS:
        return []
    positions = range(max(0, len(history) - 2 - LEFT_OUT), len(history) - 2)
    visits = [int(edited_case.visit_H[at]) for at in positions]
    outcomes = effects(edited_case, without_visits(edited_case, visits), edited_case.target)
    labels = edited_case.ranker.dataset.poi_labels
    found = [
        VisitLeftOut(
            visit=visit,
            name=labels[int(history.poi_H[at])],
            when=f"{pd.Timestamp(int(history.local_seconds_H[at]), unit='s'):%a %d %b %Y %H:%M}",
            outcome=outcome,
        )
        for at, visit, outcome in zip(positions, visits, outcomes, strict=True)
    ]
    return sorted(found, key=lambda entry: entry.outcome.logit_change)
