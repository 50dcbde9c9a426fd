"""Commands of the library around models: train and evaluate."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Annotated, Any

import typer
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table

from recap.console import JsonFlag, SetOption, console, print_json, progress_console

commands = typer.Typer()


@commands.command()
def train(
    data: Annotated[Path, typer.Argument(help="A dataset folder.")],
    out: Annotated[Path, typer.Option("--out", help="Folder of the new checkpoint.")],
    preset: Annotated[str, typer.Option(help="Configuration to start from.")] = "quick",
    seed: Annotated[int | None, typer.Option(help="Seed; the preset's by default.")] = None,
    device: Annotated[str, typer.Option(help="auto, cpu, cuda or cuda:N.")] = "auto",
    epochs: Annotated[
        int | None, typer.Option(help="Another length; the curriculum's stages keep their share.")
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Continue a stopped training exactly; begin where there is none.")
    ] = False,
    assignments: SetOption = None,
    as_json: JsonFlag = False,
) -> None:
    """Train RECAP on a dataset and seal a checkpoint; Ctrl-C saves the state for --resume."""
    from recap.data.dataset import Dataset
    from recap.errors import ConfigError
    from recap.presets import train_preset
    from recap.training import run

    config = train_preset(preset)
    if epochs is not None:
        if epochs < 1:
            raise ConfigError(f"--epochs must be at least 1, got {epochs}")
        config = config.with_epochs(epochs)
    if seed is not None:
        config = config.override([f"seed={seed}"])
    config = config.override(assignments or [])
    chosen = run.choose_device(device)
    dataset = Dataset.load(data)
    with stop_on_signals() as stopped, _progress() as progress:
        bar = progress.add_task("", total=None, loss="", rate="")
        steps_done = 0

        def watch(report: Any) -> None:
            nonlocal steps_done
            steps_done += 1
            elapsed = progress.tasks[0].elapsed or 0.0
            progress.update(
                bar,
                description=f"Epoch {report.epoch} of {report.epochs}",
                total=report.epochs * report.steps,
                completed=(report.epoch - 1) * report.steps + report.step,
                loss=f"loss {report.loss:.3f}",
                rate=f"{steps_done / elapsed:.1f} steps/s" if elapsed else "",
            )

        checkpoint = run.train(
            dataset, config, out, device=chosen, resume=resume, watch=watch, stop=lambda: bool(stopped)
        )
    if checkpoint is None:
        progress_console.print(f"Stopped and saved. Continue with the same command and --resume ({out}).")
        raise typer.Exit(130)
    summary = checkpoint.read_summary()
    line = {
        "checkpoint": str(out),
        "epochs": summary["epochs"],
        "best_epoch": summary["best_epoch"],
        "val": {name: summary["val"][name] for name in ("hr1", "hr20", "ndcg20", "mrr")},
        "seconds": summary["seconds"],
        "reserved_gpu_bytes": summary["reserved_gpu_bytes"],
    }
    if not as_json:
        rows = {"recap": summary["test"], **summary["baselines"]}
        console.print(metrics_table(f"Test, protocol {summary['protocol']}", rows))
    print_json(line)


@commands.command()
def evaluate(
    data: Annotated[Path, typer.Option("--data", help="A dataset folder.")],
    checkpoint: Annotated[Path | None, typer.Argument(help="A checkpoint folder.")] = None,
    baseline: Annotated[str | None, typer.Option(help="A baseline instead of a checkpoint.")] = None,
    split: Annotated[str, typer.Option(help="train, val or test.")] = "test",
    protocol: Annotated[str, typer.Option(help="every_step, trajectory_last or user_last.")] = "every_step",
    records: Annotated[Path | None, typer.Option(help="Where the records go; the user's cache by default.")] = None,
    device: Annotated[str, typer.Option(help="auto, cpu, cuda or cuda:N.")] = "auto",
    as_json: JsonFlag = False,
) -> None:
    """Rank every case of a split, print metrics by group, and write one record per case."""
    import torch

    from recap import columns as c
    from recap.baselines.building import build_baseline
    from recap.checkpoint import Checkpoint
    from recap.data.dataset import Dataset
    from recap.errors import ConfigError
    from recap.evaluation.evaluate import evaluate as run_evaluation
    from recap.evaluation.records import records_file, write_records
    from recap.graph import TransitionGraph
    from recap.history import CheckinTensors
    from recap.scores import Scorer
    from recap.training.run import choose_device

    if (checkpoint is None) == (baseline is None):
        raise ConfigError("name either a checkpoint folder or --baseline, not both and not neither")
    if split not in c.SPLIT_NAMES:
        raise ConfigError(f"unknown split {split!r}; choose one of {', '.join(c.SPLIT_NAMES)}")
    chosen = choose_device(device)
    dataset = Dataset.load(data)
    scorer: Scorer
    with progress_console.status("Ranking every case"):
        graph = TransitionGraph.from_dataset(dataset)
        checkpoint_hash = None
        if checkpoint is not None:
            loaded = Checkpoint.load(checkpoint)
            scorer, checkpoint_hash = loaded.scorer(dataset, graph, chosen), loaded.hash
        else:
            assert baseline is not None
            chosen = torch.device("cpu")  # baselines count with scipy
            scorer = build_baseline(baseline, dataset, graph)
        evaluation = run_evaluation(
            scorer,
            dataset,
            graph,
            split=c.SPLIT_NAMES.index(split),
            protocol=protocol,  # type: ignore[arg-type]  # checked by build_cases
            checkins=CheckinTensors.from_dataset(dataset, chosen),
        )
        path = records or records_file(dataset.hash, checkpoint_hash or scorer.name, split, protocol)
        metadata = {
            "dataset_hash": dataset.hash,
            "checkpoint_hash": checkpoint_hash or "",
            "model": scorer.name,
            "split": split,
            "protocol": protocol,
        }
        write_records(evaluation.records, path, metadata)
    summary = evaluation.summary() | {"checkpoint_hash": checkpoint_hash, "split": split, "records": str(path)}
    if as_json:
        print_json(summary)
        return
    console.print(metrics_table(f"{split.capitalize()}, protocol {protocol}", {scorer.name: evaluation.metrics}))
    console.print(f"{evaluation.seconds:.1f} s. Records: {path}")


def metrics_table(title: str, rows: dict[str, dict[str, Any]]) -> Table:
    """Scorers by group with n and metrics; head and tail are over cases."""
    table = Table(title=title, title_justify="left")
    for heading in ("scorer", "cases", "n", "HR@1", "HR@5", "HR@10", "HR@20", "NDCG@20", "MRR"):
        table.add_column(heading, justify="left" if heading in ("scorer", "cases") else "right")
    for scorer, groups in rows.items():
        for group in ("all", "head", "tail", "unseen"):
            values = groups[group]
            cells = [
                "–" if values[name] is None else f"{values[name]:.4f}"
                for name in ("hr1", "hr5", "hr10", "hr20", "ndcg20", "mrr")
            ]
            table.add_row(scorer if group == "all" else "", group, f"{values['n']:,}", *cells)
    return table


def _progress() -> Progress:
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.fields[loss]}"),
        TextColumn("{task.fields[rate]}"),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
        console=progress_console,
        transient=True,
        disable=not progress_console.is_terminal,  # else it leaves an empty line on stderr
    )


@contextmanager
def stop_on_signals() -> Iterator[list[int]]:
    """Collect SIGINT and SIGTERM instead of dying, so that the trainer can finish its step and save."""
    received: list[int] = []

    def remember(number: int, _: FrameType | None) -> None:
        received.append(number)

    before = {number: signal.signal(number, remember) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield received
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
