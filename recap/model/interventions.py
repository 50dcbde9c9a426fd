"""Changes inside the model for counterfactuals.

Shape suffixes: B cases, S encoder slots (user, check-ins oldest first, any graph token), E features of a POI embedding,
T terms of the score, K cut paths.
"""

from dataclasses import dataclass

from torch import Tensor

from recap.features.others import EdgeEdits


@dataclass(frozen=True, eq=False)
class Interventions:
    """Changes to a batch of cases other than edited check-ins; None changes nothing.

    ``propagated_BE`` replaces G^(N)_{s_t} (Eq. 7); ``graph_factor_B`` scales the graph token, whose slot is zero at 0;
    where ``masked_BS`` is True a slot has no token: its content is zero, and no slot attends to it but the prediction
    state's own to itself; ``term_factor_BT`` scales `Recap.terms`; ``edge_edits`` are changed training counts, for the
    features of others' transitions; ``cut_K3`` are two-hop paths (case, middle, destination) that the features lack.
    """

    propagated_BE: Tensor | None = None
    graph_factor_B: Tensor | None = None
    masked_BS: Tensor | None = None
    term_factor_BT: Tensor | None = None
    edge_edits: EdgeEdits | None = None
    cut_K3: Tensor | None = None
