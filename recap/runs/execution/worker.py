"""The process that trains one run: ``python -m recap.runs.execution.worker FOLDER ATTEMPT``.

A separate process survives the web server and the runner, and CUDA starts clean.
"""

import signal
import sys
import traceback
from pathlib import Path
from types import FrameType

from recap.errors import DivergenceError, RecapError
from recap.runs.execution.slurm import requeue
from recap.runs.store.process import ProcessIdentity
from recap.runs.store.run_folder import RunFolder
from recap.runs.store.spec import RunSpec


def main(arguments: list[str]) -> int:
    """Train a run and record how it ended; 0 unless it failed."""
    run, attempt = RunFolder(Path(arguments[0])), int(arguments[1])
    received = catch_signals()
    process = ProcessIdentity.current()
    if not run.claim(attempt, process):
        print(f"run {run.id} is not waiting for start {attempt} any more", flush=True)
        return 0
    try:
        spec = run.read_spec()
        finished = _train(run, spec, attempt, received)
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

    def remember(number: int, _: FrameType | None) -> None:
        received.append(number)

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, remember)
    return received


def _train(run: RunFolder, spec: RunSpec, attempt: int, received: list[int]) -> bool:
    if spec.processes > 1 and not run.has_checkpoint:
        from recap.runs.execution.launcher import train_with_several_processes

        return train_with_several_processes(run, spec, attempt, received)
    from recap.runs.execution.training import train_run

    return train_run(run, spec, attempt, received)


def _why_stopped(run: RunFolder, received: list[int]) -> str | None:
    if run.read_state().state == "stopping" or not received:
        return None
    name = signal.Signals(received[0]).name
    return f"the process was stopped by {name}; continue with `recap runs resume {run.id}`"


def _for_runs(error: RecapError, run: RunFolder) -> str:
    message = str(error).replace("continue with --resume", f"continue with `recap runs resume {run.id}`")
    remedy = f"when that is fixed, continue with `recap runs resume {run.id}`"
    return message if "recap runs" in message or isinstance(error, DivergenceError) else f"{message}; {remedy}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
