"""Filters of cases that somebody gave a name, one small JSON file each in the user's folder; no case is in it."""

import hashlib
from pathlib import Path
from typing import Final

from pydantic import Field, ValidationError

from analysis.cases.case_filter import CaseFilter
from recap.config import Config
from recap.errors import ConfigError, RecapError
from recap.storage.atomic import write_text
from recap.storage.user_folder import user_folder, user_subfolder

_FOLDER: Final = "filters"


class NamedFilter(Config):
    """A filter and what it is called."""

    name: str = Field(min_length=1, max_length=60)
    filter: CaseFilter


def save_filter(named: NamedFilter) -> Path:
    """Write it into the user's folder, whole or not at all; another of this name is replaced.

    Raises:
        ConfigError: the name holds nothing but blanks, or signs that cannot be printed.
        RecapError: the disk refused.
    """
    if not named.name.strip() or not named.name.isprintable():
        raise ConfigError("a filter needs a name of letters that can be printed")
    path = user_subfolder("cases", make=True) / _FOLDER / _file_of(named.name)
    write_text(path, named.model_dump_json(indent=1), make_parents=True)
    return path


def saved_filters() -> dict[str, CaseFilter]:
    """All filters by name, in the order of the alphabet; files that are none are left alone and out."""
    try:
        paths = sorted((user_folder() / "cases" / _FOLDER).glob("*.json"))
    except (OSError, RecapError):
        return {}
    found = []
    for path in paths:
        try:
            found.append(NamedFilter.model_validate_json(path.read_text(encoding="utf-8")))
        except (OSError, ValueError, ValidationError):
            continue
    return {named.name: named.filter for named in sorted(found, key=lambda named: named.name.casefold())}


def forget_filter(name: str) -> None:
    """Remove a filter; nothing happens where it is gone.

    Raises:
        RecapError: the disk refused.
    """
    path = user_folder() / "cases" / _FOLDER / _file_of(name)
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        raise RecapError(f"removing {path} failed: {error.strerror or error}") from error


def _file_of(name: str) -> str:
    return f"{hashlib.sha256(name.encode()).hexdigest()[:16]}.json"
