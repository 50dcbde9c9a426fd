"""Where a queued run may start now."""

import platform

from recap.errors import RecapError
from recap.runs.execution.gpus import Gpu, choose_gpus
from recap.runs.store.run_store import RunStore
from recap.runs.store.settings import RunSettings
from recap.runs.store.spec import RunSpec
from recap.runs.store.state import Lease, RunState


def allocate_device(
    spec: RunSpec, busy: list[RunState], gpus: list[Gpu], settings: RunSettings, store: RunStore
) -> Lease | None:
    """A device for the run, or None while it has to wait.

    Args:
        busy: states of the runs that have a device.

    Raises:
        RecapError: the run asks for GPUs this machine does not have.
    """
    if spec.device == "cpu" or (spec.device == "auto" and not gpus):
        taken = sum(state.device is None or state.device.kind == "cpu" for state in busy)
        return Lease(kind="cpu", name=cpu_name()) if taken < settings.cpu_runs else None
    if len(gpus) < spec.processes:
        raise RecapError(
            f"the run asks for {spec.processes} GPU{'s' if spec.processes > 1 else ''}, this machine has {len(gpus)}: "
            "submit it with --device cpu, or to a machine that has them"
        )
    from recap.runs.store.estimates import gpu_bytes

    need = gpu_bytes(store, spec) or settings.default_gpu_bytes
    held = [(state.process, state.device) for state in busy]
    leases = [(process.pid if process else None, device) for process, device in held if device is not None]
    chosen = choose_gpus(gpus, leases, spec.processes, need, settings.gpu_margin_bytes)
    if chosen is None:
        return None
    names = sorted({gpu.name for gpu in chosen})
    uuids = tuple(gpu.uuid for gpu in chosen)
    return Lease(kind="cuda", name=" + ".join(names), gpu_uuids=uuids, bytes_each=need)


def cpu_name() -> str:
    """The processor, as shown beside a run."""
    return f"CPU ({platform.machine()})"
