"""The transitive completion token: N-hop propagation over the training transitions (Eqs. 6-8).

Shape suffixes: P POIs, E features of a POI embedding, B cases, D hidden features.
"""

import numpy as np
import torch
from scipy import sparse
from torch import Tensor, nn
from torch.nn import functional as F

from recap.model.config import ModelConfig
from recap.propagation import Propagation


class GraphToken(nn.Module):
    """g_t = LN(MLP_graph(G^(N)_{s_t})) with G^(0) = E_poi and G^(l+1) = A G^(l) (Eqs. 7-8). ``adjacency``:
    row-normalised A (Eq. 6) of shape (P, P); rows without out-edges are zero.
    """

    def __init__(self, config: ModelConfig, adjacency: sparse.csr_array) -> None:
        super().__init__()
        self.num_hops = config.num_hops
        self._adjacency = adjacency
        self.propagation = Propagation(adjacency)
        self.mlp = nn.Sequential(
            nn.Linear(config.poi_dim, config.graph_dim),
            nn.GELU(),
            nn.Dropout(config.dropout),
            nn.Linear(config.graph_dim, config.hidden_dim),
        )
        self.norm = nn.LayerNorm(config.hidden_dim)

    def propagate(self, embedding_PE: Tensor) -> Tensor:
        """G^(N) (Eq. 7), shape (P, E)."""
        with torch.autocast(embedding_PE.device.type, enabled=False):  # no bfloat16 in sparse products
            for _ in range(self.num_hops):
                embedding_PE = self.propagation(embedding_PE)
        return embedding_PE

    def propagate_rows(self, embedding_PE: Tensor, source_B: Tensor) -> Tensor:
        """G^(N) of the sources alone, (B, E), with sparse gradients."""
        source_U, case_B = np.unique(source_B.cpu().numpy(), return_inverse=True)
        walks = self._adjacency[source_U]
        for _ in range(self.num_hops - 1):
            walks = sparse.csr_array(walks @ self._adjacency)
        device = embedding_PE.device
        propagated_UE = F.embedding_bag(
            torch.from_numpy(walks.indices.astype(np.int64)).to(device),
            embedding_PE,
            torch.from_numpy(walks.indptr.astype(np.int64)).to(device),
            mode="sum",
            sparse=True,
            per_sample_weights=torch.from_numpy(walks.data).to(device, embedding_PE.dtype),
            include_last_offset=True,
        )
        return F.embedding(torch.from_numpy(case_B).to(device), propagated_UE)

    def forward(self, propagated_BE: Tensor) -> Tensor:
        """Graph tokens g_BD from the sources' rows of G^(N) (Eq. 8)."""
        return self.norm(self.mlp(propagated_BE))
