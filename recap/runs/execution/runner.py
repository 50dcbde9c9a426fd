"""The local runner: ``python -m recap.runs.execution.runner FOLDER``.

Only one works at a time. It ends when nothing is left to do.
"""

import signal
import sys
import time
import traceback
from pathlib import Path
from types import FrameType
from typing import Final

from filelock import FileLock, Timeout

from recap.errors import RecapError
from recap.runs.execution.control import RUNNER_LOCK
from recap.runs.execution.gpus import GpuList, allocate_device, read_gpus
from recap.runs.execution.slurm import SlurmQueue
from recap.runs.execution.supervision import Supervisor
from recap.runs.store.files import RunState, now
from recap.runs.store.run_store import RunFolder, RunStore

_LOCK_SECONDS: Final = 3.0


class Runner:
    """Starts queued runs, watches them, and records how they end. All it knows is in the run folders: a new runner can
    take over at any moment.
    """

    def __init__(self, store: RunStore, list_gpus: GpuList = read_gpus) -> None:
        self.store, self.settings = store, store.settings()
        self.supervisor = Supervisor(self.settings)
        self.slurm = SlurmQueue(self.settings.slurm)
        self._list_gpus = list_gpus
        self._ended = False

    def serve(self) -> None:
        """Work until there has been nothing to do for a while; a second runner returns at once."""
        while True:
            try:
                # A command that checks for a runner holds the lock for a moment.
                with FileLock(self.store.folder / RUNNER_LOCK, timeout=_LOCK_SECONDS):
                    self._work()
            except Timeout:
                return
            # A run may have been queued while the lock was released: look again.
            if self._ended or not self.store.active():
                return

    def tick(self) -> bool:
        """Check every active run once; returns whether there is any."""
        active = self.store.active()
        for run, state in active:
            try:
                if state.slurm is not None:
                    self.slurm.follow(run, state)
                elif state.state in ("running", "stopping"):
                    self.supervisor.reconcile(run, state)
            except (RecapError, OSError) as error:
                print(f"{now()} run {run.id}: {error}", flush=True)
        self._start_next(self.store.active())
        return bool(active)

    def _work(self) -> None:
        idle_since = time.monotonic()
        while not self._ended:
            if self.tick():
                idle_since = time.monotonic()
            elif time.monotonic() - idle_since > self.settings.idle_seconds:
                return
            time.sleep(self.settings.poll_seconds)

    def _start_next(self, active: list[tuple[RunFolder, RunState]]) -> None:
        waiting = [(run, state) for run, state in active if state.state == "queued" and state.slurm is None]
        if not waiting:
            return
        busy = [(run, state) for run, state in active if state.state != "queued" and state.slurm is None]
        gpus = self._list_gpus()
        for run, state in waiting:
            try:
                spec = run.read_spec()
                if spec.backend == "slurm":
                    self.slurm.submit(run, spec, state)
                    continue
                lease = allocate_device(spec, [entry for _, entry in busy], gpus, self.settings, self.store)
                if lease is None:
                    # First come, first served: small runs must not delay a large one for ever.
                    break
                started = self.supervisor.start(run, state, lease)
                if started is not None:
                    busy.append((run, started))
            except (RecapError, OSError) as error:
                _fail(run, error)

    def end(self, number: int, _: FrameType | None) -> None:
        """End at the next check; trainings continue, and the next runner takes over."""
        self._ended = True


def _fail(run: RunFolder, error: Exception) -> None:
    """Record why a run could not be started; it keeps waiting if the disk refuses."""
    try:
        run.end("failed", str(error))
    except (RecapError, OSError) as refusal:
        print(f"{now()} run {run.id}: {refusal}", flush=True)


def main(arguments: list[str]) -> int:
    """Serve a runs folder."""
    try:
        runner = Runner(RunStore(Path(arguments[0])))
        signal.signal(signal.SIGTERM, runner.end)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        runner.serve()
    except RecapError as error:
        print(f"{now()} recap: {error}", flush=True)
        return 2
    except Exception:
        traceback.print_exc()
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
