"""A tiny dataset to train on, and waiting for background processes without fixed sleeps."""

import errno
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import psutil
from filelock import FileLock, Timeout

from recap.data.dataset import Dataset
from recap.runs.execution.control import RUNNER_LOCK
from recap.runs.store.files import ACTIVE, RunSpec
from recap.runs.store.process import ProcessIdentity
from recap.runs.store.run_store import SETTINGS, RunFolder, RunStore
from recap.runs.store.submission import build_specs
from recap.storage.atomic import replace_json
from tests.checkins import small_dataset
from tests.cli_runner import json_of
from tests.tiny import CHANGES, EPOCHS, PRESET

RECAP = Path(sys.executable).with_name("recap")
POIS = ["home", "work", "gym", "bar", "zoo", "café", "park", "shop"]
FAST = {"poll_seconds": 0.05, "idle_seconds": 1.0, "stop_seconds": 20.0, "kill_seconds": 5.0, "threads": 1}
Value = TypeVar("Value")


def refuse_to_write(*_: object, **__: object) -> None:
    """In place of `replacing` of `recap.storage.atomic`."""
    raise OSError(errno.EROFS, "Read-only file system")


def walking_dataset(users: int = 6, days: int = 40, seed: int = 0) -> Dataset:
    """Users who walk the same round every day, with a detour now and then."""
    random = np.random.default_rng(seed)
    rows = []
    for user in range(users):
        for day in range(days):
            for step in range(4):
                detour = int(random.random() < 0.3) * int(random.integers(0, 8))
                rows.append((f"u{user}", POIS[(2 * step + detour) % 8], 24.0 * day + 3 * step + user / 10))
    return small_dataset(rows)


def new_store(home: Path, **settings: Any) -> RunStore:
    """An empty runs folder whose runner is quick to look and quick to leave."""
    store = RunStore(home / "runs")
    store.folder.mkdir(parents=True)
    replace_json(store.folder / SETTINGS, FAST | settings)
    return store


def tiny_fields(**fields: Any) -> dict[str, Any]:
    """What `build_specs` is asked for: the tiny configuration on the CPU, further fields and overrides on top."""
    overrides = [*CHANGES, *fields.pop("overrides", [])]
    return {"preset": PRESET, "epochs": EPOCHS, "device": "cpu", "overrides": overrides} | fields


def tiny_spec(dataset_folder: Path, **fields: Any) -> RunSpec:
    """A run of seconds."""
    (spec,) = build_specs(dataset_folder, **tiny_fields(**fields))
    return spec


def wait_for(answer: Callable[[], Value], what: str, seconds: float = 90.0) -> Value:
    """Ask until the answer is true, or fail with what was waited for."""
    deadline = time.monotonic() + seconds
    while True:
        value = answer()
        if value:
            return value
        assert time.monotonic() < deadline, f"waited {seconds:.0f} s for {what}"
        time.sleep(0.02)


def answers(port: int) -> bool:
    """Whether a Streamlit server is healthy there."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/_stcore/health", timeout=2) as answer:
            return answer.status == 200
    except OSError:
        return False


@contextmanager
def running(command: Sequence[str | Path], environment: dict[str, str], folder: Path) -> Iterator[str]:
    """A server while it is needed, started in a folder; the port comes last in the command."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    silent: Any = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with subprocess.Popen([*command, str(port)], env=environment, cwd=folder, **silent) as server:

        def is_ready() -> bool:
            assert server.poll() is None, f"the server ended with code {server.returncode}"
            return answers(port)

        try:
            wait_for(is_ready, "the server")
            yield f"http://127.0.0.1:{port}"
        finally:
            server.terminate()
            try:
                server.wait(timeout=10)
            except subprocess.TimeoutExpired:  # nobody has visited it
                server.kill()


def wait_until_over(run: RunFolder, seconds: float = 120.0) -> str:
    """The state a run ends in."""
    wait_for(lambda: run.read_state().state not in ACTIVE, f"the end of run {run.id}", seconds)
    return run.read_state().state


def wait_for_epoch(run: RunFolder, epoch: int, seconds: float = 90.0) -> None:
    """Until an epoch is finished."""
    wait_for(lambda: len(run.read_metrics()) >= epoch, f"epoch {epoch} of run {run.id}", seconds)


def recap(home: Path, *arguments: Any) -> subprocess.CompletedProcess[str]:
    """Run the real console script with its own user folder."""
    environment = os.environ | {"RECAP_HOME": str(home), "OMP_NUM_THREADS": "1"}
    command = [str(RECAP), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, env=environment, check=False)


def recap_json(home: Path, *arguments: Any) -> Any:
    """The same with --json; what it says."""
    return json_of(recap(home, *arguments, "--json"))


def runner_works(store: RunStore) -> bool:
    """Whether a runner holds the folder's lock; the lock goes with its process, however that ends."""
    lock = FileLock(store.folder / RUNNER_LOCK)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        return True
    lock.release()
    return False


def runner_process(store: RunStore) -> ProcessIdentity | None:
    """Who the runner is; None when none works."""
    for process in psutil.process_iter(["cmdline"]):
        if (process.info["cmdline"] or [])[-2:] == ["recap.runs.execution.runner", str(store.folder)]:
            return ProcessIdentity.of(process.pid)
    return None


def kill(process: ProcessIdentity) -> bool:
    """SIGKILL to this process alone, as the system does when memory runs out; False when it is gone."""
    if not process.is_alive():
        return False
    try:
        os.kill(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        return False
    return True
