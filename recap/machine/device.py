"""Choice of device and threads."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import torch

from recap.errors import ConfigError

_changing: Final = threading.Lock()
_found: Final[list[int]] = []
"""For each caller inside `one_thread`, the number of threads that the first one found."""


def choose_device(name: str) -> torch.device:
    """The named device; ``auto`` takes a GPU if there is one. Raises ConfigError for an unknown device, or a GPU where
    there is none.
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
    """Compute with one thread, which is faster for small batches. The last of overlapping callers brings back the
    number that the first one found.
    """
    with _changing:
        _found.append(_found[0] if _found else torch.get_num_threads())
        torch.set_num_threads(1)
    try:
        yield
    finally:
        with _changing:
            number = _found.pop()
            if not _found:
                torch.set_num_threads(number)
