"""A real Slurm on one node (see `one_node.sh`): submit, logs, stop, preemption and requeue. Skipped without one."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from recap.runs.execution import control
from recap.runs.store.run_store import RunFolder, RunStore
from tests.background import (
    new_store,
    recap,
    recap_json,
    runner_process,
    tiny_spec,
    wait_for,
    wait_for_epoch,
    wait_until_over,
)
from tests.tiny import WORDS


def slurm_answers() -> bool:
    if shutil.which("sinfo") is None:
        return False
    answer = subprocess.run(["sinfo", "--noheader"], capture_output=True, text=True, timeout=60, check=False)
    return answer.returncode == 0 and "low" in answer.stdout


pytestmark = [pytest.mark.slow, pytest.mark.skipif(not slurm_answers(), reason="no Slurm; see tests/slurm/one_node.sh")]

SETTINGS = {"slurm": {"poll_seconds": 0.5, "partition": "low", "cpus": 1}}
LONG = {"epochs": 3000, "overrides": ["validate_every=3000", "save_every_seconds=1"]}


@pytest.fixture
def store(tmp_path: Path) -> RunStore:
    return new_store(tmp_path / "home", **SETTINGS)


def submit(store: RunStore, dataset_folder: Path, **fields: object) -> RunFolder:
    (run,) = control.submit(store, [tiny_spec(dataset_folder, backend="slurm", **fields)])
    return run


def job_state(run: RunFolder) -> str:
    slurm = run.read_state().slurm
    assert slurm is not None
    command = ["squeue", "--noheader", "--states=all", f"--jobs={slurm.job_id}", "--format=%T"]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False).stdout.strip()


def test_submit_logs_finish(store: RunStore, dataset_folder: Path) -> None:
    """From the command line: the job trains, its log is read as anyone's, its checkpoint is the run's."""
    home = store.folder.parent
    queued = {"id": "1", "state": "queued"}
    submitted = recap_json(home, "runs", "submit", dataset_folder, *WORDS, "--device", "cpu", "--slurm")
    assert submitted == queued | {"runs": [queued]}
    followed = recap(home, "runs", "logs", "-f", "1")
    assert "epoch 4 of 4" in followed.stdout, followed.stdout + followed.stderr
    shown = recap_json(home, "runs", "show", "1")
    assert shown["state"] == "finished" and shown["epoch"] == 4 and Path(shown["checkpoint"]).is_dir()
    assert shown["device"].startswith("Slurm job ")


def test_stop_and_resume(store: RunStore, dataset_folder: Path) -> None:
    """A stopped job has saved; resumed, it is a new job that goes on."""
    run = submit(store, dataset_folder, **LONG)
    wait_for_epoch(run, 2)
    control.stop(store, run)
    assert wait_until_over(run) == "stopped"
    first = run.read_state().slurm
    done = len(run.read_metrics())
    control.resume(store, run)
    wait_for_epoch(run, done + 1)
    wait_for(lambda: run.read_state().state == "running", "the state to say so")
    second = run.read_state().slurm
    assert first is not None and second is not None and first.job_id != second.job_id
    control.stop(store, run)
    assert wait_until_over(run) == "stopped"


def test_preempted_and_requeued(store: RunStore, dataset_folder: Path, tmp_path: Path) -> None:
    """A job of the high partition takes the node; the run waits as queued, then goes on as the same job."""
    run = submit(store, dataset_folder, **LONG)
    wait_for_epoch(run, 2)
    wait_for(lambda: run.read_state().state == "running", "the state to say so")
    script = tmp_path / "job.sh"
    script.write_text('#!/bin/sh\nexec "$@"\n')
    options = ["--parsable", "--partition=high", "--exclusive", "--output=/dev/null"]
    command = ["sbatch", *options, str(script), "sleep", "8"]
    subprocess.run(command, check=True, capture_output=True, timeout=60, env=os.environ)
    wait_for(lambda: run.read_state().state == "queued", "the preempted run to wait again", 120)
    done = len(run.read_metrics())
    before = run.read_state().slurm
    assert before is not None
    wait_for(lambda: job_state(run) == "PENDING", "Slurm to requeue the job")
    # Slurm lets a requeued job wait two minutes; a test need not.
    update = ["scontrol", "update", f"JobId={before.job_id}", "StartTime=now"]
    subprocess.run(update, check=True, capture_output=True, timeout=60)
    wait_for(lambda: job_state(run) == "RUNNING", "Slurm to start the job again", 240)
    wait_for_epoch(run, done + 1)
    wait_for(lambda: run.read_state().state == "running", "the state to say so")
    after = run.read_state()
    assert after.slurm == before and after.attempt == 1
    epochs = [line["epoch"] for line in run.read_metrics()]
    assert epochs == list(range(1, len(epochs) + 1)), "no epoch twice, none missing"
    control.stop(store, run)
    assert wait_until_over(run) == "stopped"
    runner = runner_process(store)
    if runner is not None:
        wait_for(lambda: not runner.is_alive(), "the runner to leave", 60)
    assert json.loads((run.path / "state.json").read_text())["state"] == "stopped"
