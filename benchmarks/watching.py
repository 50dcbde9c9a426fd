"""What being watched costs a training: share of its time spent on heartbeats and stop questions.

    python benchmarks/watching.py [--epochs 60] [--threads 1]

Prints one JSON line. The tiny preset on a tiny dataset is the hardest case: its steps are the shortest. Meanwhile a
second process reads the run as the app does, once a second.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from recap.checkpoint import library_versions
from recap.data.dataset import Dataset
from recap.runs.execution.progress import ProgressWriter, StopQuestion
from recap.runs.store.process import ProcessIdentity
from recap.training.run import train
from tests.background import new_store, tiny_spec, walking_dataset

READER = """
import sys, time
from pathlib import Path
from recap.runs.store.description import describe_run
from recap.runs.store.run_folder import RunFolder
while True:
    describe_run(RunFolder(Path(sys.argv[1])))
    time.sleep(1.0)
"""


class Timed:
    """A hook that counts its own time, wall and CPU."""

    def __init__(self, hook: Callable[..., Any]) -> None:
        self.hook, self.seconds, self.cpu_seconds, self.calls = hook, 0.0, 0.0, 0

    def __call__(self, *arguments: Any) -> Any:
        wall, cpu = time.perf_counter(), time.thread_time()
        answer = self.hook(*arguments)
        self.seconds += time.perf_counter() - wall
        self.cpu_seconds += time.thread_time() - cpu
        self.calls += 1
        return answer


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epochs", type=int, default=60)
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    with tempfile.TemporaryDirectory() as name:
        data = Path(name) / "data"
        walking_dataset().save(data)
        store = new_store(Path(name))
        (run,) = store.add([tiny_spec(data, epochs=options.epochs)])
        run.change({"queued"}, "running", attempt=1, process=ProcessIdentity.current().model_dump())
        watch = Timed(ProgressWriter(run, 1, ProcessIdentity.current()).watch)
        stop = Timed(StopQuestion(run, 1, []))
        reader = subprocess.Popen([sys.executable, "-c", READER, str(run.path)])  # noqa: S603 # our own words
        config = run.read_spec().train_config()
        wall, cpu = time.perf_counter(), time.thread_time()
        try:
            train(
                Dataset.load(data),
                config,
                run.checkpoint,
                device=torch.device("cpu"),
                resume=True,
                watch=watch,
                stop=stop,
                journal_folder=run.path,
            )
        finally:
            reader.kill()
            reader.wait()
        wall, cpu = time.perf_counter() - wall, time.thread_time() - cpu
    hooks, hooks_cpu = watch.seconds + stop.seconds, watch.cpu_seconds + stop.cpu_seconds
    print(
        json.dumps(
            {
                "benchmark": "watching",
                "steps": watch.calls,
                "seconds": round(wall, 2),
                "hook_microseconds_a_step": round(hooks / watch.calls * 1e6, 1),
                "share_of_wall": round(hooks / wall, 5),
                "share_of_cpu": round(hooks_cpu / cpu, 5),
                "threads": options.threads,
                **library_versions(),
            }
        )
    )


if __name__ == "__main__":
    main()
