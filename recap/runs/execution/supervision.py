"""Start a run's process, and record how it ends."""

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

from recap.runs.store.files import Lease, RunSettings, RunState, now
from recap.runs.store.process import ProcessIdentity
from recap.runs.store.run_store import RunFolder
from recap.storage.user_folder import HOME_VARIABLE


class Supervisor:
    """Watches the processes of runs, also those of an earlier runner."""

    def __init__(self, settings: RunSettings) -> None:
        self.settings = settings
        self._children: dict[str, subprocess.Popen[bytes]] = {}
        self._stopping_since: dict[str, float] = {}

    def start(self, run: RunFolder, state: RunState, lease: Lease) -> RunState | None:
        """Start a queued run; None if it left the queue meanwhile."""
        attempt = state.attempt + 1
        started = run.change(
            {"queued"},
            "running",
            attempt=attempt,
            started=state.started or now(),
            ended=None,
            error=None,
            process=None,
            host=ProcessIdentity.current().host,
            device=lease.model_dump(),
            threads=state.threads or self.settings.threads,
        )
        if started is None:
            return None
        try:
            command = [*lower_priority(self.settings.nice), *worker_command(run, attempt)]
            environment = worker_environment(run) | {"CUDA_VISIBLE_DEVICES": ",".join(lease.gpu_uuids)}
            environment |= dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS"), str(started.threads))
            child = start_detached(command, run.log, run.path.parent, environment)
        except OSError as error:
            return run.end("failed", f"the run's process could not be started: {error.strerror or error}")
        self._children[run.id] = child
        identity = ProcessIdentity.of(child.pid)
        if identity is not None:  # the process also enters itself; the entry is the same
            run.claim(attempt, identity)
        return run.read_state()

    def reconcile(self, run: RunFolder, state: RunState) -> None:
        """Record the end of a run whose process is gone; escalate a slow stop."""
        process = state.process
        if process is not None and not process.is_here:
            return
        if process is not None and process.is_alive():
            if state.state == "stopping":
                self._escalate_stop(run.id, process)
            return
        child = self._children.get(run.id)
        code = child.poll() if child is not None else None
        if child is not None and code is None:
            # Not entered yet, or a zombie with live threads: check again later.
            return
        self._enter_end(run, code)
        self._children.pop(run.id, None)
        self._stopping_since.pop(run.id, None)

    def _enter_end(self, run: RunFolder, code: int | None) -> None:
        # Read again: it may just have written its end.
        state = run.read_state()
        if state.state not in ("running", "stopping"):
            return
        if state.state == "stopping" or code in (-signal.SIGTERM, -signal.SIGINT):
            # It was stopped before it trained, or killed; a training saves and enters its own end.
            run.end("stopped", describe_exit(code, run) if code else None, expected=state)
        elif code is not None:
            run.end("failed", describe_exit(code, run), expected=state)
        elif state.process is None:
            # The runner died while starting it. A process that still comes up finds that it is no longer wanted.
            run.change({"running"}, "queued", expected=state, device=None)
        else:
            reason = f"its process is gone and nobody saw why; continue with `recap runs resume {run.id}`"
            run.end("lost", reason, expected=state)

    def _escalate_stop(self, run_id: str, process: ProcessIdentity) -> None:
        """Wait for the run's own stop, then signal its process group, then kill."""
        moment = time.monotonic()
        waited = moment - self._stopping_since.setdefault(run_id, moment)
        if waited > self.settings.stop_seconds + self.settings.kill_seconds:
            process.send_to_group(signal.SIGKILL)
        elif waited > self.settings.stop_seconds:
            process.send_to_group(signal.SIGTERM)


def lower_priority(nice: int) -> list[str]:
    """Command prefix that lowers the priority; empty without the program `nice`. `nice` replaces itself by the command,
    so the process stays the same.
    """
    program = shutil.which("nice")
    return [program, "-n", str(nice)] if program and nice else []


def worker_command(run: RunFolder, attempt: int) -> list[str]:
    """The command that trains a run."""
    return [sys.executable, "-P", "-m", "recap.runs.execution.worker", str(run.path), str(attempt)]


def worker_environment(run: RunFolder) -> dict[str, str]:
    """The training's environment variables."""
    return os.environ | {HOME_VARIABLE: str(run.path.parent.parent), "PYTHONUNBUFFERED": "1"}


def start_detached(command: list[str], log: Path, folder: Path, environment: dict[str, str]) -> subprocess.Popen[bytes]:
    """Start a process that survives this one, in a folder; it writes to the end of ``log``."""
    with log.open("ab") as file:
        return subprocess.Popen(  # noqa: S603 # an argument list of our own words
            command,
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=file,
            cwd=folder,
            start_new_session=True,
            env=environment,
        )


def describe_exit(code: int, run: RunFolder) -> str:
    """Why a process ended and what to do, in words."""
    remedy = f"continue with `recap runs resume {run.id}`"
    if code >= 0:
        return f"its process ended with code {code}; see `recap runs logs {run.id}`, then {remedy}"
    try:
        name = signal.Signals(-code).name
    except ValueError:
        name = f"signal {-code}"
    reason = " (killed by someone, or the machine ran out of memory)" if name == "SIGKILL" else ""
    return f"its process was ended by {name}{reason}; {remedy}"
