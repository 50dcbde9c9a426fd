"""Commands of background runs: submit, list, show, logs, stop, resume, rm."""

import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer
from rich.markup import escape
from typer import Argument, Option

from app.cli.console import (
    JsonFlag,
    PresetOption,
    SetOption,
    console,
    pairs_table,
    print_json,
    progress_console,
    table_of,
)
from app.cli.options import DatasetArgument, DeviceOption, EpochsOption, answers
from recap.errors import ConfigError, RecapError
from recap.machine.printable import visible

if TYPE_CHECKING:
    from recap.runs.store.run_store import RunStore

runs = typer.Typer(help="Train in the background: submit, watch, stop, resume.")

_FOLLOW_SECONDS: Final = 0.5
RunId = Annotated[str, Argument(metavar="ID", help="A run's number.")]
RunIds = Annotated[list[str], Argument(metavar="ID...", help="Numbers of runs.")]


@runs.command()
@answers
def submit(
    data: DatasetArgument,
    preset: PresetOption = None,
    seeds: Annotated[list[int] | None, Option("--seed", help="A seed; repeat it for several runs.")] = None,
    epochs: EpochsOption = None,
    assignments: SetOption = None,
    grid: Annotated[
        list[str] | None, Option(metavar="FIELD=V,V", help="Values of a field; every combination is a run.")
    ] = None,
    device: DeviceOption = "auto",
    processes: Annotated[int, Option(help="Processes that share each batch, one GPU each.")] = 1,
    slurm: Annotated[bool, Option("--slurm", help="Train with Slurm.")] = False,
    notes: Annotated[str, Option(help="Shown with the run.")] = "",
) -> Iterator[Any]:
    """Queue a training; it runs in the background and survives this terminal."""
    from recap.presets import DEFAULT_PRESET
    from recap.runs.execution import control
    from recap.runs.store.run_store import RunStore
    from recap.runs.store.submission import build_specs

    store = RunStore.of_user()
    specs = build_specs(
        data,
        preset=preset or DEFAULT_PRESET,
        seeds=seeds,
        grid=grid,
        overrides=assignments,
        epochs=epochs,
        device=device,
        processes=processes,
        backend="slurm" if slurm else "local",
        notes=notes,
    )
    queued = [{"id": run.id, "state": run.read_state().state} for run in control.submit(store, specs)]
    yield _many(queued)
    for row, spec in zip(queued, specs, strict=True):
        console.print(f"Run {row['id']}: {escape(spec.title)}, {row['state']}")
    console.print(f"Watch with: recap runs logs -f {queued[0]['id']}")


@runs.command("list")
@answers
def list_runs() -> Iterator[Any]:
    """List all runs with their states."""
    from recap.runs.store.description import describe_briefly

    store = _awake_store()
    rows = [describe_briefly(run) for run in store.runs()]
    yield {"runs": rows}
    left = ("what", "data", "state", "notes")
    headings = ("run", "what", "data", "state", "epoch", "val HR@20", "notes")
    table = table_of(escape(f"Runs in {store.folder}"), *headings, left=left)
    for row in rows:
        best = row["best"]
        table.add_row(
            row["id"],
            escape(row["title"]),
            escape(row["dataset"]),
            row["state"],
            f"{row['epoch']} / {row['epochs'] or '?'}",
            "" if best is None else f"{best['hr20']:.3f}",
            escape(" ".join((row["error"] or row["notes"]).split())[:80]),
        )
    console.print(table)


@runs.command()
@answers
def show(run_id: RunId) -> Iterator[Any]:
    """Show one run: state, configuration, every epoch's metrics."""
    from recap.runs.store.description import best_epoch, describe_run

    run = _awake_store().get(run_id)
    described = describe_run(run)
    yield described
    best = best_epoch(described["metrics"])
    facts: dict[str, Any] = {name: described[name] for name in ("state", "created", "started", "ended")}
    facts["epoch"] = f"{described['epoch']} of {described['epochs'] or '?'}"
    facts |= {name: described[name] for name in ("pid", "host", "device", "checkpoint", "error") if described[name]}
    if best is not None:
        val = best["val"]["all"]
        shown = {"hr1": "HR@1", "hr20": "HR@20", "mrr": "MRR"}
        facts |= {f"best epoch {best['epoch']}, validation {label}": val[name] for name, label in shown.items()}
    if (spec := described["spec"]) is not None:
        facts |= {name: spec[name] for name in ("preset", "seed", "notes") if spec[name]}
    console.print(pairs_table(f"Run {run.id}", facts))


@runs.command()
def logs(
    run_id: RunId,
    follow: Annotated[bool, Option("--follow", "-f", help="Follow the log until the run ends.")] = False,
    as_json: JsonFlag = False,
) -> None:
    """Print a run's log."""
    from recap.runs.execution.logs import follow_log, read_log

    if follow and as_json:
        raise ConfigError("use either --json or -f, not both")
    run = _awake_store().get(run_id)
    text, offset = read_log(run)
    if as_json:
        print_json({"id": run.id, "state": run.read_state().state, "lines": text.splitlines()})
        return
    print(visible(text), end="", flush=True)
    if follow:
        for piece in follow_log(run, offset, lambda: time.sleep(_FOLLOW_SECONDS)):
            print(visible(piece), end="", flush=True)
        progress_console.print(f"Run {run.id} is {run.read_state().state}.")


@runs.command()
@answers
def stop(run_ids: RunIds) -> Iterator[Any]:
    """Stop runs: a running one saves its state first and can be resumed exactly."""
    from recap.runs.execution import control

    return _for_each(run_ids, lambda store, run: control.stop(store, run).state)


@runs.command()
@answers
def resume(run_ids: RunIds) -> Iterator[Any]:
    """Queue stopped, failed or lost runs again; they continue exactly where they were."""
    from recap.runs.execution import control

    return _for_each(run_ids, lambda store, run: control.resume(store, run).state)


@runs.command()
@answers
def rm(run_ids: RunIds) -> Iterator[Any]:
    """Delete runs that are over, with their checkpoints."""

    def remove(store: Any, run: Any) -> str:
        store.remove(run)
        return "removed"

    return _for_each(run_ids, remove)


def _awake_store() -> "RunStore":
    """The runs, after starting the runner if one waits; readable even if the disk refuses."""
    from recap.runs.execution.control import ensure_runner
    from recap.runs.store.run_store import RunStore

    store = RunStore.of_user()
    try:
        ensure_runner(store)
    except (OSError, RecapError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        progress_console.print(f"No runner can be started now ({reason}); these are the runs so far.", markup=False)
    return store


def _for_each(run_ids: list[str], act: Any) -> Iterator[Any]:
    from recap.runs.store.run_store import RunStore

    store = RunStore.of_user()
    # Check all numbers before acting on the first.
    runs = [store.get(run_id) for run_id in run_ids]
    done = [{"id": run.id, "state": act(store, run)} for run in runs]
    yield _many(done)
    for row in done:
        console.print(f"Run {row['id']}: {row['state']}")


def _many(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Runs as JSON: ``id`` and ``state`` of the first one, and all under ``runs``."""
    return {**rows[0], "runs": rows}
