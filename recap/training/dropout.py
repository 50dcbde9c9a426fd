"""Dropout whose masks are drawn here: for shares of a batch, and quickly on a CPU.

In a group of processes every process draws the masks of the whole batch and takes those of its own cases, so that the
random numbers are those of a process that trains alone, in the same order, and sharing a batch changes results by
rounding only. With ``words``, masks are cut out of 64-bit random words, sixteen bits an element: much faster than
torch's serial Bernoulli draws on a CPU.
"""

from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F
from torch.overrides import TorchFunctionMode

from recap.random_masks import draw_mask


class SharedMaskDropout(TorchFunctionMode):
    """While it is entered, dropout over the cases of a share follows masks drawn for the whole batch.

    Every dropped tensor has the cases in its first dimension.

    Args:
        whole: cases of the batch.
        rank, size: this process and how many share; its cases are ``rank, rank + size, ...`` (`Group.share`).
        words: cut masks out of random words; otherwise torch draws them as it does without this.
    """

    def __init__(self, whole: int, rank: int = 0, size: int = 1, *, words: bool = False) -> None:
        super().__init__()
        self.whole, self.rank, self.size, self.words = whole, rank, size, words

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
        if self.words:
            whole = draw_mask((self.whole, *values.shape[1:]), p, values.dtype).to(values.device)
        else:
            whole = _torch_mask(values, self.whole, p)
        return whole[self.rank :: self.size]


def _torch_mask(values: Tensor, whole: int, p: float) -> Tensor:
    # Dropped ones, not a mask drawn by other means: the same call takes the same numbers off the generator, if the ones
    # lie in memory as the whole batch would.
    shape = (whole, *values.shape[1:])
    order = sorted(range(values.dim()), key=values.stride, reverse=True)
    ones = torch.ones([shape[dim] for dim in order], dtype=values.dtype, device=values.device)
    ones = ones.permute(sorted(range(values.dim()), key=order.__getitem__))
    return torch.dropout(ones, p, True)
