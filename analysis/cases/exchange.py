"""Export and import saved cases, slides and collections as one plain JSON text; an import overwrites nothing."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from pydantic import ValidationError

from analysis.cases.library import LARGEST_FILE, Library, LibraryConflictError, Shelf
from analysis.cases.saved_case import Collection, SavedCase, ViewSlide
from recap.config import describe_validation
from recap.errors import ConfigError
from recap.storage.json_text import parse_json

_KIND: Final = "recap-cases"
_MOST: Final = 5000


@dataclass
class Imported:
    """The result of an import, as titles: new, there already with the same words, and different ones, which stay.

    ``damaged`` are unreadable entries, and why.
    """

    added: list[str] = field(default_factory=list)
    same: list[str] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)
    damaged: list[str] = field(default_factory=list)

    @property
    def sentence(self) -> str:
        parts = [f"{len(self.added)} imported"]
        parts += [f"{len(self.same)} already there"] if self.same else []
        parts += [f"{len(self.kept)} differ from yours, which stay"] if self.kept else []
        parts += [f"{len(self.damaged)} cannot be read ({'; '.join(self.damaged[:3])})"] if self.damaged else []
        return ", ".join(parts) + "."


def export_text(shelf: Shelf, names: list[str], collections: list[str] | None = None) -> str:
    """Cases and collections by name, with the collections' cases and slides, as indented JSON."""
    wanted = dict.fromkeys(names)
    kept = [shelf.collections[name].value for name in collections or []]
    for collection in kept:
        wanted |= dict.fromkeys(name for name in collection.cases if name in shelf.cases)
    slides = dict.fromkeys(name for collection in kept for name in collection.cases if name in shelf.findings)
    values = {
        "kind": _KIND,
        "cases": [shelf.cases[name].value.model_dump(mode="json") for name in wanted],
        "slides": [shelf.findings[name].value.model_dump(mode="json") for name in slides],
        "collections": [collection.model_dump(mode="json") for collection in kept],
    }
    return json.dumps(values, indent=1, ensure_ascii=False) + "\n"


def import_text(library: Library, text: str) -> Imported:
    """Import what `export_text` wrote, or a single saved case's file; ConfigError for another text."""
    if len(text) > 20 * LARGEST_FILE:
        raise ConfigError(f"a file of saved cases has at most {20 * LARGEST_FILE:,} characters")
    try:
        values = parse_json(text)
    except ValueError as error:
        raise ConfigError(f"this is not a file of saved cases: it is not JSON ({str(error)[:120]})") from error
    if isinstance(values, dict) and "link" in values:
        values = {"kind": _KIND, "cases": [values]}
    if not isinstance(values, dict) or values.get("kind") != _KIND:
        raise ConfigError(f'this is not a file of saved cases: expected "kind": "{_KIND}", or one saved case')
    done, shelf = Imported(), library.read()
    there = {**shelf.cases, **shelf.findings, **shelf.collections}
    for kind, name in ((SavedCase, "cases"), (ViewSlide, "slides"), (Collection, "collections")):
        entries = [] if values.get(name) is None else values[name]
        if not isinstance(entries, list) or len(entries) > _MOST:
            done.damaged.append(f"expected a list of at most {_MOST:,} entries")
            continue
        for number, entry in enumerate(entries):
            try:
                value = kind.model_validate_json(json.dumps(entry))
            except ValidationError as error:
                done.damaged.append(f"entry {number + 1}: {describe_validation(error)[:160]}")
            else:
                _take_in(library, there, value, done)
    return done


def _take_in(library: Library, there: Mapping[str, Any], value: Any, done: Imported) -> None:
    mine = there.get(value.name)
    if mine is not None:
        (done.same if mine.value == value else done.kept).append(value.title)
        return
    try:
        library.add(value)
    except LibraryConflictError:
        done.kept.append(value.title)
    else:
        done.added.append(value.title)
