"""From scores to the probabilities that are shown: softmax(score / T).

Shape suffixes: B cases, P POIs.
"""

import torch
from pydantic import Field
from torch import Tensor

from recap.config import Config


class Temperature(Config):
    """T = exp(a + b H), with H the entropy of softmax(score) of the case, in nats; it changes no rank."""

    a: float = Field(0.0, ge=-1, le=1, description="Of T; with b = 0 the same T for every case, with both 0 T = 1.")
    b: float = Field(0.0, ge=-1, le=1, description="How T changes with the case's entropy.")


UNFITTED = Temperature()
NOT_FITTED = "Probabilities were not fitted to validation cases (T = 1)."


def log_probabilities(total_BP: Tensor, temperature: Temperature) -> Tensor:
    """Log of the probability of every place, float64 (B, P), from scores."""
    log_BP = torch.log_softmax(total_BP.double(), 1)
    if temperature == UNFITTED:
        return log_BP
    level_B1 = temperature.a + temperature.b * entropy(log_BP)[:, None]
    return torch.log_softmax(log_BP.div_(level_B1.clamp(-1, 1).exp()), 1)


def entropy(log_BP: Tensor) -> Tensor:
    """Entropy in nats, (B,), of log probabilities.

    >>> entropy(torch.tensor([[0.5, 0.5, 0.0]]).log()).round(decimals=4)
    tensor([0.6931])
    """
    return torch.special.entr(log_BP.exp()).sum(1)
