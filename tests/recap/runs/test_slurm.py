"""Slurm's programs, by stand-ins on the PATH: argument lists, states, stop, preemption, refusals."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from filelock import FileLock

from recap.runs.execution import control
from recap.runs.execution.control import RUNNER_LOCK
from recap.runs.execution.runner import Runner
from recap.runs.store.run_store import RunFolder, RunStore
from tests.background import new_store, tiny_spec, wait_for, wait_for_epoch
from tests.recap.runs import fake_slurm

SETTINGS = {
    "slurm": {"poll_seconds": 0.01, "partition": "short", "time_limit": "1:00:00", "extra": ["--qos=low; reboot"]}
}


@pytest.fixture
def cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A PATH that begins with the programs, and their memory."""
    programs, memory = tmp_path / "bin", tmp_path / "slurm"
    programs.mkdir()
    memory.mkdir()
    code = Path(fake_slurm.__file__).read_text()
    for name in ("sbatch", "scontrol", "scancel"):
        (programs / name).write_text(f"#!{sys.executable} -IS\n{code}")
        (programs / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("FAKE_SLURM", str(memory))
    monkeypatch.setattr(fake_slurm, "FOLDER", memory)
    return memory


@pytest.fixture
def store(tmp_path: Path) -> RunStore:
    return new_store(tmp_path / "home", **SETTINGS)


def queue_run(store: RunStore, dataset_folder: Path, **fields: object) -> tuple[RunFolder, Runner]:
    """A run that a runner in this process, moved by the test, has submitted."""
    (run,) = store.add([tiny_spec(dataset_folder, backend="slurm", **fields)])
    runner = Runner(store, list_gpus=list)
    runner.tick()
    return run, runner


def training_job(store: RunStore, dataset_folder: Path) -> tuple[RunFolder, Runner, subprocess.Popen[bytes]]:
    """A long run whose job has finished an epoch."""
    run, runner = queue_run(store, dataset_folder, epochs=400, overrides=["validate_every=400"])
    process = fake_slurm.start("100")
    wait_for_epoch(run, 1)
    return run, runner, process


def state_after_ticks(runner: Runner, run: RunFolder, *states: str) -> None:
    wait_for(lambda: (runner.tick(), run.read_state().state in states)[1], f"{states}")


@pytest.mark.slow
def test_a_job_from_submit_to_finish(cluster: Path, store: RunStore, dataset_folder: Path) -> None:
    """sbatch gets an argument list without any shell text; the job runs the same worker; its end is the run's."""
    wild = "'; touch /tmp/x; '\n$(reboot)"
    run, runner = queue_run(store, dataset_folder, notes=wild)
    state = run.read_state()
    assert state.slurm is not None and state.slurm.job_id == "100" and state.state == "queued"
    sbatch = json.loads((cluster / "calls").read_text().splitlines()[0])
    assert sbatch[:2] == ["sbatch", "--parsable"]
    assert {"--requeue", "--partition=short", "--time=1:00:00", "--qos=low; reboot", "--job-name=recap-1"} <= set(
        sbatch
    )
    assert not any("gpu" in word for word in sbatch) and not any("reboot)" in word for word in sbatch)
    assert sbatch[-4:] == ["-m", "recap.runs.execution.worker", str(run.path), "1"]
    assert (run.path / "job.sh").read_text() == '#!/bin/sh\nexec "$@"\n'
    runner.tick()
    assert run.read_state().state == "queued"
    process = fake_slurm.start("100")
    state_after_ticks(runner, run, "running", "finished")
    assert process.wait(120) == 0, run.log.read_text()
    assert run.read_state().state == "finished" and len(run.read_metrics()) == 4
    assert not runner.tick(), "nothing is left to look after"


def test_gpus_are_asked_for(cluster: Path, store: RunStore, dataset_folder: Path) -> None:
    """Two processes ask for two GPUs and twice the cores."""
    queue_run(store, dataset_folder, device="cuda", processes=2)
    sbatch = json.loads((cluster / "calls").read_text().splitlines()[0])
    assert {"--gpus=2", "--cpus-per-task=4"} <= set(sbatch)


@pytest.mark.slow
def test_preempted_requeued_stopped(cluster: Path, store: RunStore, dataset_folder: Path) -> None:
    """A preempted job saves, waits again, and goes on with the same attempt; a stop reaches it and it stays stopped."""
    run, runner, process = training_job(store, dataset_folder)
    state_after_ticks(runner, run, "running")
    job = fake_slurm.read("100")
    assert job is not None
    fake_slurm.write(job | {"state": "PREEMPTED", "restarts": 1, "submitted": "2030-01-01T00:09:00"})
    os.kill(process.pid, signal.SIGTERM)
    assert process.wait(60) == 0
    assert run.read_state().state == "queued", run.log.read_text()
    done = len(run.read_metrics())
    fake_slurm.write(job | {"state": "PENDING", "restarts": 1, "submitted": "2030-01-01T00:09:00"})
    runner.tick()
    process = fake_slurm.start("100")
    state_after_ticks(runner, run, "running")
    wait_for_epoch(run, done + 1)
    control.stop(RunStore(store.folder), run)
    wait_for(lambda: (runner.tick(), process.poll() is not None)[1], "the job to end")
    assert run.read_state().state == "stopped" and run.read_state().attempt == 1


@pytest.mark.slow
def test_a_job_near_its_time_limit_requeues_itself(cluster: Path, store: RunStore, dataset_folder: Path) -> None:
    """Slurm's warning signal: the job saves, asks for its own requeue, and the run waits."""
    run, runner, process = training_job(store, dataset_folder)
    os.kill(process.pid, signal.SIGTERM)
    assert process.wait(60) == 0
    assert run.read_state().state == "queued", run.log.read_text()
    job = fake_slurm.read("100")
    assert job is not None and job["state"] == "PENDING" and job["restarts"] == 1
    runner.tick()
    assert run.read_state().state == "queued" and run.read_state().slurm is not None


def test_a_waiting_job_is_cancelled(cluster: Path, store: RunStore, dataset_folder: Path) -> None:
    """Stopping a job that has not begun leaves nothing behind in Slurm's queue."""
    run, runner = queue_run(store, dataset_folder)
    with FileLock(store.folder / RUNNER_LOCK):  # the test is the runner
        assert control.stop(store, run).state == "stopping"
    runner.tick()
    assert run.read_state().state == "stopped"
    job = fake_slurm.read("100")
    assert job is not None and job["state"] == "CANCELLED"


@pytest.mark.parametrize(
    ("change", "state", "message"),
    [
        ({"state": "TIMEOUT"}, "failed", "Slurm ended its job (TIMEOUT)"),
        ({"state": "NODE_FAIL"}, "failed", "Slurm ended its job (NODE_FAIL)"),
        (None, "lost", "Slurm does not know its job any more"),
        ({"submitted": "2031-05-05T00:00:00", "state": "RUNNING"}, "lost", "does not know its job"),
    ],
    ids=["time limit", "node failed", "forgotten", "number used again"],
)
def test_jobs_that_end_without_a_word(
    cluster: Path,
    store: RunStore,
    dataset_folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    change: dict | None,
    state: str,
    message: str,
) -> None:
    """What Slurm says becomes the run's state; a job of the same number and another submit time is a stranger."""
    monkeypatch.setattr("recap.runs.execution.slurm._GONE_GRACE_SECONDS", 0.0)
    run, runner = queue_run(store, dataset_folder)
    job = fake_slurm.read("100")
    assert job is not None
    if change is None:
        fake_slurm.job_file("100").unlink()
    else:
        fake_slurm.write(job | change)
    state_after_ticks(runner, run, state)
    assert message in (run.read_state().error or "")


def test_slurms_refusal_is_the_runs_reason(cluster: Path, store: RunStore, dataset_folder: Path) -> None:
    """What sbatch says stands next to the failed run."""
    (cluster / "refuse").touch()
    run, _ = queue_run(store, dataset_folder)
    assert run.read_state().state == "failed"
    assert run.read_state().error == "sbatch refused: sbatch: error: Invalid account"


def test_without_slurm_the_run_says_so(
    store: RunStore, dataset_folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    run, _ = queue_run(store, dataset_folder)
    assert "sbatch is not on the PATH" in (run.read_state().error or "")
