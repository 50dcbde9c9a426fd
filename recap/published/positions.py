"""Sinusoidal positions (Vaswani et al., 2017)."""

import math

import torch
from torch import Tensor


def sinusoids(length: int, like: Tensor) -> Tensor:
    """Sines and cosines of positions 0, 1, ..., (length, D), with width, kind and device of ``like`` (..., D)."""
    width = like.shape[-1]
    position_K1 = torch.arange(length, device=like.device, dtype=like.dtype)[:, None]
    steps = torch.arange(0, width, 2, device=like.device, dtype=like.dtype)
    angle_KH = position_K1 * torch.exp(steps * (-math.log(10_000.0) / width))
    return torch.stack([torch.sin(angle_KH), torch.cos(angle_KH)], dim=-1).reshape(length, -1)[:, :width]
