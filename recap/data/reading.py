"""Choose the reader of a format, one file per published format."""

from dataclasses import replace
from pathlib import Path
from typing import Final, Literal, get_args

from recap.data.format_detection import detect_format
from recap.data.id_spellings import join_spellings
from recap.data.parsing.options import ReadOptions
from recap.data.parsing.read_report import RawRead
from recap.data.readers.exports import read_owntracks, read_swarm, read_timeline
from recap.data.readers.getnext import read_getnext
from recap.data.readers.headerless import read_foursquare, read_gowalla
from recap.data.readers.libcity import read_libcity
from recap.data.readers.own_table import read_own_table
from recap.data.readers.recbole import read_recbole
from recap.data.readers.tist2015 import read_tist2015
from recap.data.understanding import Understanding, understand_table
from recap.errors import ConfigError, DataError

SourceFormat = Literal["foursquare", "getnext", "gowalla", "libcity", "recbole", "csv", "json", "parquet"]
SOURCE_FORMATS: Final = get_args(SourceFormat)
NAMED: Final = "you named the format"
OWN_FORMATS: Final = ("csv", "json", "parquet", "xlsx")
MORE_FORMATS: Final = ("xlsx", "tist2015", "timeline", "swarm", "owntracks")
"""Workbooks, a pair of published files, and exports of one person."""


def read_checkins(path: Path, source_format: str, options: ReadOptions | None = None) -> RawRead:
    """Read raw check-ins in a named format; ``auto`` detects it. Raises ConfigError: the format is unknown; DataError:
    the file cannot be read as that format.
    """
    options = options or ReadOptions()
    if source_format == "auto":
        source_format, _ = detect_format(path, options.encoding)
    read = _read(path, source_format, options)
    if options.ids is None:
        return read
    table, count = join_spellings(read.table)
    note = f"{count:,} ids that differ only in their spelling were joined with another."
    account = read.account.model_copy(update={"notes": [*read.account.notes, note]})
    return replace(read, table=table, account=account)


def _read(path: Path, source_format: str, options: ReadOptions) -> RawRead:
    match source_format:
        case "foursquare":
            return read_foursquare(path, options)
        case "getnext":
            return read_getnext(path, options)
        case "gowalla":
            return read_gowalla(path, options)
        case "libcity":
            return read_libcity(path, options)
        case "recbole":
            return read_recbole(path, options)
        case "tist2015":
            return read_tist2015(path, options)
        case "timeline":
            return read_timeline(path, options)
        case "swarm":
            return read_swarm(path, options)
        case "owntracks":
            return read_owntracks(path, options)
        case "csv" | "json" | "parquet" | "xlsx":
            return read_own_table(path, source_format, options)
        case _:
            every = ", ".join((*SOURCE_FORMATS, *MORE_FORMATS))
            raise ConfigError(f"unknown format {source_format!r}; choose auto or one of {every}")


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
