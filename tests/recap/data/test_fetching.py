"""Fetching from a local HTTP server: good, cut off, resumed, replaced, hostile archives, a full disk."""

import http.client
import http.server
import io
import json
import os
import shutil
import ssl
import stat
import subprocess
import threading
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from recap.data import fetching
from recap.data.archives import ARCHIVES, describe
from recap.data.fetching import fetch_archive, git_blob_sha1
from recap.errors import ChecksumError, DataError, FolderInUseError, RecapError
from tests.shell import assert_refused, limit_files_to, recap, recap_json
from tests.sources import write_source


@dataclass
class Shop:
    """A small web server's stock and its bad habits."""

    data: bytes = b""
    stop_after: int | None = None
    status: int = 200
    ignore_range: bool = False
    ranges: list[str | None] = field(default_factory=list)
    url: str = ""


@pytest.fixture
def shop() -> Iterator[Shop]:
    stock = Shop()

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            wanted = self.headers.get("Range")
            stock.ranges.append(wanted)
            if stock.status != 200:
                self.send_error(stock.status)
                return
            start = int(wanted.removeprefix("bytes=").rstrip("-")) if wanted and not stock.ignore_range else 0
            if start >= len(stock.data) and start:
                self.send_error(416)
                return
            body = stock.data[start:]
            self.send_response(206 if start else 200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body if stock.stop_after is None else body[: stock.stop_after])

        def log_message(self, *args: Any) -> None:
            """Keep stderr quiet."""

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    stock.url = f"http://127.0.0.1:{server.server_port}/NYC.zip"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield stock
    server.shutdown()
    thread.join()
    server.server_close()


def zip_of(members: dict[str, bytes], **attributes: int) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            info = zipfile.ZipInfo(name)
            info.compress_type = zipfile.ZIP_DEFLATED
            info.external_attr = attributes.get("external_attr", 0o644 << 16)
            archive.writestr(info, data)
    return buffer.getvalue()


GOOD = zip_of(
    {
        "NYC/": b"",
        "NYC/NYC_train.csv": b"a\n" * 5000,
        "NYC/NYC_val.csv": os.urandom(200_000),
        "NYC/NYC_test.csv": b"c\n",
    }
    | {"__MACOSX/NYC/._NYC_train.csv": b"junk", "NYC/.DS_Store": b"junk", "NYC/readme.txt": b"hi"}
)


def blob_of(data: bytes, folder: Path) -> str:
    (folder / "blob").write_bytes(data)
    digest = git_blob_sha1(folder / "blob")
    (folder / "blob").unlink()
    return digest


def get(shop: Shop, folder: Path, git_blob: str | None = None) -> list[str]:
    return fetch_archive(
        shop.url,
        git_blob or blob_of(shop.data, folder),
        folder / "out",
        description="# where from",
        cache=folder / "cache",
    )


def remains(folder: Path) -> list[str]:
    """What lies there now, the empty cache apart."""
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def test_hashes_as_git_does(tmp_path: Path) -> None:
    """The empty blob and 'hello' have well-known names; where git is at hand, it agrees on more."""
    (tmp_path / "a").write_bytes(b"")
    assert git_blob_sha1(tmp_path / "a") == "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"
    (tmp_path / "a").write_bytes(b"hello\n")
    assert git_blob_sha1(tmp_path / "a") == "ce013625030ba8dba906f756967f9e9ca394464a"
    (tmp_path / "a").write_bytes(GOOD)
    if shutil.which("git"):
        said = subprocess.run(["git", "hash-object", tmp_path / "a"], capture_output=True, text=True, check=True)
        assert git_blob_sha1(tmp_path / "a") == said.stdout.strip()


def test_fetches_checks_and_unpacks(shop: Shop, tmp_path: Path) -> None:
    """The CSV files and a page on their source; folders, Mac litter and other files stay out; no download remains."""
    shop.data = GOOD
    seen: list[tuple[int, int | None]] = []
    names = fetch_archive(
        shop.url,
        blob_of(GOOD, tmp_path),
        tmp_path / "out",
        description="# where from",
        cache=tmp_path / "cache",
        progress=lambda have, total: seen.append((have, total)),
    )
    assert names == ["NYC_test.csv", "NYC_train.csv", "NYC_val.csv"]
    assert remains(tmp_path) == ["out/NYC_test.csv", "out/NYC_train.csv", "out/NYC_val.csv", "out/SOURCE.md"]
    assert (tmp_path / "out" / "NYC_train.csv").read_bytes() == b"a\n" * 5000
    assert seen[-1] == (len(GOOD), len(GOOD))
    get(shop, tmp_path)  # our own folder may be replaced


def test_a_cut_off_transfer_is_resumed(shop: Shop, tmp_path: Path) -> None:
    """The first call says so and keeps its part; the second asks for the rest only, and the whole is right."""
    shop.data, shop.stop_after = GOOD, 100_000
    with pytest.raises(DataError, match=r"broke off.*run the command again"):
        get(shop, tmp_path)
    assert len(remains(tmp_path)) == 1 and not (tmp_path / "out").exists()
    shop.stop_after = None
    assert len(get(shop, tmp_path)) == 3
    assert shop.ranges == [None, "bytes=100000-"]


def test_a_network_that_fails_is_not_called_a_full_disk(
    shop: Shop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Errors that only the network raises: the transfer broke off, and the next call goes on."""
    shop.data = GOOD
    for error in (OSError(113, "No route to host"), ssl.SSLError(1, "record layer failure")):
        with monkeypatch.context() as patch:
            patch.setattr(http.client.HTTPResponse, "read", lambda *_, error=error: raise_(error))
            with pytest.raises(DataError, match=r"broke off.*run the command again"):
                get(shop, tmp_path)
    assert len(get(shop, tmp_path)) == 3


def raise_(error: Exception) -> None:
    raise error


def test_a_server_without_ranges_sends_all_again(shop: Shop, tmp_path: Path) -> None:
    """What is there is thrown away, not glued to a second copy."""
    shop.data, shop.stop_after, shop.ignore_range = GOOD, 100_000, True
    with pytest.raises(DataError):
        get(shop, tmp_path)
    shop.stop_after = None
    assert len(get(shop, tmp_path)) == 3


def test_other_bytes_are_refused_and_removed(shop: Shop, tmp_path: Path) -> None:
    """A replaced file: nothing is unpacked, and the bad download does not come back as something to resume."""
    shop.data = GOOD
    with pytest.raises(ChecksumError, match="other bytes than expected"):
        get(shop, tmp_path, "0" * 40)
    assert remains(tmp_path) == []


def test_a_part_that_does_not_fit_is_refused_once(shop: Shop, tmp_path: Path) -> None:
    """The file changed between two calls, or the part is longer than the file: refused, removed, then fetched anew."""
    shop.data = GOOD
    blob = blob_of(GOOD, tmp_path)
    for rubbish in (b"x" * 1000, b"x" * (len(GOOD) + 1)):
        (tmp_path / "cache").mkdir(exist_ok=True)
        (tmp_path / "cache" / f"{blob}.part").write_bytes(rubbish)
        with pytest.raises(ChecksumError):
            get(shop, tmp_path, blob)
        assert remains(tmp_path) == []
    assert len(get(shop, tmp_path, blob)) == 3


@pytest.mark.parametrize("status", [403, 404, 500])
def test_servers_that_refuse(shop: Shop, tmp_path: Path, status: int) -> None:
    """The answer is named."""
    shop.data, shop.status = GOOD, status
    with pytest.raises(DataError, match=f"answered {status}"):
        get(shop, tmp_path)
    assert remains(tmp_path) == []


def test_no_server_and_no_web_address(shop: Shop, tmp_path: Path) -> None:
    """Nobody listens; a file address is none."""
    for url, part in (("http://127.0.0.1:9/x.zip", "broke off"), ("file:///etc/passwd", "no http")):
        with pytest.raises(DataError, match=part):
            fetch_archive(url, "0" * 40, tmp_path / "out", description="", cache=tmp_path / "cache")
    assert remains(tmp_path) == []


HOSTILE = {
    "climbs out": (zip_of({"../evil.csv": b"x"}), "outside"),
    "climbs out with backslashes": (zip_of({"NYC\\..\\..\\evil.csv": b"x"}), "outside"),
    "absolute": (zip_of({"/evil.csv": b"x"}), "outside"),
    "a drive": (zip_of({"C:/evil.csv": b"x"}), "outside"),
    "a link": (zip_of({"link.csv": b"/etc/passwd"}, external_attr=(stat.S_IFLNK | 0o777) << 16), "outside"),
    "two of one name": (zip_of({"a/x.csv": b"1", "b/x.csv": b"2"}), "two files called x.csv"),
    "no csv": (zip_of({"readme.txt": b"hi"}), "no CSV"),
    "no zip": (b"just bytes" * 100, "damaged"),
    "too many": (zip_of({f"{i}.csv": b"" for i in range(1001)}), "1000 files"),
    "cut inside": (GOOD[:-100], "damaged"),
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_hostile_archives(shop: Shop, tmp_path: Path, kind: str) -> None:
    """Even with the expected hash nothing is written outside, and nothing half-done stays."""
    shop.data, part = HOSTILE[kind]
    with pytest.raises(DataError, match=part):
        get(shop, tmp_path)
    assert remains(tmp_path) == [] and not (tmp_path / "out").exists()


def test_zip_bombs(shop: Shop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Too large by its own word, and too large in truth though its word is small."""
    monkeypatch.setattr(fetching, "MAX_UNPACKED_BYTES", 1 << 20)
    honest = zip_of({"a.csv": b"0" * (2 << 20)})
    lying = honest.replace((2 << 20).to_bytes(4, "little"), (100).to_bytes(4, "little"))
    assert honest != lying
    for data in (honest, lying):
        shop.data = data
        with pytest.raises(DataError, match=r"unpacks to more|damaged"):
            get(shop, tmp_path)
        assert remains(tmp_path) == [] and not (tmp_path / "out").exists()


def test_a_download_that_never_ends(shop: Shop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """More bytes than any of the archives may have."""
    monkeypatch.setattr(fetching, "MAX_ARCHIVE_BYTES", 1000)
    shop.data = GOOD
    with pytest.raises(DataError, match="more than"):
        get(shop, tmp_path)


def test_other_peoples_folders_stay(shop: Shop, tmp_path: Path) -> None:
    """A folder without SOURCE.md is not ours."""
    shop.data = GOOD
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "thesis.tex").write_text("dear")
    with pytest.raises(FolderInUseError):
        get(shop, tmp_path)
    assert (tmp_path / "out" / "thesis.tex").read_text() == "dear"


def test_a_full_disk(shop: Shop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """While unpacking, and (in a process that may write no large file) while downloading."""
    shop.data = GOOD
    blob = blob_of(GOOD, tmp_path)
    real_open = Path.open

    def full(self: Path, mode: str = "r", *args: Any, **kwargs: Any) -> Any:
        if "w" in mode and self.suffix == ".csv":
            raise OSError(28, os.strerror(28))
        return real_open(self, mode, *args, **kwargs)

    monkeypatch.setattr(Path, "open", full)
    with pytest.raises(RecapError, match=r"No space left.*nothing was kept"):
        get(shop, tmp_path, blob)
    assert remains(tmp_path) == [f"cache/{blob}.part"]  # the whole download, which the next call need not repeat
    monkeypatch.undo()
    shutil.rmtree(tmp_path / "cache")
    home = {**os.environ, "RECAP_HOME": str(tmp_path / "home")}
    command = ["fetch", "nyc", "--url", shop.url, "--out", tmp_path / "out"]
    assert_refused(recap(*command, "--json", env=home, preexec_fn=limit_files_to(1000)), "cannot store the download")
    assert not (tmp_path / "out").exists()


def test_the_command(shop: Shop, tmp_path: Path) -> None:
    """Terms and citations first; the published hash is asked of any address; an unknown city is refused."""
    shop.data = GOOD
    home = {**os.environ, "RECAP_HOME": str(tmp_path / "home")}
    result = recap("fetch", "nyc", "--url", shop.url, "--out", tmp_path / "out", env=home)
    assert result.returncode == 2 and result.stderr.count("\n") == 1
    assert result.stderr.startswith("recap: ") and "other bytes than expected" in result.stderr
    assert "Research use only" in result.stdout and "GETNext" in result.stdout
    assert remains(tmp_path) == []
    assert_refused(recap("fetch", "paris", env=home), "nyc, tky, ca")


def test_the_published_archives() -> None:
    """The hashes and places of the issue; each with terms and citations."""
    assert {archive.name: archive.git_blob for archive in ARCHIVES} == {
        "nyc": "7b9bffe24d5c00c27753e67508d6e86e0ea8f41b",
        "tky": "128d3598e14801fb71319b9fd197efb4a50863ea",
        "ca": "160495348da65fc0674cacf22164f7124eddd97b",
    }
    for archive in ARCHIVES:
        assert archive.url.startswith("https://") and archive.url.endswith(".zip")
        assert archive.terms in describe(archive) and all(text in describe(archive) for text in archive.citations)


def test_what_was_fetched_can_be_prepared(shop: Shop, tmp_path: Path) -> None:
    """From the server to a dataset with its published split."""
    (tmp_path / "raw").mkdir()
    city, _ = write_source(tmp_path / "raw", "getnext")
    shop.data = zip_of({f"CITY/{path.name}": path.read_bytes() for path in city.iterdir()})
    get(shop, tmp_path)
    summary = recap_json("prepare", tmp_path / "out", "--out", tmp_path / "dataset")
    assert summary["format"] == "getnext" and summary["raw"] == summary["checkins"] == 72
    manifest = json.loads((tmp_path / "dataset" / "dataset.json").read_text())
    assert manifest["reading"]["files"] == ["CITY_train.csv", "CITY_val.csv", "CITY_test.csv"]
