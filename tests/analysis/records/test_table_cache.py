"""Tables kept in the user's cache: made once, made again where they do not fit, done without where nothing is kept."""

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from analysis.records.table_cache import TableKey, kept_table
from recap.evaluation.records import write_records


@pytest.fixture(autouse=True)
def _own_home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("RECAP_HOME", str(tmp_path))


def kept(made: list[int], *, rows: int = 2, said: str = "d", **options: Any) -> pd.DataFrame:
    def make() -> pd.DataFrame:
        made.append(rows)
        return pd.DataFrame({"n": range(rows)})

    return kept_table(key(said), make, rows=rows, **options)


def key(said: str = "d") -> TableKey:
    """Of datasets whose hashes begin alike."""
    return TableKey("0" * 60 + said, "model", "test", "misses")


def test_made_once_and_again_where_it_does_not_fit() -> None:
    """The second reader makes none; with another length, other metadata, or no table in the file it is replaced."""
    made: list[int] = []
    assert kept(made).equals(kept(made)) and made == [2]
    assert len(kept(made, rows=3)) == 3
    kept(made, rows=3, said="other")
    key().cached().write_bytes(b"no table")
    kept(made, rows=3, said="other")
    kept(made, rows=3, said="other")
    assert made == [2, 3, 3, 3]


def test_nothing_is_written_where_nothing_may_be(tmp_path: Path) -> None:
    """A read-only reader makes the table each time and leaves no file, not even in place of a broken one."""
    made: list[int] = []
    kept(made, keep=False)
    kept(made, keep=False)
    assert made == [2, 2] and not [path for path in tmp_path.rglob("*") if path.is_file()]


def test_a_bundle_comes_with_its_tables(tmp_path: Path) -> None:
    """What a bundle ships is read and nothing is kept; of another dataset or length it is as if not there."""
    made: list[int] = []
    bundle = tmp_path / "bundle"
    write_records(pd.DataFrame({"n": [7, 8]}), key().shipped_in(bundle), key().metadata)
    assert kept(made, bundle=bundle)["n"].tolist() == [7, 8]
    assert not made and not key().cached().exists()
    kept(made, rows=3, bundle=bundle)
    kept(made, said="e", bundle=bundle)
    assert made == [3, 2]
    assert kept(made, bundle=bundle)["n"].tolist() == [7, 8], "the cache has another one"


def test_a_table_of_another_format_is_made_again(tmp_path: Path) -> None:
    """A file that names no format is the first one; another one is as if not there, shipped or kept."""
    bundle, made = tmp_path / "bundle", list[int]()
    first, second = (TableKey("0" * 64, "model", "test", "ablations", number) for number in ("1", "2"))
    bare = TableKey("0" * 64, "model", "test", "ablations")
    table = pd.DataFrame({"n": [7, 8]})

    def make() -> pd.DataFrame:
        made.append(2)
        return table + 1

    write_records(table, bare.shipped_in(bundle), bare.metadata)
    assert kept_table(first, make, rows=2, bundle=bundle).equals(table) and not made
    assert kept_table(second, make, rows=2, bundle=bundle).equals(table + 1) and made == [2]
    assert kept_table(second, make, rows=2).equals(table + 1) and made == [2], "kept with its format"
    assert kept_table(first, make, rows=2).equals(table + 1) and made == [2, 2]


def test_columns_that_are_not_asked_for_stay_on_the_disk() -> None:
    """Whether the table was made or read, only what is asked for comes; the file keeps all of it."""
    table = pd.DataFrame({"n": [1, 2], "list": [[3, 4], [5, 6]]})
    for _ in range(2):
        found = kept_table(key(), lambda: table, rows=2, without=("list",))
        assert list(found) == ["n"]
    assert [list(row) for row in kept_table(key(), pd.DataFrame, rows=2)["list"]] == [[3, 4], [5, 6]]
