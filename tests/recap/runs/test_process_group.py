"""Several processes share a training and come to one process's numbers; a stop and a kill leave nobody behind."""

from pathlib import Path

import psutil
import pytest

from recap.checkpoint import BEST_OVERALL_WEIGHTS, WEIGHTS
from recap.runs.execution import control
from recap.runs.store.run_store import RunStore
from recap.storage.tensors import load_tensors
from recap.training.loop import STATE_FILE
from tests.background import kill, tiny_spec, wait_for, wait_for_epoch, wait_until_over

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
    (run,) = control.submit(
        store, [tiny_spec(dataset_folder, processes=2, epochs=400, overrides=["validate_every=400"])]
    )
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
def test_a_diverged_shared_run_fails_in_all_processes(store: RunStore, dataset_folder: Path) -> None:
    """Both say so and end; the run is failed, and nothing was saved."""
    overrides = ["optimiser.learning_rate=1e30", "validate_every=4"]
    (run,) = control.submit(store, [tiny_spec(dataset_folder, processes=2, overrides=overrides)])
    assert wait_until_over(run) == "failed"
    assert run.log.read_text().count("DivergenceError: the loss") == 2
    assert not list(run.path.rglob(STATE_FILE))
