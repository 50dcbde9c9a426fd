"""What edits do to two places, and the smallest single edit that reverses them."""

from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from typing import Final

import numpy as np
from pydantic import Field

from analysis.explain.edited_case import EditedCase, apply_edit, build_edited_case
from analysis.explain.edits import CutPath, Edit, EditError, RemoveVisit, SetEdge, SetHour, SetWeekday, SwitchOff
from analysis.explain.paths import most_cuts, paths_between
from recap.config import Config
from recap.evaluation.ranks import rank_of
from recap.history.tensors import SECONDS_PER_DAY, local_weekday

_MOST_TRIED: Final = 512
_RECENT: Final = 10
"""Latest check-ins that the search for the smallest edit removes."""
_LAST_RESORT: Final = 1e9


class RankChange(Config):
    poi: int
    name: str
    rank_before: float
    rank: float
    score_before: float
    score: float


class WhatIf(Config):
    target: RankChange
    runner_up: RankChange

    @property
    def lead_before(self) -> float:
        return self.target.score_before - self.runner_up.score_before

    @property
    def lead(self) -> float:
        return self.target.score - self.runner_up.score


def what_if(edited_case: EditedCase, runner_up: int) -> WhatIf:
    """Compare an edited case with the original."""
    before_P = build_edited_case(edited_case.ranker, edited_case.moment).total_P
    after_P = edited_case.total_P

    def moved(poi: int) -> RankChange:
        return RankChange(
            poi=poi,
            name=edited_case.ranker.dataset.poi_labels[poi],
            rank_before=rank_of(before_P, poi),
            rank=rank_of(after_P, poi),
            score_before=float(before_P[poi]),
            score=float(after_P[poi]),
        )

    return WhatIf(target=moved(edited_case.target), runner_up=moved(runner_up))


class Flip(Config):
    """A single edit that reverses two places."""

    edit: Edit
    text: str
    size: float = Field(description="Facts changed: a visit, a path or the clock 1, a transition its training count.")
    shift_hours: float = Field(description="How far the clock moves; 0 for other edits.")
    lead: float = Field(description="Score of A minus score of B after the edit.")


def smallest_flip(edited_case: EditedCase, a: int, b: int) -> tuple[Flip | None, int]:
    """The smallest single edit that reverses two places, and how many were tried.

    The search tries each edit that the model supports: every other full hour and weekday; removing a visit to either
    place or a recent check-in; cutting a two-hop path or removing the transitions to either place; leaving out a group
    of terms or the graph token. Edits that change fewer facts are smaller, then shorter clock shifts, then smaller
    leads. Leaving out a part of the model comes last.
    """
    edits, variants = [], []
    for tried in islice(_single_edits(edited_case, a, b), _MOST_TRIED):
        with suppress(EditError):  # a clock that passes the time given
            variants.append(apply_edit(edited_case, tried[0]).variant)
            edits.append(tried)
    if not edits:
        return None, 0
    total_BP = edited_case.ranker.score_counterfactuals(variants)
    leads = (total_BP[:, a] - total_BP[:, b]).tolist()
    before = float(edited_case.total_P[a] - edited_case.total_P[b])
    flips = [
        Flip(edit=edit, text=edit.text, size=size, shift_hours=shift, lead=lead)
        for (edit, size, shift), lead in zip(edits, leads, strict=True)
        if (lead < 0 <= before) or (before <= 0 < lead)
    ]
    flips.sort(key=lambda flip: (flip.size, flip.shift_hours, abs(flip.lead)))
    return (flips[0] if flips else None), len(edits)


def _single_edits(edited_case: EditedCase, a: int, b: int) -> Iterator[tuple[Edit, float, float]]:
    """Edits with their size and the hours they shift the clock."""
    supported = edited_case.supported_edits
    if "times" in supported:
        yield from _clock_edits(int(edited_case.variant.history.local_seconds_H[-1]))
    poi_H = edited_case.variant.history.poi_H
    now = len(poi_H) - 1
    if "visits" in supported and now > 1:
        near = set(range(max(0, now - _RECENT), now))
        for position in sorted(set(np.flatnonzero(np.isin(poi_H[:now], [a, b])).tolist()) | near, reverse=True):
            yield RemoveVisit(visit=int(edited_case.visit_H[position])), 1.0, 0.0
    for poi in (a, b):
        for path in paths_between(edited_case, poi)[: most_cuts(edited_case)]:
            yield CutPath(middle=path.middle, destination=poi), 1.0, 0.0
        count = edited_case.transition_count(edited_case.source, poi)
        if "transitions" in supported and count > 0:
            yield SetEdge(source=edited_case.source, destination=poi, count=0), float(count), 0.0
    for part in edited_case.leavable:
        yield SwitchOff(name=part), _LAST_RESORT, 0.0


def _clock_edits(local: int) -> Iterator[tuple[Edit, float, float]]:
    for hour in range(24):
        shift = abs(hour - local % SECONDS_PER_DAY / 3600)
        if hour != local % SECONDS_PER_DAY // 3600:
            yield SetHour(hour=hour), 1.0, min(shift, 24 - shift)
    today = local_weekday(local)
    for weekday in range(7):
        if weekday != today:
            yield SetWeekday(weekday=weekday), 1.0, 24.0 * min((weekday - today) % 7, (today - weekday) % 7)
