"""What is changed: counterfactual copies of a history, packed into one batch.

Shape suffixes: B copies, S encoder slots.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import torch

from recap.features.others import EdgeEdits
from recap.history.one_user import History, pack_histories
from recap.history.tensors import Histories
from recap.model.edited_graph import EditedPropagation
from recap.model.recap import Interventions, Recap
from recap.scores import GRAPH_TOKEN as GRAPH_TOKEN


@dataclass(frozen=True, eq=False)
class Counterfactual:
    """One counterfactual copy of a history. ``edges``: changed training counts (source, destination) -> m_sd; each
    changed row of A is normalised again; ``cuts``: (m, d) pairs whose two-hop path from the source leaves (A^2)_sd, A
    itself stays; ``masked``: encoder slots without a token, 0 the user, then check-ins (oldest first), then the graph;
    ``off``: terms, groups or `GRAPH_TOKEN`.
    """

    history: History
    edges: dict[tuple[int, int], int] = field(default_factory=dict)
    cuts: tuple[tuple[int, int], ...] = ()
    masked: frozenset[int] = frozenset()
    off: frozenset[str] = frozenset()

    @property
    def content(self) -> tuple[object, ...]:
        """Equal for copies of one history with the same changes."""
        return (id(self.history), tuple(sorted(self.edges.items())), self.cuts, self.masked, self.off)


def pack_counterfactuals(
    variants: Sequence[Counterfactual], model: Recap, propagation: EditedPropagation | None
) -> tuple[Histories, Interventions]:
    """Pack variants into one batch; ``propagation`` is None without a graph branch."""
    config, dtype = model.config, model.dtype
    masked_BS = torch.zeros(len(variants), 1 + config.suffix_length + int(config.has_token), dtype=torch.bool)
    for index, variant in enumerate(variants):
        masked_BS[index, list(variant.masked)] = True
    kept = [[term.name not in v.off and term.group not in v.off for term in model.terms] for v in variants]
    edges = [(at, *edge, count) for at, variant in enumerate(variants) for edge, count in variant.edges.items()]
    cuts = [(at, *cut) for at, variant in enumerate(variants) for cut in variant.cuts]
    return pack_histories([variant.history for variant in variants]), Interventions(
        propagated_BE=None if propagation is None else torch.from_numpy(_rows(variants, propagation)).to(dtype),
        graph_factor_B=torch.tensor([float(GRAPH_TOKEN not in variant.off) for variant in variants], dtype=dtype),
        masked_BS=masked_BS,
        term_factor_BT=torch.tensor(kept, dtype=dtype),
        edge_edits=EdgeEdits(*torch.tensor(edges, dtype=torch.int64).reshape(-1, 4).unbind(1)),
        cut_K3=torch.tensor(cuts, dtype=torch.int64).reshape(-1, 3),
    )


def _rows(variants: Sequence[Counterfactual], propagation: EditedPropagation) -> np.ndarray:
    known: dict[tuple[object, ...], np.ndarray] = {}
    rows = []
    for variant in variants:
        cuts = variant.cuts if propagation.num_hops == 2 else ()  # a two-hop path is a part of the token only then
        key = (variant.history.source, tuple(variant.edges.items()), cuts)
        if key not in known:
            known[key] = propagation.row(variant.history.source, variant.edges, cuts)
        rows.append(known[key])
    return np.stack(rows)
