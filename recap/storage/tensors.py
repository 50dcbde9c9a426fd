"""Tensors and JSON metadata in safetensors files, never unpickled."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from recap.errors import CheckpointError, MissingTensorError, RecapError
from recap.storage.atomic import replacing
from recap.storage.json_text import parse_json


def save_tensors(tensors: Mapping[str, Tensor], path: Path, metadata: dict[str, Any] | None = None) -> None:
    """Write tensors and JSON metadata, whole or not at all. Raises RecapError: the disk refused; the old file stays."""
    try:
        with replacing(path) as temporary:
            temporary.touch()
            mode = temporary.stat().st_mode  # by the umask, which safetensors ignores
            save_file(
                {name: tensor.detach().contiguous().cpu() for name, tensor in tensors.items()},
                temporary,
                metadata={"json": json.dumps(metadata or {})},
            )
            temporary.chmod(mode)
    except (OSError, SafetensorError) as error:
        raise RecapError(f"writing {path} failed ({error}); the previous file stays as it was") from error


def load_tensors(path: Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Read tensors and metadata; raises CheckpointError if the file is damaged."""
    try:
        with safe_open(path, framework="pt") as file:
            metadata = parse_json((file.metadata() or {}).get("json", "{}"))
            return {name: file.get_tensor(name) for name in file.keys()}, metadata  # noqa: SIM118
    except (OSError, SafetensorError, ValueError) as error:
        raise CheckpointError(f"{path} cannot be read as safetensors ({error})") from error


class Unfilled(TorchFunctionMode):
    """Builds modules with uninitialised weights, which `load_weights` fills next. With a million places random weights
    take seconds.
    """

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        named = kwargs or {}
        if getattr(func, "__module__", "") == "torch.nn.init":
            return named["tensor"] if "tensor" in named else args[0]
        return func(*args, **named)


def load_weights(model: nn.Module, tensors: Mapping[str, Tensor], where: str) -> None:
    """Fill a model from named tensors. Raises MissingTensorError: a tensor is missing, unknown, or of another shape."""
    expected = model.state_dict()
    missing, unknown = sorted(expected.keys() - tensors.keys()), sorted(tensors.keys() - expected.keys())
    if missing or unknown:
        problem = f"lacks tensor {missing[0]!r}" if missing else f"has unknown tensor {unknown[0]!r}"
        raise MissingTensorError(f"{where} {problem}; it was written for another configuration or is damaged")
    for name, tensor in expected.items():
        if tensors[name].shape != tensor.shape:
            raise MissingTensorError(
                f"{where}: tensor {name!r} has shape {tuple(tensors[name].shape)}, expected {tuple(tensor.shape)}"
            )
    model.load_state_dict(dict(tensors))
