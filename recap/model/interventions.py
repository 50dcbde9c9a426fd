"""Changes inside the model for counterfactuals.

Shape suffixes: B cases, S encoder slots (user, check-ins oldest first, any graph token), E features of a POI embedding,
T terms of the score, K cut paths.
"""

from dataclasses import dataclass

from torch import Tensor

from recap.features.others import EdgeEdits


@dataclass(frozen=True, eq=False)
class Interventions:
    """Changes to a batch of cases other than edited check-ins; None changes nothing. Rows that replace G^(N)_{s_t} (Eq.
    7); a factor on the graph token, whose slot is zero at 0; slots without a token (zero, and only the slot of the
    prediction state attends to itself); factors on `Recap.terms`; changed training counts and two-hop paths (case,
    middle, destination) that the features leave out.
    """

    propagated_BE: Tensor | None = None
    graph_factor_B: Tensor | None = None
    masked_BS: Tensor | None = None
    term_factor_BT: Tensor | None = None
    edge_edits: EdgeEdits | None = None
    cut_K3: Tensor | None = None
