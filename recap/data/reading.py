"""Recognise the format of a file or folder from its first lines, and read it."""

import fnmatch
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Final

from recap.data.id_spellings import join_spellings, split_places
from recap.data.parsing.formats import KNOWN_FILES
from recap.data.parsing.options import ReadOptions
from recap.data.parsing.read_report import TRACK, RawRead
from recap.data.parsing.table_builder import CheckinTableBuilder, Sink
from recap.data.parsing.table_folder import table_files
from recap.data.parsing.table_source import PARQUET_MAGIC, TableSource, open_table
from recap.data.parsing.text_table import ZIP_MAGIC, first_cells, read_head, require_file
from recap.data.parsing.workbook import is_workbook
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
_HEAD_LINES: Final = 50_000
_ARROW: Final = (b"ARROW1", b"\xff\xff\xff\xff", b"ORC")
_OF_FOLDERS: Final = ("getnext", *KNOWN_FILES["exports"])
_MAGIC_BYTES: Final = 512


def detect_format(path: Path, encoding: str | None = None) -> tuple[str, str]:
    """The format, and the reason as a phrase after "because". Raises DataError: it looks like no format."""
    if not path.exists():
        raise DataError(f"{path} does not exist")
    detected = _of_folder(path) if path.is_dir() else _of_file(path, encoding)
    if detected is None:
        raise DataError(
            f"cannot tell the format of {path.name}: expected a table with one check-in per line, JSON records, "
            "Parquet, or a folder of one dataset; name it with --format"
        )
    return detected


def _of_folder(folder: Path) -> tuple[str, str] | None:
    names = [file.name.lower() for file in folder.iterdir() if file.is_file()]
    for form, known in KNOWN_FILES["published"].items():
        mark = known.get("files", [""])[0]
        if mark and fnmatch.filter(names, f"*{mark}"):
            return (form, f"it has a {mark.rstrip('*')} file")
    files = table_files(folder)[0] or sorted(path for path in folder.rglob("*.*") if path.is_file())[:1]
    if not files:
        return None
    detected = _of_file(files[0], None)
    if detected is None or detected[0] in _OF_FOLDERS:
        return detected
    if detected[0] not in OWN_FORMATS:
        raise DataError(f"{folder.name} holds {len(files):,} files of the format {detected[0]}; name one of them")
    return (detected[0], f"it holds {len(files):,} files of this kind")


def _of_file(path: Path, encoding: str | None) -> tuple[str, str] | None:
    require_file(path)
    with path.open("rb") as file:
        magic = file.read(_MAGIC_BYTES)
    if magic[:4] == PARQUET_MAGIC:
        return ("parquet", "it begins with Parquet's mark")
    if magic.startswith(_ARROW):
        return ("arrow", "it begins as Feather, Arrow or ORC do")
    kinds = (kind for endings, kind in KNOWN_FILES["suffixes"].items() if path.suffix.lower() in endings.split())
    first_kind = next(kinds, None)
    text = magic.decode("latin-1")
    for mark, kind, better in KNOWN_FILES["others"] if not _is_track(text) else ():
        if kind.split(",")[0] == first_kind or re.match(mark, text, re.DOTALL | re.ASCII):
            raise DataError(f"{path.name} is {kind}; save {better}")
    if path.suffix in (".dyna", ".geo"):
        return ("libcity", f"its name ends in {path.suffix}")
    if magic.startswith(ZIP_MAGIC) and is_workbook(path):
        return ("xlsx", "it is an Excel workbook")
    lines = read_head(path, encoding=encoding)
    if export := _of_export(path, lines, encoding):
        return export
    first = lines[0] if lines else ""
    for form, known in KNOWN_FILES["published"].items():
        looked_at = list(filter(None, lines)) if "columns" in known else lines[:1]
        if "line" in known and 2 * sum(bool(re.search(known["line"], line)) for line in looked_at) > len(looked_at):
            return (form, known["why"])
    if first.lstrip()[:1] in ("{", "["):
        return ("json", f"it begins with {first.lstrip()[0]}")
    try:
        columns = len(first_cells(path, None, encoding)[1])
    except DataError:
        return None
    return ("csv", f"its first line has {columns} columns and no published format fits") if columns > 2 else None


def _of_export(path: Path, lines: list[str], encoding: str | None) -> tuple[str, str] | None:
    """The format of one person's export. Raises DataError: it holds points, not visits."""
    first = "".join(lines).lstrip("\ufeff \n\t")[:200]
    if not first.startswith(("{", "[", "<")) and not re.search(r"^Geolife|^\$G[PN]|\t\*\s+\{", first):
        return None
    head = "\n".join(read_head(path, _HEAD_LINES, encoding))
    for name, export in KNOWN_FILES["exports"].items():
        if re.search(export["head"], head, re.DOTALL):
            return name, export["why"]
    if _is_track(head):
        raise DataError(TRACK.format(name=path.name))
    return None


def _is_track(head: str) -> bool:
    return any(re.search(pattern, head) for pattern in KNOWN_FILES["tracks"])


def read_checkins(
    path: Path, source_format: str, options: ReadOptions | None = None, sink: Sink | None = None
) -> RawRead:
    """Read raw check-ins in a named format; ``auto`` detects it. ``sink``: takes the rows block by block. Raises
    ConfigError: an unknown format, or ids to be joined block by block; DataError: the file cannot be read as that.
    """
    options = options or ReadOptions()
    if source_format not in ("auto", *_OPENERS):
        raise ConfigError(f"unknown format {source_format!r}; choose auto or one of {', '.join(_OPENERS)}")
    if sink is not None and options.ids is not None:
        raise ConfigError("--text ids=join works in memory only; leave it out, or use --engine memory")
    if source_format == "auto" or not options.is_settled:
        understood = understand(path, source_format, options)
        if understood.question is not None and not understood.options.is_settled:
            raise DataError(understood.refusal())
        source_format, options = understood.source_format, understood.options
    source = _OPENERS[source_format](path, source_format, options)
    read = CheckinTableBuilder(source, options, sink).read(source_format)
    if options.ids is None:
        return read
    table, note = (join_spellings if options.ids == "join" else split_places)(read.table)
    account = read.account.model_copy(update={"notes": [*read.account.notes, note]})
    return replace(read, table=table, account=account)


def understand(path: Path, source_format: str = "auto", options: ReadOptions | None = None) -> Understanding:
    """The format of a file; of your own table also columns and questions. Raises DataError: it looks like none."""
    options, why = options or ReadOptions(), NAMED
    if source_format == "auto":
        source_format, why = detect_format(path, options.encoding)
    if source_format in OWN_FORMATS:
        return understand_table(path, source_format, options, why)
    return Understanding(path=str(path), source_format=source_format, why=why, options=options)


def read_understood(path: Path, source_format: str, options: ReadOptions) -> RawRead:
    """Read check-ins as they are understood. Raises DataError: something is unsure, or the file cannot be read."""
    understood = understand(path, source_format, options)
    if understood.question is not None:
        raise DataError(understood.refusal())
    return read_checkins(path, understood.source_format, understood.options)
