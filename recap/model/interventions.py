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

    Attributes:
        propagated_BE: rows that replace G^(N)_{s_t} (Eq. 7).
        graph_factor_B: factor on the graph token; at 0 its slot is zero.
        masked_BS: True removes a slot's token: its content becomes zero and no slot attends to it. Only the slot of the
            prediction state still attends to itself.
        term_factor_BT: factor on each of `Recap.terms`.
        edge_edits: changed training counts, for the features of others' transitions.
        cut_K3: (case, middle, destination) of two-hop paths taken out of the features.
    """

    propagated_BE: Tensor | None = None
    graph_factor_B: Tensor | None = None
    masked_BS: Tensor | None = None
    term_factor_BT: Tensor | None = None
    edge_edits: EdgeEdits | None = None
    cut_K3: Tensor | None = None
