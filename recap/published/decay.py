"""The weighted average over past states of the Flashback family.

Shape suffixes: B windows, K positions (i the step, j <= i a past one), D features.
"""

import math
from typing import Final

import torch
from torch import Tensor

from recap.geodesy import EARTH_RADIUS_KM
from recap.history import SECONDS_PER_DAY
from recap.published.network import causal_mask

LEAST_WEIGHT: Final = 1e-10


def time_weights(seconds_BK: Tensor, decay: float, dtype: torch.dtype) -> Tensor:
    """1/2 (1 + cos(2 pi dt)) exp(-decay dt) with dt in days, (B, K, K) (Flashback, Eq. 5).

    >>> noon, midnight, next_noon = 0, 43_200, 86_400
    >>> time_weights(torch.tensor([[noon, midnight, next_noon]]), 0.1, torch.float64)[0, 2].round(decimals=4).tolist()
    [0.9048, 0.0, 1.0]
    """
    days_BKK = (seconds_BK[:, :, None] - seconds_BK[:, None, :]).to(dtype) / SECONDS_PER_DAY
    return (1 + torch.cos(2 * math.pi * days_BKK)) / 2 * torch.exp(-decay * days_BKK.abs())


def degrees_apart(coordinates_BK2: Tensor) -> Tensor:
    """Euclidean distance in degrees, (B, K, K), as in the public code."""
    return torch.linalg.vector_norm(coordinates_BK2[:, :, None] - coordinates_BK2[:, None, :], dim=-1)


def kilometres_apart(coordinates_BK2: Tensor) -> Tensor:
    """Great-circle distance, (B, K, K) (haversine).

    >>> kilometres_apart(torch.tensor([[[0.0, 0.0], [0.0, 1.0]]], dtype=torch.float64))[0, 0].round(decimals=1).tolist()
    [0.0, 111.2]
    """
    radians_BK2 = torch.deg2rad(coordinates_BK2)
    latitude_BK, longitude_BK = radians_BK2.unbind(-1)
    half = torch.sin((latitude_BK[:, :, None] - latitude_BK[:, None, :]) / 2) ** 2
    across = torch.sin((longitude_BK[:, :, None] - longitude_BK[:, None, :]) / 2) ** 2
    cosines = torch.cos(latitude_BK)[:, :, None] * torch.cos(latitude_BK)[:, None, :]
    return 2 * EARTH_RADIUS_KM * torch.asin(torch.sqrt((half + cosines * across).clamp(0, 1)))


def average_past(states_BKD: Tensor, weight_BKK: Tensor) -> Tensor:
    """sum_j<=i w_ij h_j / sum_j<=i w_ij, (B, K, D)."""
    mask_KK = causal_mask(weight_BKK.shape[1], weight_BKK.device)
    weight_BKK = (weight_BKK + LEAST_WEIGHT) * mask_KK
    return (weight_BKK @ states_BKD) / weight_BKK.sum(-1, keepdim=True)
