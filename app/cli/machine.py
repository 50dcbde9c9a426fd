"""Commands around this machine: fetch published data, look after the installation."""

from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape
from rich.progress import BarColumn, DownloadColumn, Progress, TimeRemainingColumn, TransferSpeedColumn

from app.cli.console import JsonFlag, console, print_json, progress_console

commands = typer.Typer()
_COLOURS = {"ok": "green", "note": "yellow", "missing": "red"}


@commands.command()
def fetch(
    name: Annotated[str, typer.Argument(help="nyc, tky or ca.")],
    out: Annotated[
        Path | None, typer.Option("--out", help="New folder for the files; by default in the user's folder.")
    ] = None,
    url: Annotated[
        str | None, typer.Option("--url", help="Another address of the same file; its bytes are checked all the same.")
    ] = None,
    as_json: JsonFlag = False,
) -> None:
    """Fetch a published split of check-ins: shows terms and citations, checks every byte, unpacks it."""
    from recap.data.archives import describe, find_archive
    from recap.data.fetching import PROVENANCE, fetch_archive
    from recap.storage.artifacts import check_target
    from recap.storage.user_folder import user_folder

    archive = find_archive(name)
    target = out or user_folder() / "raw" / archive.name
    address = url or archive.url
    check_target(target, PROVENANCE)
    if not as_json:
        console.print(describe(archive), markup=False, highlight=False)
    with Progress(
        "Fetching",
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
        TimeRemainingColumn(),
        console=progress_console,
        disable=as_json or not progress_console.is_terminal,
        transient=True,
    ) as bar:
        task = bar.add_task("fetch", total=None)
        files = fetch_archive(
            address,
            archive.git_blob,
            target,
            description=describe(archive),
            cache=user_folder() / "downloads",
            progress=lambda have, total: bar.update(task, completed=have, total=total),
        )
    if as_json:
        print_json(
            {
                "name": archive.name,
                "folder": str(target),
                "files": files,
                "url": address,
                "git_blob": archive.git_blob,
                "terms": archive.terms,
                "citations": list(archive.citations),
            }
        )
        return
    console.print(f"{', '.join(files)} in {target}. Next: recap prepare {target} --out DIR", markup=False)


@commands.command()
def doctor(
    places: Annotated[
        list[Path] | None, typer.Argument(help="Further folders in which to look for datasets and checkpoints.")
    ] = None,
    as_json: JsonFlag = False,
) -> None:
    """Show versions, devices, disk, data and checkpoints; what is missing comes with the command that fixes it."""
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
