"""`recap doctor`: check the installation."""

from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from app.cli.console import JsonFlag, console, print_json, progress_console

_COLOURS = {"ok": "green", "note": "yellow", "missing": "red"}


def doctor(
    places: Annotated[
        list[Path] | None, typer.Argument(help="More folders to search for datasets and checkpoints.")
    ] = None,
    as_json: JsonFlag = False,
) -> None:
    """Check the installation, and say how to fix what is missing."""
    from recap.doctor import examine

    with progress_console.status("Looking around"):
        checks = examine(places)
    is_well = all(check.status != "missing" for check in checks)
    if as_json:
        print_json({"ok": is_well, "checks": [check.model_dump() for check in checks]})
    else:
        for check in checks:
            mark = f"[{_COLOURS[check.status]}]{check.status:9}[/]"
            console.print(f"{mark}{escape(check.name):14}{escape(check.found)}", soft_wrap=True, highlight=False)
            if check.mend:
                console.print(f"{'':9}→ {check.mend}", markup=False, soft_wrap=True, highlight=False)
        console.print("Everything needed is there." if is_well else "Something is missing, see above.")
    if not is_well:
        raise typer.Exit(1)
