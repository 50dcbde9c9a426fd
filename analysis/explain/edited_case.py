"""One case as it was, or as edits would have it: check-ins, graph, switches, and the scores that follow.

Shape suffixes: P POIs, H check-ins of the history.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

import numpy as np
import torch
from recap.model.evidence_terms import EvidenceTerms, EvidenceValues
from torch import Tensor

from analysis.explain.edits import (
    AddVisit,
    Edit,
    EditError,
    MoveVisit,
    RemoveVisit,
    SetEdge,
    SetHour,
    SetSource,
    SetWeekday,
    SwitchOff,
    check_edge,
)
from recap import columns as c
from recap.counterfactuals import Counterfactual, History
from recap.errors import CaseError
from recap.history import SECONDS_PER_DAY, local_weekday
from recap.model.config import ModelConfig
from recap.predictor import CaseRanker, Predictor

_SECONDS_PER_WEEK: Final = 7 * SECONDS_PER_DAY


@dataclass(frozen=True)
class CaseFacts:
    """What the case table says of a case as it was, see `recap.evaluation.cases.describe_cases`.

    Attributes:
        number: of the case in its split.
        row: the source's row among the check-ins.
        target: the true next place.
    """

    number: int
    row: int
    user: int
    target: int
    in_history: bool
    within_two_hops: bool
    two_step_walk: bool

    @classmethod
    def of(cls, predictor: CaseRanker, number: int, split: int) -> "CaseFacts":
        """Those of one case.

        Raises:
            CaseError: no such case.
        """
        known = predictor.case(number, split)
        return cls(
            number=int(known[c.CASE]),
            row=int(known[c.ROW]),
            user=int(known[c.USER]),
            target=int(known[c.TARGET]),
            in_history=bool(known[c.IN_HISTORY]),
            within_two_hops=bool(known[c.WITHIN_TWO_HOPS]),
            two_step_walk=bool(known[c.TWO_STEP_WALK]),
        )


@dataclass(frozen=True, eq=False)
class EditedCase:
    """A case under a sequence of edits (none: the case itself).

    Attributes:
        case: what is known of it before any edit.
        edits: applied in order.
        variant: history, edges and switches after the edits.
        visit_H: number of each check-in, see `analysis.explain.edits`; the target's is -1.
        about: the place that is explained; None for the true next place.
        hides_truth: nothing may tell which place is the true one; ``about`` is then given.
    """

    ranker: CaseRanker
    case: CaseFacts
    split: int
    edits: tuple[Edit, ...]
    variant: Counterfactual
    visit_H: np.ndarray
    about: int | None = None
    hides_truth: bool = False

    @property
    def predictor(self) -> Predictor:
        """The model whose scores are taken apart.

        Raises:
            CaseError: a rival's scores have no parts.
        """
        if not isinstance(self.ranker, Predictor):
            raise CaseError(f"{self.ranker.checkpoint.label} gives one score for each place, without parts")
        return self.ranker

    @property
    def row(self) -> int:
        return self.case.row

    @property
    def source(self) -> int:
        return self.variant.history.source

    @property
    def truth(self) -> int | None:
        """The true next place; None where it is hidden."""
        return None if self.hides_truth else self.case.target

    @property
    def target(self) -> int:
        """The place that is explained."""
        return self.case.target if self.about is None else self.about

    def explaining(self, poi: int) -> "EditedCase":
        """The same with another place explained.

        Raises:
            CaseError: unknown POI.
        """
        self.check_poi(poi)
        return replace(self, about=poi)

    def hiding_truth(self) -> "EditedCase":
        """The same for a guesser: of the place that is explained, else of the best one, as if no place were true."""
        best = int(self.total_P.argmax())
        return replace(self, about=best if self.about is None else self.about, hides_truth=True)

    @property
    def config(self) -> ModelConfig:
        return self.predictor.model.config

    @cached_property
    def total_P(self) -> Tensor:
        """Totals of the whole catalogue; without edits, what the batched evaluation ranks by."""
        if not self.edits:
            return self.ranker.score(self.ranker.batch([self.row])).total[0]
        return self.ranker.score_counterfactuals([self.variant])[0]

    @cached_property
    def log_sum(self) -> Tensor:
        """Log of the sum of all exponentiated totals: a total less this is the log of the place's probability."""
        return torch.logsumexp(self.total_P, dim=0)

    @cached_property
    def _state_and_gates(self) -> tuple[Tensor, dict[int, float]]:
        """h_t (1, D) and the gate of each candidate that the correction acts on, computed apart from totals."""
        batch, changes = self.predictor.pack([self.variant])
        state_BD = self.predictor.state(batch, changes)
        revisit = self.predictor.revisit_parts(batch, state_BD, changes)
        if revisit is None or revisit.gate_C is None or not self.is_active("correction"):
            return state_BD, {}
        return state_BD, dict(zip(revisit.candidates.poi_C.tolist(), revisit.gate_C.tolist(), strict=True))

    @property
    def gates(self) -> dict[int, float]:
        """The gate of each candidate that the correction acts on."""
        return self._state_and_gates[1]

    @cached_property
    def core_factors(self) -> Tensor | None:
        """What each place's core score counts (P,): 0 where ``core_scope`` leaves it out; None: once everywhere."""
        if self.config.core_scope == "everywhere":
            return None
        factor_P = torch.zeros_like(self.predictor.model.core.output.bias)
        if self.config.core_scope == "unvisited":
            factor_P += 1.0
            factor_P[torch.from_numpy(self.variant.history.poi_H[:-1])] = 0.0
        return factor_P

    def core_of(self, poi: int) -> float:
        """The core score of one place (Eq. 5), computed apart from totals and for this place alone."""
        output, factor_P = self.predictor.model.core.output, self.core_factors
        core = float(output.weight[poi] @ self._state_and_gates[0][0] + output.bias[poi])
        return core if factor_P is None else core * float(factor_P[poi])

    @cached_property
    def _evidence(self) -> tuple[EvidenceTerms, EvidenceValues] | None:
        terms = self.predictor.model.evidence
        if terms is None or not self.is_active("evidence"):
            return None
        batch, changes = self.predictor.pack([self.variant])
        return terms, self.predictor.evidence_values(batch, changes)

    def evidence_terms(self, poi: int) -> dict[str, float]:
        """Evidence of one candidate by feature, terms of 0 left out; empty in a model without evidence."""
        if self._evidence is None:
            return {}
        terms, values = self._evidence
        value_F = terms.terms_at(values, torch.tensor([poi]))[0].tolist()
        return {name: value for name, value in zip(terms.names, value_F, strict=True) if value != 0.0}

    def walk_addends(self, destination: int) -> dict[int, float] | None:
        """What each walk source -> middle -> destination adds to the score, by middle; None without evidence."""
        if self._evidence is None:
            return None
        terms, values = self._evidence
        here_W = values.walks.destination_W == destination
        return dict(zip(values.walks.middle_W[here_W].tolist(), terms.walk_terms(values)[here_W].tolist(), strict=True))

    def transition_count(self, source: int, destination: int) -> int:
        """m_sd in training, as edited."""
        known = self.predictor.graph.count(np.array([source]), np.array([destination]))
        return self.variant.edges.get((source, destination), int(known[0]))

    @cached_property
    def inactive(self) -> list[str]:
        """Parts that play no role: switched off by the checkpoint's epoch, its configuration, or an edit."""
        off = set(self.predictor.checkpoint.inactive_parts) | self.variant.off
        if "prior" in off:
            off.add("correction")
        prior = self.config.prior
        terms = {"count": prior.use_count, "recency": prior.use_recency, "window": prior.use_window}
        off |= {name for name, used in terms.items() if not used or "prior" in off}
        known = ("graph_token", "prior", "correction", "evidence")
        if self.config.evidence is None:
            off.discard("evidence")
        return [name for name in (*known, *terms) if name in off and (name in known or "prior" not in off)]

    def is_active(self, part: str) -> bool:
        """Whether a part (``graph_token, prior, correction, evidence, count, recency, window``) acts on this case."""
        if part == "evidence" and self.config.evidence is None:
            return False
        return part not in self.inactive and (
            part not in ("count", "recency", "window") or "prior" not in self.inactive
        )

    def check_poi(self, poi: int) -> None:
        """Refuse a POI outside the vocabulary.

        Raises:
            CaseError: unknown POI.
        """
        check_poi(self.ranker, poi)


def check_poi(predictor: CaseRanker, poi: int) -> None:
    """Refuse a POI outside the vocabulary.

    Raises:
        CaseError: unknown POI.
    """
    if not 0 <= poi < predictor.dataset.num_pois:
        raise CaseError(f"there is no POI {poi}; this dataset has POIs 0 to {predictor.dataset.num_pois - 1}")


def build_edited_case(
    predictor: CaseRanker, number: int, edits: tuple[Edit, ...] = (), split: int = c.TEST
) -> EditedCase:
    """A case of a split with edits applied.

    Raises:
        CaseError: no such case.
        EditError: an edit that does not fit the case, with its text.
    """
    case = CaseFacts.of(predictor, number, split)
    variant = Counterfactual(predictor.history(case.row))
    visit_H = np.append(np.arange(len(variant.history) - 1), -1)
    edited_case = EditedCase(predictor, case, split, (), variant, visit_H)
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

    Raises:
        EditError: the edit does not fit.
        CaseError: it names an unknown POI.
    """
    edits = (*edited_case.edits, edit)
    variant, visit_H = edited_case.variant, edited_case.visit_H
    if isinstance(edit, SetEdge | SwitchOff) and not isinstance(edited_case.ranker, Predictor):
        raise EditError(f"edit {edit.text!r}: {edited_case.ranker.checkpoint.label} takes edits of the history only")
    match edit:
        case RemoveVisit():
            history, visit_H = _without(edited_case, edit.visit, edit)
            if len(history) < 3:
                raise EditError(f"edit {edit.text!r} would remove all history; one visit before the source must stay")
            variant = replace(variant, history=history)
        case AddVisit():
            check_poi(edited_case.ranker, edit.poi)
            number = _next_number(edited_case)
            original = edited_case.ranker.history(edited_case.row)
            offset = int(original.local_seconds_H[-2] - original.seconds_H[-2])  # an edited clock is no time zone
            history, visit_H = _insert(variant.history, visit_H, edit.poi, _local(edit), offset, number, edit)
            variant = replace(variant, history=history)
        case MoveVisit():
            at = _position(edited_case, edit.visit, edit)
            old = variant.history
            offset = int(old.local_seconds_H[at] - old.seconds_H[at])
            rest, visit_H = _without(edited_case, edit.visit, edit)
            history, visit_H = _insert(rest, visit_H, int(old.poi_H[at]), _local(edit), offset, edit.visit, edit)
            variant = replace(variant, history=history)
        case SetHour() | SetWeekday():
            variant = replace(variant, history=_at_time(edited_case, edit))
        case SetSource():
            check_poi(edited_case.ranker, edit.poi)
            poi_H = variant.history.poi_H.copy()
            poi_H[-2] = edit.poi
            variant = replace(variant, history=replace(variant.history, poi_H=poi_H))
        case SetEdge():
            check_edge(edit)
            check_poi(edited_case.ranker, edit.source)
            check_poi(edited_case.ranker, edit.destination)
            variant = replace(variant, edges=variant.edges | {(edit.source, edit.destination): edit.count})
        case SwitchOff():
            if not edited_case.is_active(edit.component):
                raise EditError(f"edit {edit.text!r}: {edit.component} is already inactive here")
            variant = replace(variant, off=variant.off | {edit.component})
    return replace(edited_case, edits=edits, variant=variant, visit_H=visit_H)


def without_visits(edited_case: EditedCase, visits: list[int]) -> list[Counterfactual]:
    """One variant per visit number, each without that visit (window and history)."""
    history = edited_case.variant.history
    return [
        replace(edited_case.variant, history=_drop(history, int(np.flatnonzero(edited_case.visit_H == visit)[0])))
        for visit in visits
    ]


def _position(edited_case: EditedCase, visit: int, edit: Edit) -> int:
    found = np.flatnonzero(edited_case.visit_H == visit)
    last = len(edited_case.visit_H) - 2
    if len(found) == 0:
        known = f"this case has visits 0 to {int(edited_case.visit_H.max())}"
        raise EditError(f"edit {edit.text!r}: there is no visit {visit} (any more); {known}")
    if found[0] == last:
        raise EditError(f"edit {edit.text!r}: visit {visit} is the current check-in; change it with source:, hour:")
    return int(found[0])


def _without(edited_case: EditedCase, visit: int, edit: Edit) -> tuple[History, np.ndarray]:
    at = _position(edited_case, visit, edit)
    return _drop(edited_case.variant.history, at), np.delete(edited_case.visit_H, at)


def _drop(history: History, at: int) -> History:
    columns = (history.poi_H, history.seconds_H, history.local_seconds_H, history.trajectory_H)
    return History(history.user, *(np.delete(column, at) for column in columns))


def _next_number(edited_case: EditedCase) -> int:
    added = sum(isinstance(edit, AddVisit) for edit in edited_case.edits)
    original = len(edited_case.ranker.history(edited_case.row)) - 1
    return original + added


def _local(edit: AddVisit | MoveVisit) -> int:
    return int(np.datetime64(edit.local_time.replace(tzinfo=None), "s").astype(np.int64))


def _insert(
    history: History, visit_H: np.ndarray, poi: int, local_seconds: int, offset: int, number: int, edit: Edit
) -> tuple[History, np.ndarray]:
    """Put a visit where its UTC time belongs, after visits of the same second; it joins the next visit's trajectory."""
    seconds = local_seconds - offset
    if seconds > history.seconds_H[-2]:
        raise EditError(f"edit {edit.text!r}: this is after the current check-in; a visit must lie before it")
    at = int(np.searchsorted(history.seconds_H[:-2], seconds, side="right"))
    return (
        History(
            history.user,
            np.insert(history.poi_H, at, poi),
            np.insert(history.seconds_H, at, seconds),
            np.insert(history.local_seconds_H, at, local_seconds),
            np.insert(history.trajectory_H, at, history.trajectory_H[at]),
        ),
        np.insert(visit_H, at, number),
    )


def _at_time(edited_case: EditedCase, edit: SetHour | SetWeekday) -> History:
    """Only the local clock of the current check-in changes; UTC time, and with it the order, stays.

    Where the clock would come before the check-in before, it reads the same hour and weekday whole weeks later; so does
    the next check-in's, where the current one would come after it.
    """
    history = edited_case.variant.history
    original = edited_case.ranker.history(edited_case.row)
    offset_2 = (original.local_seconds_H - original.seconds_H)[-2:]  # an edited clock is no time zone
    local = int(history.local_seconds_H[-2])
    if isinstance(edit, SetHour):
        local = local - local % SECONDS_PER_DAY + 3600 * edit.hour + 60 * edit.minute
    else:
        today = local_weekday(local)
        local += (edit.weekday - today) * SECONDS_PER_DAY
    local_seconds_H = history.local_seconds_H.copy()
    before = int(history.seconds_H[-3]) if len(history) > 2 else local - int(offset_2[0])
    local_seconds_H[-2] = _weeks_on(local, before + int(offset_2[0]))
    local_seconds_H[-1] = _weeks_on(int(local_seconds_H[-1]), int(local_seconds_H[-2] - offset_2[0] + offset_2[1]))
    return replace(history, local_seconds_H=local_seconds_H)


def _weeks_on(seconds: int, earliest: int) -> int:
    """The first time not before ``earliest`` that is whole weeks later."""
    return seconds + max(0, -((seconds - earliest) // _SECONDS_PER_WEEK)) * _SECONDS_PER_WEEK
