"""Submit, stop, resume and remove runs."""

from recap.errors import RecapError
from recap.runs.execution.service import ensure_runner
from recap.runs.store.run_folder import RunFolder
from recap.runs.store.run_store import RunStore
from recap.runs.store.spec import RunSpec
from recap.runs.store.state import RESUMABLE, RunState, now


def submit(store: RunStore, specs: list[RunSpec]) -> list[RunFolder]:
    """Queue runs and start a runner if none works. Raises ReadOnlyError if the store only shows runs."""
    runs = store.add(specs)
    ensure_runner(store)
    return runs


def stop(store: RunStore, run: RunFolder) -> RunState:
    """Take a run off the queue, or let it save its state and end. Raises ReadOnlyError: the store only shows runs;
    RecapError: the run is over.
    """
    store.check_writable("stop a run")
    if run.read_state().slurm is None:
        dequeued = run.change({"queued"}, "stopped", ended=now(), error=None)
        if dequeued is not None:
            return dequeued
    stopping = run.change({"running", "queued"}, "stopping")
    if stopping is None:
        stopping = run.read_state()
        if stopping.state != "stopping":
            raise RecapError(f"run {run.id} is {stopping.state}: only queued and running runs can be stopped")
    ensure_runner(store)
    return stopping


def resume(store: RunStore, run: RunFolder) -> RunState:
    """Queue a stopped, failed or lost run again; it continues from its last saved state. Raises ReadOnlyError: the
    store only shows runs; RecapError: the run is not over, or is finished, or its spec cannot be used.
    """
    store.check_writable("resume a run")
    run.read_spec().train_config()
    queued = run.change(set(RESUMABLE), "queued", ended=None, error=None, process=None, device=None, slurm=None)
    if queued is None:
        state = run.read_state().state
        remedy = "it is finished; submit a new one"
        remedy = remedy if state == "finished" else "only stopped, failed and lost runs can be resumed"
        raise RecapError(f"run {run.id} is {state}: {remedy}")
    ensure_runner(store)
    return queued


def write_notes(store: RunStore, run: RunFolder, notes: str) -> None:
    """Replace a run's notes. Raises ReadOnlyError: the store only shows runs; ConfigError: longer than allowed."""
    store.check_writable("change notes")
    run.write_notes(notes)
