"""Files on disk: old or new and never half, refused where they are damaged, and weights that fill a model."""

import os
import stat
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch
from torch import nn

from recap.data.readers.own_table import read_own_table
from recap.errors import DataError, RecapError
from recap.storage.atomic import new_file, replace_bytes, replace_json, replace_text, replacing
from recap.storage.parquet import read_validated
from recap.storage.tensors import Unfilled, load_weights
from tests.cli_runner import recap_here


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


_PLACES = ["park", "zoo", "quay", "park", "zoo", "quay", "park", "zoo"]
_INDICES = bytes([0b00_10_01_00, 0b01_00_10_01])
"""0 1 2 0 1 2 0 1 by two bits each, the first in the lowest."""


def beyond_its_dictionary(path: Path) -> Path:
    """Eight check-ins at three places; the places of all are the fourth."""
    table = pa.table(
        {
            "user_id": [f"user{row % 2}" for row in range(8)],
            "poi_id": pd.Categorical(_PLACES, categories=["park", "zoo", "quay"]),
            "latitude": [40.0 + row / 100 for row in range(8)],
            "longitude": [5.0] * 8,
            "time": pd.date_range("2026-03-01", periods=8, freq="h", tz="UTC"),
        }
    )
    pq.write_table(table, path, compression="none", use_dictionary=["poi_id"], column_encoding=None)
    data = path.read_bytes()
    assert data.count(_INDICES) == 1
    path.write_bytes(data.replace(_INDICES, b"\xff\xff"))
    assert pq.read_table(path).num_rows == 8, "what is wrong shows only when values are used"
    return path


def test_a_table_is_refused_before_its_values_are_used(tmp_path: Path) -> None:
    """Nothing but validation tells: without it the fourth of three names is whatever lies behind them."""
    path = beyond_its_dictionary(tmp_path / "places.parquet")
    with pytest.raises(pa.ArrowInvalid, match="out of bounds"):
        read_validated(path)
    with pytest.raises(pa.ArrowInvalid, match="out of bounds"):
        read_validated(path, columns=["poi_id"])
    assert read_validated(path, columns=["user_id"]).num_rows == 8


def test_an_own_table_is_refused_in_one_line(tmp_path: Path) -> None:
    """`recap prepare` and `recap inspect` say that the file cannot be read."""
    path = beyond_its_dictionary(tmp_path / "own.parquet")
    with pytest.raises(DataError, match=r"own\.parquet cannot be read"):
        read_own_table(path, "parquet")
    for words in (("prepare", path, "--out", tmp_path / "city"), ("inspect", path)):
        answer = recap_here(*words)
        assert answer.returncode == 2 and "own.parquet" in answer.stderr and "Traceback" not in answer.stderr
        assert len(answer.stderr.strip().splitlines()) == 1


def test_what_is_filled_next_draws_nothing() -> None:
    """The generator stands where it stood; filled, a model is the one whose weights were kept."""
    kept = nn.Sequential(nn.Embedding(5, 3), nn.Linear(3, 2))
    before = torch.random.get_rng_state()
    with Unfilled():
        linear = nn.Linear(3, 2)
        nn.init.zeros_(tensor=linear.bias)
        model = nn.Sequential(nn.Embedding(5, 3), linear)
    assert torch.equal(torch.random.get_rng_state(), before)
    load_weights(model, kept.state_dict(), "kept")
    assert all(torch.equal(model.state_dict()[name], tensor) for name, tensor in kept.state_dict().items())
    nn.Linear(3, 2)
    assert not torch.equal(torch.random.get_rng_state(), before)
