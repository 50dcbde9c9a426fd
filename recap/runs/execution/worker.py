"""The process that trains one run: ``python -m recap.runs.execution.worker FOLDER ATTEMPT``.

A separate process survives the web server and the runner, and CUDA starts clean. A run with several processes starts
torch's launcher, ``worker agent LAUNCHER-OPTIONS...``, which starts each process, ``worker rank FOLDER ATTEMPT``.
"""

import ctypes
import os
import signal
import subprocess
import sys
import time
import traceback
from pathlib import Path
from typing import Final

from recap.errors import DivergenceError, RecapError
from recap.runs.execution.slurm import requeue
from recap.runs.store.files import RunSpec
from recap.runs.store.process import ProcessIdentity
from recap.runs.store.run_store import STOP_RANKS, RunFolder

_POLL_SECONDS: Final = 0.2
_PR_SET_PDEATHSIG: Final = 1


def main(arguments: list[str]) -> int:
    """Train a run and record how it ended; 0 unless it failed."""
    run, attempt = RunFolder(Path(arguments[0])), int(arguments[1])
    received = catch_signals()
    process = ProcessIdentity.current()
    if not run.claim(attempt, process):
        print(f"run {run.id} is not waiting for start {attempt} any more", flush=True)
        return 0
    try:
        finished = _train(run, attempt, received)
    except RecapError as error:
        print(f"recap: {error}", flush=True)
        run.end("failed", _for_runs(error, run), of_attempt=attempt)
        return 1
    except Exception as error:
        traceback.print_exc()
        reason = f"{type(error).__name__}: {error}; the log says more (`recap runs logs {run.id}`)"
        run.end("failed", reason, of_attempt=attempt)
        return 1
    if finished:
        run.end("finished", of_attempt=attempt)
    elif not (received and requeue(run, attempt)):
        run.end("stopped", _why_stopped(run, received), of_attempt=attempt)
    return 0


def catch_signals() -> list[int]:
    """Collect SIGTERM and SIGINT: the trainer finishes its step and saves."""
    received: list[int] = []
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda number, _: received.append(number))
    return received


def _train(run: RunFolder, attempt: int, received: list[int]) -> bool:
    spec = run.read_spec()
    if run.has_checkpoint:  # an earlier process died after it wrote the checkpoint
        return True
    if spec.processes > 1:
        return train_with_several_processes(run, spec, attempt, received)
    from recap.runs.execution.training import train_run

    return train_run(run, attempt, received)


def _why_stopped(run: RunFolder, received: list[int]) -> str | None:
    if run.read_state().state == "stopping" or not received:
        return None
    name = signal.Signals(received[0]).name
    return f"the process was stopped by {name}; continue with `recap runs resume {run.id}`"


def _for_runs(error: RecapError, run: RunFolder) -> str:
    message = str(error).replace("continue with --resume", f"continue with `recap runs resume {run.id}`")
    remedy = f"when that is fixed, continue with `recap runs resume {run.id}`"
    return message if "recap runs" in message or isinstance(error, DivergenceError) else f"{message}; {remedy}"


def train_with_several_processes(run: RunFolder, spec: RunSpec, attempt: int, signals: list[int]) -> bool:
    """Start ``spec.processes`` ranks and wait; False if they were stopped. Raises RecapError: a rank failed; the log
    says why.
    """
    stop = run.path / STOP_RANKS
    stop.unlink(missing_ok=True)
    module = [sys.executable, "-P", "-m", "recap.runs.execution.worker"]
    options = ["--standalone", "--nnodes=1", f"--nproc-per-node={spec.processes}", "--max-restarts=0"]
    rank = ["-m", "recap.runs.execution.worker", "rank", str(run.path), str(attempt)]
    threads = str(run.read_state().threads or 1)
    agent = subprocess.Popen(  # noqa: S603 # an argument list of our own words
        [*module, "agent", *options, *rank], stdin=subprocess.DEVNULL, env={**os.environ, "OMP_NUM_THREADS": threads}
    )
    while agent.poll() is None:
        if signals and not stop.exists():
            stop.touch()
        time.sleep(_POLL_SECONDS)
    if agent.returncode and not run.has_checkpoint:
        raise RecapError(f"one of {spec.processes} processes failed; the log says why (`recap runs logs {run.id}`)")
    return run.has_checkpoint


def train_as_rank(folder: str, attempt: str) -> None:
    """Train as one of several processes."""
    _die_with_parent()
    from recap.machine.device import choose_device
    from recap.runs.execution.training import train_run
    from recap.training.group import joined_group

    run = RunFolder(Path(folder))
    device = choose_device(run.read_spec().device)
    if device.type == "cuda":
        device = choose_device(f"cuda:{os.environ['LOCAL_RANK']}")
    with joined_group(device) as group:
        train_run(run, int(attempt), [], group, device)


def _die_with_parent() -> None:
    """Ask Linux to end this process with its parent."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["agent", *options]:
            _die_with_parent()
            from torch.distributed.run import main as torch_launcher

            torch_launcher(options)
        case ["rank", folder, attempt]:
            train_as_rank(folder, attempt)
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(0)  # in the usual end a thread of gloo may still abort the process
        case arguments:
            sys.exit(main(arguments))
