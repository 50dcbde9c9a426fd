"""The resume state: weights, optimiser, random state and counters in one safetensors file."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import torch
from torch import Tensor, nn

from recap.errors import CheckpointError
from recap.storage.tensors import load_tensors, load_weights, save_tensors

STATE_FILE: Final = "state.safetensors"
_RANDOM: Final = "random.cpu"


def save_state(path: Path, model: nn.Module, optimiser: torch.optim.Optimizer, progress: dict[str, Any]) -> None:
    """Write all that is needed to continue bit-identically on the same machine."""
    tensors = {f"model.{name}": tensor for name, tensor in model.state_dict().items()}
    for index, values in optimiser.state_dict()["state"].items():
        tensors |= {f"optimiser.{index}.{name}": torch.as_tensor(value) for name, value in values.items()}
    tensors[_RANDOM] = torch.get_rng_state()
    if torch.cuda.is_available():
        tensors["random.cuda"] = torch.cuda.get_rng_state()
    save_tensors(tensors, path, progress)


def load_state(path: Path, model: nn.Module, optimiser: torch.optim.Optimizer) -> dict[str, Any]:
    """Restore what `save_state` wrote; returns the progress counters. Raises CheckpointError: no resume state, or that
    of another model.
    """
    tensors, progress = load_tensors(path)
    if _RANDOM not in tensors:
        raise CheckpointError(f"{path} is not a resume state: it lacks tensor {_RANDOM!r}")
    load_weights(model, _under(tensors, "model."), path.name)
    values: dict[int, dict[str, Tensor]] = {}
    for name, tensor in _under(tensors, "optimiser.").items():
        index, _, key = name.partition(".")
        values.setdefault(int(index), {})[key] = tensor
    state = optimiser.state_dict()
    optimiser.load_state_dict({"state": values, "param_groups": state["param_groups"]})
    torch.set_rng_state(tensors[_RANDOM])
    if torch.cuda.is_available() and "random.cuda" in tensors:
        torch.cuda.set_rng_state(tensors["random.cuda"])
    return progress


def _under(tensors: Mapping[str, Tensor], prefix: str) -> dict[str, Tensor]:
    return {name.removeprefix(prefix): tensor for name, tensor in tensors.items() if name.startswith(prefix)}
