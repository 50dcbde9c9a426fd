"""Start a runner when a run waits and none works."""

import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import Final

from filelock import FileLock, Timeout

from recap.errors import RecapError
from recap.runs.execution.supervision import Supervisor, start_detached
from recap.runs.store.run_folder import RunFolder
from recap.runs.store.run_store import RunStore
from recap.runs.store.state import ACTIVE, RunState
from recap.storage.user_folder import HOME_VARIABLE

RUNNER_LOCK: Final = ".runner.lock"
RUNNER_INFO: Final = ".runner.json"
RUNNER_LOG: Final = ".runner.log"


def ensure_runner(store: RunStore) -> bool:
    """Start a runner if runs wait and none works; returns whether it did."""
    if store.read_only or not _active(store):
        return False
    try:
        with FileLock(store.folder / RUNNER_LOCK, timeout=0):
            # With the lock this process is the runner: record what happened to runs meanwhile.
            supervisor = Supervisor(store.settings())
            for run, state in _active(store):
                if state.slurm is None and state.state != "queued":
                    supervisor.reconcile(run, state)
    except Timeout:
        return False
    if not _active(store):
        return False
    start_runner(store.folder)
    return True


def start_runner(folder: Path) -> int:
    """Start a detached runner; returns its pid."""
    command = [sys.executable, "-P", "-m", "recap.runs.execution.runner", str(folder)]
    return start_detached(command, folder / RUNNER_LOG, folder, os.environ | {HOME_VARIABLE: str(folder.parent)}).pid


def _active(store: RunStore) -> list[tuple[RunFolder, RunState]]:
    states = []
    for run in store.runs():
        with suppress(RecapError):
            states.append((run, run.read_state()))
    return [(run, state) for run, state in states if state.state in ACTIVE]
