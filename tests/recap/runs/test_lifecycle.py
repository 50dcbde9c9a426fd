"""Real runners and trainings, in one process or several: how runs end, and that they continue exactly."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest
import torch

from recap.checkpoint import BEST_OVERALL_WEIGHTS, WEIGHTS, Checkpoint
from recap.data.dataset import Dataset
from recap.errors import RecapError
from recap.evaluation.records import read_records, records_file, records_metadata
from recap.runs.execution import control
from recap.runs.execution.control import ensure_runner, start_runner
from recap.runs.execution.runner import Runner
from recap.runs.execution.supervision import Supervisor
from recap.runs.store.description import describe_run
from recap.runs.store.estimates import estimate
from recap.runs.store.files import Lease, RunState
from recap.runs.store.process import ProcessIdentity
from recap.runs.store.run_store import RunFolder, RunStore
from recap.storage.atomic import replace_json
from recap.storage.tensors import load_tensors
from recap.training.loop import STATE_FILE
from recap.training.metrics_file import read_metrics
from recap.training.run import train
from tests.background import (
    kill,
    new_store,
    runner_process,
    runner_works,
    tiny_spec,
    wait_for,
    wait_for_epoch,
    wait_until_over,
    walking_dataset,
)
from tests.cli_runner import recap_json_here

LONG = ["validate_every=1000"]


def submit(store: RunStore, dataset_folder: Path, **fields: object) -> RunFolder:
    (run,) = control.submit(store, [tiny_spec(dataset_folder, **fields)])
    return run


def long_run(store: RunStore, dataset_folder: Path, epoch: int, epochs: int = 60) -> RunFolder:
    """A run of many epochs that has finished some of them."""
    run = submit(store, dataset_folder, epochs=epochs, overrides=LONG)
    wait_for_epoch(run, epoch)
    return run


@pytest.fixture(scope="module")
def uninterrupted(dataset_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The run's training without any runner, stop or crash: 60 epochs through the same `train`, one thread."""
    folder = tmp_path_factory.mktemp("plain") / "checkpoint"
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        config = tiny_spec(dataset_folder, epochs=60, overrides=LONG).train_config()
        train(Dataset.load(dataset_folder), config, folder, device=torch.device("cpu"))
    finally:
        torch.set_num_threads(threads)
    return folder


def assert_same_training(run: RunFolder, plain: Path) -> None:
    """Every weight and every epoch's losses and metrics are the same bits."""
    assert (run.checkpoint / "model.safetensors").read_bytes() == (plain / "model.safetensors").read_bytes()
    expected = read_metrics(plain / "training" / "metrics.jsonl")
    timed = ("seconds", "validation_seconds", "steps_per_second")
    assert [{k: v for k, v in line.items() if k not in timed} for line in run.read_metrics()] == [
        {k: v for k, v in line.items() if k not in timed} for line in expected
    ]


@pytest.mark.slow
def test_a_run_finishes_with_everything_next_to_it(
    store: RunStore, dataset_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """State, metrics, events, log, versions, checkpoint, summary and records, all readable without us."""
    monkeypatch.setenv("RECAP_HOME", str(store.folder.parent))
    run = submit(store, dataset_folder, notes="first")
    assert wait_until_over(run) == "finished", run.log.read_text()
    described = describe_run(run)
    assert (described["epoch"], described["epochs"], described["error"], described["pid"]) == (4, 4, None, None)
    assert described["checkpoint"] == str(run.checkpoint)
    assert Checkpoint.load(run.checkpoint).manifest.train == run.read_spec().train_config()
    for name in ("spec.json", "state.json", "env.json"):
        assert isinstance(json.loads((run.path / name).read_text()), dict)
    assert {"torch", "commit", "threads"} <= json.loads((run.path / "env.json").read_text()).keys()
    assert "epoch 4 of 4" in run.log.read_text()
    checkpoint = Checkpoint.load(run.checkpoint)
    of = (checkpoint.manifest.dataset_hash, checkpoint.hash, "test", "every_step")
    _, said = read_records(records_file(*of))
    assert said == records_metadata(*of, model="recap", options={"target_time": False})
    evaluated = recap_json_here("evaluate", run.checkpoint, "--data", dataset_folder)
    assert evaluated["records"] == str(records_file(*of)) and read_records(records_file(*of))[1] == said

    known = estimate(store, tiny_spec(dataset_folder), "cpu")
    assert known.seconds and known.bytes and known.basis == "From 1 past run on this machine's CPU."
    other = estimate(store, tiny_spec(dataset_folder, overrides=["model.hidden_dim=64"]), "cpu")
    assert other.seconds and other.basis.startswith("Scaled from 1 past run")
    assert estimate(store, tiny_spec(dataset_folder), "cuda").seconds is None


@pytest.mark.slow
def test_stopped_and_resumed_is_the_uninterrupted_training(
    store: RunStore, dataset_folder: Path, uninterrupted: Path
) -> None:
    """Stop saves inside an epoch and ends cleanly; resume continues to the same bits."""
    run = long_run(store, dataset_folder, 2)
    assert control.stop(store, run).state == "stopping"
    assert wait_until_over(run) == "stopped"
    done = run.read_metrics()
    assert 2 <= len(done) < 60 and describe_run(run)["checkpoint"] is None
    with pytest.raises(RecapError, match="run 1 is stopped: only queued and running runs can be stopped"):
        control.stop(store, run)
    assert control.resume(store, run).state == "queued"
    assert wait_until_over(run) == "finished", run.log.read_text()
    assert run.read_state().attempt == 2
    assert run.read_metrics()[: len(done)] == done, "finished epochs are kept as they were"
    assert_same_training(run, uninterrupted)
    with pytest.raises(RecapError, match="it is finished; submit a new one"):
        control.resume(store, run)


@pytest.mark.slow
def test_a_killed_training_is_failed_and_resumes_exactly(
    store: RunStore, dataset_folder: Path, uninterrupted: Path
) -> None:
    """kill -9 of the trainer: the runner says so, no finished epoch is lost, and the end has the same bits."""
    run = long_run(store, dataset_folder, 3)
    process = run.read_state().process
    assert process is not None and kill(process)
    assert wait_until_over(run, 5) == "failed"
    assert "SIGKILL" in (run.read_state().error or "") and "recap runs resume 1" in (run.read_state().error or "")
    done = run.read_metrics()
    control.resume(store, run)
    assert wait_until_over(run) == "finished", run.log.read_text()
    assert run.read_metrics()[: len(done)] == done
    assert_same_training(run, uninterrupted)


@pytest.mark.slow
def test_a_training_survives_its_runner_and_is_taken_over(
    store: RunStore, dataset_folder: Path, uninterrupted: Path
) -> None:
    """kill -9 of the runner: the same process goes on, the next command's runner watches it to its end."""
    run = long_run(store, dataset_folder, 1)
    first = wait_for(lambda: runner_process(store), "a runner")
    trainer = run.read_state().process
    assert first is not None and kill(first)
    wait_for(lambda: not runner_works(store), "the lock to fall", 5)
    assert trainer is not None and trainer.is_alive()
    assert ensure_runner(store)
    assert run.read_state().process == trainer
    assert wait_until_over(run) == "finished"
    assert run.read_state().attempt == 1
    assert_same_training(run, uninterrupted)


@pytest.mark.slow
def test_without_runner_and_trainer_a_run_is_lost_at_the_next_look(store: RunStore, dataset_folder: Path) -> None:
    """Nobody saw it end: the state says lost, at once, and the run can be resumed."""
    run = long_run(store, dataset_folder, 1)
    runner, trainer = runner_process(store), run.read_state().process
    assert runner is not None and trainer is not None
    assert kill(runner) and kill(trainer)
    wait_for(lambda: not runner_works(store) and not trainer.is_alive(), "both to be gone", 5)
    ensure_runner(store)
    assert run.read_state().state == "lost"
    assert "nobody saw why" in (run.read_state().error or "")
    control.resume(store, run)
    wait_for_epoch(run, 2)
    control.stop(store, run)
    assert wait_until_over(run) == "stopped"


def test_a_reused_pid_is_never_signalled(store: RunStore, dataset_folder: Path) -> None:
    """A stranger that got the pid of a dead trainer lives on, whatever is asked of the run."""
    stranger = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE, start_new_session=True)
    try:
        identity = ProcessIdentity.of(stranger.pid)
        assert identity is not None and identity.is_alive()
        for reused in (
            identity.model_copy(update={"start_time": identity.start_time - 1}),
            identity.model_copy(update={"boot_id": "another boot"}),
        ):
            assert not reused.is_alive()
            assert not reused.send_to_group(signal.SIGKILL)
            (run,) = store.add([tiny_spec(dataset_folder)])
            run.change({"queued"}, "running", attempt=1, process=reused.model_dump(), host=reused.host)
            control.stop(store, run)
            assert run.read_state().state == "stopped"
        assert stranger.poll() is None
    finally:
        stranger.kill()
        stranger.communicate()


@pytest.mark.slow
def test_of_two_runners_one_works(store: RunStore, dataset_folder: Path) -> None:
    """Started at the same moment on a full queue, one takes the runs and the other leaves; each run starts once."""
    runs = store.add([tiny_spec(dataset_folder, epochs=60, overrides=LONG), tiny_spec(dataset_folder)])
    processes = [ProcessIdentity.of(start_runner(store.folder)) for _ in range(3)]
    wait_for_epoch(runs[0], 1)
    wait_for(lambda: sum(p is not None and p.is_alive() for p in processes) == 1, "one runner to be left", 15)
    assert runs[1].read_state().state == "queued", "one training on the CPU at a time"
    for run in runs:
        control.stop(store, run)
    assert [wait_until_over(run) for run in runs] == ["stopped", "stopped"]
    assert runs[0].read_state().attempt == 1 and runs[1].read_state().attempt == 0


@pytest.mark.slow
def test_the_changed_dataset_fails_the_run(store: RunStore, tmp_path: Path) -> None:
    """A run trains on what it was queued for, or not at all."""
    folder = tmp_path / "data"
    walking_dataset(days=20).save(folder)
    spec = tiny_spec(folder)
    walking_dataset(days=20, seed=1).save(folder)
    (run,) = control.submit(store, [spec])
    assert wait_until_over(run) == "failed"
    assert "when the run was queued" in (run.read_state().error or "")


@pytest.mark.slow
def test_a_deleted_run_folder_ends_its_process_and_comes_not_back(store: RunStore, dataset_folder: Path) -> None:
    """Deleting the folder by hand stops the training; the queue goes on."""
    run = long_run(store, dataset_folder, 1, epochs=2000)
    trainer = run.read_state().process
    run.path.rename(run.path.with_name(".aside"))
    other = submit(store, dataset_folder)
    wait_for(lambda: not trainer.is_alive(), "the training to end", 30)
    assert wait_until_over(other) == "finished"
    assert [found.id for found in store.runs()] == [other.id]


@pytest.mark.slow
def test_a_stubborn_process_is_killed_with_its_group(tmp_path: Path, dataset_folder: Path) -> None:
    """A training that hears nothing is signalled, then killed, and the run is stopped."""
    store = new_store(tmp_path / "home", stop_seconds=0.2, kill_seconds=0.2)
    run = long_run(store, dataset_folder, 1, epochs=2000)
    trainer = run.read_state().process
    os.kill(trainer.pid, signal.SIGSTOP)
    control.stop(store, run)
    assert wait_until_over(run, 20) == "stopped"
    assert "SIGKILL" in (run.read_state().error or "") and not trainer.is_alive()


@pytest.mark.slow
def test_a_truncated_state_under_a_live_training_heals(store: RunStore, dataset_folder: Path) -> None:
    """The process is known from its heartbeat, and the run ends as it should."""
    run = long_run(store, dataset_folder, 2)
    (run.path / "state.json").write_text("")
    described = describe_run(run)
    assert described["state"] == "running" and described["pid"] == run.read_progress()["process"]["pid"]
    assert wait_until_over(run) == "finished"
    wait_for(lambda: json.loads((run.path / "state.json").read_text() or "{}"), "the state to be written again", 10)


@pytest.mark.slow
def test_a_full_disk_fails_the_run_and_keeps_what_was_there(store: RunStore, dataset_folder: Path) -> None:
    """Files may grow to 40 kB only: the first checkpoint does not fit, the run says so and the queue goes on."""
    (run,) = store.add([tiny_spec(dataset_folder)])
    code = (
        "import resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (40000, 40000)); "
        "from recap.runs.execution.runner import main; sys.exit(main(sys.argv[1:]))"
    )
    process = subprocess.Popen([sys.executable, "-c", code, str(store.folder)], start_new_session=True)
    assert wait_until_over(run) == "failed"
    assert process.wait(60) == 0
    error = run.read_state().error or ""
    assert "File too large" in error and "previous file stays" in error
    control.resume(store, run)
    assert wait_until_over(run) == "finished", "with room again it goes on"


@pytest.mark.slow
def test_the_queue_is_looked_at_cheaply(store: RunStore, dataset_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Five hundred waiting runs behind one that works: all stay queued, and only that one is read twice."""
    store.add([tiny_spec(dataset_folder)] * 500)
    replace_json(store.folder / "settings.json", {"poll_seconds": 0.05})
    runner = Runner(store, list_gpus=list)
    first, identity = store.runs()[0], ProcessIdentity.current()
    first.change({"queued"}, "running", attempt=1, process=identity.model_dump(), host=identity.host)
    assert runner.tick()
    reads: list[str] = []
    original = RunFolder.read_state

    def counted(run: RunFolder) -> RunState:
        reads.append(run.id)
        return original(run)

    with monkeypatch.context() as patch:
        patch.setattr(RunFolder, "read_state", counted)
        assert runner.tick()
    assert set(reads) == {"1"}
    assert sum(run.read_state().state == "queued" for run in store.runs()) == 499


@pytest.mark.parametrize("nice", [7, 0])
def test_a_training_gives_way_to_the_page_and_can_be_ended_while_it_starts(
    tmp_path: Path, dataset_folder: Path, nice: int
) -> None:
    """Its priority is below that of whoever starts it; SIGTERM before it listens ends it, and is no failure."""
    store = new_store(tmp_path / "home", nice=nice)
    (run,) = store.add([tiny_spec(dataset_folder)])
    supervisor = Supervisor(store.settings())
    state = supervisor.start(run, run.read_state(), Lease(kind="cpu", name="processor"))
    assert state is not None and state.process is not None
    pid, lower = state.process.pid, min(19, os.getpriority(os.PRIO_PROCESS, 0) + nice)
    wait_for(lambda: os.getpriority(os.PRIO_PROCESS, pid) == lower, "its priority", 10)
    os.kill(pid, signal.SIGTERM)

    def has_ended() -> bool:
        supervisor.reconcile(run, run.read_state())
        return run.read_state().state != "running"

    wait_for(has_ended, "its end")
    assert run.read_state().state == "stopped" and "SIGTERM" in str(run.read_state().error)


DROPOUT = ["model.dropout=0.2", "model.embedding_dropout=0.3", "model.output_dropout=0.3"]


def best_overall(checkpoint: Path) -> Path:
    """The best weights of all epochs; a file of their own where they are not the kept ones."""
    own = checkpoint / BEST_OVERALL_WEIGHTS
    return own if own.is_file() else checkpoint / WEIGHTS


@pytest.mark.slow
def test_two_processes_equal_one(store: RunStore, dataset_folder: Path) -> None:
    """Two gloo processes through torch's launcher: losses, metrics and weights agree within float tolerance.

    With dropout everywhere, and a last batch of an epoch that holds one case: the second process has none.
    """
    cases = tiny_spec(dataset_folder).cases
    batch_size = next(size for size in range(40, cases) if cases % size == 1)
    common = {"overrides": [*DROPOUT, f"batch_size={batch_size}"]}
    runs = control.submit(store, [tiny_spec(dataset_folder, processes=n, **common) for n in (1, 2)])
    for run in runs:
        assert wait_until_over(run, 240) == "finished", run.log.read_text()
    single, shared = (run.read_metrics() for run in runs)
    assert len(single) == len(shared) == 4
    for one, two in zip(single, shared, strict=True):
        assert two["loss"]["main"] == pytest.approx(one["loss"]["main"], rel=1e-5)
        assert two["loss"]["warm"] == pytest.approx(one["loss"]["warm"], rel=1e-5)
        assert two["val"]["all"]["mrr"] == pytest.approx(one["val"]["all"]["mrr"], abs=0.02)
    weights = [load_tensors(best_overall(run.checkpoint))[0] for run in runs]
    for name, tensor in weights[0].items():
        assert (tensor - weights[1][name]).abs().max() < 2e-3, name


@pytest.mark.slow
def test_a_shared_run_stops_resumes_and_leaves_nobody_behind(store: RunStore, dataset_folder: Path) -> None:
    """Stop ends all processes; so does kill -9 of the first one; a resumed run goes on."""
    run = submit(store, dataset_folder, processes=2, epochs=400, overrides=["validate_every=400"])
    wait_for_epoch(run, 1)
    control.stop(store, run)
    assert wait_until_over(run) == "stopped", run.log.read_text()
    done = len(run.read_metrics())
    control.resume(store, run)
    wait_for_epoch(run, done + 1)
    first = run.read_state().process
    assert first is not None
    ranks = psutil.Process(first.pid).children(recursive=True)
    assert len(ranks) >= 3, "the launcher and two processes"
    assert kill(first)
    assert wait_until_over(run, 20) == "failed"
    wait_for(lambda: not any(p.is_running() and p.status() != psutil.STATUS_ZOMBIE for p in ranks), "all to end", 20)


@pytest.mark.slow
@pytest.mark.parametrize("processes", [1, 2])
def test_a_diverged_run_fails_and_is_not_asked_to_resume(store: RunStore, dataset_folder: Path, processes: int) -> None:
    """The error names the learning rate and no command that would come to the same end; all say so, none saves."""
    overrides = ["optimiser.learning_rate=1e30", "validate_every=4"]
    run = submit(store, dataset_folder, processes=processes, overrides=overrides)
    assert wait_until_over(run) == "failed"
    error = run.read_state().error or ""
    assert processes > 1 or (error.endswith("lower learning rate") and "resume" not in error)
    assert processes == 1 or run.log.read_text().count("DivergenceError: the loss") == 2
    assert not list(run.path.rglob(STATE_FILE))
