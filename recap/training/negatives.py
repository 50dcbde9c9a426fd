"""Places that stand for all others in a sampled softmax, and how many each stands for.

Shape suffixes: P POIs, U different places drawn.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from recap.training_config import SampledSoftmax

_POWER = 0.75
"""Popular places are drawn by their check-ins to this power."""


@dataclass(frozen=True, eq=False)
class Negatives:
    """Places of one batch.

    Attributes:
        poi_U: int64, ascending, each once.
        log_weight_U: log of how many places each stands for; the sum over all places of any f has the mean
            sum_u exp(log_weight_u) f(u) over draws.
    """

    poi_U: Tensor
    log_weight_U: Tensor


class NegativeSampler:
    """Draws places with replacement: some by their training check-ins, some uniformly.

    A place that is drawn c times weighs c / (n_popular q(d) + n_uniform / P), one over how often it is expected
    (Bengio & Senécal 2008; both draws pooled: Veach & Guibas 1995). Its logarithm is added to the score.

    Args:
        popularity_P: training check-ins of every place.
    """

    def __init__(self, popularity_P: Tensor, config: SampledSoftmax) -> None:
        self.config = config
        share_P = popularity_P.double() ** _POWER
        share_P = share_P / share_P.sum()
        self._cumulative_P = torch.cumsum(share_P, 0)
        self._expected_P = config.popular * share_P + config.uniform / len(share_P)

    def draw(self) -> Negatives:
        """Places for one batch, by torch's random numbers."""
        num_pois, device = len(self._expected_P), self._expected_P.device
        level = torch.rand(self.config.popular, dtype=torch.float64, device=device) * self._cumulative_P[-1]
        popular = torch.searchsorted(self._cumulative_P, level, right=True).clamp_max_(num_pois - 1)
        uniform = torch.randint(num_pois, (self.config.uniform,), device=device)
        poi_U, count_U = torch.unique(torch.cat([popular, uniform]), return_counts=True)
        return Negatives(poi_U, (count_U / self._expected_P[poi_U]).log())
