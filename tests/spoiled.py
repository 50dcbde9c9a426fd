"""Checkpoints that somebody changed: a byte, the weights, the list of hashes."""

from collections.abc import Callable
from pathlib import Path

from torch import Tensor

from recap.storage.artifacts import write_sums
from recap.storage.tensors import load_tensors, save_tensors

LISTED = (
    "checkpoint.json",
    "model.safetensors",
    "best_overall.safetensors",
    "vocabulary.parquet",
    "users.parquet",
    "summary.json",
    "MODEL_CARD.md",
)
"""The files of a checkpoint that its list of hashes names."""
ODD_JSON = ("[" * 100_000, '{"a":' * 200 + "1" + "}" * 200, '{"format_version": 1e999}')
"""Nested too deep, or a number that is none."""


def write_sums_again(folder: Path) -> None:
    """Make the hashes of the files there fit again, as someone would who edits by hand."""
    write_sums(folder, [name for name in LISTED if (folder / name).is_file()])


def change_one_byte(path: Path) -> None:
    """Flip a bit in the middle of a file."""
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def change_weights(folder: Path, change: Callable[[dict[str, Tensor]], None]) -> None:
    tensors, metadata = load_tensors(folder / "model.safetensors")
    change(tensors)
    save_tensors(tensors, folder / "model.safetensors", metadata)
    write_sums_again(folder)
