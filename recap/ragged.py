"""Ranges of different lengths laid out one after another.

Shape suffixes: N ranges, C all their numbers together.
"""

import torch
from torch import Tensor


def expand_ranges(start_N: Tensor, length_N: Tensor) -> tuple[Tensor, Tensor]:
    """The numbers start, start + 1, ..., start + length - 1 of every range, packed: whose range, and the number.

    >>> expand_ranges(torch.tensor([10, 20, 30]), torch.tensor([2, 0, 1]))
    (tensor([0, 0, 2]), tensor([10, 11, 30]))
    """
    device = start_N.device
    range_C = torch.repeat_interleave(torch.arange(len(start_N), device=device), length_N)
    before_N = torch.cumsum(length_N, 0) - length_N
    return range_C, torch.arange(len(range_C), device=device) - before_N[range_C] + start_N[range_C]
