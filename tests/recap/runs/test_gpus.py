"""Leases of GPU memory, by hand: 24 GB cards, memory in bytes counted as whole GB."""

from dataclasses import replace
from types import SimpleNamespace

import pynvml
import pytest

from recap.errors import RecapError
from recap.runs.execution.gpus import Gpu, allocate_device, choose_gpus, read_gpus
from recap.runs.store.files import Lease, RunSettings, RunSpec, RunState
from recap.runs.store.run_store import RunStore

GB = 1 << 30
EMPTY = Gpu("GPU-a", "Card", 24 * GB, 24 * GB, 0.0, {})
BUSY = Gpu("GPU-b", "Card", 10 * GB, 24 * GB, 0.9, {7: 4 * GB, 99: 10 * GB})


def lease(uuid: str, size: int) -> Lease:
    return Lease(kind="cuda", name="Card", gpu_uuids=(uuid,), bytes_each=size * GB)


def uuids(chosen: list[Gpu] | None) -> list[str] | None:
    return None if chosen is None else [gpu.uuid for gpu in chosen]


def test_takes_the_fullest_card_that_fits() -> None:
    """9 GB fit on the busy card (10 free), 11 GB only on the empty one, 25 GB nowhere."""
    cards = [EMPTY, BUSY]
    assert uuids(choose_gpus(cards, [], 1, 9 * GB, 0)) == ["GPU-b"]
    assert uuids(choose_gpus(cards, [], 1, 11 * GB, 0)) == ["GPU-a"]
    assert choose_gpus(cards, [], 1, 25 * GB, 0) is None
    assert uuids(choose_gpus(cards, [], 2, 9 * GB, 0)) == ["GPU-b", "GPU-a"]
    assert choose_gpus(cards, [], 3, 1, 0) is None
    assert uuids(choose_gpus(cards, [], 1, 10 * GB, 1)) == ["GPU-a"], "the margin stays free"


def test_a_lease_counts_until_its_process_took_it() -> None:
    """Process 7 leased 6 GB and has taken 4: 2 of the 10 free GB are promised to it; all 6 before it starts."""
    assert uuids(choose_gpus([BUSY], [(7, lease("GPU-b", 6))], 1, 8 * GB, 0)) == ["GPU-b"]
    assert choose_gpus([BUSY], [(7, lease("GPU-b", 6))], 1, 9 * GB, 0) is None
    assert choose_gpus([BUSY], [(None, lease("GPU-b", 6))], 1, 5 * GB, 0) is None
    assert uuids(choose_gpus([BUSY], [(7, lease("GPU-b", 3))], 1, 10 * GB, 0)) == ["GPU-b"], "took more than leased"
    assert uuids(choose_gpus([BUSY], [(7, lease("GPU-gone", 9))], 1, 10 * GB, 0)) == ["GPU-b"]


def test_places_runs_on_what_the_machine_has(store: RunStore) -> None:
    """A CPU slot where there is no GPU, a wait where all is taken, a refusal where it can never run."""
    spec = RunSpec.parse(
        {"dataset": "/d", "dataset_hash": "0" * 64, "dataset_name": "d", "cases": 1, "pois": 1, "seed": 1}
        | {"preset": "paper"}
    )
    settings = RunSettings(default_gpu_bytes=3 * GB, gpu_margin_bytes=0, cpu_runs=1)
    first = allocate_device(spec, [], [], settings, store)
    assert first is not None and first.kind == "cpu"
    running = RunState(state="running", created="", device=first)
    assert allocate_device(spec, [running], [], settings, store) is None
    on_gpu = allocate_device(spec, [running], [EMPTY], settings, store)
    assert on_gpu is not None and (on_gpu.gpu_uuids, on_gpu.bytes_each) == (("GPU-a",), 3 * GB)
    full = replace(EMPTY, free_bytes=2 * GB)
    assert allocate_device(spec, [], [full], settings, store) is None
    with pytest.raises(RecapError, match="needs 1 GPU, this machine has 0: submit it with --device cpu"):
        allocate_device(spec.model_copy(update={"device": "cuda"}), [], [], settings, store)
    with pytest.raises(RecapError, match="needs 2 GPUs, this machine has 1"):
        allocate_device(spec.model_copy(update={"processes": 2}), [], [EMPTY], settings, store)


def test_reads_the_machines_cards() -> None:
    """With or without a driver this is a list; UUIDs name the cards."""
    assert all(gpu.uuid.startswith(("GPU-", "MIG-")) and gpu.total_bytes > 0 for gpu in read_gpus())


def test_a_card_that_does_not_answer_hides_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of three cards the second is lost: the first and the third are there."""

    def handle_of(index: int) -> int:
        if index == 1:
            raise pynvml.NVMLError(pynvml.NVML_ERROR_GPU_IS_LOST)
        return index

    answers = {
        "nvmlInit": lambda: None,
        "nvmlShutdown": lambda: None,
        "nvmlDeviceGetCount": lambda: 3,
        "nvmlDeviceGetHandleByIndex": handle_of,
        "nvmlDeviceGetMemoryInfo": lambda _: SimpleNamespace(free=GB, total=2 * GB),
        "nvmlDeviceGetUtilizationRates": lambda _: SimpleNamespace(gpu=50),
        "nvmlDeviceGetComputeRunningProcesses": lambda _: [],
        "nvmlDeviceGetUUID": lambda index: f"GPU-{index}",
        "nvmlDeviceGetName": lambda _: "Card",
    }
    for name, answer in answers.items():
        monkeypatch.setattr(pynvml, name, answer)
    assert read_gpus() == [Gpu(f"GPU-{index}", "Card", GB, 2 * GB, 0.5, {}) for index in (0, 2)]
