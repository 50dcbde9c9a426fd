"""The options that say how a file of check-ins is read."""

from typing import TYPE_CHECKING, Annotated, NamedTuple

from typer import Option

if TYPE_CHECKING:
    from recap.data.parsing.options import ReadOptions

SkipOption = Annotated[bool, Option("--skip-bad-rows", help="Skip and report bad rows instead of refusing the file.")]


class ReadingOptions(NamedTuple):
    """A format or ``auto``, and how its files are read."""

    source_format: str
    options: "ReadOptions"

    def skipping(self, skip_bad_rows: bool) -> "ReadOptions":
        return self.options.model_copy(update={"skip_bad_rows": skip_bad_rows})


def read_options(
    mapping: Annotated[
        list[str] | None,
        Option(
            "--map",
            metavar="FIELD=COLUMN,…",
            help="Columns of your own table. Fields: user, poi, time, date, lat, lon, category, category_id, name, tz, "
            "split, trajectory.",
        ),
    ] = None,
    timezone: Annotated[
        str | None, Option(metavar="ZONE", help="Zone of all check-ins, e.g. Asia/Tokyo; or `longitude`.")
    ] = None,
    local_times: Annotated[
        bool, Option("--local-times", help="Times are local as written, whatever zone they name.")
    ] = False,
    time_format: Annotated[
        str | None,
        Option(
            metavar="LAYOUT", help="strptime format of the times, e.g. '%d.%m.%Y %H:%M'; or iso, epoch, spreadsheet."
        ),
    ] = None,
    bbox: Annotated[
        str | None, Option(metavar="W,S,E,N", help="Keep check-ins inside this box; `california` is a known one.")
    ] = None,
    text: Annotated[
        list[str] | None,
        Option(
            metavar="FIELD=VALUE",
            help="How text is read: encoding=latin-1, delimiter=; or multiline=true (line breaks in quotes); "
            "ids=join joins ids that differ only in spelling.",
        ),
    ] = None,
    source_format: Annotated[
        str,
        Option(
            "--format", help="foursquare, getnext, gowalla, libcity, recbole, csv, json or parquet; auto recognises it."
        ),
    ] = "auto",
) -> ReadingOptions:
    """Check the values of reading options; raises ConfigError for an invalid one."""
    from recap.data.parsing.options import ReadOptions, parse_bbox, parse_mapping, parse_text_options

    values = {
        "columns": parse_mapping(mapping or []),
        "timezone": timezone,
        "local_times": local_times,
        "time_format": time_format,
        "bbox": parse_bbox(bbox) if bbox else None,
        **parse_text_options(text or []),
    }
    return ReadingOptions(source_format, ReadOptions.parse(values))
