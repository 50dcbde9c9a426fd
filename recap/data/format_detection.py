"""Recognise the format of a file or folder from its first lines."""

import fnmatch
import re
from pathlib import Path
from typing import Final

from recap.data.parsing.formats import KNOWN_FILES
from recap.data.parsing.read_report import TRACK
from recap.data.parsing.table_folder import table_files
from recap.data.parsing.table_source import PARQUET_MAGIC
from recap.data.parsing.text_table import first_cells, read_head, require_file
from recap.data.parsing.workbook import workbook_kind
from recap.errors import DataError

_HEAD_LINES: Final = 50_000
_ARROW: Final = (b"ARROW1", b"\xff\xff\xff\xff", b"ORC")
_OF_FOLDERS: Final = ("getnext", *KNOWN_FILES["exports"])
_OF_TABLES: Final = ("csv", "json", "parquet", "xlsx", "arrow")
_MAGIC_BYTES: Final = 512


def detect_format(path: Path, encoding: str | None = None) -> tuple[str, str]:
    """The format, and the reason as a phrase after "because". Raises DataError: the path does not exist, is empty, or
    looks like no format.
    """
    if not path.exists():
        raise DataError(f"{path} does not exist")
    found = _of_folder(path) if path.is_dir() else _of_file(path, encoding)
    if found is None:
        raise DataError(
            f"cannot tell the format of {path.name}: expected a table with one check-in per line, JSON records, "
            "Parquet, or a folder of one dataset; name it with --format"
        )
    return found


def _of_folder(folder: Path) -> tuple[str, str] | None:
    names = [file.name.lower() for file in folder.iterdir() if file.is_file()]
    for form, known in KNOWN_FILES["published"].items():
        mark = known.get("files", [""])[0]
        if mark and fnmatch.filter(names, f"*{mark}"):
            return (form, f"it has a {mark.rstrip('*')} file")
    files = table_files(folder) or sorted(path for path in folder.rglob("*.*") if path.is_file())[:1]
    if not files:
        return None
    found = _of_export(files[0], None) if files[0].suffix == ".json" else None
    found = found or _of_file(files[0], None)
    if found is None or found[0] in _OF_FOLDERS:
        return found
    if found[0] not in _OF_TABLES:
        raise DataError(f"{folder.name} holds {len(files):,} files of the format {found[0]}; name one of them")
    return (found[0], f"it holds {len(files):,} files of this kind")


def _of_file(path: Path, encoding: str | None) -> tuple[str, str] | None:
    require_file(path)
    with path.open("rb") as file:
        magic = file.read(_MAGIC_BYTES)
    if magic[:4] == PARQUET_MAGIC:
        return ("parquet", "it begins with Parquet's mark")
    if magic.startswith(_ARROW):
        return ("arrow", "it begins as Feather, Arrow or ORC do")
    said = next(
        (kind for endings, kind in KNOWN_FILES["suffixes"].items() if path.suffix.lower() in endings.split()), None
    )
    text = magic.decode("latin-1")
    for mark, kind, better in KNOWN_FILES["others"] if not _is_track(text) else ():
        if kind.split(",")[0] == said or re.match(mark, text, re.DOTALL | re.ASCII):
            raise DataError(f"{path.name} is {kind}; save it as {better}")
    if path.suffix in (".dyna", ".geo"):
        return ("libcity", f"its name ends in {path.suffix}")
    if workbook := workbook_kind(path, magic[:4]):
        return (workbook, "it is an Excel workbook")
    if found := _of_export(path, encoding):
        return found
    lines = read_head(path, encoding=encoding)
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


def _of_export(path: Path, encoding: str | None) -> tuple[str, str] | None:
    """The format of one person's export. Raises DataError: it holds points, not visits."""
    lines = read_head(path, encoding=encoding)
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
