"""A place's cell in the quadtree of web maps, as overlapping runs of its digits.

Shape suffixes: P POIs, G runs of digits.
"""

import math
from typing import Final

import torch
from torch import Tensor

LEVEL: Final = 25
"""Digits of a cell; one is 1.2 m wide at the equator."""
RUN: Final = 6
RUNS: Final = LEVEL - RUN + 1
NUM_TOKENS: Final = 4**RUN
_MOST_LATITUDE: Final = 85.05112878


def quadkey_runs(coordinates_P2: Tensor) -> Tensor:
    """All runs of 6 consecutive digits (0 to 3) of every place's 25, as numbers of base 4, (P, 20).

    >>> quadkey_runs(torch.tensor([[0.0, 0.0]], dtype=torch.float64))[0, :3].tolist()  # 3000...: 3 * 4 ** 5
    [3072, 0, 0]
    """
    latitude_P, longitude_P = coordinates_P2.double().unbind(-1)
    sine_P = torch.sin(torch.deg2rad(latitude_P.clamp(-_MOST_LATITUDE, _MOST_LATITUDE)))
    across_P = (longitude_P + 180) / 360
    down_P = 0.5 - torch.log((1 + sine_P) / (1 - sine_P)) / (4 * math.pi)
    cells = 1 << LEVEL
    x_P, y_P = ((share_P * cells).floor().long().clamp(0, cells - 1) for share_P in (across_P, down_P))
    bit_L = torch.arange(LEVEL - 1, -1, -1, device=x_P.device)
    digit_PL = (x_P[:, None] >> bit_L & 1) + 2 * (y_P[:, None] >> bit_L & 1)
    power_R = 4 ** torch.arange(RUN - 1, -1, -1, device=x_P.device)
    return (digit_PL.unfold(1, RUN, 1) * power_R).sum(-1)
