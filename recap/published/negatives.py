"""Random places a user has not been to in training. Shape suffixes: N steps, V distinct visits."""

from typing import Final

import torch
from torch import Tensor, nn

from recap.published.city import City

_TRIES: Final = 20
"""A user who has been to nearly every place keeps a visited one after so many draws."""


class UnvisitedSampler(nn.Module):
    """Draws one unvisited place for each of many users, with torch's CPU generator."""

    visited_V: Tensor

    def __init__(self, city: City) -> None:
        super().__init__()
        self.num_pois = city.num_pois
        self.register_buffer("visited_V", torch.unique(city.user_N * city.num_pois + city.poi_N), persistent=False)

    def draw(self, user_N: Tensor) -> Tensor:
        """A place for each user, uniform over those not visited in training."""
        poi_N = torch.randint(self.num_pois, user_N.shape).to(user_N.device)
        for _ in range(_TRIES):
            again_N = self._is_visited(user_N, poi_N)
            if not again_N.any():
                break
            poi_N[again_N] = torch.randint(self.num_pois, (int(again_N.sum()),)).to(user_N.device)
        return poi_N

    def _is_visited(self, user_N: Tensor, poi_N: Tensor) -> Tensor:
        key_N = user_N * self.num_pois + poi_N
        place_N = torch.searchsorted(self.visited_V, key_N).clamp_max(len(self.visited_V) - 1)
        return self.visited_V[place_N] == key_N
