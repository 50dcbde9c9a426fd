"""Which device computes: the processor, or one named GPU; and with how many threads."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch

from recap.errors import ConfigError


def choose_device(name: str) -> torch.device:
    """``auto`` takes a GPU when there is one.

    Raises:
        ConfigError: an unknown device, or a GPU where there is none.
    """
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(name)
    except RuntimeError as error:
        raise ConfigError(f"unknown device {name!r}; use auto, cpu, cuda or cuda:N") from error
    if device.type not in ("cpu", "cuda"):
        raise ConfigError(f"device {name!r} is not supported; use auto, cpu, cuda or cuda:N")
    if device.type == "cuda" and (not torch.cuda.is_available() or (device.index or 0) >= torch.cuda.device_count()):
        raise ConfigError(f"device {name!r} is not there; torch sees {torch.cuda.device_count()} GPUs")
    return device


@contextmanager
def one_thread() -> Iterator[None]:
    """Compute with one thread: faster for single cases and small batches, where threads wait for each other."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
