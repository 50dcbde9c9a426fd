"""Folders with SHA256SUMS that appear whole or not at all."""

import hashlib
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final
from uuid import uuid4

from recap.errors import ChecksumError, FolderInUseError, FormatVersionError, RecapError
from recap.storage.atomic import replace_text

SUMS: Final = "SHA256SUMS"
DATASET_MANIFEST: Final = "dataset.json"
CHECKPOINT_MANIFEST: Final = "checkpoint.json"
_ASIDE: Final = re.compile(r"\.(.+)\.(was|gone)-[0-9a-f]{12}", re.DOTALL)
_ATTEMPTS: Final = 10


def check_format(where: object, version: Any, newest: int, refusal: type[RecapError] = FormatVersionError) -> None:
    """Raise ``refusal`` for a format that only a newer version reads; ValueError: no whole number."""
    if not isinstance(version, int):
        raise ValueError(f"format_version must be a whole number, got {version!r}")
    if version > newest:
        raise refusal(f"{where} was written in format {version}, this version reads up to {newest}: update recap")


def sha256_of(path: Path) -> str:
    """SHA-256 of a file, in hex."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def write_sums(folder: Path, names: list[str]) -> str:
    """Write SHA256SUMS over ``names`` for ``sha256sum -c``; returns the hash of its text."""
    text = "".join(f"{sha256_of(folder / name)}  {name}\n" for name in sorted(names))
    # The list makes a folder complete, so it is written last and atomically.
    replace_text(folder / SUMS, text)
    return hashlib.sha256(text.encode()).hexdigest()


def verify_sums(folder: Path, required: list[str]) -> str:
    """Check every file of SHA256SUMS, which must list ``required``; returns the hash of the list. Raises ChecksumError:
    a file is missing, unlisted or differs.
    """
    sums = folder / SUMS
    if not sums.is_file():
        raise ChecksumError(f"{folder} has no {SUMS}: it is not a complete folder written by recap")
    text = sums.read_text(encoding="utf-8", errors="replace")
    listed = {
        name: digest for digest, _, name in (line.partition("  ") for line in text.removesuffix("\n").split("\n"))
    }
    for name in required:
        if name not in listed:
            raise ChecksumError(f"{sums} does not list {name}; write the folder again")
    for name, digest in listed.items():
        path = folder / name
        if Path(name).name != name or not path.is_file():
            raise ChecksumError(f"{folder}: {name} is missing; write the folder again")
        if sha256_of(path) != digest:
            raise ChecksumError(f"{path} was changed after it was written (SHA-256 differs); write the folder again")
    return hashlib.sha256(text.encode()).hexdigest()


def recover_folders(parent: Path) -> None:
    """Bring back every folder that `new_folder` had moved away when its process was killed, and remove what replaced
    folders left. A folder that cannot be written is left as it is.
    """
    with suppress(OSError):
        # Listed first: while one is listed, the folder with the real name is newer or missing.
        asides = [(path, match) for path in parent.iterdir() if (match := _ASIDE.fullmatch(path.name))]
        for path, match in asides:
            target = parent / match[1]
            with suppress(OSError):  # another process was faster
                if match[2] == "gone":
                    shutil.rmtree(path, ignore_errors=True)
                elif target.exists():
                    _discard(path, target)
                else:
                    path.rename(target)


def check_target(target: Path, marker: str) -> None:
    """Refuse early what `new_folder` would refuse. Raises FolderInUseError if ``target`` exists and is neither empty
    nor one of our own folders.
    """
    recover_folders(target.parent)
    if target.exists() and (not target.is_dir() or (any(target.iterdir()) and not (target / marker).is_file())):
        raise FolderInUseError(f"{target} exists and has no {marker}; choose another folder or remove it")


@contextmanager
def new_folder(target: Path, marker: str) -> Iterator[Path]:
    """Yield a temporary folder that becomes ``target`` if the block succeeds and else vanishes. An existing ``target``
    is replaced only if it is empty or has the file ``marker``, else FolderInUseError; RecapError: the disk refused
    (full, read-only), and the earlier folder stays. After a kill `recover_folders` finds the earlier or the new one.
    """
    check_target(target, marker)
    new_parents = [parent for parent in target.parents if not parent.exists()]
    temporary = _hidden(target, "new")
    try:
        temporary.mkdir(parents=True)
    except OSError as error:
        raise RecapError(f"cannot write to {target.parent}: {error.strerror or error}") from error
    is_kept = target.exists()
    try:
        yield temporary
        _put_in_place(temporary, target)
    except OSError as error:
        kept = "the earlier folder stays as it was" if is_kept else "nothing was kept"
        raise RecapError(f"writing {target} failed: {error.strerror or error}; {kept}") from error
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
        if not target.exists():
            with suppress(OSError):  # no longer empty
                for parent in new_parents:
                    parent.rmdir()


def _put_in_place(folder: Path, target: Path) -> None:
    for _ in range(_ATTEMPTS):  # another process may put a folder there, or bring the earlier one back
        with suppress(OSError):
            folder.rename(target)  # replaces an empty folder in one step: nobody claims it in between
            break
        with suppress(FileNotFoundError):
            target.rename(_hidden(target, "was"))
    else:
        recover_folders(target.parent)
        folder.rename(target)
    recover_folders(target.parent)


def _hidden(target: Path, purpose: str) -> Path:
    return target.with_name(f".{target.name}.{purpose}-{uuid4().hex[:12]}")


def _discard(aside: Path, target: Path) -> None:
    """Delete a folder under a name that is never brought back: half of it may outlive a kill."""
    doomed = _hidden(target, "gone")
    aside.rename(doomed)
    shutil.rmtree(doomed, ignore_errors=True)
