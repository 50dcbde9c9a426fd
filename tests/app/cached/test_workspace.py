"""What is kept is kept by content, and goes with its object: the same files share it, others never get it."""

import gc
import shutil
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pytest

from app.cached.figures import BY_CONTENT, PerObject, sent
from app.cached.workspace import content_of, dataset_of, open_workspace
from app.sources import Source, dataset_source
from recap.errors import RecapError

WITH_MODEL = Source(
    "A", "A", "a" * 12, Path("one"), "d" * 64, False, checkpoint_folder=Path("model"), checkpoint_hash="c" * 64
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


def test_made_once_for_an_object_and_forgotten_with_it() -> None:
    """Two tables of one content are two objects: three calls, two makings, and nothing stays."""
    asked: list[int] = []

    def rows(table: pd.DataFrame) -> int:
        asked.append(len(table))
        return len(table)

    length: PerObject[pd.DataFrame, int] = PerObject(rows)
    first, second = pd.DataFrame({"a": [1, 2]}), pd.DataFrame({"a": [1, 2]})
    assert [length(first), length(first), length(second)] == [2, 2, 2]
    assert asked == [2, 2]
    del first, second
    gc.collect()
    assert not length._made


@pytest.mark.parametrize(
    "other",
    [
        pd.DataFrame({"a": [1, 3]}),
        pd.DataFrame({"b": [1, 2]}),
        pd.DataFrame({"a": [1.0, 2.0]}),
        pd.DataFrame({"a": [1, 2]}, index=[5, 6]),
        pd.DataFrame({"a": [1]}),
    ],
    ids=["value", "name", "type", "index", "length"],
)
def test_tables_of_other_content_have_another_figure(other: pd.DataFrame) -> None:
    """Value, column, type, index or length: each makes another key; a copy has the same."""
    content = BY_CONTENT[pd.DataFrame]
    table = pd.DataFrame({"a": [1, 2]})
    assert content(table) == content(table.copy()) != content(other)


def test_a_table_is_sent_in_arrows_form_or_left_to_streamlit() -> None:
    """Cells of two types have no type in Arrow: Streamlit's repairs are needed."""
    assert isinstance(sent(pd.DataFrame({"a": [1, 2]})), pa.Table)
    mixed = pd.DataFrame({"a": [1, "two"]})
    assert sent(mixed) is mixed
    assert BY_CONTENT[pd.DataFrame](pd.DataFrame({"a": [[1], [2]]})) != BY_CONTENT[pd.DataFrame](
        pd.DataFrame({"a": [[1], [3]]})
    )
