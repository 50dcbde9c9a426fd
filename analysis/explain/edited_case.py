"""One case or moment, original or edited: check-ins, graph, switches, and the resulting scores.

Shape suffixes: P POIs, H check-ins of the history.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property
from typing import Any, Final

import numpy as np
import torch
from torch import Tensor

from analysis.explain.edits import (
    AddVisit,
    CutPath,
    Edit,
    EditError,
    MoveVisit,
    RemoveVisit,
    SetArrival,
    SetEdge,
    SetHour,
    SetSource,
    SetWeekday,
    SwitchOff,
    check_edge,
)
from analysis.explain.types import NOT_KNOWN_YET, PastVisits, Visit
from analysis.records.ablations import slug
from recap import columns as c
from recap.asking.counterfactuals import GRAPH_TOKEN, Counterfactual
from recap.asking.predictor import CaseRanker, Predictor
from recap.errors import CaseError
from recap.features.catalogue import GROUPS
from recap.history.graph import TransitionGraph
from recap.history.moments import Moment
from recap.history.one_user import History
from recap.history.tensors import SECONDS_PER_DAY, Histories, local_weekday
from recap.model.recap import CLIP, CORRECTION, UNCHANGED, Interventions
from recap.model.scorer import RecapScorer

_NEAR_SECONDS: Final = 3600
_SECONDS_PER_WEEK: Final = 7 * SECONDS_PER_DAY
_NEEDS: Final = {
    "hour": "times",
    "arrive": "times",
    "weekday": "times",
    "source": "source",
    "edge": "transitions",
    "cut": "paths",
}
"""The kind of edit, see `RecapScorer.supported_edits`, that an edit needs; the others need visits."""
_PLAIN_EDITS: Final = frozenset({"visits", "times", "source"})
"""Edits of check-ins, which every model supports."""


@dataclass(frozen=True, eq=False)
class EditedCase:
    """A case, or a user at a moment, after a sequence of edits, which may be empty.

    Attributes:
        variant: history, edges and switches after the edits.
        visit_H: number of each check-in, see `analysis.explain.edits`.
        about: the place that is explained; None for the true next place, or the best one if that is not known yet.
        hides_truth: nothing may show which place is the true one; requires ``about``.
    """

    ranker: CaseRanker
    moment: Moment
    edits: tuple[Edit, ...]
    variant: Counterfactual
    visit_H: np.ndarray
    about: int | None = None
    hides_truth: bool = False

    @property
    def predictor(self) -> Predictor:
        """The model whose scores are sums of terms; CaseError for a published model, which has none."""
        if not isinstance(self.ranker, Predictor):
            raise CaseError(f"{self.ranker.checkpoint.label} gives one score for each place and no terms")
        return self.ranker

    @property
    def scorer(self) -> RecapScorer:
        return self.predictor.scorer

    @property
    def supported_edits(self) -> frozenset[str]:
        """Kinds of edits that can change the scores, see `RecapScorer.supported_edits`."""
        return self.scorer.supported_edits if isinstance(self.ranker, Predictor) else _PLAIN_EDITS

    @property
    def source(self) -> int:
        return self.variant.history.source

    @property
    def now_local_seconds(self) -> int:
        """Local seconds of the time given, or else of the last check-in."""
        given = self.variant.history.next_local_seconds
        return int(self.variant.history.local_seconds_H[-1]) if given is None else given

    @cached_property
    def next_place(self) -> int | None:
        """The true next place, hidden or not; None if it is not known yet."""
        return self.moment.next_place(self.ranker.dataset)

    @property
    def truth(self) -> int | None:
        return None if self.hides_truth else self.next_place

    @property
    def truth_name(self) -> str:
        """Its name; empty while it is hidden."""
        if self.next_place is None:
            return NOT_KNOWN_YET
        return "" if self.truth is None else self.ranker.dataset.poi_labels[self.truth]

    @cached_property
    def target(self) -> int:
        """The explained place; without a truth the best one before the edits."""
        known = self.next_place if self.about is None else self.about
        return int(self._unedited_P.argmax()) if known is None else known

    def asked(self, about: int | None, *, hide_truth: bool) -> "EditedCase":
        """The same moment with another place explained; by default the best one where the truth is hidden."""
        if about is not None:
            check_poi(self.ranker, about)
        elif hide_truth and self.next_place is not None:
            about = int(self.total_P.argmax())
        return replace(self, about=about, hides_truth=hide_truth)

    @cached_property
    def total_P(self) -> Tensor:
        """Scores of all places; without edits, equal to those of the batched evaluation."""
        return self.ranker.score_counterfactuals([self.variant])[0] if self.edits else self._unedited_P

    @cached_property
    def _unedited_P(self) -> Tensor:
        return self.ranker.score(self.ranker.histories_at(self.moment)).total[0]

    @cached_property
    def groups(self) -> dict[str, list[int]]:
        """Positions of each group's terms, in order."""
        rows_of: dict[str, list[int]] = {}
        for row, term in enumerate(self.scorer.terms):
            rows_of.setdefault(term.group, []).append(row)
        order = [*GROUPS, CORRECTION, *rows_of]
        return {group: rows_of[group] for group in sorted(rows_of, key=order.index)}

    @cached_property
    def parts_off(self) -> dict[str, str]:
        """Names that an edit can switch off: groups, terms and the graph token."""
        names = [*self.groups, *(term.name for term in self.scorer.terms if term.name != CLIP)]
        return {slug(name): name for name in [*names, *([GRAPH_TOKEN] if self.has_token else [])]}

    @property
    def leavable(self) -> list[str]:
        """Groups and the graph token, unless already switched off."""
        token = [GRAPH_TOKEN] if self.has_token else []
        return [name for name in [*self.groups, *token] if name not in self.variant.off]

    @property
    def inactive(self) -> list[str]:
        absent = set() if CORRECTION in self.groups else {CORRECTION}
        absent |= set() if self.predictor.model.graph_token is not None else {GRAPH_TOKEN}
        return [part for part in self.ranker.checkpoint.inactive_parts if part not in absent]

    @property
    def has_token(self) -> bool:
        stage, token = self.predictor.stage, self.predictor.model.graph_token
        return token is not None and stage.graph_weight > 0 and GRAPH_TOKEN not in self.variant.off

    @cached_property
    def graph(self) -> TransitionGraph:
        """The training counts, as edited."""
        return self.ranker.graph.changed(self.variant.edges)

    def contributions(self, pois: Sequence[int]) -> Tensor:
        """What each term adds to the score of each place, (N, T); rows sum to `total_P` there."""
        history, changes = self._asked
        return self.scorer.contributions(history, torch.tensor([pois], dtype=torch.int64), changes)[0]

    @cached_property
    def gates(self) -> dict[int, float]:
        """The gate of each place that the correction acts on (Eq. 12)."""
        if CORRECTION not in self.groups:
            return {}
        history, changes = self._asked
        parts = self.predictor.revisit_parts(history, changes)
        if parts is None or parts.gate_C is None:
            return {}
        return dict(zip(parts.candidates.poi_C.tolist(), parts.gate_C.tolist(), strict=True))

    def place_ranks(self, variants: Sequence[Counterfactual]) -> list[tuple[float, float]]:
        """Rank and score of the explained place in each counterfactual copy, among all places."""
        distinct = {variant.content: variant for variant in variants}  # score equal copies once
        if not distinct:
            return []
        ranks = self.ranker.place_ranks(list(distinct.values()), self.target)
        pairs = zip(ranks.rank_B.tolist(), ranks.total_B.tolist(), strict=True)
        of_content = dict(zip(distinct, pairs, strict=True))
        return [of_content[variant.content] for variant in variants]

    def ranks(self, variants: Sequence[Counterfactual]) -> list[float]:
        return [rank for rank, _ in self.place_ranks(variants)]

    def without(self, name: str) -> Counterfactual:
        return replace(self.variant, off=self.variant.off | {name})

    @property
    def _asked(self) -> tuple[Histories, Interventions]:
        """The history, as a batch of one, and what else is changed."""
        return self.predictor.pack([self.variant]) if self.edits else (self.ranker.histories_at(self.moment), UNCHANGED)

    def transition_count(self, source: int, destination: int) -> int:
        """m_sd in training, as edited."""
        return int(self.graph.count(np.array([source]), np.array([destination]))[0])

    @property
    def time_given(self) -> str:
        """Local ISO time of the question; empty for a model that is not given one."""
        given = self.variant.history.next_local_seconds
        return "" if given is None else local_iso(given)

    @property
    def share_near_time(self) -> float:
        """Share of the user's check-ins within an hour of the time of day of the question."""
        clock_H = (self.variant.history.local_seconds_H - self.now_local_seconds) % SECONDS_PER_DAY
        return float((np.minimum(clock_H, SECONDS_PER_DAY - clock_H) <= _NEAR_SECONDS).mean())

    @property
    def local_time(self) -> str:
        """Of the current check-in, see `local_iso`."""
        return local_iso(int(self.variant.history.local_seconds_H[-1]))

    def past_visits(self, poi: int) -> PastVisits:
        """The user's earlier visits to a place."""
        history = self.variant.history
        now = len(history) - 1
        visits = [
            Visit(
                visit=int(self.visit_H[position]),
                local_time=local_iso(int(history.local_seconds_H[position])),
                checkins_ago=now - position,
                days_ago=float(history.seconds_H[now] - history.seconds_H[position]) / SECONDS_PER_DAY,
            )
            for position in np.flatnonzero(history.poi_H[:now] == poi).tolist()
        ]
        return PastVisits(poi=poi, name=self.ranker.dataset.poi_labels[poi], visits=visits)


def local_iso(local_seconds: int) -> str:
    """Local seconds as ISO 8601 without offset.

    >>> local_iso(0)
    '1970-01-01T00:00:00'
    """
    return datetime.fromtimestamp(local_seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S")


def check_poi(predictor: CaseRanker, poi: int) -> None:
    """Refuse a POI outside the vocabulary with a CaseError."""
    if not 0 <= poi < predictor.dataset.num_pois:
        raise CaseError(f"there is no POI {poi}; this dataset has POIs 0 to {predictor.dataset.num_pois - 1}")


def build_edited_case(
    predictor: CaseRanker, case: int | Moment, edits: tuple[Edit, ...] = (), split: int = c.TEST
) -> EditedCase:
    """A moment, or the case of a number in a split, with edits applied.

    CaseError: no such case. EditError: an edit does not fit the case.
    """
    moment = predictor.moment(case, split)
    variant = Counterfactual(predictor.history(moment))
    visit_H = np.arange(len(variant.history))
    edited_case = EditedCase(predictor, moment, (), variant, visit_H)
    for edit in edits:
        try:
            edited_case = apply_edit(edited_case, edit)
        except EditError:
            raise
        except CaseError as error:
            raise EditError(f"edit {edit.text!r}: {error}") from error
    return edited_case


def apply_edit(edited_case: EditedCase, edit: Edit) -> EditedCase:
    """The edited case after one more edit.

    EditError: the edit does not fit. CaseError: it names an unknown POI.
    """
    edits = (*edited_case.edits, edit)
    variant, visit_H = edited_case.variant, edited_case.visit_H
    if not isinstance(edit, SwitchOff) and _NEEDS.get(edit.kind, "visits") not in edited_case.supported_edits:
        raise EditError(f"edit {edit.text!r}: {edited_case.ranker.checkpoint.label} does not read what it changes")
    match edit:
        case RemoveVisit():
            history, visit_H = _without(edited_case, edit.visit, edit)
            if len(history) < 2:
                raise EditError(f"edit {edit.text!r} would remove all history; one visit before the source must stay")
            variant = replace(variant, history=history)
        case AddVisit():
            check_poi(edited_case.ranker, edit.poi)
            original = edited_case.ranker.history(edited_case.moment)
            number = len(original) + sum(isinstance(done, AddVisit) for done in edited_case.edits)
            offset = int(original.local_seconds_H[-1] - original.seconds_H[-1])  # an edited clock changes no time zone
            history, visit_H = _insert(variant.history, visit_H, edit.poi, _local(edit), offset, number, edit)
            variant = replace(variant, history=history)
        case MoveVisit():
            position = _position(edited_case, edit.visit, edit)
            old = variant.history
            offset = int(old.local_seconds_H[position] - old.seconds_H[position])
            rest, visit_H = _without(edited_case, edit.visit, edit)
            history, visit_H = _insert(rest, visit_H, int(old.poi_H[position]), _local(edit), offset, edit.visit, edit)
            variant = replace(variant, history=history)
        case SetHour() | SetWeekday():
            variant = replace(variant, history=_at_time(edited_case, edit))
        case SetArrival():
            variant = replace(variant, history=_arriving(variant.history, edit))
        case SetSource():
            check_poi(edited_case.ranker, edit.poi)
            poi_H = variant.history.poi_H.copy()
            poi_H[-1] = edit.poi
            variant = replace(variant, history=replace(variant.history, poi_H=poi_H))
        case SetEdge():
            check_edge(edit)
            check_poi(edited_case.ranker, edit.source)
            check_poi(edited_case.ranker, edit.destination)
            variant = replace(variant, edges=variant.edges | {(edit.source, edit.destination): edit.count})
        case CutPath():
            check_poi(edited_case.ranker, edit.middle)
            check_poi(edited_case.ranker, edit.destination)
            variant = replace(variant, cuts=(*variant.cuts, (edit.middle, edit.destination)))
        case SwitchOff():
            name = edited_case.parts_off.get(slug(edit.name))
            if name is None or name in variant.off:
                known = ", ".join(part for part, name in edited_case.parts_off.items() if name not in variant.off)
                raise EditError(f"edit {edit.text!r}: there is no such part to leave out; there are {known}")
            variant = edited_case.without(name)
    return replace(edited_case, edits=edits, variant=variant, visit_H=visit_H)


def without_visits(edited_case: EditedCase, visits: list[int]) -> list[Counterfactual]:
    """One variant per visit number, without that visit."""
    history = edited_case.variant.history
    return [
        replace(edited_case.variant, history=_drop(history, int(np.flatnonzero(edited_case.visit_H == visit)[0])))
        for visit in visits
    ]


def _position(edited_case: EditedCase, visit: int, edit: Edit) -> int:
    positions = np.flatnonzero(edited_case.visit_H == visit)
    last = len(edited_case.visit_H) - 1
    if len(positions) == 0:
        known = f"this case has visits 0 to {int(edited_case.visit_H.max())}"
        raise EditError(f"edit {edit.text!r}: there is no visit {visit} (any more); {known}")
    if positions[0] == last:
        raise EditError(f"edit {edit.text!r}: visit {visit} is the current check-in; change it with source:, hour:")
    return int(positions[0])


def _without(edited_case: EditedCase, visit: int, edit: Edit) -> tuple[History, np.ndarray]:
    position = _position(edited_case, visit, edit)
    return _drop(edited_case.variant.history, position), np.delete(edited_case.visit_H, position)


def _drop(history: History, position: int) -> History:
    columns = ("poi_H", "seconds_H", "local_seconds_H", "trajectory_H")
    kept: dict[str, Any] = {name: np.delete(getattr(history, name), position) for name in columns}
    return replace(history, **kept)


def _local(edit: AddVisit | MoveVisit) -> int:
    return int(np.datetime64(edit.local_time.replace(tzinfo=None), "s").astype(np.int64))


def _insert(
    history: History, visit_H: np.ndarray, poi: int, local_seconds: int, offset: int, number: int, edit: Edit
) -> tuple[History, np.ndarray]:
    """Insert a visit by UTC time, after visits of the same second; it joins the next visit's trajectory."""
    seconds = local_seconds - offset
    if seconds > history.seconds_H[-1]:
        raise EditError(f"edit {edit.text!r}: a visit must be before the current check-in")
    position = int(np.searchsorted(history.seconds_H[:-1], seconds, side="right"))
    return (
        replace(
            history,
            poi_H=np.insert(history.poi_H, position, poi),
            seconds_H=np.insert(history.seconds_H, position, seconds),
            local_seconds_H=np.insert(history.local_seconds_H, position, local_seconds),
            trajectory_H=np.insert(history.trajectory_H, position, history.trajectory_H[position]),
        ),
        np.insert(visit_H, position, number),
    )


def _at_time(edited_case: EditedCase, edit: SetHour | SetWeekday) -> History:
    """Change only the local clock of the current check-in; UTC time and order stay.

    A time before the previous check-in moves whole weeks later. EditError: it passes the time given.
    """
    history = edited_case.variant.history
    original = edited_case.ranker.history(edited_case.moment)
    offset = int(original.local_seconds_H[-1] - original.seconds_H[-1])  # an edited clock changes no time zone
    local = int(history.local_seconds_H[-1])
    if isinstance(edit, SetHour):
        local = local - local % SECONDS_PER_DAY + 3600 * edit.hour + 60 * edit.minute
    else:
        today = local_weekday(local)
        local += (edit.weekday - today) * SECONDS_PER_DAY
    local_seconds_H = history.local_seconds_H.copy()
    before = int(history.seconds_H[-2]) if len(history) > 1 else local - offset
    local_seconds_H[-1] = _weeks_on(local, before + offset)
    moved = replace(history, local_seconds_H=local_seconds_H)
    if moved.next_local_seconds is not None and moved.next_local_seconds < local_seconds_H[-1]:
        given = local_iso(moved.next_local_seconds)
        raise EditError(f"edit {edit.text!r}: the current check-in must not be after the time given, {given}")
    return moved


def _arriving(history: History, edit: SetArrival) -> History:
    """Change only the time given."""
    if history.next_local_seconds is None:
        raise EditError(f"edit {edit.text!r}: this model was not asked for a time; give it with --given-time or --at")
    given = history.next_local_seconds
    local = given - given % SECONDS_PER_DAY + 3600 * edit.hour + 60 * edit.minute
    days = max(0, -((local - int(history.local_seconds_H[-1])) // SECONDS_PER_DAY))
    return replace(history, next_local_seconds=local + days * SECONDS_PER_DAY)


def _weeks_on(seconds: int, earliest: int) -> int:
    """The time plus whole weeks: the first one that is not before ``earliest``."""
    return seconds + max(0, -((seconds - earliest) // _SECONDS_PER_WEEK)) * _SECONDS_PER_WEEK
