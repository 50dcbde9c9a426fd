"""What edits do: the whole catalogue ranked again, before beside after."""

import torch
from pydantic import Field

from analysis.explain.edited_case import EditedCase, build_edited_case
from analysis.explain.edits import write_edits
from recap.config import Config
from recap.evaluation.ranks import rank_of


class RankChange(Config):
    """One place before and after the edits."""

    poi: int
    name: str
    rank_before: float
    rank: float
    total_before: float
    total: float
    probability_before: float
    probability: float


class WhatIf(Config):
    """The effect of a sequence of edits on one case."""

    edits: str = Field(description="Text form, see `analysis.explain.edits`.")
    num_places: int = Field(description="Places that were ranked again: all.")
    target: RankChange
    rival: RankChange
    lead_before: float = Field(description="Total of the target minus total of the rival before the edits.")
    lead: float
    places: list[RankChange] = Field(description="The best places after the edits.")


def what_if(edited_case: EditedCase, rival: int, *, top: int = 10) -> WhatIf:
    """Compare an edited case with the case as it was.

    Args:
        rival: the place that the target is held against.

    Raises:
        CaseError: the rival is unknown.
    """
    edited_case.check_poi(rival)
    before_P = build_edited_case(edited_case.ranker, edited_case.case.number, split=edited_case.split).total_P
    after_P = edited_case.total_P
    chance_before_P, chance_P = torch.softmax(before_P, 0), torch.softmax(after_P, 0)

    def moved(poi: int) -> RankChange:
        return RankChange(
            poi=poi,
            name=edited_case.ranker.dataset.poi_labels[poi],
            rank_before=rank_of(before_P, poi),
            rank=rank_of(after_P, poi),
            total_before=float(before_P[poi]),
            total=float(after_P[poi]),
            probability_before=float(chance_before_P[poi]),
            probability=float(chance_P[poi]),
        )

    target, other = moved(edited_case.target), moved(rival)
    best = after_P.topk(min(top, len(after_P))).indices.tolist()
    return WhatIf(
        edits=write_edits(edited_case.edits),
        num_places=len(after_P),
        target=target,
        rival=other,
        lead_before=target.total_before - other.total_before,
        lead=target.total - other.total,
        places=[moved(poi) for poi in best],
    )
