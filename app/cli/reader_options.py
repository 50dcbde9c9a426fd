"""Command-line options that say how a raw file is read, shared by `recap prepare` and `recap inspect`."""

import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from app.cli.console import progress_console

if TYPE_CHECKING:
    from recap.data.parsing.options import ReadOptions

FormatOption = Annotated[
    str,
    typer.Option(
        "--format",
        help="foursquare, getnext, gowalla, libcity, recbole, csv or parquet; auto tells it from the content.",
    ),
]
SkipOption = Annotated[bool, typer.Option("--skip-bad-rows", help="Report bad rows and go on instead of refusing.")]


@dataclass(frozen=True)
class ReaderOptions:
    """How a raw file is read, for `with_option_groups`."""

    mapping: Annotated[
        list[str] | None,
        typer.Option(
            "--map",
            metavar="FIELD=COLUMN,…",
            help="Columns of your own table. Fields: user, poi, time, date, lat, lon, category, category_id, name, tz, "
            "split, trajectory.",
        ),
    ] = None
    timezone: Annotated[
        str | None,
        typer.Option("--timezone", metavar="ZONE", help="Zone of all check-ins, e.g. Asia/Tokyo; or `longitude`."),
    ] = None
    local_times: Annotated[bool, typer.Option("--local-times", help="Times are wall-clock times, not UTC.")] = False
    time_format: Annotated[
        str | None,
        typer.Option("--time-format", metavar="LAYOUT", help="strptime layout of the times, e.g. '%d.%m.%Y %H:%M'."),
    ] = None
    bbox: Annotated[
        str | None,
        typer.Option("--bbox", metavar="W,S,E,N", help="Keep check-ins inside; `california` is a known box."),
    ] = None
    text: Annotated[
        list[str] | None,
        typer.Option(
            "--text",
            metavar="FIELD=VALUE",
            help="How text is read: encoding=latin-1, delimiter=; or multiline=true (line breaks in quotes).",
        ),
    ] = None

    def checked(self, *, skip_bad_rows: bool = False) -> "ReadOptions":
        """The values as a reader takes them.

        Raises:
            ConfigError: a value that cannot be.
        """
        from recap.data.parsing.options import ReadOptions, parse_bbox, parse_mapping, parse_text_options

        given = asdict(self)
        given |= parse_text_options(given.pop("text") or [])
        changes = {"bbox": parse_bbox(self.bbox) if self.bbox else None, "skip_bad_rows": skip_bad_rows}
        return ReadOptions.parse({"columns": parse_mapping(given.pop("mapping") or []), **given, **changes})


def resolve_format(path: Path, source_format: str, options: "ReadOptions") -> tuple[str, str]:
    """The format named, or the one told from the content, with the reason."""
    if source_format != "auto":
        return source_format, "you named the format"
    from recap.data.reading import detect_format

    found = detect_format(path, options.encoding)
    return found.source_format, found.why


def confirm_mapping(path: Path, source_format: str, options: "ReadOptions") -> None:
    """On a terminal, show which columns of the user's own table were guessed, and ask; elsewhere do nothing.

    Raises:
        typer.Abort: the answer is no.
        DataError: a needed column can be neither found nor guessed.
    """
    if source_format not in ("csv", "parquet") or not sys.stdin.isatty():
        return
    from recap.data.parsing.guess import complete_mapping
    from recap.data.readers.own_table import column_names

    mapping = complete_mapping(options.columns, column_names(path, options), path.name)
    guessed = {field: column for field, column in mapping.items() if field not in options.columns}
    if guessed:
        progress_console.print(
            f"Columns guessed by their names: --map {format_mapping(guessed)}", markup=False, highlight=False
        )
        typer.confirm("Read the file this way?", default=True, abort=True, err=True)


def format_mapping(mapping: dict[str, str]) -> str:
    """A mapping as `--map` takes it."""
    return ",".join(f"{field}={column}" for field, column in mapping.items())
