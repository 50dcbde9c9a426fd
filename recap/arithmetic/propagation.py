"""Products of fixed sparse matrices with node features."""

import warnings
from typing import Any

import numpy as np
import torch
from scipy import sparse
from torch import Tensor, nn


class _Multiply(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, matrix: Tensor, transposed: Tensor, features: Tensor) -> Tensor:
        ctx.transposed = transposed
        return matrix @ features

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[None, None, Tensor]:
        return None, None, ctx.transposed @ grads[0].contiguous()


class Propagation(nn.Module):
    """``forward(X)`` is the matrix times X, ``backward`` its transpose. The matrix is not saved with the weights."""

    matrix: Tensor
    transposed: Tensor

    def __init__(self, matrix: sparse.csr_array) -> None:
        super().__init__()
        self.register_buffer("matrix", to_torch_csr(matrix), persistent=False)
        self.register_buffer("transposed", to_torch_csr(sparse.csr_array(matrix.T)), persistent=False)

    def forward(self, features: Tensor) -> Tensor:
        return _Multiply.apply(self.matrix, self.transposed, features)


def to_torch_csr(matrix: sparse.csr_array) -> Tensor:
    """A float64 torch CSR tensor."""
    matrix = sparse.csr_array(matrix)
    matrix.sort_indices()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Sparse CSR tensor support is in beta", UserWarning)  # torch says it once
        return torch.sparse_csr_tensor(
            torch.from_numpy(matrix.indptr.astype(np.int64)),
            torch.from_numpy(matrix.indices.astype(np.int64)),
            torch.from_numpy(matrix.data.astype(np.float64)),
            size=matrix.shape,
            check_invariants=False,
        )
