"""Print an inspection on a terminal."""

import shlex
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from app.cli.console import pairs_table
from recap import columns as c
from recap.data.checks import Problem
from recap.data.inspection import Inspection
from recap.data.parsing.read_report import HARMLESS
from recap.data.reading import NAMED
from recap.data.understanding import Understanding, option_text
from recap.machine.printable import shortened

_NEEDED = ("user", "poi", "time", "lat", "lon")
_HEADINGS = {c.USER_ID: "user", c.POI_ID: "place", c.TZ_OFFSET_MINUTES: "offset", c.TIME: "time (UTC)"}


def print_understanding(understood: Understanding, console: Console) -> None:
    """Print the format, what each column was taken for and why, and the first open question."""
    console.print(f"Read as {understood.source_format}, because {understood.why}.", markup=False)
    if understood.columns:
        table = Table(title="Columns", title_justify="left")
        for heading in ("column", "is", "because", "first values"):
            table.add_column(heading, overflow="fold")
        for column in understood.columns:
            first = ", ".join(shortened(value, 20) for value in column.first[:2])
            table.add_row(*map(escape, (column.name, column.field or "", column.reason, first)))
        console.print(table)
    if understood.question is not None:
        console.print(f"Question: {understood.question.text}", markup=False, highlight=False, soft_wrap=True)


def next_commands(understood: Understanding, inspection: Inspection | None) -> dict[str, str]:
    """`recap prepare` with each answer to the first question, the likely answer first."""
    path, form = shlex.quote(understood.path), f" --format {understood.source_format}" * (understood.why == NAMED)
    if understood.question is not None and not understood.question.answers:
        fields = ",".join(f"{field}={understood.options.columns.get(field, 'COLUMN')}" for field in _NEEDED)
        is_known = "COLUMN" not in fields  # then this is the command that was just run
        return {} if is_known else {"Name the columns": f"recap inspect {path}{form} --map {shlex.quote(fields)}"}
    answers = understood.question.answers if understood.question else {}
    zone = {"timezone": inspection.timezone} if inspection is not None and inspection.timezone else {}
    answers = answers or {"Next": understood.options.model_copy(update=zone)}
    is_skipping = inspection is not None and inspection.account.reported.keys() - HARMLESS
    skip = " --skip-bad-rows" * bool(is_skipping)
    out = shlex.quote(f"data/{Path(understood.path).name.partition('.')[0]}")
    return {
        label: f"recap prepare {path} --out {out}{form}{skip} {option_text(options)}".rstrip()
        for label, options in answers.items()
    }


def print_problems(problems: list[Problem], console: Console, *, with_examples: bool = False) -> None:
    """Print what is wrong with the check-ins, and how often."""
    console.print("Problems" if problems else "Problems: none found.")
    for problem in problems:
        console.print(f"  {problem.line}", markup=False)
        for example in problem.examples if with_examples else ():
            console.print(f"      {example}", markup=False)


def print_inspection(inspection: Inspection, console: Console) -> None:
    """Print what the file is, its first rows, its problems, and what a dataset would keep."""
    report = inspection.account
    console.print(f"{', '.join(report.files)}: {report.rows_in:,} rows, {report.rows_kept:,} understood.", markup=False)
    for note in report.notes:
        console.print(f"Note: {note}", markup=False, soft_wrap=True)
    console.print(pairs_table("What it contains", dict(inspection.facts)))
    table = Table(title="First rows, as understood", title_justify="left")
    shown = [name for name in inspection.first_rows[0] if name not in (c.CATEGORY_ID, c.TRAJECTORY_ID)]
    for name in shown:
        table.add_column(escape(_HEADINGS.get(name, name)), overflow="fold")
    for row in inspection.first_rows:
        values = (row[name] for name in shown)
        table.add_row(*(f"{value:.4f}" if isinstance(value, float) else escape(str(value)) for value in values))
    console.print(table)
    print_problems(inspection.problems, console, with_examples=True)
    preview = inspection.preview
    if preview.refusal:
        console.print(f"recap prepare would refuse: {preview.refusal}", markup=False)
    else:
        rows = {"check-ins kept": preview.checkins}
        rows |= preview.left_out
        console.print(pairs_table("What a dataset would keep", rows))
