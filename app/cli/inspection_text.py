"""An inspection on a terminal."""

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from app.cli.console import pairs_table
from recap import columns as c
from recap.data.cleaning import DataConfig
from recap.data.inspection import Inspection, preview_rows

_HEADINGS = {c.USER_ID: "user", c.POI_ID: "place", c.TZ_OFFSET_MINUTES: "offset", c.TIME: "time (UTC)"}


def print_inspection(inspection: Inspection, config: DataConfig, console: Console) -> None:
    """Print what the file is, its first rows, its problems, and what a dataset would keep."""
    report = inspection.account
    console.print(
        f"{', '.join(report.files)}: read as {inspection.source_format}, because {inspection.why}. "
        f"{report.rows_in:,} rows, {report.rows_kept:,} understood.",
        markup=False,
    )
    for note in report.notes:
        console.print(f"Note: {note}", markup=False, soft_wrap=True)
    if report.columns:
        pairs = ",".join(f"{field}={column}" for field, column in report.columns.items())
        console.print(f"Columns: --map {pairs}", markup=False, highlight=False, soft_wrap=True)
    console.print(pairs_table("What it holds", dict(inspection.facts)))
    table = Table(title="First rows, as understood", title_justify="left")
    shown = [name for name in inspection.first_rows[0] if name not in (c.CATEGORY_ID, c.TRAJECTORY_ID)]
    for name in shown:
        table.add_column(escape(_HEADINGS.get(name, name)), overflow="fold")
    for row in inspection.first_rows:
        values = (row[name] for name in shown)
        table.add_row(*(f"{value:.4f}" if isinstance(value, float) else escape(str(value)) for value in values))
    console.print(table)
    console.print("Problems" if inspection.problems else "Problems: none found.")
    for problem in inspection.problems:
        console.print(f"  {problem.count:,} {problem.title}. {problem.advice}", markup=False)
        for example in problem.examples:
            console.print(f"      {example}", markup=False)
    preview = inspection.preview
    if preview.refusal:
        console.print(f"recap prepare would refuse: {preview.refusal}", markup=False)
    else:
        rows = {"check-ins kept": preview.checkins}
        rows |= preview_rows(inspection, config)
        console.print(pairs_table("What a dataset would keep", rows))
