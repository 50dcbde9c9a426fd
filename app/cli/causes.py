"""`recap causes`: which evidence finds cases and which misses them, by taking it away for all places."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from analysis.formatting import rank_number
from app.cli.console import JsonFlag, console, print_json, progress_console
from recap import columns as c
from recap.errors import CaseError, ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable

    import pandas as pd

    from analysis.records.loaded_dataset import LoadedDataset
    from recap.checkpoint import Checkpoint

commands = typer.Typer()

CheckpointArgument = Annotated[Path, typer.Argument(help="A checkpoint folder.")]
DataOption = Annotated[Path, typer.Option("--data", help="The dataset it was trained on.")]


@commands.command()
def causes(
    checkpoint: CheckpointArgument,
    data: DataOption,
    k: Annotated[int, typer.Option("-k", "--k", min=1, help="Found means a rank of at most K.")] = 20,
    source: Annotated[
        str | None, typer.Option(help="List the cases that this source of evidence recovers, such as two_hops.")
    ] = None,
    case: Annotated[int | None, typer.Option(help="One case: its rank without each source.")] = None,
    out: Annotated[
        Path | None, typer.Option(help="Also write one row per test case as CSV, without numbers of cases and places.")
    ] = None,
    exact: Annotated[bool, typer.Option("--exact", help="With --out: as recorded, which the file says.")] = False,
    as_json: JsonFlag = False,
) -> None:
    """Show what finds cases: found at K with a source of evidence, lost without it. Made once, resumable."""
    from analysis.records.accuracy import is_hit
    from analysis.records.causes import count_causes, recovered_by
    from analysis.records.loaded_dataset import LoadedDataset
    from analysis.records.score_rows import SOURCE_LABELS, SOURCES
    from recap.checkpoint import Checkpoint

    if exact and out is None:
        raise ConfigError("--exact is about the written table; give --out FILE")
    trained, opened = Checkpoint.load(checkpoint), LoadedDataset.load(data)
    table = removals(trained, opened, data.parent)
    if case is not None and not 0 <= case < len(table):
        raise CaseError(f"there is no test case {case}; this dataset has cases 0 to {len(table) - 1}")
    recovered = None if source is None else recovered_by(table, source, k)
    if out is not None:
        from analysis.sharing.tables import share_table, to_csv
        from recap.storage.atomic import new_file

        with new_file(out) as temporary:
            temporary.write_bytes(to_csv(share_table(table, opened, exact=exact)))
    if case is not None:
        row = table.iloc[case]
        without = {name: _rank(row[f"without_{name}"]) for name in SOURCES}
        if as_json:
            print_json({"case": case, "rank": float(row[c.RANK]), "without": without})
            return
        console.print(f"Case {case}: rank {rank_number(row[c.RANK])}")
        for name, rank in without.items():
            if rank is not None:
                console.print(f"  without {SOURCE_LABELS[name]}: {rank_number(rank)}")
        return
    if recovered is not None:
        found = table.loc[recovered, c.CASE].astype(int).tolist()
        if as_json:
            print_json({"k": k, "source": source, "n": len(found), "of": len(table), "cases": found})
            return
        console.print(f"{len(found):,} of {len(table):,} cases are found at {k} and lost without {source}")
        console.print(", ".join(map(str, found)) if found else "No case: take another source or another K.")
        return
    counts = count_causes(table, k)
    if as_json:
        found_at_k = int(is_hit(table, k).sum())
        print_json({"k": k, "n": len(table), "found": found_at_k, "sources": counts.to_dict(orient="records")})
        return
    shown = Table(title=f"{len(table):,} test cases at K = {k}; sources overlap", title_justify="left")
    for heading in ("without", "found, then lost", "missed, then found"):
        shown.add_column(heading, justify="left" if heading == "without" else "right")
    for entry in counts.itertuples():
        cells = (f"{entry.recovered:,}", f"{entry.missed:,}") if entry.available else ("not in this model", "")
        shown.add_row(SOURCE_LABELS[str(entry.source)], *cells)
    console.print(shown)


def removals(checkpoint: "Checkpoint", opened: "LoadedDataset", bundle: Path) -> "pd.DataFrame":
    """The removal table of a checkpoint, made with a progress line where it is not kept yet.

    Args:
        bundle: the folder beside the dataset, which may have come with it.

    Raises:
        VocabularyError: another dataset.
    """
    from analysis.records.causes import removal_table
    from recap.predictor import Predictor

    dataset = opened.dataset
    checkpoint.check_dataset(dataset)
    with progress_line("Taking each source away") as report:
        return removal_table(
            dataset.hash,
            checkpoint.hash,
            lambda: Predictor(checkpoint, dataset),
            rows=len(dataset.cases(c.TEST)),
            bundle=bundle,
            progress=report,
        )


@contextmanager
def progress_line(what: str) -> "Iterator[Callable[[int, int], None]]":
    """A bar on stderr that is told (done, in all)."""
    columns = (TextColumn(what), BarColumn(), TextColumn("{task.completed:,.0f} of {task.total:,.0f}"))
    live = Progress(
        *columns,
        TimeRemainingColumn(),
        console=progress_console,
        transient=True,
        disable=not progress_console.is_terminal,
    )
    with live as progress:
        bar = progress.add_task("", total=1, visible=False)

        def report(done: int, total: int) -> None:
            progress.update(bar, completed=done, total=total, visible=True)

        yield report


def _rank(value: Any) -> float | None:
    """A rank, or None where the model has no such source."""
    return None if value != value else float(value)
