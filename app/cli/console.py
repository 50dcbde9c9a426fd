"""How commands speak: people read tables on stdout, programs one JSON object, progress goes to stderr."""

import json
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

console = Console()
"""What people read (stdout)."""
progress_console = Console(stderr=True)
"""Progress and remarks: never on stdout, so that --json stays one object."""

JsonFlag = Annotated[bool, typer.Option("--json", help="Print one JSON object on stdout and nothing else.")]
SetOption = Annotated[
    list[str] | None, typer.Option("--set", metavar="FIELD=VALUE", help="Override one configuration field; repeatable.")
]


def print_json(payload: Any) -> None:
    """One JSON document on stdout, floats unrounded."""
    print(json.dumps(payload, ensure_ascii=False))


def pairs_table(title: str, rows: dict[str, Any]) -> Table:
    """A two-column table of facts for people."""
    table = Table(title=title, show_header=False, title_justify="left")
    table.add_column(style="dim")
    table.add_column(justify="right")
    for name, value in rows.items():
        shown = f"{value:,}" if isinstance(value, int) else f"{value:.4f}" if isinstance(value, float) else str(value)
        table.add_row(name.replace("_", " "), shown)
    return table
