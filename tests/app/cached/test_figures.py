"""What is kept for an object goes with it, and another object never gets it."""

import gc

import pandas as pd
import pyarrow as pa
import pytest

from app.cached.figures import BY_CONTENT, PerObject, sent


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
