"""`recap import-predictions`: predictions of another program as one more scorer."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

from typer import Argument, Option

from app.cli.console import console, progress_console
from app.cli.options import DataOption
from app.cli.parameters import answers


@answers
def import_predictions(
    file: Annotated[Path, Argument(metavar="FILE", help="CSV or Parquet: case, poi_id (or poi), score.")],
    data: DataOption,
    name: Annotated[str | None, Option(help="What to call them; the file's name by default.")] = None,
    missing_as_miss: Annotated[
        bool, Option("--missing-as-miss", help="A test case without a list counts as not found.")
    ] = False,
    drop_unknown: Annotated[
        bool, Option("--drop-unknown", help="Leave out rows with places the dataset does not know.")
    ] = False,
) -> Iterator[Any]:
    """Import ranked places from another program, to compare them with your models."""
    from analysis.compare.importing import import_predictions as check_and_rank
    from analysis.records.imported import keep_predictions, shown_name
    from analysis.workspace import Workspace

    called = shown_name(file.stem if name is None else name)
    with progress_console.status("Checking the predictions"):
        opened = Workspace.open(data)
        records, report, digest = check_and_rank(
            file, opened, missing_as_miss=missing_as_miss, drop_unknown=drop_unknown
        )
        kept = keep_predictions(records, opened.dataset.hash, called, digest)
    yield {
        "name": kept.name,
        "key": kept.key,
        "dataset_hash": kept.dataset_hash,
        "records": str(kept.path),
        "rows": report.rows,
        "cases": report.cases,
        "of": len(opened.cases),
        "shortest_list": report.shortest,
        "longest_list": report.longest,
        "findings": {
            key: {"count": item.count, "examples": list(item.examples)} for key, item in report.findings.items()
        },
    }
    console.print(
        f"{kept.name}: {report.cases:,} of {len(opened.cases):,} test cases, {report.rows:,} rows", markup=False
    )
    console.print(f"Lists of {report.shortest:,} to {report.longest:,} places: metrics up to K = {report.shortest:,}")
    for sentence in report.sentences():
        console.print(f"  {sentence}", markup=False)
    if report.findings["not_in_list"].count:
        console.print("A true place outside its list ranks last, so MRR is a lower bound.")
    console.print(f"Compare it: recap compare {kept.key} feature_curves --data {data}", markup=False)
