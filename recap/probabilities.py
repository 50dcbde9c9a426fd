"""From scores to probabilities.

Shape suffixes: B histories, P places.
"""

import torch
from torch import Tensor


def probabilities(total_BP: Tensor) -> Tensor:
    """Softmax of the scores of all candidate places, float64 (B, P); rows sum to 1."""
    return torch.softmax(total_BP.double(), dim=1)
