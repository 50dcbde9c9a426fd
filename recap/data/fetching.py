"""Fetch a published archive: resume what was cut off, check its bytes, unpack it safely, or leave nothing."""

import hashlib
import http.client
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path, PurePosixPath
from typing import Final
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

from recap.errors import ChecksumError, DataError, RecapError
from recap.storage.artifacts import new_folder

PROVENANCE: Final = "SOURCE.md"
"""File that marks a folder written by `fetch_archive`."""

_CHUNK: Final = 1 << 16
_TIMEOUT_SECONDS: Final = 30
MAX_ARCHIVE_BYTES: Final = 200 << 20
MAX_UNPACKED_BYTES: Final = 2 << 30
MAX_MEMBERS: Final = 1000
_IGNORED: Final = ("__MACOSX", ".DS_Store")

Progress = Callable[[int, int | None], None]
"""Told after each chunk: bytes so far, bytes in all (None where the server does not say)."""


def git_blob_sha1(path: Path) -> str:
    """Hash of a file as git names it: SHA-1 over ``blob <size>``, NUL and the bytes."""
    digest = hashlib.sha1(b"blob %d\0" % path.stat().st_size, usedforsecurity=False)
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()


def fetch_archive(
    url: str, git_blob: str, target: Path, *, description: str, cache: Path, progress: Progress | None = None
) -> list[str]:
    """Download a zip file, check it and unpack its CSV files into ``target``, whole or not at all.

    A transfer that breaks off leaves its part in ``cache``; the next call goes on from there.

    Args:
        git_blob: expected `git_blob_sha1`.
        description: text of the file `PROVENANCE` (source, terms, citations).
        cache: folder for the download.

    Returns:
        names of the files in ``target``.

    Raises:
        ChecksumError: the bytes are not the expected ones; the download is removed.
        DataError: the server refuses, the transfer broke off, or the archive is unsafe or no zip.
        RecapError: the disk refused.
    """
    part = cache / f"{git_blob}.part"
    try:
        cache.mkdir(parents=True, exist_ok=True)
        if not (part.is_file() and git_blob_sha1(part) == git_blob):
            _download(url, part, progress)
    except OSError as error:
        raise RecapError(
            f"cannot store the download in {cache}: {error.strerror or error}; make room and run the command again"
        ) from error
    found = git_blob_sha1(part)
    if found != git_blob:
        part.unlink()
        raise ChecksumError(
            f"{url} has other bytes than expected (git blob {found}, expected {git_blob}); "
            "the download was removed: the file was replaced or altered on its way, do not use it"
        )
    try:
        names = _unpack(part, target, description)
    except DataError:
        part.unlink()  # the same bytes would be refused again; after a full disk the download stays
        raise
    part.unlink()
    return names


def _download(url: str, part: Path, progress: Progress | None) -> None:
    """Append what is missing to ``part``."""
    if urlsplit(url).scheme not in ("http", "https"):
        raise DataError(f"{url} is no http or https address")
    have = part.stat().st_size if part.exists() else 0
    request = Request(url, headers={"User-Agent": "recap", "Accept-Encoding": "identity"})  # noqa: S310 - checked above
    if have:
        request.add_header("Range", f"bytes={have}-")
    try:
        with urlopen(request, timeout=_TIMEOUT_SECONDS) as answer:  # noqa: S310 - checked above
            if answer.status != 206:
                have = 0  # the server sends all of it again
            length = answer.headers.get("Content-Length")
            total = have + int(length) if length and length.isdigit() else None
            if (total or 0) > MAX_ARCHIVE_BYTES:
                raise DataError(f"{url} has {total} bytes, more than the {MAX_ARCHIVE_BYTES >> 20} MB it may have")
            with part.open("ab" if have else "wb") as file:
                while chunk := _next_chunk(answer):
                    have += len(chunk)
                    if have > MAX_ARCHIVE_BYTES:
                        raise DataError(f"{url} sends more than the {MAX_ARCHIVE_BYTES >> 20} MB it may have")
                    file.write(chunk)
                    if progress is not None:
                        progress(have, total)
    except HTTPError as error:
        if error.code == 416:  # what we have is as long as the file or longer: the hash decides
            return
        raise DataError(f"{url} answered {error.code} {error.reason}; try later, or fetch it by hand") from error
    except (URLError, TimeoutError, ConnectionError, http.client.HTTPException) as error:
        reason = getattr(error, "reason", None) or error
        raise DataError(
            f"the transfer from {urlsplit(url).netloc} broke off ({reason}); run the command again to go on"
        ) from error
    if total is not None and have < total:
        raise DataError(f"the transfer broke off after {have} of {total} bytes; run the command again to go on")


def _next_chunk(answer: http.client.HTTPResponse) -> bytes:
    """Read on; whatever the network raises is no fault of the disk's."""
    try:
        return answer.read(_CHUNK)
    except OSError as error:
        raise ConnectionError(error.strerror or str(error)) from error


def _unpack(archive: Path, target: Path, description: str) -> list[str]:
    with new_folder(target, PROVENANCE) as folder:
        try:
            with zipfile.ZipFile(archive) as zipped:
                members = _safe_members(zipped)
                room = MAX_UNPACKED_BYTES
                for member in members:
                    name = PurePosixPath(member.filename).name
                    with zipped.open(member) as source, (folder / name).open("wb") as sink:
                        # The sizes in an archive are claims: count what really comes.
                        while chunk := source.read(_CHUNK):
                            room -= len(chunk)
                            if room < 0:
                                raise DataError(_bomb())
                            sink.write(chunk)
        except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError) as error:
            raise DataError(f"the archive is damaged or of an unknown kind ({error}); nothing was kept") from error
        (folder / PROVENANCE).write_text(description, encoding="utf-8")
        return sorted(PurePosixPath(member.filename).name for member in members)


def _safe_members(zipped: zipfile.ZipFile) -> list[zipfile.ZipInfo]:
    """The CSV files of an archive, after a look at all of it.

    Raises:
        DataError: a path that leads outside, a link, too many or too large files, two files of one name, or no CSV.
    """
    infos = zipped.infolist()
    if len(infos) > MAX_MEMBERS or sum(info.file_size for info in infos) > MAX_UNPACKED_BYTES:
        raise DataError(_bomb())
    members: dict[str, zipfile.ZipInfo] = {}
    for info in infos:
        path = PurePosixPath(info.filename.replace("\\", "/"))
        is_link = (info.external_attr >> 16) & 0o170000 == 0o120000
        if path.is_absolute() or ".." in path.parts or ":" in "".join(path.parts[:1]) or is_link:
            raise DataError(f"the archive holds {info.filename!r}, which leads outside its folder; nothing was kept")
        if info.is_dir() or any(part in _IGNORED for part in path.parts) or path.suffix.lower() != ".csv":
            continue
        if path.name in members:
            raise DataError(f"the archive holds two files called {path.name}; nothing was kept")
        members[path.name] = info
    if not members:
        raise DataError("the archive holds no CSV file; nothing was kept")
    return list(members.values())


def _bomb() -> str:
    return f"the archive unpacks to more than {MAX_UNPACKED_BYTES >> 30} GB or {MAX_MEMBERS} files; nothing was kept"
