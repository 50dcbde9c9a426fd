"""Windows of like lengths together: most trajectories are far shorter than the longest, and padding is computed too.

Shape suffixes: B windows, K positions, D features, N windows of like lengths.
"""

from collections.abc import Callable
from typing import Final

import torch
from torch import Tensor
from torch.nn import functional as F

from recap.published.windows import Windows

LENGTHS: Final = (2, 4, 8, 16, 32)
"""Windows of at most so many check-ins make a group, but for those of the group before."""


def by_length(windows: Windows, states: Callable[[Windows], Tensor]) -> Tensor:
    """What ``states`` says of a causal network's windows, (B, K, D), asked group by group; 0 behind a window's end.

    Args:
        states: windows to (N, their own K, D); each window's states must not depend on the others.
    """
    whole, done, found, index = windows.row_BK.shape[1], 0, [], []
    for longest in (*(length for length in LENGTHS if length < whole), whole):
        index_N = ((windows.length_B > done) & (windows.length_B <= longest)).nonzero()[:, 0]
        done = longest
        if len(index_N):
            length_N = windows.length_B[index_N]
            size = int(length_N.max())
            group = Windows(windows.checkins, windows.row_BK[index_N, :size], length_N)
            found.append(F.pad(states(group), (0, 0, 0, whole - size)))
            index.append(index_N)
    return torch.cat(found)[torch.argsort(torch.cat(index))]
