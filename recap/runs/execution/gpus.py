"""Which GPUs a run gets: by UUID, with memory to spare, several small runs on one."""

from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass

import pynvml

from recap.runs.store.state import Lease


@dataclass(frozen=True)
class Gpu:
    """One GPU as the driver reports it.

    Attributes:
        free_bytes, total_bytes: of its memory.
        busy: share of the last second it computed, 0..1; None where the driver does not say.
        used_by: pid -> bytes of the processes on it.
    """

    uuid: str
    name: str
    free_bytes: int
    total_bytes: int
    busy: float | None
    used_by: dict[int, int]


GpuList = Callable[[], list[Gpu]]


def read_gpus() -> list[Gpu]:
    """The machine's GPUs, without those that do not answer; none without NVIDIA's driver."""
    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError:
        return []
    found: list[Gpu] = []
    try:
        for index in range(pynvml.nvmlDeviceGetCount()):
            with suppress(pynvml.NVMLError):  # one that fell off the bus must not hide the others
                found.append(_read_gpu(pynvml.nvmlDeviceGetHandleByIndex(index)))
        return found
    except pynvml.NVMLError:
        return []
    finally:
        pynvml.nvmlShutdown()


def choose_gpus(
    gpus: list[Gpu], leases: Iterable[tuple[int | None, Lease]], count: int, need_bytes: int, margin_bytes: int
) -> list[Gpu] | None:
    """``count`` different GPUs with ``need_bytes`` to spare on each, the fullest that fit; None when there are not.

    A lease counts as long as its run lives: what its process has not taken yet is not free for others.

    Args:
        leases: pid (None before the process is known) and lease of every running run.
    """
    pledged = dict.fromkeys((gpu.uuid for gpu in gpus), 0)
    by_uuid = {gpu.uuid: gpu for gpu in gpus}
    for pid, lease in leases:
        for uuid in lease.gpu_uuids:
            if uuid in by_uuid:
                taken = by_uuid[uuid].used_by.get(pid, 0) if pid is not None else 0
                pledged[uuid] += max(0, lease.bytes_each - taken)
    room = {gpu.uuid: gpu.free_bytes - pledged[gpu.uuid] - margin_bytes for gpu in gpus}
    fitting = sorted((gpu for gpu in gpus if room[gpu.uuid] >= need_bytes), key=lambda gpu: (room[gpu.uuid], gpu.uuid))
    return fitting[:count] if len(fitting) >= count else None


def _read_gpu(handle: object) -> Gpu:
    memory = pynvml.nvmlDeviceGetMemoryInfo(handle)
    try:
        busy: float | None = pynvml.nvmlDeviceGetUtilizationRates(handle).gpu / 100
    except pynvml.NVMLError:
        busy = None
    try:
        processes = pynvml.nvmlDeviceGetComputeRunningProcesses(handle)
    except pynvml.NVMLError:
        processes = []
    return Gpu(
        uuid=_text(pynvml.nvmlDeviceGetUUID(handle)),
        name=_text(pynvml.nvmlDeviceGetName(handle)),
        free_bytes=int(memory.free),
        total_bytes=int(memory.total),
        busy=busy,
        used_by={process.pid: int(process.usedGpuMemory or 0) for process in processes},
    )


def _text(value: str | bytes) -> str:
    return value.decode() if isinstance(value, bytes) else value
