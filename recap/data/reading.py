"""Choose the reader of a format, and read with it."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Final

from recap.data.format_detection import detect_format
from recap.data.id_spellings import join_spellings, split_places
from recap.data.parsing.formats import KNOWN_FILES
from recap.data.parsing.options import ReadOptions
from recap.data.parsing.read_report import RawRead
from recap.data.parsing.table_builder import CheckinTableBuilder, Sink
from recap.data.parsing.table_source import TableSource, open_table
from recap.data.readers.exports import open_export
from recap.data.readers.published import open_published
from recap.data.understanding import Understanding, understand_table
from recap.errors import ConfigError, DataError

NAMED: Final = "you named the format"
SOURCE_FORMATS: Final = ("foursquare", "getnext", "gowalla", "libcity", "recbole", "csv", "json", "parquet")
OWN_FORMATS: Final = ("csv", "json", "parquet", "xlsx", "arrow")


_OPENERS: Final[dict[str, Callable[[Path, str, ReadOptions], TableSource]]] = {
    **dict.fromkeys(KNOWN_FILES["published"], open_published),
    **dict.fromkeys(OWN_FORMATS, open_table),
    **dict.fromkeys(KNOWN_FILES["exports"], open_export),
}


def read_checkins(
    path: Path, source_format: str, options: ReadOptions | None = None, sink: Sink | None = None
) -> RawRead:
    """Read raw check-ins in a named format; ``auto`` detects it. Raises ConfigError: the format is unknown, or ids are
    to be joined block by block; DataError: the file cannot be read as that format. ``sink``: takes the rows block by
    block, in formats that can.
    """
    options = options or ReadOptions()
    if source_format == "auto":
        source_format, _ = detect_format(path, options.encoding)
    if source_format not in _OPENERS:
        raise ConfigError(f"unknown format {source_format!r}; choose auto or one of {', '.join(_OPENERS)}")
    if sink is not None and options.ids is not None:
        raise ConfigError("--text ids=join works in memory only; leave it out, or use --engine memory")
    if source_format in OWN_FORMATS and not options.is_settled:
        found = understand_table(path, source_format, options)
        if not found.options.is_settled:
            raise DataError(found.refusal())
        options = found.options
    source = _OPENERS[source_format](path, source_format, options)
    builder, fields = CheckinTableBuilder(source, options, sink), source.fields or options.columns
    for rows in source.rows([*fields.values()], builder.report):
        builder.add(rows, fields)
    read = builder.read(source_format=source_format, columns={} if source.fields else fields)
    if options.ids is None:
        return read
    table, count = join_spellings(read.table) if options.ids == "join" else split_places(read.table)
    joined = f"{count:,} ids that differ only in their spelling were joined with another."
    note = joined if options.ids == "join" else f"{count:,} ids were split into places of their own, spot by spot."
    account = read.account.model_copy(update={"notes": [*read.account.notes, note]})
    return replace(read, table=table, account=account)


def understand(path: Path, source_format: str = "auto", options: ReadOptions | None = None) -> Understanding:
    """The format of a file; for the user's own table also its columns and open questions. Raises DataError: it cannot
    be opened, or looks like no format.
    """
    options, why = options or ReadOptions(), NAMED
    if source_format == "auto":
        source_format, why = detect_format(path, options.encoding)
    if source_format in OWN_FORMATS:
        return understand_table(path, source_format, options, why)
    return Understanding(path=str(path), source_format=source_format, why=why, options=options)


def read_understood(path: Path, source_format: str, options: ReadOptions) -> RawRead:
    """Read check-ins as they are understood. Raises DataError: something is unsure, or the file cannot be read."""
    found = understand(path, source_format, options)
    if found.question is not None:
        raise DataError(found.refusal())
    return read_checkins(path, found.source_format, found.options)
