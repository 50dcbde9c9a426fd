"""`recap evaluate`: rank every case of a split and print the accuracy."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich import box
from rich.table import Table

from app.cli.console import JsonFlag, console, print_json, progress_console
from app.cli.frames import frame_table, plain_rows
from app.cli.options import BaselineOption, DataOption, DeviceOption, MaybeCheckpoint, SplitOption, parse_split
from app.headings import USER_HEADINGS

if TYPE_CHECKING:
    import pandas as pd

    from recap.data.dataset import Dataset
    from recap.evaluation.metrics import MetricsByGroup


def evaluate(
    data: DataOption,
    checkpoint: MaybeCheckpoint = None,
    baseline: BaselineOption = None,
    split: SplitOption = "test",
    protocol: Annotated[str, typer.Option(help="every_step, trajectory_last or user_last.")] = "every_step",
    cases: Annotated[
        int | None, typer.Option(min=1, help="Rank a sample of this many cases, always the same one; all by default.")
    ] = None,
    records: Annotated[Path | None, typer.Option(help="File for the records; the user's cache by default.")] = None,
    by_user: Annotated[bool, typer.Option("--by-user", help="Also print each user's accuracy.")] = False,
    device: DeviceOption = "auto",
    as_json: JsonFlag = False,
) -> None:
    """Rank the cases of a split and print metrics by group."""
    import torch

    from recap.checkpoint import Checkpoint
    from recap.data.dataset import Dataset
    from recap.device import choose_device
    from recap.errors import ConfigError
    from recap.evaluation.evaluate import evaluate as run_evaluation
    from recap.evaluation.records import records_file, records_metadata, write_records
    from recap.graph import TransitionGraph
    from recap.history import CheckinTensors
    from recap.scores import Scorer
    from recap.training.baselines import build_baseline

    if (checkpoint is None) == (baseline is None):
        raise ConfigError("give a checkpoint folder or --baseline, not both")
    number = parse_split(split)
    chosen = choose_device(device)
    dataset = Dataset.load(data)
    scorer: Scorer
    with progress_console.status("Ranking every case"):
        graph = TransitionGraph.from_dataset(dataset)
        checkpoint_hash, options = None, dict[str, bool]()
        if checkpoint is not None:
            loaded = Checkpoint.load(checkpoint)
            scorer, checkpoint_hash, options = loaded.scorer(dataset, graph, chosen), loaded.hash, loaded.options
        else:
            assert baseline is not None
            chosen = torch.device("cpu")  # baselines count with scipy
            scorer = build_baseline(baseline, dataset, graph)
        evaluation = run_evaluation(
            scorer,
            dataset,
            graph,
            split=number,
            protocol=protocol,  # type: ignore[arg-type]  # checked by build_cases
            checkins=CheckinTensors.from_dataset(dataset, chosen),
            most=cases,
        )
        drawn = None if evaluation.drawn_from is None else len(evaluation.records)
        of = (dataset.hash, checkpoint_hash or scorer.name, split, protocol)
        path = records or records_file(*of, drawn)
        metadata = records_metadata(*of, model=scorer.name, drawn_from=evaluation.drawn_from, options=options)
        write_records(evaluation.records, path, metadata)
    summary = evaluation.summary() | {"checkpoint_hash": checkpoint_hash, "split": split, "records": str(path)}
    summary["options"] = options
    users = _by_user(evaluation.records, dataset) if by_user else None
    if users is not None:
        summary["users"] = plain_rows(users)
    if as_json:
        print_json(summary)
        return
    console.print(metrics_table(f"{split.capitalize()}, protocol {protocol}", {scorer.name: evaluation.metrics}))
    if users is not None:
        console.print(frame_table("Accuracy by user", users, USER_HEADINGS))
    if evaluation.drawn_from is not None:
        console.print(f"A sample of {len(evaluation.records):,} of {evaluation.drawn_from:,} cases.")
    if options.get("target_time"):
        console.print("It used the target's time: hour and weekday of the transition to predict.")
    console.print(f"{evaluation.seconds:.1f} s. Records: {path}", markup=False)


def _by_user(records: "pd.DataFrame", dataset: "Dataset") -> "pd.DataFrame":
    """Each user's accuracy, by own id."""
    from analysis.long_tail.accuracy_tables import accuracy_by_user
    from analysis.workspace import Workspace

    opened, table = Workspace.of(dataset, shows_ids=True), accuracy_by_user(records, dataset.num_users)
    return table.assign(user_name=table["user"].map(opened.user_name))


def metrics_table(title: str, rows: "dict[str, MetricsByGroup]") -> Table:
    """Scorers by group with n and metrics."""
    # Without frames, the table fits into 80 columns.
    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, padding=0, show_edge=False)
    for heading in ("scorer", "cases", "n", "HR@1", "HR@5", "HR@10", "HR@20", "NDCG@20", "MRR"):
        table.add_column(heading, justify="left" if heading in ("scorer", "cases") else "right")
    for scorer, groups in rows.items():
        for group in ("all", "head", "tail", "unseen"):
            values = groups[group]
            cells = [
                "–" if (value := values[name]) is None else f"{value:.4f}"
                for name in ("hr1", "hr5", "hr10", "hr20", "ndcg20", "mrr")
            ]
            table.add_row(scorer if group == "all" else "", group, f"{values['n']:,}", *cells)
    return table
