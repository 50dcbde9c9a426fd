"""A file is the old one or the new one, never half of it, and nothing else is left in the folder."""

import os
import stat
from pathlib import Path

import pytest

from recap.errors import RecapError
from recap.storage.atomic import new_file, replace_bytes, replace_json, replace_text, replacing


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_text_bytes_and_json_replace_what_was_there(tmp_path: Path) -> None:
    """Each way of writing, over an older file; UTF-8, and line ends as they are."""
    path = tmp_path / "file"
    replace_bytes(path, b"\x00\xff")
    assert path.read_bytes() == b"\x00\xff"
    replace_text(path, "Ö\r\nn\n")
    assert path.read_bytes() == b"\xc3\x96\r\nn\n"
    replace_json(path, {"a": [1, None]})
    assert path.read_text() == '{\n  "a": [\n    1,\n    null\n  ]\n}\n'
    assert names_in(tmp_path) == ["file"]


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), ValueError("bad row"), KeyboardInterrupt()])
def test_a_failure_leaves_the_old_file(tmp_path: Path, error: BaseException) -> None:
    """Whatever breaks while the new file is half written: the old text stays and the half is gone."""
    path = tmp_path / "file"
    path.write_text("old")

    def write_half() -> None:
        with replacing(path) as temporary:
            temporary.write_text("ne")
            raise error

    with pytest.raises(type(error)):
        write_half()
    assert path.read_text() == "old" and names_in(tmp_path) == ["file"]


def test_a_reader_sees_the_old_file_until_the_new_one_is_complete(tmp_path: Path) -> None:
    """Also a second writer of the same file does not write into the first one's."""
    path = tmp_path / "file"
    path.write_text("old")
    with replacing(path) as first, replacing(path) as second:
        assert first != second and first.parent == second.parent == tmp_path
        first.write_text("first")
        second.write_text("second")
        assert path.read_text() == "old"
    assert path.read_text() == "first", "the outer block ends last"
    assert names_in(tmp_path) == ["file"]


def test_a_user_reads_one_line_that_names_the_file(tmp_path: Path) -> None:
    """A folder that is missing, a file where the folder should be, a folder in the file's place."""
    with pytest.raises(RecapError, match=r"^writing .*page\.html failed: No such file.*; nothing was kept$"):
        write(tmp_path / "missing" / "page.html")
    (tmp_path / "taken").write_text("")
    with pytest.raises(RecapError, match="nothing was kept"):
        write(tmp_path / "taken" / "page.html", make_parents=True)
    (tmp_path / "folder").mkdir()
    with pytest.raises(RecapError, match="nothing was kept"):
        write(tmp_path / "folder")
    write(tmp_path / "made" / "for it" / "page.html", make_parents=True)
    assert (tmp_path / "made" / "for it" / "page.html").read_text() == "text"
    assert names_in(tmp_path) == ["folder", "made", "taken"]


def write(path: Path, *, make_parents: bool = False) -> None:
    with new_file(path, make_parents=make_parents) as temporary:
        temporary.write_text("text")


def test_the_disk_has_the_file_before_its_name_and_then_the_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is synced, in order: the new file's bytes, then the folder; nothing where the file is not durable."""
    synced: list[tuple[str, bool]] = []
    sync = os.fsync

    def watched(handle: int) -> None:
        synced.append(("folder" if stat.S_ISDIR(os.fstat(handle).st_mode) else "file", (tmp_path / "file").exists()))
        sync(handle)

    monkeypatch.setattr(os, "fsync", watched)
    replace_text(tmp_path / "file", "text", durable=False)
    assert synced == []
    (tmp_path / "file").unlink()
    replace_text(tmp_path / "file", "text")
    assert synced == [("file", False), ("folder", True)]
