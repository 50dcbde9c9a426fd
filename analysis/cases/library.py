"""The library of saved cases and slides: one JSON file each; a damaged file affects no other.

Every change names the version that was read (the digest of the file's bytes). If another window has written the file
since then, nothing is written.
"""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Generic, TypeVar

from filelock import FileLock, Timeout
from pydantic import ValidationError

from analysis.cases.saved_case import Collection, SavedCase, ViewSlide
from recap.config import describe_validation
from recap.errors import RecapError
from recap.storage.atomic import replace_text
from recap.storage.user_folder import user_folder

COLLECTIONS: Final = "collections"
_FOLDERS: Final = {Collection.__name__: COLLECTIONS, ViewSlide.__name__: "slides"}
LARGEST_FILE: Final = 1_000_000
_PATIENCE_S: Final = 10.0
_ENDING: Final = ".json"

_T = TypeVar("_T", SavedCase, Collection, ViewSlide)


class LibraryConflictError(RecapError):
    """Somebody else changed or removed the file; nothing was written."""


@dataclass(frozen=True)
class Stored(Generic[_T]):
    """A case or collection as stored: its file's name without ending, and the digest of the file's bytes."""

    name: str
    value: _T
    version: str


SlideOf = Stored[SavedCase] | Stored[ViewSlide]
"""What a collection holds."""


@dataclass(frozen=True)
class Damaged:
    file: str
    reason: str


@dataclass(frozen=True)
class Shelf:
    """The content of the library at one moment: cases by name, latest first, collections by title, and slides."""

    cases: dict[str, Stored[SavedCase]] = field(default_factory=dict)
    collections: dict[str, Stored[Collection]] = field(default_factory=dict)
    damaged: tuple[Damaged, ...] = ()
    findings: dict[str, Stored[ViewSlide]] = field(default_factory=dict)

    def of(self, dataset_hash: str, checkpoint_hash: str | None) -> list[Stored[SavedCase]]:
        """Cases of one dataset and checkpoint, latest first."""
        return [stored for stored in self.cases.values() if stored.value.fits(dataset_hash, checkpoint_hash)]

    def in_order(self, collection: Collection) -> list[Stored[SavedCase]]:
        """The cases of a collection in order, without those that are gone."""
        return [self.cases[name] for name in collection.cases if name in self.cases]

    def slides_of(self, collection: Collection) -> list[SlideOf]:
        """The cases and slides of a collection in order, without those that are gone."""
        there: dict[str, SlideOf] = {**self.cases, **self.findings}
        return [there[name] for name in collection.cases if name in there]

    def titles_with(self, case: str) -> list[str]:
        """Titles of the collections that a saved case is in."""
        return [stored.value.title for stored in self.collections.values() if case in stored.value.cases]


class Library:
    """The saved cases in one folder, which the first save makes, with a folder of collections in it."""

    def __init__(self, folder: Path, *, read_only: bool = False) -> None:
        self.folder, self.read_only = folder, read_only

    @classmethod
    def of_user(cls, *, read_only: bool = False) -> "Library":
        """The user's own library; ConfigError where RECAP_HOME names a file."""
        return cls(user_folder() / "cases", read_only=read_only)

    def read(self) -> Shelf:
        """Read all files; name the unreadable ones."""
        damaged: list[Damaged] = []
        cases = self._read_all(SavedCase, damaged)
        collections = self._read_all(Collection, damaged)
        latest = sorted(cases, key=lambda stored: (stored.value.saved, stored.name), reverse=True)
        by_title = sorted(collections, key=lambda stored: (stored.value.title.casefold(), stored.name))
        findings = {stored.name: stored for stored in self._read_all(ViewSlide, damaged)}
        return Shelf(
            {stored.name: stored for stored in latest},
            {stored.name: stored for stored in by_title},
            tuple(damaged),
            findings,
        )

    def add(self, value: _T) -> Stored[_T]:
        """Store a new case or collection; LibraryConflictError if it is there already."""
        return self._write(value, value.name, None)

    def change(self, stored: Stored[_T], value: _T) -> Stored[_T]:
        """Overwrite the version that was read; LibraryConflictError if the file has changed or gone since."""
        return self._write(value, stored.name, stored.version)

    def remove(self, stored: Stored[_T]) -> None:
        """Delete a file, if it is still there; LibraryConflictError if it has changed since it was read."""
        path = self._path(type(stored.value), stored.name)
        with self._alone(path):
            now = _digest(path)
            if now is None:
                return
            if now != stored.version:
                raise _changed(stored.value)
            path.unlink(missing_ok=True)

    def _write(self, value: _T, name: str, expected: str | None) -> Stored[_T]:
        path = self._path(type(value), name)
        text = value.model_dump_json(indent=1) + "\n"
        with self._alone(path):
            now = _digest(path)
            if expected is None and now is not None:
                raise LibraryConflictError(f"{_what(value)} is in the library already; open it to change it")
            if expected is not None and now is None:
                raise LibraryConflictError(f"{_what(value)} was removed in another window; nothing was written")
            if now != expected:
                raise _changed(value)
            replace_text(path, text)
        return Stored(name, value, hashlib.sha256(text.encode()).hexdigest())

    @contextmanager
    def _alone(self, path: Path) -> Iterator[None]:
        """Lock the library against other threads and processes; refuse if it is read-only."""
        if self.read_only:
            raise RecapError("this library is read-only; nothing was changed")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with FileLock(path.parent / ".lock", timeout=_PATIENCE_S):
                yield
        except Timeout as error:
            raise RecapError(f"{path.parent} is being written by another window; nothing was written") from error
        except OSError as error:
            raise RecapError(f"writing {path} failed: {error.strerror or error}; nothing was kept") from error

    def _place(self, kind: type[_T]) -> Path:
        return self.folder / _FOLDERS.get(kind.__name__, "")

    def _path(self, kind: type[_T], name: str) -> Path:
        """Path of a file, never outside the folder."""
        if not _is_plain(name):
            raise RecapError(f"a saved case is named by letters, digits, - and _, not {name[:80]!r}")
        return self._place(kind) / f"{name}{_ENDING}"

    def _read_all(self, kind: type[_T], damaged: list[Damaged]) -> list[Stored[_T]]:
        place, entries = self._place(kind), []
        try:
            paths = sorted(path for path in place.glob(f"*{_ENDING}") if not path.name.startswith("."))
        except OSError:
            return []
        for path in paths:
            shown = str(path.relative_to(self.folder))
            try:
                entries.append(self._read_one(kind, path))
            except ValidationError as error:
                damaged.append(Damaged(shown, describe_validation(error)))
            except (OSError, ValueError, RecapError, RecursionError) as error:
                damaged.append(Damaged(shown, str(error)))
        return entries

    def _read_one(self, kind: type[_T], path: Path) -> Stored[_T]:
        if not _is_plain(path.stem):
            raise RecapError("its name may only have letters, digits, - and _")
        if not path.resolve().is_relative_to(self.folder.resolve()):
            raise RecapError("it points outside the folder")
        if path.stat().st_size > LARGEST_FILE:
            raise RecapError(f"it is larger than {LARGEST_FILE:,} bytes")
        content = path.read_bytes()
        return Stored(path.stem, kind.model_validate_json(content), hashlib.sha256(content).hexdigest())


def _digest(path: Path) -> str | None:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except FileNotFoundError:
        return None


def _is_plain(name: str) -> bool:
    return 0 < len(name) <= 64 and all(ch.isascii() and (ch.isalnum() or ch in "-_") for ch in name)


def _what(value: SavedCase | Collection | ViewSlide) -> str:
    if isinstance(value, SavedCase):
        return f"case {value.link.case}"
    return f"the {'collection' if isinstance(value, Collection) else 'slide'} {value.title!r}"


def _changed(value: SavedCase | Collection | ViewSlide) -> LibraryConflictError:
    return LibraryConflictError(
        f"{_what(value)} was changed in another window; nothing was written: open it again first"
    )
