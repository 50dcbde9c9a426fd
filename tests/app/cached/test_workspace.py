"""What is kept is kept by content: the same files elsewhere share it, other files never do."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from app.cached.workspace import content_of, dataset_of, open_workspace
from app.sources import Source, dataset_source
from recap.errors import RecapError

WITH_MODEL = Source(
    "A", "a" * 12, Path("one"), "d" * 64, False, checkpoint_folder=Path("model"), checkpoint_hash="c" * 64
)


def test_label_folder_and_link_do_not_count() -> None:
    """The key is the hashes alone; a dataset's key does not know the model, a model's key knows both."""
    elsewhere = replace(WITH_MODEL, label="B", token="b" * 12, dataset_folder=Path("two"), bundle=Path("three"))
    assert content_of(WITH_MODEL) == content_of(elsewhere)
    retrained = replace(WITH_MODEL, checkpoint_hash="e" * 64)
    assert dataset_of(retrained) == dataset_of(WITH_MODEL) == dataset_of(WITH_MODEL.without_checkpoint)
    assert len({content_of(retrained), content_of(WITH_MODEL), content_of(WITH_MODEL.without_checkpoint)}) == 3
    assert dataset_of(replace(WITH_MODEL, dataset_hash="f" * 64)) != dataset_of(WITH_MODEL)


def test_one_dataset_in_two_folders_is_opened_once(city_folder: Path, tmp_path: Path) -> None:
    """A copy of a dataset gives the very same object, and so do the models counted from it."""
    shutil.copytree(city_folder, tmp_path / "copy")
    here, there = dataset_source(city_folder), dataset_source(tmp_path / "copy")
    assert here is not None and there is not None and here != there
    assert open_workspace(here) is open_workspace(there)
    assert open_workspace(here, "markov") is open_workspace(there, "markov")
    assert open_workspace(here, "markov") is not open_workspace(there, "popularity")


def test_another_hash_is_another_entry(city_folder: Path) -> None:
    """A source that promises other content is not served the kept one: it is read, and refused."""
    here = dataset_source(city_folder)
    assert here is not None
    open_workspace(here)
    with pytest.raises(RecapError, match="changed while the app was running"):
        open_workspace(replace(here, dataset_hash="0" * 64))
