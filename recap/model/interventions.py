"""Changes inside the model for counterfactuals, case by case; evaluation and training never use them.

Shape suffixes: B cases, S encoder slots (user, check-ins oldest first, graph token if there is one), E features of a
POI embedding, T terms of the score, K cut paths.
"""

from dataclasses import dataclass

from torch import Tensor

from recap.features.others import EdgeEdits


@dataclass(frozen=True, eq=False)
class Interventions:
    """Changes to a batch of cases that are not changes of their check-ins; None changes nothing.

    Attributes:
        propagated_BE: rows used in place of G^(N)_{s_t} (Eq. 7), before the graph token's MLP.
        graph_factor_B: factor on the graph token; 0 leaves its slot filled with zeros, as before e_graph.
        masked_BS: True takes a slot's token away: its content becomes zero, its position stays, and no slot attends to
            it. The slot that the prediction state is read from still attends to itself, so that a state exists.
        term_factor_BT: factor on each term of the score, in the order of `Recap.terms`.
        edge_edits: changed training counts, for the features of others' transitions.
        cut_K3: (case, middle, destination) of two-hop paths taken out of the features.
    """

    propagated_BE: Tensor | None = None
    graph_factor_B: Tensor | None = None
    masked_BS: Tensor | None = None
    term_factor_BT: Tensor | None = None
    edge_edits: EdgeEdits | None = None
    cut_K3: Tensor | None = None
