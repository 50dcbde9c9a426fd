"""What is changed: counterfactual copies of a history, packed into one batch.

Shape suffixes: B copies, U sources, K cut paths, E features of a POI embedding.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import torch

from recap.history.graph import TransitionGraph, rows_of_power
from recap.history.one_user import History, pack_histories
from recap.history.tensors import Histories
from recap.model.recap import Interventions, Recap
from recap.scores import GRAPH_TOKEN as GRAPH_TOKEN


@dataclass(frozen=True, eq=False)
class Counterfactual:
    """One counterfactual copy of a history. ``edges``: changed training counts (source, destination) -> m_sd; each
    changed row of A is normalised again; ``cuts``: (m, d) pairs whose two-hop path from the source leaves (A^2)_sd, A
    itself stays; ``off``: terms, groups or `GRAPH_TOKEN`.
    """

    history: History
    edges: dict[tuple[int, int], int] = field(default_factory=dict)
    cuts: tuple[tuple[int, int], ...] = ()
    off: frozenset[str] = frozenset()

    @property
    def content(self) -> tuple[object, ...]:
        """Equal for copies of one history with the same changes."""
        return *self.read, self.off

    @property
    def read(self) -> tuple[object, ...]:
        """Equal for copies in which the model reads the same, whatever is left out of the score."""
        return id(self.history), self.cuts, tuple(sorted(self.edges.items()))

    @property
    def shared(self) -> tuple[object, ...]:
        """Equal for copies that can be scored in one batch."""
        return tuple(sorted(self.edges.items())), self.off


def pack_counterfactuals(
    variants: Sequence[Counterfactual], model: Recap, graph: TransitionGraph
) -> tuple[Histories, Interventions]:
    """Pack variants into one batch; they are alike in `Counterfactual.shared`."""
    first, histories = variants[0], pack_histories([variant.history for variant in variants])
    cuts = [(at, *cut) for at, variant in enumerate(variants) for cut in variant.cuts]
    cut_K3, changed = torch.tensor(cuts).reshape(-1, 3).long(), graph.changed(first.edges)
    propagated_BE = None
    if model.graph_token is not None:
        rows_BE = _propagated(model, changed, histories.source_B.numpy(), cut_K3.numpy())
        propagated_BE = torch.from_numpy(rows_BE).to(model.dtype)
    return histories, Interventions(
        terms_off(model, first.off), propagated_BE, None if changed is graph else changed, cut_K3
    )


def terms_off(model: Recap, off: frozenset[str]) -> frozenset[str]:
    """The model's terms among these names or in these groups, and `GRAPH_TOKEN` if it is named."""
    return frozenset(term.name for term in model.terms if {term.name, term.group} & off) | (off & {GRAPH_TOKEN})


def _propagated(model: Recap, graph: TransitionGraph, source_B: np.ndarray, cut_K3: np.ndarray) -> np.ndarray:
    """G^(N) of the sources over a graph (Eq. 7), float64 (B, E), without the product of each cut path in (A^2)_sd."""
    embedding_PE, hops = model.poi_embedding.weight.detach().double().numpy(), model.config.num_hops
    source_U, case_B = np.unique(source_B, return_inverse=True)
    row_BE = (rows_of_power(graph.adjacency, source_U, hops) @ embedding_PE)[case_B]
    if hops == 2:  # a two-hop path is a part of the token only then
        case_K, middle_K, destination_K = cut_K3.T
        product_K = graph.probability(source_B[case_K], middle_K) * graph.probability(middle_K, destination_K)
        np.subtract.at(row_BE, case_K, product_K[:, None] * embedding_PE[destination_K])
    return row_BE
