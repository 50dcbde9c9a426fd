"""RowAdam against torch's own SparseAdam: the same rows move alike, others stand still."""

import pytest
import torch

from recap.training.optimiser import RowAdam


@pytest.mark.filterwarnings("ignore:Sparse invariant checks")
def test_it_moves_rows_as_sparse_adam_does() -> None:
    """Five steps with different rows, some of them twice in a gradient, one step without any; equal moments too."""
    torch.manual_seed(0)
    start = torch.randn(20, 3)
    mine, theirs = (torch.nn.Parameter(start.clone()) for _ in range(2))
    optimisers = [RowAdam([mine], lr=0.1), torch.optim.SparseAdam([theirs], lr=0.1)]
    for count in (4, 7, 0, 7, 2):
        row_R, value_RD = torch.randint(15, (count,)), torch.randn(count, 3)
        for table, optimiser in zip((mine, theirs), optimisers, strict=True):
            table.grad = torch.sparse_coo_tensor(row_R[None], value_RD, (20, 3))
            optimiser.step()
    torch.testing.assert_close(mine, theirs, rtol=0, atol=1e-6)
    assert torch.equal(mine[15:], start[15:]) and not torch.equal(mine, start)
    (left,), (right,) = (optimiser.state.values() for optimiser in optimisers)
    assert left["step"] == right["step"] == 5
    for name in ("exp_avg", "exp_avg_sq"):
        torch.testing.assert_close(left[name], right[name], rtol=1e-5, atol=1e-7)
