"""Submit, stop, resume and remove runs; start a runner when a run waits and none works."""

import os
import sys
from pathlib import Path
from typing import Final

from filelock import FileLock, Timeout

from recap.errors import RecapError
from recap.runs.execution.supervision import Supervisor, start_detached
from recap.runs.store.files import RESUMABLE, RunSpec, RunState, now
from recap.runs.store.run_store import RunFolder, RunStore
from recap.storage.user_folder import HOME_VARIABLE

RUNNER_LOCK: Final = ".runner.lock"
RUNNER_LOG: Final = ".runner.log"


def submit(store: RunStore, specs: list[RunSpec]) -> list[RunFolder]:
    """Queue runs and start a runner if none works. Raises ReadOnlyError if the store only shows runs."""
    runs = store.add(specs)
    ensure_runner(store)
    return runs


def stop(store: RunStore, run: RunFolder) -> RunState:
    """Take a run off the queue, or let it save its state and end. Raises ReadOnlyError: the store only shows runs;
    RecapError: the run is over.
    """
    store.check_writable("stop a run")
    if run.read_state().slurm is None:
        dequeued = run.change({"queued"}, "stopped", ended=now(), error=None)
        if dequeued is not None:
            return dequeued
    stopping = run.change({"running", "queued"}, "stopping")
    if stopping is None:
        stopping = run.read_state()
        if stopping.state != "stopping":
            raise RecapError(f"run {run.id} is {stopping.state}: only queued and running runs can be stopped")
    ensure_runner(store)
    return stopping


def resume(store: RunStore, run: RunFolder) -> RunState:
    """Queue a stopped, failed or lost run again; it continues from its last saved state. Raises ReadOnlyError: the
    store only shows runs; RecapError: the run is not over, or is finished, or its spec cannot be used.
    """
    store.check_writable("resume a run")
    run.read_spec().train_config()
    queued = run.change(set(RESUMABLE), "queued", ended=None, error=None, process=None, device=None, slurm=None)
    if queued is None:
        state = run.read_state().state
        remedy = "it is finished; submit a new one"
        remedy = remedy if state == "finished" else "only stopped, failed and lost runs can be resumed"
        raise RecapError(f"run {run.id} is {state}: {remedy}")
    ensure_runner(store)
    return queued


def ensure_runner(store: RunStore) -> bool:
    """Start a runner if runs wait and none works; returns whether it did."""
    if store.read_only or not store.active():
        return False
    try:
        with FileLock(store.folder / RUNNER_LOCK, timeout=0):
            # With the lock this process is the runner: record what happened to runs meanwhile.
            supervisor = Supervisor(store.settings())
            for run, state in store.active():
                if state.slurm is None and state.state != "queued":
                    supervisor.reconcile(run, state)
    except Timeout:
        return False
    if not store.active():
        return False
    start_runner(store.folder)
    return True


def start_runner(folder: Path) -> int:
    """Start a detached runner; returns its pid."""
    command = [sys.executable, "-P", "-m", "recap.runs.execution.runner", str(folder)]
    return start_detached(command, folder / RUNNER_LOG, folder, os.environ | {HOME_VARIABLE: str(folder.parent)}).pid
