"""Features turned by the time, as ROTAN and DPRL do it: halves of a vector are complex numbers on which phases act."""

import math
from typing import Final

import torch
from torch import Tensor

_RANGE: Final = 26.0
"""RotatE's range of embeddings, 24 + 2."""


def rotate(value: Tensor, phase: Tensor, scale: int) -> Tensor:
    """(a + ib) exp(i phase pi scale / 26), with a and b the halves of ``value`` (..., 2 D); phases (..., D).

    >>> quarter = torch.tensor([26.0 / 4])  # a quarter of a turn at scale 2 takes 1 to i
    >>> rotate(torch.tensor([1.0, 0.0]), quarter, 2).round(decimals=4).abs().tolist()
    [0.0, 1.0]
    """
    angle = phase * (math.pi * scale / _RANGE)
    real, imaginary = value.chunk(2, dim=-1)
    cosine, sine = torch.cos(angle), torch.sin(angle)
    return torch.cat([real * cosine - imaginary * sine, real * sine + imaginary * cosine], dim=-1)
