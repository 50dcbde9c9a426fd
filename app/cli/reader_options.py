"""Options for reading a raw file, shared by `recap prepare` and `recap inspect`."""

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from recap.data.parsing.options import ReadOptions

FormatOption = Annotated[
    str,
    typer.Option(
        "--format",
        help="foursquare, getnext, gowalla, libcity, recbole, csv, json or parquet; auto recognises it.",
    ),
]
SkipOption = Annotated[
    bool, typer.Option("--skip-bad-rows", help="Skip and report bad rows instead of refusing the file.")
]
MapOption = Annotated[
    list[str] | None,
    typer.Option(
        "--map",
        metavar="FIELD=COLUMN,…",
        help="Columns of your own table. Fields: user, poi, time, date, lat, lon, category, category_id, name, tz, "
        "split, trajectory.",
    ),
]
ZoneOption = Annotated[
    str | None,
    typer.Option("--timezone", metavar="ZONE", help="Zone of all check-ins, e.g. Asia/Tokyo; or `longitude`."),
]
LocalFlag = Annotated[bool, typer.Option("--local-times", help="Times without a zone are local, not UTC.")]
LayoutOption = Annotated[
    str | None,
    typer.Option("--time-format", metavar="LAYOUT", help="strptime format of the times, e.g. '%d.%m.%Y %H:%M'."),
]
BoxOption = Annotated[
    str | None,
    typer.Option("--bbox", metavar="W,S,E,N", help="Keep check-ins inside this box; `california` is a known one."),
]
TextOption = Annotated[
    list[str] | None,
    typer.Option(
        "--text",
        metavar="FIELD=VALUE",
        help="How text is read: encoding=latin-1, delimiter=; or multiline=true (line breaks in quotes).",
    ),
]


def read_options(
    mapping: list[str] | None,
    timezone: str | None,
    local_times: bool,
    time_format: str | None,
    bbox: str | None,
    text: list[str] | None,
    *,
    skip_bad_rows: bool = False,
) -> "ReadOptions":
    """The values as a reader takes them.

    Raises:
        ConfigError: a value that cannot be.
    """
    from recap.data.parsing.options import ReadOptions, parse_bbox, parse_mapping, parse_text_options

    return ReadOptions.parse(
        {
            "columns": parse_mapping(mapping or []),
            "timezone": timezone,
            "local_times": local_times,
            "time_format": time_format,
            "bbox": parse_bbox(bbox) if bbox else None,
            "skip_bad_rows": skip_bad_rows,
            **parse_text_options(text or []),
        }
    )
