"""Runs with several processes, through torch's distributed launcher.

python -m recap.runs.execution.launcher agent LAUNCHER-OPTIONS... -m recap.runs.execution.launcher rank FOLDER ATTEMPT
"""

import ctypes
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Final

from recap.errors import RecapError
from recap.runs.execution.progress import STOP_RANKS
from recap.runs.store.run_folder import RunFolder
from recap.runs.store.spec import RunSpec

_POLL_SECONDS: Final = 0.2
_PR_SET_PDEATHSIG: Final = 1
_RESULT: Final = ".group_result"


def train_with_several_processes(run: RunFolder, spec: RunSpec, attempt: int, signals: list[int]) -> bool:
    """Start ``spec.processes`` ranks and wait; False if they were stopped. Raises RecapError: a rank failed; the log
    says why.
    """
    result, stop = run.path / _RESULT, run.path / STOP_RANKS
    result.unlink(missing_ok=True)
    stop.unlink(missing_ok=True)
    module = [sys.executable, "-P", "-m", "recap.runs.execution.launcher"]
    options = ["--standalone", "--nnodes=1", f"--nproc-per-node={spec.processes}", "--max-restarts=0"]
    rank = ["-m", "recap.runs.execution.launcher", "rank", str(run.path), str(attempt)]
    threads = str(spec.threads or run.read_state().threads or 1)
    agent = subprocess.Popen(  # noqa: S603 # an argument list of our own words
        [*module, "agent", *options, *rank],
        stdin=subprocess.DEVNULL,
        env={**os.environ, "OMP_NUM_THREADS": threads},
    )
    while agent.poll() is None:
        if signals and not stop.exists():
            stop.touch()
        time.sleep(_POLL_SECONDS)
    outcome = result.read_text(encoding="ascii") if result.is_file() else ""
    if outcome not in ("finished", "stopped"):
        raise RecapError(f"one of {spec.processes} processes failed; the log says why (`recap runs logs {run.id}`)")
    return outcome == "finished"


def launch(arguments: list[str]) -> int:
    """Run torch's launcher; end with the parent process."""
    _die_with_parent()
    from torch.distributed.run import main as torch_launcher

    torch_launcher(arguments)
    return 0


def train_as_rank(folder: str, attempt: str) -> int:
    """Train as one of several processes."""
    _die_with_parent()
    from recap.device import choose_device
    from recap.runs.execution.training import train_run
    from recap.training.group import join_group, leave_group

    run = RunFolder(Path(folder))
    spec = run.read_spec()
    device = choose_device(spec.device)
    if device.type == "cuda":
        device = choose_device(f"cuda:{os.environ.get('LOCAL_RANK', '0')}")
    group = join_group(device)
    try:
        finished = train_run(run, spec, int(attempt), [], group=group, device=device)
    finally:
        leave_group(group)
    if group.is_writer:
        (run.path / _RESULT).write_text("finished" if finished else "stopped", encoding="ascii")
    return 0


def _die_with_parent() -> None:
    """Ask Linux to end this process with its parent."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["agent", *options]:
            sys.exit(launch(options))
        case ["rank", folder, attempt]:
            sys.exit(train_as_rank(folder, attempt))
        case _:
            sys.exit(f"expected `agent OPTIONS...` or `rank FOLDER ATTEMPT`, got {' '.join(sys.argv[1:])!r}")
