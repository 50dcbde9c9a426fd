"""`recap sanity`: do explanations depend on what was learned, and would other seeds or placebos say the same?"""

from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from app.cli.causes import CheckpointArgument, DataOption, progress_line
from app.cli.console import JsonFlag, console, print_json, progress_console

commands = typer.Typer()


@commands.command()
def sanity(
    checkpoint: CheckpointArgument,
    data: DataOption,
    train_seeds: Annotated[
        int | None, typer.Option(min=2, help="Train siblings until there are so many seeds, its own among them.")
    ] = None,
    permute_labels: Annotated[
        bool, typer.Option("--permute-labels", help="Also train once on permuted labels.")
    ] = False,
    cases: Annotated[int, typer.Option(min=1, help="How many random test cases.")] = 200,
    seed: Annotated[int, typer.Option(help="Seed of the sample, the placebos and the permutations.")] = 0,
    device: Annotated[str, typer.Option(help="Of the trainings: auto, cpu, cuda or cuda:N.")] = "auto",
    out: Annotated[Path | None, typer.Option(help="Also write the model card's section.")] = None,
    as_json: JsonFlag = False,
) -> None:
    """Check explanations against permuted weights, permuted labels, placebos and sibling seeds."""
    from analysis.explain.sanity import describe_sanity, sanity_report
    from analysis.explain.sanity_table import (
        COLUMNS,
        RELIABILITY_COLUMNS,
        reliability_rows,
        sanity_markdown,
        table_rows,
    )
    from analysis.explain.siblings import measure_siblings, train_on_permuted_labels, train_siblings
    from analysis.records.reliability import keep_reliability, reliability_key
    from recap.checkpoint import Checkpoint
    from recap.data.dataset import Dataset
    from recap.device import choose_device
    from recap.errors import RecapError
    from recap.predictor import Predictor
    from recap.storage.atomic import write_text

    opened, dataset, chosen = Checkpoint.load(checkpoint), Dataset.load(data), choose_device(device)
    predictor = Predictor(opened, dataset)
    if train_seeds is not None:
        train_siblings(opened, dataset, train_seeds, chosen, progress_console.print)
    permuted = train_on_permuted_labels(opened, dataset, chosen, progress_console.print) if permute_labels else None
    with progress_line("Ranking with sibling seeds") as report_seeds:
        seeds = measure_siblings(opened, dataset, report_seeds, bundle=data.parent)
    with progress_line("Checking explanations") as report:
        result = sanity_report(
            predictor, seeds=seeds, permuted_labels=permuted, sample=cases, seed=seed, progress=report
        )
    key = reliability_key(dataset.hash, opened.hash)
    with suppress(RecapError):  # a cache that cannot be written is done without
        keep_reliability(result.reliability, key.cached(), key)
    if out is not None:
        write_text(out, sanity_markdown(result))
    if as_json:
        print_json(result.model_dump(mode="json"))
        return
    table = Table(title="Does it hold? Shares of the cases where a row gives points", title_justify="left")
    for name in COLUMNS:
        table.add_column(name, justify="left" if name == "row" else "right")
    for cells in table_rows(result):
        table.add_row(*cells)
    console.print(table)
    for line in describe_sanity(result):
        console.print(line)
    reliability = Table(title="How often the first place is right", title_justify="left")
    for name in RELIABILITY_COLUMNS:
        reliability.add_column(name, justify="right")
    for cells in reliability_rows(result):
        reliability.add_row(*cells)
    console.print(reliability)
