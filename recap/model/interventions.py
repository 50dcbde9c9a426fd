"""What a counterfactual changes inside the model, case by case; the evaluation and the training never use it.

Shape suffixes: B cases, S encoder slots (user, check-ins oldest first, graph token if there is one), E features of a
POI embedding, C packed candidates, F evidence terms, K cut walks.
"""

from dataclasses import dataclass
from typing import Final, Literal, get_args

import torch
from torch import Tensor

from recap.evidence.others import EdgeEdits
from recap.history import RevisitCandidates

RevisitTerm = Literal["count", "recency", "window", "correction"]
REVISIT_TERMS: Final = get_args(RevisitTerm)
"""Columns of the factors, in order."""


@dataclass(frozen=True, eq=False)
class Interventions:
    """Changes to a batch of cases that are not changes of their check-ins; None changes nothing.

    Attributes:
        propagated_BE: rows used in place of G^(N)_{s_t} (Eq. 7), before the graph token's MLP.
        graph_factor_B: factor on the graph token; 0 leaves its slot filled with zeros, as before e_graph.
        masked_BS: True takes a slot's token away: its content becomes zero, its position stays, and no slot attends to
            it. The slot that the prediction state is read from still attends to itself, so that a state exists.
        factor_B4: factors on count, recency and window term and on the correction, for all candidates of a case.
        focus_B, focus_factor_B4: the same for one candidate d of each case alone (-1: none); given together.
        evidence_factor_B: factor on the evidence part.
        focus_evidence_off_BF: True takes an evidence term away from the candidate ``focus_B``.
        edge_edits: changed training counts, for the evidence of others' transitions.
        cut_K3: (case, middle, destination) of two-step walks taken out of the evidence.
    """

    propagated_BE: Tensor | None = None
    graph_factor_B: Tensor | None = None
    masked_BS: Tensor | None = None
    factor_B4: Tensor | None = None
    focus_B: Tensor | None = None
    focus_factor_B4: Tensor | None = None
    evidence_factor_B: Tensor | None = None
    focus_evidence_off_BF: Tensor | None = None
    edge_edits: EdgeEdits | None = None
    cut_K3: Tensor | None = None

    def term_factors(self, candidates: RevisitCandidates) -> Tensor | None:
        """Factors of every packed candidate (C, 4), or None where nothing is scaled."""
        factor_C4 = None if self.factor_B4 is None else self.factor_B4[candidates.case_C]
        if self.focus_B is None or self.focus_factor_B4 is None:
            return factor_C4
        is_focus_C = candidates.poi_C == self.focus_B[candidates.case_C]
        focus_C4 = torch.where(is_focus_C[:, None], self.focus_factor_B4[candidates.case_C], 1.0)
        return focus_C4 if factor_C4 is None else factor_C4 * focus_C4
