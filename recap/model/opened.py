"""Weights of a checkpoint in the order of another dataset's places, users and categories."""

from collections.abc import Mapping
from typing import Final

import numpy as np
import torch
from torch import Tensor

from recap.errors import MissingTensorError
from recap.vocabulary import Match

_PLACES: Final = ("poi_embedding.weight", "core.output.weight", "core.output.bias")
_USERS: Final = ("backbone.user_embedding.weight",)
_CATEGORIES: Final = ("tokens.category_embedding.weight",)


def rows_of_dataset(tensors: Mapping[str, Tensor], match: Match, where: str) -> dict[str, Tensor]:
    """The weights with a row for each place, user and category of the dataset, in float64; new ones get the mean.
    Raises MissingTensorError if a tensor has fewer rows than the checkpoint's places, users or categories.
    """
    rows = dict.fromkeys(_PLACES, match.poi_P)
    rows |= dict.fromkeys(_USERS, match.user_U) | dict.fromkeys(_CATEGORIES, match.category_K)
    return {
        name: _rows(tensor, rows[name], f"{where}: tensor {name!r}") if name in rows else tensor
        for name, tensor in tensors.items()
    }


def _rows(tensor: Tensor, row_N: np.ndarray, where: str) -> Tensor:
    if row_N.max(initial=-1) >= len(tensor):
        raise MissingTensorError(f"{where} has {len(tensor):,} rows, too few for what the checkpoint knows")
    index_N, values = torch.from_numpy(row_N.astype(np.int64)), tensor.double()
    found = values[index_N.clamp(min=0)]
    found[index_N < 0] = values.mean(0)
    return found
