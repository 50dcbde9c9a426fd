"""Counterfactual copies of a case: what one copy changes, and many copies packed into one batch.

Shape suffixes: H check-ins of one history, B copies, S encoder slots.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, TypedDict, get_args

import numpy as np
import torch
from torch import Tensor

from recap.evidence.config import EvidenceConfig
from recap.evidence.others import EdgeEdits
from recap.history import CheckinTensors
from recap.model.config import ModelConfig
from recap.model.edited_graph import EditedPropagation
from recap.model.evidence_terms import evidence_names
from recap.model.interventions import REVISIT_TERMS, Interventions, RevisitTerm
from recap.scores import CaseBatch

Component = Literal["graph_token", "prior", "correction", "count", "recency", "window", "evidence"]
COMPONENTS: Final = get_args(Component)
"""What can be switched off: the graph token, the whole prior (the correction scales it and goes too), one term of it,
or the evidence of a model that has some."""


@dataclass(frozen=True, eq=False)
class History:
    """One user's check-ins in order; the last two are the source and the target of a case.

    Attributes:
        user: whose.
        poi_H, seconds_H, local_seconds_H, trajectory_H: int64, see `CheckinTensors`.
    """

    user: int
    poi_H: np.ndarray
    seconds_H: np.ndarray
    local_seconds_H: np.ndarray
    trajectory_H: np.ndarray

    @classmethod
    def of_case(cls, checkins: CheckinTensors, row: int) -> "History":
        """The check-ins from the user's first to the target at row + 1."""
        rows = slice(int(checkins.first_T[row]), row + 2)
        columns = (checkins.poi_T, checkins.seconds_T, checkins.local_seconds_T, checkins.trajectory_T)
        return cls(int(checkins.user_T[row]), *(column[rows].numpy() for column in columns))

    def __len__(self) -> int:
        return len(self.poi_H)

    @property
    def source(self) -> int:
        return int(self.poi_H[-2])


@dataclass(frozen=True, eq=False)
class Counterfactual:
    """One counterfactual copy of a case; what is not named stays as it is.

    Attributes:
        history: the check-ins, edited or not.
        edges: changed training counts (source, destination) -> m_sd; each changed row of A is normalised again.
        cuts: (m, d) pairs whose two-step walk from the source leaves (A^2)_sd, while A itself stays (frozen cut).
        masked: encoder slots whose token is taken away: 0 the user, then check-ins (oldest first), then the graph.
        off: components switched off for every candidate.
        focus, focus_off: terms taken away from one candidate alone.
        focus_evidence_off: evidence terms taken away from it, by name.
    """

    history: History
    edges: dict[tuple[int, int], int] = field(default_factory=dict)
    cuts: tuple[tuple[int, int], ...] = ()
    masked: frozenset[int] = frozenset()
    off: frozenset[Component] = frozenset()
    focus: int = -1
    focus_off: frozenset[RevisitTerm] = frozenset()
    focus_evidence_off: frozenset[str] = frozenset()

    @property
    def content(self) -> tuple[object, ...]:
        """Equal for copies of one history that change the same: they score the same."""
        takes = self.focus_off or self.focus_evidence_off
        focus = (self.focus, self.focus_off, self.focus_evidence_off) if takes else None
        edges = tuple(sorted(self.edges.items()))
        return (id(self.history), edges, self.cuts, self.masked, self.off, focus)


def pack_counterfactuals(
    variants: Sequence[Counterfactual], config: ModelConfig, propagation: EditedPropagation | None, dtype: torch.dtype
) -> tuple[CaseBatch, Interventions]:
    """Lay variants side by side, see `pack_histories`.

    Args:
        propagation: of the model's graph; None without a graph branch.
    """
    batch = pack_histories([variant.history for variant in variants])
    return batch, _interventions(variants, config, propagation, dtype)


def pack_histories(wanted: Sequence[History]) -> CaseBatch:
    """One case for each history; each distinct history becomes one segment of a small check-in table."""
    histories = list({id(history): history for history in wanted}.values())
    sizes = [len(history) for history in histories]
    ends = np.cumsum(sizes)
    last_row = {id(history): int(end) - 2 for history, end in zip(histories, ends, strict=True)}
    checkins = CheckinTensors.from_arrays(
        user=np.repeat([history.user for history in histories], sizes),
        poi=np.concatenate([history.poi_H for history in histories]),
        seconds=np.concatenate([history.seconds_H for history in histories]),
        local_seconds=np.concatenate([history.local_seconds_H for history in histories]),
        trajectory=np.concatenate([history.trajectory_H for history in histories]),
        segment=np.repeat(np.arange(len(histories)), sizes),
    )
    return CaseBatch(checkins, torch.tensor([last_row[id(history)] for history in wanted]))


def _interventions(
    variants: Sequence[Counterfactual], config: ModelConfig, propagation: EditedPropagation | None, dtype: torch.dtype
) -> Interventions:
    slots = 1 + config.suffix_length + int(config.use_graph)
    masked_BS = torch.zeros(len(variants), slots, dtype=torch.bool)
    for index, variant in enumerate(variants):
        masked_BS[index, list(variant.masked)] = True
    evidence: _EvidenceInterventions = (
        {} if config.evidence is None else _evidence_interventions(variants, config.evidence, dtype)
    )
    return Interventions(
        propagated_BE=None if propagation is None else torch.from_numpy(_rows(variants, propagation)).to(dtype),
        graph_factor_B=torch.tensor([float("graph_token" not in variant.off) for variant in variants], dtype=dtype),
        masked_BS=masked_BS,
        factor_B4=torch.tensor([_factors(variant.off) for variant in variants], dtype=dtype),
        focus_B=torch.tensor([variant.focus for variant in variants]),
        focus_factor_B4=torch.tensor([_factors(variant.focus_off) for variant in variants], dtype=dtype),
        **evidence,
    )


class _EvidenceInterventions(TypedDict, total=False):
    """The fields of `Interventions` that only evidence reads; none for a model without evidence."""

    evidence_factor_B: Tensor
    focus_evidence_off_BF: Tensor
    edge_edits: EdgeEdits
    cut_K3: Tensor


def _evidence_interventions(
    variants: Sequence[Counterfactual], config: EvidenceConfig, dtype: torch.dtype
) -> _EvidenceInterventions:
    names = evidence_names(config)
    edges = [(at, *edge, count) for at, variant in enumerate(variants) for edge, count in variant.edges.items()]
    cuts = [(at, *cut) for at, variant in enumerate(variants) for cut in variant.cuts]
    return {
        "evidence_factor_B": torch.tensor([float("evidence" not in variant.off) for variant in variants], dtype=dtype),
        "focus_evidence_off_BF": torch.tensor(
            [[name in variant.focus_evidence_off for name in names] for variant in variants]
        ),
        "edge_edits": EdgeEdits(*torch.tensor(edges, dtype=torch.int64).reshape(-1, 4).unbind(1)),
        "cut_K3": torch.tensor(cuts, dtype=torch.int64).reshape(-1, 3),
    }


def _rows(variants: Sequence[Counterfactual], propagation: EditedPropagation) -> np.ndarray:
    known: dict[tuple[object, ...], np.ndarray] = {}
    rows = []
    for variant in variants:
        key = (variant.history.source, tuple(variant.edges.items()), variant.cuts)
        if key not in known:
            known[key] = propagation.row(variant.history.source, variant.edges, variant.cuts)
        rows.append(known[key])
    return np.stack(rows)


def _factors(off: frozenset[Component] | frozenset[RevisitTerm]) -> list[float]:
    return [0.0 if term in off or ("prior" in off and term != "correction") else 1.0 for term in REVISIT_TERMS]
