"""Packed ranges of different lengths.

Shape suffixes: N ranges, C all their numbers together, H parts of all owners, A columns.
"""

import torch
from torch import Tensor


def expand_ranges(start_N: Tensor, length_N: Tensor) -> tuple[Tensor, Tensor]:
    """The numbers start, ..., start + length - 1 of every range, packed: range and number.

    >>> expand_ranges(torch.tensor([10, 20, 30]), torch.tensor([2, 0, 1]))
    (tensor([0, 0, 2]), tensor([10, 11, 30]))
    """
    device = start_N.device
    range_C = torch.repeat_interleave(torch.arange(len(start_N), device=device), length_N)
    shift_N = start_N - (torch.cumsum(length_N, 0) - length_N)
    return range_C, torch.arange(len(range_C), device=device).add_(shift_N.index_select(0, range_C))


def found_in(sorted_K: Tensor, key_C: Tensor) -> tuple[Tensor, Tensor]:
    """Whether each key is in a sorted array, and where (0 if the array is empty).

    >>> found_in(torch.tensor([2, 5]), torch.tensor([5, 3]))[0].tolist()
    [True, False]
    """
    if len(sorted_K) == 0:
        return torch.zeros_like(key_C, dtype=torch.bool), torch.zeros_like(key_C)
    place_C = torch.searchsorted(sorted_K, key_C).clamp_max(len(sorted_K) - 1)
    return sorted_K[place_C] == key_C, place_C


def sum_within(value_H: Tensor, owner_H: Tensor, size: int) -> Tensor:
    """Sums of each owner's values, (size, ...)."""
    return value_H.new_zeros(size, *value_H.shape[1:]).index_add(0, owner_H, value_H)


def softmax_within(score_HA: Tensor, owner_H: Tensor, size: int) -> Tensor:
    """A softmax over each owner's own scores, (H, A).

    >>> softmax_within(torch.zeros(3, 1), torch.tensor([0, 0, 1]), 2)[:, 0].tolist()
    [0.5, 0.5, 1.0]
    """
    index_HA = owner_H[:, None].expand_as(score_HA)
    largest = score_HA.new_full((size, score_HA.shape[1]), -torch.inf)
    largest = largest.scatter_reduce(0, index_HA, score_HA.detach(), "amax")
    grown_HA = torch.exp(score_HA - largest[owner_H])
    return grown_HA / sum_within(grown_HA, owner_H, size)[owner_H]
