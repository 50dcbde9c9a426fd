"""Output of commands: tables or one JSON object on stdout, progress on stderr."""

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

from rich.box import SIMPLE_HEAD
from rich.console import Console, ConsoleOptions, RenderableType
from rich.markup import escape
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.segment import Segment
from rich.status import Status
from rich.table import Table
from rich.text import Text
from typer import Option

from recap.machine.printable import escape_json, visible
from recap.storage.json_text import finite_json

if TYPE_CHECKING:
    from recap.vocabulary import Match


class SafeConsole(Console):
    """A console that shows control characters of ids, columns and paths instead of sending them."""

    def __init__(self, *, stderr: bool = False) -> None:
        super().__init__(stderr=stderr, emoji=False)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterator[Segment]:
        for segment in super().render(renderable, options):
            yield segment if segment.control else Segment(visible(segment.text), segment.style)

    def status(self, status: RenderableType, **options: Any) -> Status:
        """A status line without markup, because it contains file names."""
        return super().status(Text(status) if isinstance(status, str) else status, **options)


console = SafeConsole()
progress_console = SafeConsole(stderr=True)
"""Progress and remarks; never stdout, so --json stays one object."""

JsonFlag = Annotated[bool, Option("--json", help="Print one JSON object on stdout and nothing else.")]
SetOption = Annotated[
    list[str] | None, Option("--set", metavar="FIELD=VALUE", help="Override one configuration field; repeatable.")
]
PresetOption = Annotated[
    str | None, Option(help="recap, paper, feature_curves, or a published model such as lotnext.", show_default="recap")
]
"""None is `recap.presets.DEFAULT_PRESET`; importing that would slow every command's start."""


def print_json(payload: Any) -> None:
    """Print one JSON document on stdout: floats unrounded, NaN and infinity as null, control characters escaped."""
    print(escape_json(json.dumps(finite_json(payload), ensure_ascii=False, allow_nan=False)))


def say_what_is_new(*matches: "Match | None", notes: Iterable[str] = ()) -> None:
    """Say how many users and places are new to each checkpoint, in one line for all that say the same, and the notes;
    right before the answer, because a refusal is one line.
    """
    for line in dict.fromkeys([*(match.line for match in matches if match is not None), *notes]):
        progress_console.print(line, markup=False, highlight=False, soft_wrap=True)


def print_next(commands: dict[str, str], on: Console) -> None:
    """Print the next commands, each with its purpose, on lines to copy."""
    for purpose, command in commands.items():
        on.print(f"{purpose}:\n  {command}", markup=False, highlight=False, soft_wrap=True)


def table_of(title: str, *headings: str, left: Collection[str] = (), **style: Any) -> Table:
    """A table without rows; title and headings are markup, and columns right-aligned unless they are ``left``."""
    table = Table(title=title, title_justify="left", **style)
    for heading in headings:
        table.add_column(heading, justify="left" if heading in left else "right")
    return table


def rich_table(title: str, *headings: str, left: Collection[str] = ()) -> Table:
    """`table_of` without a frame."""
    return table_of(title, *headings, left=left, box=SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)


def pairs_table(title: str, rows: dict[str, Any], names: Mapping[str, str] | None = None) -> Table:
    """A table of two columns without markup. ``names``: of rows whose name is not their key."""
    table = Table(title=escape(title), show_header=False, title_justify="left")
    table.add_column(style="dim")
    table.add_column(justify="right")
    for name, value in rows.items():
        shown = f"{value:,}" if isinstance(value, int) else f"{value:.4f}" if isinstance(value, float) else str(value)
        table.add_row(escape((names or {}).get(name, name.replace("_", " "))), escape(shown))
    return table


@contextmanager
def steps_progress(what: str) -> Iterator[Callable[[int, int], None]]:
    """A progress bar on stderr; the caller reports (done, total)."""
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
