"""Dropout in a group of processes: every process draws the masks of the whole batch and takes those of its own cases.

The random numbers are then those of a process that trains alone, in the same order, so that sharing a batch changes
results by rounding only. A single process never comes here.
"""

from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F
from torch.overrides import TorchFunctionMode


class SharedDropout(TorchFunctionMode):
    """While it is entered, dropout over the cases of a share follows the masks of the whole batch.

    Every dropped tensor has the cases in its first dimension.

    Args:
        whole: cases of the batch.
        rank, size: this process and how many share; its cases are ``rank, rank + size, ...`` (`Group.share`).
    """

    def __init__(self, whole: int, rank: int, size: int) -> None:
        super().__init__()
        self.whole, self.rank, self.size = whole, rank, size

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if func is F.dropout:
            return self._dropout(*args, **kwargs)
        if func is F.scaled_dot_product_attention:
            return self._attend(*args, **kwargs)
        return func(*args, **kwargs)

    def _dropout(self, input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
        if not training or p == 0.0:
            return input
        return input * self._mask(input, p)

    def _attend(self, query: Tensor, key: Tensor, value: Tensor, attn_mask: Tensor, dropout_p: float = 0.0) -> Tensor:
        if dropout_p == 0.0:
            return F.scaled_dot_product_attention(query, key, value, attn_mask=attn_mask)
        scores = query @ key.transpose(-2, -1) * query.shape[-1] ** -0.5
        weights = torch.softmax(scores.masked_fill(~attn_mask, float("-inf")), dim=-1)
        return (weights * self._mask(weights, dropout_p)) @ value

    def _mask(self, values: Tensor, p: float) -> Tensor:
        mine = len(range(self.rank, self.whole, self.size))
        if values.shape[0] != mine:
            raise RuntimeError(f"dropout over {values.shape[0]} rows in a share of {mine} cases: not one row a case")
        # Dropped ones, not a mask drawn by other means: the same call takes the same numbers off the generator, if the
        # ones lie in memory as the whole batch would.
        shape = (self.whole, *values.shape[1:])
        order = sorted(range(values.dim()), key=values.stride, reverse=True)
        ones = torch.ones([shape[dim] for dim in order], dtype=values.dtype, device=values.device)
        ones = ones.permute(sorted(range(values.dim()), key=order.__getitem__))
        return torch.dropout(ones, p, True)[self.rank :: self.size]
