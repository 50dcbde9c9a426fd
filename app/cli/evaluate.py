"""`recap evaluate`: rank every case of a split and print the accuracy."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.box import SIMPLE_HEAD
from rich.table import Table

from analysis.formatting import percent, signed
from app.cli.console import console, frame_table, plain_rows, progress_console, say_what_is_new, table_of
from app.cli.options import (
    DataOption,
    DeviceOption,
    GivenTimeOption,
    ModelArgument,
    ProtocolOption,
    SplitOption,
    answers,
    parse_split,
)
from app.headings import USER_HEADINGS

if TYPE_CHECKING:
    import pandas as pd

    from recap.checkpoint import Checkpoint
    from recap.data.dataset import Dataset
    from recap.evaluation.metrics import MetricsByGroup
    from recap.evaluation.scoring import Evaluation
    from recap.scores import Scorer


@answers
def evaluate(
    model: ModelArgument,
    data: DataOption,
    split: SplitOption = "test",
    protocol: ProtocolOption = "every_step",
    cases: Annotated[
        int | None, typer.Option(min=1, help="Rank a sample of this many cases, always the same one; all by default.")
    ] = None,
    records: Annotated[Path | None, typer.Option(help="File for the records; the user's cache by default.")] = None,
    by_user: Annotated[bool, typer.Option("--by-user", help="Also print each user's accuracy.")] = False,
    given_time: GivenTimeOption = False,
    device: DeviceOption = "auto",
) -> Iterator[Any]:
    """Rank the cases of a split and print metrics by group."""
    from recap.asking.open_model import open_model
    from recap.data.dataset import Dataset
    from recap.evaluation.records import records_file, records_metadata, write_records
    from recap.evaluation.scoring import evaluate as run_evaluation
    from recap.history.graph import TransitionGraph
    from recap.machine.device import choose_device

    number = parse_split(split)
    dataset = Dataset.load(data)
    with progress_console.status("Opening the model") as status:
        graph = TransitionGraph.from_dataset(dataset)
        asked: dict[str, Any] = {"device": choose_device(device), "given_time": given_time, "say": status.update}
        opened = open_model(model, dataset, graph=graph, **asked)
        scorer, known = opened.scorer, None if opened.is_baseline else opened.checkpoint
        status.update("Ranking every case")
        checkpoint_hash, options = (None, {}) if known is None else (known.hash, known.options)
        evaluation = run_evaluation(
            scorer,
            dataset,
            graph,
            split=number,
            protocol=protocol,  # type: ignore[arg-type]  # checked by build_cases
            checkins=opened.checkins,
            most=cases,
            temperature=opened.temperature,
        )
        drawn = None if evaluation.drawn_from is None else len(evaluation.records)
        of = (dataset.hash, checkpoint_hash or scorer.name, split, protocol)
        path = records or records_file(*of, drawn)
        facts: dict[str, Any] = {"options": options, "given_time": scorer.reads_target_time}
        metadata = records_metadata(*of, model=scorer.name, drawn_from=evaluation.drawn_from, **facts)
        write_records(evaluation.records, path, metadata)
    summary = evaluation.summary() | {"checkpoint_hash": checkpoint_hash, "split": split, "records": str(path)}
    summary |= facts
    if opened.match is not None:
        summary["new_to_checkpoint"] = {"users": opened.match.new_users, "places": opened.match.new_places}
    users = _by_user(evaluation.records, dataset) if by_user else None
    if users is not None:
        summary["users"] = plain_rows(users)
    say_what_is_new(opened.match)
    yield summary
    console.print(
        metrics_table(
            f"{split.capitalize()}, protocol {protocol}",
            {opened.label if given_time else scorer.name: evaluation.metrics},
        )
    )
    if users is not None:
        console.print(frame_table("Accuracy by user", users, USER_HEADINGS))
    _print_notes(evaluation, scorer, known)
    console.print(f"{evaluation.seconds:.1f} s. Records: {path}", markup=False)


def _print_notes(evaluation: "Evaluation", scorer: "Scorer", known: "Checkpoint | None") -> None:
    """What the numbers are of, and how far probabilities can be believed."""
    from recap.pretrained.checkpoint import PretrainedCheckpoint

    if evaluation.drawn_from is not None:
        console.print(f"A sample of {len(evaluation.records):,} of {evaluation.drawn_from:,} cases.")
    if isinstance(known, PretrainedCheckpoint):
        console.print(f"Curves learned in {known.learned_on}.", markup=False)
    if scorer.reads_target_time:
        console.print("It was given the time of each next check-in.")
    if evaluation.probabilities is not None:
        console.print(
            _probability_lines(evaluation.probabilities, is_unfitted=known is not None and known.is_unfitted),
            highlight=False,
        )


def _probability_lines(summary: "dict[str, Any]", *, is_unfitted: bool) -> str:
    from recap.probabilities import NOT_FITTED

    line = (
        f"Probabilities: calibration error {summary['calibration_error']:.3f}, mean log-likelihood "
        f"{signed(summary['log_likelihood'], 3)}. The list that holds 90 % has {summary['list_90']:,.0f} places "
        f"(median) and {percent(summary['inside_90'])} of the true ones."
    )
    return f"{line} {NOT_FITTED}" if is_unfitted else line


def _by_user(records: "pd.DataFrame", dataset: "Dataset") -> "pd.DataFrame":
    """Each user's accuracy, by own id."""
    from analysis.long_tail.accuracy_tables import accuracy_by_user
    from analysis.workspace import Workspace

    opened, table = Workspace.of(dataset, shows_ids=True), accuracy_by_user(records, dataset.num_users)
    return table.assign(user_name=table["user"].map(opened.user_name))


def metrics_table(title: str, rows: "dict[str, MetricsByGroup]") -> Table:
    """Scorers by group with n and metrics."""
    from recap.evaluation.metrics import METRICS

    # Without frames, the table fits into 80 columns.
    headings = ("scorer", "cases", "n", "HR@1", "HR@5", "HR@10", "HR@20", "NDCG@20", "MRR")
    style = {"box": SIMPLE_HEAD, "padding": 0, "show_edge": False}
    table = table_of(title, *headings, left=("scorer", "cases"), **style)
    for scorer, groups in rows.items():
        for group, values in groups.items():
            cells = ["–" if (value := values[name]) is None else f"{value:.4f}" for name in METRICS]
            label = group.replace("_", " ").replace("24h", "24 h")
            table.add_row(scorer if group == "all" else "", label, f"{values['n']:,}", *cells)
    return table
