"""Labels of places: names, numbered categories, ids; one line of bounded length."""

import pandas as pd

from recap import columns as c
from recap.data.place_labels import LONGEST, label_places


def labels(*rows: tuple[str, str, int]) -> list[str]:
    """Of POIs given as (name, category, training check-ins); ids are p0, p1, ..."""
    return label_places(
        pd.DataFrame(
            {
                c.POI_ID: [f"p{number}" for number in range(len(rows))],
                c.POI_NAME: [name for name, _, _ in rows],
                c.CATEGORY: [category for _, category, _ in rows],
                c.TRAIN_CHECKINS: [visits for _, _, visits in rows],
            }
        )
    )


def test_names_come_before_categories_before_ids() -> None:
    assert labels(("Old Mill", "Café", 3), ("", "Café", 9), ("  ", "\n", 1)) == ["Old Mill", "Café", "p2"]


def test_nameless_places_of_a_category_are_numbered_by_their_visits() -> None:
    """The most visited first, ties in table order; a named one of the category takes no number."""
    rows = [("", "Home", 2), ("", "Home", 7), ("Fred's", "Home", 9), ("", "Home", 2), ("", "Office", 1)]
    assert labels(*rows) == ["Home 2", "Home 1", "Fred's", "Home 3", "Office"]


def test_one_line_and_no_longer_than_it_may_be() -> None:
    """The number stays where a category is cut, and markup is text like any other."""
    found = labels(("", "x" * 500, 1), ("", "x" * 500, 2), ("a\nb\t c", "", 1), ("", "<b>", 1), ("y" * 81, "", 1))
    assert found[0].endswith("… 2") and found[1].endswith("… 1")
    assert found[2:4] == ["a b c", "<b>"]
    assert all(len(label) <= LONGEST for label in found) and len(found[0]) == len(found[4]) == LONGEST


def test_control_characters_are_shown() -> None:
    """What would drive a terminal or turn the reader's eye round is spelled out; it stays within the length."""
    assert labels(("\x1b[31mred", "", 1), ("a\u202eb\x9b", "", 1)) == ["\\x1b[31mred", "a\\u202eb\\x9b"]
    assert len(labels(("\x1b" * 80, "", 1))[0]) == LONGEST


def test_an_empty_table_has_no_labels() -> None:
    assert labels() == []
