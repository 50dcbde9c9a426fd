"""Files on disk: old or new and never half, where the user wants them, and refused if damaged."""

import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import get_args

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch
from torch import nn

from recap.checkpoint import Checkpoint
from recap.data.reading import read_checkins
from recap.errors import ConfigError, DataError, RecapError
from recap.evaluation.records import write_records
from recap.evaluation.scoring import evaluate
from recap.history.graph import TransitionGraph
from recap.runs.store.run_store import RunStore
from recap.storage.artifacts import new_folder, recover_folders
from recap.storage.atomic import new_file, replace_json, replace_text, replacing
from recap.storage.frames import read_validated
from recap.storage.tensors import Unfilled, load_weights, save_tensors
from recap.storage.user_folder import HOME_VARIABLE, Subfolder, user_folder, user_subfolder
from recap.training.run import train
from tests.background import new_store, tiny_spec, walking_dataset
from tests.cli_runner import recap_here
from tests.shell import assert_refused


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_text_and_json_replace_what_was_there(tmp_path: Path) -> None:
    """Each way of writing, over an older file; UTF-8, and line ends as they are."""
    path = tmp_path / "file"
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
    """A file where the folder should be, a folder in the file's place; a folder that is missing is made."""
    (tmp_path / "taken").write_text("")
    (tmp_path / "folder").mkdir()
    for path in ("taken/page.html", "folder"):
        with pytest.raises(RecapError, match=rf"^writing .*{path} failed: [^\n]*; nothing was kept$"):
            write(tmp_path / path)
    write(tmp_path / "made" / "for it" / "page.html")
    assert (tmp_path / "made" / "for it" / "page.html").read_text() == "text"
    assert names_in(tmp_path) == ["folder", "made", "taken"]


def write(path: Path) -> None:
    with new_file(path) as temporary:
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
    """Nothing but validation tells: without it the fourth of three names is whatever lies behind them. Commands say in
    one line that the file cannot be read.
    """
    path = beyond_its_dictionary(tmp_path / "own.parquet")
    for columns in (None, ["poi_id"]):
        with pytest.raises(pa.ArrowInvalid, match="out of bounds"):
            read_validated(path, columns=columns)
    assert read_validated(path, columns=["user_id"]).num_rows == 8
    with pytest.raises(DataError, match=r"own\.parquet cannot be read"):
        read_checkins(path, "parquet")
    for words in (("prepare", path, "--out", tmp_path / "city"), ("inspect", path)):
        assert_refused(recap_here(*words), "own.parquet cannot be read")


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


def test_the_environment_moves_it(home: Path) -> None:
    """RECAP_HOME names the folder; asking where it or a part of it is makes nothing, only a writer does."""
    names = get_args(Subfolder)
    assert user_folder() == home and [user_subfolder(name) for name in names] == [home / name for name in names]
    assert not home.exists()
    assert [user_subfolder(name, make=True) for name in names] == [user_subfolder(name) for name in names]
    assert all((home / name).is_dir() for name in names)


@pytest.mark.parametrize("empty", [None, "", "  "])
@pytest.mark.parametrize(
    ("platform", "place"),
    [("linux", ".local/share"), ("darwin", "Library/Application Support"), ("win32", "AppData/Local")],
)
def test_the_platform_decides_otherwise(
    empty: str | None, platform: str, place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Unset or empty: the platform's folder for application data, or where its own variable moves that."""
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    for name in (HOME_VARIABLE, "XDG_DATA_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
        if empty is not None:
            monkeypatch.setenv(name, empty)
    monkeypatch.setattr("recap.storage.user_folder.sys.platform", platform)
    assert user_folder() == tmp_path / place / "recap"
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "desktop"))
    assert platform != "linux" or user_folder() == tmp_path / "desktop" / "recap"


def test_refusals(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home.write_text("")
    with pytest.raises(ConfigError, match="is a file"):
        user_folder()
    monkeypatch.setenv(HOME_VARIABLE, str(home / "below"))
    with pytest.raises(RecapError, match="cannot make"):
        user_subfolder("cache", make=True)
    assert user_subfolder("cache") == home / "below" / "cache"


@contextmanager
def masked(mask: int) -> Iterator[None]:
    before = os.umask(mask)
    try:
        yield
    finally:
        os.umask(before)


@pytest.mark.parametrize(("mask", "folder_mode", "file_mode"), [(0o077, 0o700, 0o600), (0o022, 0o755, 0o644)])
def test_every_file_and_folder_honours_the_umask(mask: int, folder_mode: int, file_mode: int, home: Path) -> None:
    """A mask of 077 keeps everything to its owner; one of 022 shows everything, the weights too."""
    place = home.parent
    with masked(mask):
        dataset = walking_dataset(users=3, days=20)
        dataset.save(place / "data")
        spec = tiny_spec(place / "data", epochs=1)
        train(dataset, spec.train_config(), place / "trained", device=torch.device("cpu"))
        graph = TransitionGraph.from_dataset(dataset)
        scorer = Checkpoint.load(place / "trained").scorer(dataset, graph)
        write_records(evaluate(scorer, dataset, graph).records, place / "records.parquet", {"model": "recap"})
        (run,) = new_store(home).add([spec])
        run.change({"queued"}, "stopped")
    assert len(RunStore(home / "runs").runs()) == 1
    found = [path for path in sorted(place.rglob("*")) if not path.is_symlink()]
    names = {path.name for path in found}
    assert {"dataset.json", "records.parquet", "metrics.jsonl", "model.safetensors", "spec.json", "state.json"} <= names
    assert {path for path in found if path.is_dir() and stat.S_IMODE(path.stat().st_mode) != folder_mode} == set()
    assert {path for path in found if path.is_file() and stat.S_IMODE(path.stat().st_mode) != file_mode} == set()


_KILLED_AT = """
import os, signal, sys
from pathlib import Path
from recap.storage.artifacts import new_folder
left = int(sys.argv[1])
def count(event, arguments):
    global left
    if event in ("os.rename", "os.remove", "os.rmdir", "os.mkdir"):
        left -= 1
        if left < 0:
            os.kill(os.getpid(), signal.SIGKILL)
sys.addaudithook(count)
with new_folder(Path(sys.argv[2]), "mark") as draft:
    for name in ("mark", "table"): (draft / name).write_text("new")
"""


def test_a_kill_at_any_step_leaves_the_earlier_or_the_new_folder(tmp_path: Path) -> None:
    """The process ends before its first, second, ... change of names; the next start finds one whole folder."""
    found = set()
    for step in range(20):
        home = tmp_path / str(step)
        home.mkdir()
        write_marks(home / "data", "old")
        command = [sys.executable, "-c", _KILLED_AT, str(step), str(home / "data")]
        ended = subprocess.run(command, cwd=Path(__file__).parents[3], check=False)
        lost = not (home / "data").exists()
        recover_folders(home)
        texts = {(home / "data" / name).read_text() for name in ("mark", "table")}
        assert len(texts) == 1 and not [name for name in names_in(home) if ".was-" in name]
        found.add((lost, *texts))
        if ended.returncode == 0:
            break
    assert found == {(False, "old"), (True, "old"), (False, "new")}, "also between the two renames"
    assert names_in(home) == ["data"]


def write_marks(folder: Path, text: str) -> None:
    """Replaces a folder by one of two files."""
    with new_folder(folder, "mark") as draft:
        (draft / "mark").write_text(text)
        (draft / "table").write_text(text)


def test_a_folder_that_cannot_be_moved_in_leaves_the_earlier_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second rename fails: the earlier folder is back at once, and the message says so."""
    write_marks(tmp_path / "data", "old")
    rename = os.rename

    def refuse(source: Path, target: Path) -> None:
        if ".new-" in str(source):
            raise PermissionError(13, "Permission denied")
        rename(source, target)

    monkeypatch.setattr(os, "rename", refuse)
    with pytest.raises(RecapError, match="Permission denied; the earlier folder stays as it was"):
        write_marks(tmp_path / "data", "new")
    assert (tmp_path / "data" / "mark").read_text() == "old" and names_in(tmp_path) == ["data"]


def test_a_reader_that_recovers_during_a_replacement_does_not_stop_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the two renames a reader brings the earlier folder back; the new one replaces it all the same."""
    write_marks(tmp_path / "data", "old")
    rename = os.rename

    def read_between(source: Path, target: Path) -> None:
        rename(source, target)
        if ".was-" in str(target):
            monkeypatch.setattr(os, "rename", rename)
            recover_folders(tmp_path)
            assert (tmp_path / "data" / "mark").read_text() == "old"

    monkeypatch.setattr(os, "rename", read_between)
    write_marks(tmp_path / "data", "new")
    assert (tmp_path / "data" / "mark").read_text() == "new" and names_in(tmp_path) == ["data"]


def test_a_write_leaves_the_modes_of_other_threads_files_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that another thread opens at the very moment a mask is set has the mode of the process's own mask."""
    umask = os.umask

    def watched(mask: int) -> int:
        before = umask(mask)
        (tmp_path / f"other-{len(names_in(tmp_path))}").touch()
        return before

    with masked(0o022):
        monkeypatch.setattr(os, "umask", watched)
        save_tensors({"a": torch.zeros(2)}, tmp_path / "weights.safetensors")
        replace_text(tmp_path / "text", "text")
        write_marks(tmp_path / "data", "text")
        monkeypatch.undo()
    assert {stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir() if path.is_file()} == {0o644}
    assert stat.S_IMODE((tmp_path / "data").stat().st_mode) == 0o755
