"""Where and when something was measured."""

import platform
import time
from collections.abc import Sequence

import psutil
import torch


def describe_machine() -> str:
    """Processor, cores, memory and accelerators, in words, without a host's name."""
    cores = psutil.cpu_count() or 1
    gpus: Sequence[str] = [torch.cuda.get_device_name(index) for index in range(torch.cuda.device_count())]
    memory = psutil.virtual_memory().total / 2**30
    return f"{cores} {platform.machine()} cores, {memory:.0f} GiB, " + (", ".join(gpus) if gpus else "no GPU")


def today() -> str:
    """The date, UTC."""
    return time.strftime("%Y-%m-%d", time.gmtime())
