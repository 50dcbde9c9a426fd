"""Random kill -9 of trainer, runner and app during runs: are states true, epochs kept, and resumed bits equal?

    python -m tests.chaos.random_kills [--kills 50] [--seed 0] [--epochs 60]

Prints one JSON line. The app is stood in for by a process that does what the app does to runs: it submits, and looks
after the runner twice a second.
"""

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import torch

from recap.data.dataset import Dataset
from recap.runs.execution import control
from recap.runs.store.process import ProcessIdentity
from recap.runs.store.run_folder import RunFolder
from recap.runs.store.run_store import RunStore
from recap.training.run import train
from tests.background import kill, new_store, runner_process, tiny_spec, wait_for, wait_until_over, walking_dataset

APP = """
import sys, time
from pathlib import Path
from recap.runs.execution.service import ensure_runner
from recap.runs.store.run_store import RunStore
store = RunStore(Path(sys.argv[1]))
while True:
    ensure_runner(store)
    time.sleep(0.5)
"""
TRUTH_SECONDS = 5.0
OVERRIDES = ["validate_every=1000", "save_every_seconds=0.5"]


def start_app(store: RunStore) -> ProcessIdentity:
    """An app-like process in a session of its own, as a terminal would start it."""
    process = subprocess.Popen([sys.executable, "-c", APP, str(store.folder)], start_new_session=True)
    identity = wait_for(lambda: ProcessIdentity.of(process.pid), "the app")
    assert identity is not None
    return identity


def is_true(run: RunFolder) -> bool:
    """Whether the state says what the processes say."""
    state = json.loads((run.path / "state.json").read_text())
    process = state["process"]
    alive = process is not None and ProcessIdentity.parse(process).is_alive()
    match state["state"]:
        case "running":
            return alive
        case "queued":
            return process is None
        case "failed" | "lost":
            return not alive and bool(state["error"])
        case other:
            return other == "finished" and not alive and run.has_checkpoint


def plain_training(dataset_folder: Path, epochs: int, folder: Path) -> bytes:
    """The weights of the uninterrupted training."""
    torch.set_num_threads(1)
    config = tiny_spec(dataset_folder, epochs=epochs, overrides=OVERRIDES).train_config()
    train(Dataset.load(dataset_folder), config, folder, device=torch.device("cpu"))
    return (folder / "model.safetensors").read_bytes()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--epochs", type=int, default=60)
    options = parser.parse_args()
    choose = random.Random(options.seed)  # noqa: S311 # moments of kills, no secret
    with tempfile.TemporaryDirectory() as name:
        home, data = Path(name), Path(name) / "data"
        walking_dataset().save(data)
        expected = plain_training(data, options.epochs, home / "plain")
        store = new_store(home, idle_seconds=2.0)
        app = start_app(store)
        killed = dict.fromkeys(("trainer", "runner", "app"), 0)
        wrong, lost_epochs, different, slowest = 0, 0, 0, 0.0
        run = None
        while sum(killed.values()) < options.kills:
            if run is None:
                (run,) = control.submit(store, [tiny_spec(data, epochs=options.epochs, overrides=OVERRIDES)])
            state = run.read_state()
            if state.state in ("failed", "lost"):
                control.resume(store, run)
            if state.state == "finished":
                different += (run.checkpoint / "model.safetensors").read_bytes() != expected
                run = None
                continue
            # At a random moment: while starting up, within an epoch, while writing.
            time.sleep(choose.uniform(0.0, 4.0))
            who = choose.choice(["trainer", "trainer", "runner", "app"])
            victim = {"trainer": run.read_state().process, "runner": runner_process(store), "app": app}[who]
            epochs_before = [line["epoch"] for line in run.read_metrics()]
            if victim is None or not kill(victim):
                continue
            killed[who] += 1
            moment = time.monotonic()
            if who == "app":
                app = start_app(store)
            wait_for(lambda v=victim: not v.is_alive(), "the kill")  # type: ignore[misc]
            while not is_true(run) and time.monotonic() - moment < TRUTH_SECONDS:
                time.sleep(0.02)
            slowest = max(slowest, time.monotonic() - moment)
            wrong += not is_true(run)
            epochs_after = [line["epoch"] for line in run.read_metrics()]
            lost_epochs += epochs_after[: len(epochs_before)] != epochs_before
        while run is not None and run.read_state().state != "finished":
            if wait_until_over(run) != "finished":
                control.resume(store, run)
        if run is not None:
            different += (run.checkpoint / "model.safetensors").read_bytes() != expected
        kill(app)
        finished = len(store.runs())
        last_runner = runner_process(store)
        if last_runner is not None:
            os.kill(last_runner.pid, signal.SIGTERM)
            wait_for(lambda: not last_runner.is_alive(), "the runner to leave")
    result = {
        "kills": sum(killed.values()),
        "killed": killed,
        "runs": finished,
        "wrong_states_after_5_s": wrong,
        "slowest_true_state_s": round(slowest, 2),
        "lost_finished_epochs": lost_epochs,
        "checkpoints_that_differ": different,
    }
    print(json.dumps(result))
    return int(bool(wrong or lost_epochs or different))


if __name__ == "__main__":
    sys.exit(main())
