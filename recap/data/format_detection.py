"""Recognise the format of a file or folder from its first lines."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Final

from recap.data.parsing.read_report import TRACK
from recap.data.parsing.table_folder import table_files
from recap.data.parsing.table_source import PARQUET_MAGIC
from recap.data.parsing.text_table import first_cells, read_head, require_file
from recap.data.parsing.workbook import workbook_kind
from recap.errors import DataError

_CTIME: Final = re.compile(r"[A-Z][a-z]{2} [A-Z][a-z]{2} \d\d \d\d:\d\d:\d\d \+0000 \d{4}$")
_ISO: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")
_RECBOLE: Final = re.compile(r"^[^\t:]+:(?:token|float)(?:_seq)?(?:\t|$)")

_HEAD_LINES: Final = 50_000
_ARROW: Final = (b"ARROW1", b"\xff\xff\xff\xff", b"ORC")
_OF_FOLDERS: Final = ("getnext", "timeline", "swarm", "owntracks")
_OF_TABLES: Final = ("csv", "json", "parquet", "xlsx", "arrow")
_MAGIC_BYTES: Final = 512
_CSV: Final = "CSV or Parquet"
_OTHERS: Final = (
    (rb"SQLite format 3\0.{52}GPKG", "a GeoPackage", f"{_CSV}, such as with ogr2ogr or geopandas"),
    (rb"SQLite format 3\0", "an SQLite database", "its table as CSV"),
    (rb"\x00\x00\x27\x0a", "a shapefile", f"{_CSV}, such as with ogr2ogr or geopandas"),
    (rb"fgb\x03", "a FlatGeobuf", f"{_CSV}, such as with ogr2ogr or geopandas"),
    (rb"\x80[\x02-\x05]", "a Python pickle, which can run code and is never opened", f"{_CSV}, such as with to_csv"),
    (rb"\x89HDF", "an HDF5 file", f"{_CSV}, such as with pandas"),
    (rb"CDF[\x01\x02\x05]", "a NetCDF file", f"{_CSV}, such as with xarray"),
    (rb"\x93NUMPY", "a NumPy array", "CSV with column names"),
    (rb"MATLAB ", "a MATLAB file", "CSV"),
    (rb"RDX[23]\n|RDA[23]\n|X\n\x00\x00|A\n[23]\n", "a file of R", "CSV with write.csv"),
    (rb"<stata_dta>|[\x71-\x73][\x01\x02]\x01\x00", "a Stata file", f"{_CSV}, such as with pandas"),
    (rb"\$FL[23]", "an SPSS file", f"{_CSV}, such as with pandas"),
    (rb"\x00{12}\xc2\xea\x81\x60", "a SAS file", f"{_CSV}, such as with pandas"),
    (rb"Obj\x01", "an Avro file", _CSV),
    (rb"FEA1", "a Feather file of the first version", "Feather again, Parquet or CSV"),
    (rb".{8}DUCK", "a DuckDB database", "its table as Parquet (COPY … TO)"),
    (rb"\x00\x01\x00\x00Standard (?:Jet|ACE) DB", "an Access database", "its table as CSV"),
    (rb"\xfd7zXZ\x00|BZh\d|\x28\xb5\x2f\xfd|\x04\x22\x4d\x18", "compressed", "plain text or .gz"),
    (rb"7z\xbc\xaf|Rar!|.{257}ustar", "an archive", "the file inside it"),
    (rb"%PDF", "a PDF", "its table as CSV"),
    (rb"\{\\rtf", "a text document", "its table as CSV"),
    (rb"(?i)\s*(?:<!doctype html|<html|<table)", "a web page", "its table as CSV"),
    (rb"(?i)\s*<\?xml", "XML", "one record per line, as CSV or JSON"),
    (rb"\x89PNG|\xff\xd8\xff|GIF8", "a picture", "CSV"),
)
"""How other kinds of files begin, what they are, and what to save them as."""
_SUFFIXES: Final = {
    "a shapefile": (".shp", ".dbf", ".shx", ".prj"),
    "a Python pickle": (".pkl", ".pickle", ".joblib"),
    "a SAS file": (".sas7bdat", ".xpt"),
    "a file of R": (".rds", ".rdata", ".rda"),
}
_EXPORTS: Final = (
    (
        "timeline",
        "it has the segments of Google's Timeline",
        r'^\s*(?:\{.*"(?:semanticSegments|timelineObjects)"\s*:'
        r'|\[\s*\{[^{]*"(?:startTime|endTime)".*"(?:topCandidate|timelinePath)"\s*:)',
    ),
    ("swarm", "it has the check-ins of a Swarm export", r'^\s*\{.*"items"\s*:.*"createdAt".*"timeZoneOffset"'),
    ("owntracks", "it has the arrivals that OwnTracks recorded", r'"_type"\s*:\s*"transition"'),
)
"""What the head of an export has, format by format."""
_TRACKS: Final = (
    *(r"<gpx[\s>]", r"<kml[\s>]", r"<TrainingCenterDatabase", r"^Geolife trajectory", r"^\$G[PN][A-Z]{3},"),
    *(r'"locations"\s*:\s*\[\s*\{[^}]*"(?:latitudeE7|timestampMs)"', r'"_type"\s*:\s*"location"'),
)


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
    if any(name.endswith(".dyna") for name in names):
        return ("libcity", "it has a .dyna file")
    if any(name.endswith(".inter") for name in names):
        return ("recbole", "it has a .inter file")
    if any("tist2015_checkins" in name for name in names):
        return ("tist2015", "it has a file of TIST2015 check-ins")
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
    for mark, kind, better in _OTHERS:
        is_named = path.suffix.lower() in _SUFFIXES.get(kind.split(",")[0], ())
        if (is_named or re.match(mark, magic, re.DOTALL)) and not any(
            re.search(track, magic.decode("latin-1")) for track in _TRACKS
        ):
            raise DataError(f"{path.name} is {kind}; save it as {better}")
    if path.suffix in (".dyna", ".geo"):
        return ("libcity", f"its name ends in {path.suffix}")
    if workbook := workbook_kind(path, magic[:4]):
        return (workbook, "it is an Excel workbook")
    if found := _of_export(path, encoding):
        return found
    lines = read_head(path, encoding=encoding)
    first = lines[0] if lines else ""
    tabbed = [line.split("\t") for line in lines if line]
    if _share(tabbed, lambda row: len(row) == 8 and bool(_CTIME.search(row[7]))):
        return ("foursquare", "its lines have eight columns, the last a time such as Tue Apr 03 18:00:09 +0000 2012")
    if _share(tabbed, lambda row: len(row) == 5 and bool(_ISO.match(row[1])) and "." in row[2] and "." in row[3]):
        return ("gowalla", "its lines have five columns, the second a time such as 2010-10-19T23:55:27Z")
    if _RECBOLE.match(first):
        return ("recbole", "its header gives types, such as user_id:token")
    if {"POI_id", "UTC_time"} <= {name.strip(' "\ufeff') for name in first.split(",")}:
        return ("getnext", "its header has columns such as user_id, POI_id and UTC_time")
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
    for name, why, pattern in _EXPORTS:
        if re.search(pattern, head, re.DOTALL):
            return name, why
    if any(re.search(pattern, head) for pattern in _TRACKS):
        raise DataError(TRACK.format(name=path.name))
    return None


def _share(rows: list[list[str]], fits: Callable[[list[str]], bool]) -> bool:
    return sum(map(fits, rows)) > len(rows) / 2
