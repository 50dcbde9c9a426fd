"""Time2Vec (Kazemi et al., 2019): one linear and otherwise periodic features of a number, all learned."""

import torch
from torch import Tensor, nn


class Time2Vec(nn.Module):
    """A number of any shape (...) to (..., dim): sin(w x + b) but for the last feature, which is w x + b."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.line = nn.Linear(1, dim)

    def forward(self, value: Tensor) -> Tensor:
        line = self.line(value.to(self.line.weight.dtype)[..., None])
        return torch.cat([torch.sin(line[..., :-1]), line[..., -1:]], dim=-1)
