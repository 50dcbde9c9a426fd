"""Choose GPUs for a run by free memory; small runs share one."""

import platform
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import pynvml

from recap.errors import RecapError
from recap.runs.store.estimates import estimate
from recap.runs.store.files import Lease, RunSettings, RunSpec, RunState
from recap.runs.store.run_store import RunStore


@dataclass(frozen=True)
class Gpu:
    """A GPU. ``busy``: share of the last second it computed, 0 to 1; None if unknown; ``used_by``: pid -> bytes of the
    processes on it.
    """

    uuid: str
    name: str
    free_bytes: int
    total_bytes: int
    busy: float | None
    used_by: dict[int, int]


GpuList = Callable[[], list[Gpu]]


def read_gpus() -> list[Gpu]:
    """The machine's GPUs; none without NVIDIA's driver."""
    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError:
        return []
    gpus: list[Gpu] = []
    try:
        for index in range(pynvml.nvmlDeviceGetCount()):
            with suppress(pynvml.NVMLError):  # one broken GPU must not hide the others
                gpus.append(_read_gpu(pynvml.nvmlDeviceGetHandleByIndex(index)))
        return gpus
    except pynvml.NVMLError:
        return []
    finally:
        pynvml.nvmlShutdown()


def choose_gpus(
    gpus: list[Gpu], busy: Iterable[RunState], count: int, need_bytes: int, margin_bytes: int
) -> list[Gpu] | None:
    """``count`` GPUs with ``need_bytes`` free each, the fullest first; None if there are too few. Memory leased to a
    running run is not free, even if unused. ``busy``: states of runs with a device.
    """
    by_uuid = {gpu.uuid: gpu for gpu in gpus}
    room = {gpu.uuid: gpu.free_bytes - margin_bytes for gpu in gpus}
    for state in busy:
        if (lease := state.device) is None:
            continue
        for uuid in by_uuid.keys() & lease.gpu_uuids:
            taken = by_uuid[uuid].used_by.get(state.process.pid, 0) if state.process else 0
            room[uuid] -= max(0, lease.bytes_each - taken)
    fitting = sorted((gpu for gpu in gpus if room[gpu.uuid] >= need_bytes), key=lambda gpu: (room[gpu.uuid], gpu.uuid))
    return fitting[:count] if len(fitting) >= count else None


def _read_gpu(handle: object) -> Gpu:
    memory = pynvml.nvmlDeviceGetMemoryInfo(handle)
    busy: float | None = None
    processes: Iterable[Any] = ()
    with suppress(pynvml.NVMLError):
        busy = pynvml.nvmlDeviceGetUtilizationRates(handle).gpu / 100
    with suppress(pynvml.NVMLError):
        processes = pynvml.nvmlDeviceGetComputeRunningProcesses(handle)
    return Gpu(
        uuid=pynvml.nvmlDeviceGetUUID(handle),
        name=pynvml.nvmlDeviceGetName(handle),
        free_bytes=int(memory.free),
        total_bytes=int(memory.total),
        busy=busy,
        used_by={process.pid: int(process.usedGpuMemory or 0) for process in processes},
    )


def allocate_device(
    spec: RunSpec, busy: list[RunState], gpus: list[Gpu], settings: RunSettings, store: RunStore
) -> Lease | None:
    """A device for the run; None while it has to wait. ``busy``: states of runs with a device. Raises RecapError if the
    run needs GPUs this machine does not have.
    """
    if spec.device == "cpu" or (spec.device == "auto" and not gpus):
        taken = sum(state.device is None or state.device.kind == "cpu" for state in busy)
        return Lease(kind="cpu", name=f"CPU ({platform.machine()})") if taken < settings.cpu_runs else None
    if len(gpus) < spec.processes:
        raise RecapError(
            f"the run needs {spec.processes} GPU{'s' if spec.processes > 1 else ''}, this machine has {len(gpus)}: "
            "submit it with --device cpu, or to a machine that has them"
        )
    need = round(1.2 * (estimate(store, spec, "cuda").bytes or 0)) or settings.default_gpu_bytes
    chosen = choose_gpus(gpus, busy, spec.processes, need, settings.gpu_margin_bytes)
    if chosen is None:
        return None
    names = sorted({gpu.name for gpu in chosen})
    uuids = tuple(gpu.uuid for gpu in chosen)
    return Lease(kind="cuda", name=" + ".join(names), gpu_uuids=uuids, bytes_each=need)
