"""Start a runner when a run waits and none works."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Final

from filelock import FileLock, Timeout

from recap.errors import RecapError
from recap.runs.execution.supervision import Supervisor
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
    lock = FileLock(store.folder / RUNNER_LOCK)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        return False
    try:
        # With the lock this process is the runner: record what happened to runs meanwhile.
        supervisor = Supervisor(store.settings())
        for run, state in _active(store):
            if state.slurm is None and state.state != "queued":
                supervisor.reconcile(run, state)
    finally:
        lock.release()
    if not _active(store):
        return False
    start_runner(store.folder)
    return True


def start_runner(folder: Path) -> int:
    """Start a detached runner; returns its pid."""
    with (folder / RUNNER_LOG).open("ab") as log:
        process = subprocess.Popen(  # noqa: S603 # an argument list of our own words
            [sys.executable, "-P", "-m", "recap.runs.execution.runner", str(folder)],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            cwd=folder,
            start_new_session=True,
            env=os.environ | {HOME_VARIABLE: str(folder.parent)},
        )
    return process.pid


def _active(store: RunStore) -> list[tuple[RunFolder, RunState]]:
    active = []
    for run in store.runs():
        try:
            state = run.read_state()
        except RecapError:
            continue
        if state.state in ACTIVE:
            active.append((run, state))
    return active
