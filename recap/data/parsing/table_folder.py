"""A folder of files with equal columns: which files it is, and what their names and folders say."""

import re
from itertools import islice
from pathlib import Path
from typing import Final
from urllib.parse import unquote

from recap import columns as c
from recap.data.parsing.formats import KNOWN_FILES
from recap.errors import DataError

_SUFFIXES: Final = (*KNOWN_FILES["suffixes_of_tables"].split(), "")
_MOST_FILES: Final = 10_000
_NO_VALUE: Final = "__HIVE_DEFAULT_PARTITION__"
SPLIT_WORDS: Final = {word: code for code, words in enumerate(KNOWN_FILES["splits"]) for word in words.split()}
"""What names the parts of a split, in files and in their names."""
_NO_NAME: Final = re.compile(
    r"(?:part|chunk|data|file|batch)?[-_ ]?\d{0,5}(?:-[0-9a-f-]{8,}.*)?|\d{4}([-_.]?\d\d){0,2}.*", re.I
)
"""Names that number parts or say a month; others may be a user or a place."""


def table_files(folder: Path) -> tuple[list[Path], list[Path]]:
    """The files of the most frequent kind, or of a split its parts and the others. Raises DataError: too many."""
    every = (path for path in folder.rglob("*") if path.is_file())
    shown = (path for path in every if not re.search(r"(^|/)[._]", path.relative_to(folder).as_posix()))
    files = sorted(islice(shown, _MOST_FILES + 1))
    if len(files) > _MOST_FILES:
        raise DataError(f"{folder.name} holds more than {_MOST_FILES:,} files; write them as one table first")
    kinds = [_suffix(path) for path in files]
    kind = max(_SUFFIXES, key=lambda suffix: (kinds.count(suffix), suffix == ".csv"))
    files = [path for path, suffix in zip(files, kinds, strict=True) if suffix == kind]
    splits = [split_of(path.relative_to(folder)) for path in files]
    if not {"train", "test"} <= {*splits}:
        return files, []
    parts = [path for path, split in zip(files, splits, strict=True) if split]
    return parts, [path for path in files if path not in parts]


def labels_of(folder: Path, files: list[Path]) -> dict[str, list[str]]:
    """Column -> its value in each file: ``key=value`` of folders, the folder's or the file's name, and ``split``."""
    labels: dict[str, list[str]] = {}
    parts = [path.relative_to(folder).parent.parts for path in files]
    for key in dict.fromkeys(part.partition("=")[0] for path in parts for part in path if "=" in part):
        values = ([part[len(key) + 1 :] for part in path if part.startswith(f"{key}=")] for path in parts)
        labels[key] = [unquote(matches[0]) if matches and matches[0] != _NO_VALUE else "" for matches in values]
    labels["folder"] = [next((part for part in reversed(path) if "=" not in part), "") for path in parts]
    splits = [split_of(path.relative_to(folder)) for path in files]
    if {"train", "test"} <= {*splits}:
        labels["split"] = splits
    else:
        labels["file"] = [path.name[: -len(path.suffix) or None].removesuffix(_suffix(path)) for path in files]
    for name in ("folder", "file"):
        labels_here = labels.get(name, [])
        if len({*labels_here}) < 2 or all(_NO_NAME.fullmatch(value) for value in labels_here):
            labels.pop(name, None)
    return labels


def _suffix(path: Path) -> str:
    return Path(path.name.lower().removesuffix(".gz")).suffix


def split_of(path: Path) -> str:
    """The part of a split that a path names; empty if none."""
    words = re.split(r"[\W\d_]+", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", path.as_posix()).lower())
    return next((c.SPLIT_NAMES[SPLIT_WORDS[word]] for word in words if word in SPLIT_WORDS), "")
