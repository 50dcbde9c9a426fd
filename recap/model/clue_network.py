"""A small network that reads a candidate's clues together: what no single clue says (beyond the paper).

Shape suffixes: B cases, C packed candidates, F clues, Z numbers of a step, D hidden features.
"""

from typing import Final

import torch
from torch import Tensor, nn

_DROPOUT: Final = 0.1
_SMALLEST_SCALE: Final = 1e-3
"""A clue that varies by less is left as it is."""


class ClueNetwork(nn.Sequential):
    """One number for each candidate, of its clues and of numbers of its step; 0 before training.

    Args:
        hidden: units of each hidden layer.
        layers: hidden layers.
        scaled: clues are divided by their deviations, see `scale_by`.
    """

    scale_F: Tensor | None

    def __init__(self, clues: int, numbers: int, hidden: int, layers: int = 1, *, scaled: bool = False) -> None:
        inner = [module for _ in range(layers - 1) for module in (nn.Linear(hidden, hidden), nn.GELU())]
        first, last = nn.Linear(clues + numbers, hidden), nn.Linear(hidden, 1, bias=False)
        nn.init.zeros_(last.weight)
        super().__init__(first, nn.GELU(), nn.Dropout(_DROPOUT), *inner, last)
        self.register_buffer("scale_F", torch.ones(clues) if scaled else None)

    def scale_by(self, clue_CF: Tensor) -> None:
        """From now on divide clues by their deviations over these candidates, where the network is to do so."""
        if self.scale_F is not None:
            deviation_F = clue_CF.double().std(0)
            self.scale_F.copy_(torch.where(deviation_F > _SMALLEST_SCALE, deviation_F, 1.0))

    def forward(self, clue_CF: Tensor, number_BZ: Tensor, case_C: Tensor) -> Tensor:  # type: ignore[override]
        """(C, 1)."""
        if self.scale_F is not None:
            clue_CF = clue_CF / self.scale_F
        found = torch.cat([clue_CF, number_BZ[case_C]], 1)
        for module in self:
            if isinstance(module, nn.Dropout):
                # One mask a case, as dropout has everywhere: processes that share a batch draw the same.
                found = found * module(found.new_ones(len(number_BZ), found.shape[1]))[case_C]
            else:
                found = module(found)
        return found
