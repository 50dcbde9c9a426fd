"""Labels of places: names, categories with codes, ids; one line of bounded length."""

import hashlib
from collections import Counter

import pandas as pd

from recap import columns as c
from recap.data.dataset import LONGEST, label_places


def labels(*rows: tuple[str, str, int]) -> list[str]:
    """Of POIs given as (name, category, training check-ins); ids are p0, p1, ..."""
    columns = [c.POI_ID, c.POI_NAME, c.CATEGORY, c.TRAIN_CHECKINS]
    return label_places(pd.DataFrame([(f"p{number}", *row) for number, row in enumerate(rows)], columns=columns))


def test_names_come_before_categories_before_ids() -> None:
    assert labels(("Old Mill", "Café", 3), ("", "Café", 9), ("  ", "\n", 1)) == ["Old Mill", "Café", "p2"]


def test_nameless_places_of_a_category_have_a_code_of_their_id() -> None:
    """The same whatever else the data holds; a named place of the category and one alone in its own take none."""
    code = hashlib.sha256(b"p1").hexdigest()[:4]
    found = labels(("", "Office", 1), ("", "Home", 7), ("Fred's", "Home", 9), ("", "Home", 2))
    assert found[1] == f"Home · {code}" and found[0] == "Office" and found[2] == "Fred's"
    assert labels(("", "Home", 1), ("", "Home", 50))[1] == found[1]


def test_two_codes_that_agree_are_longer() -> None:
    """Of 2,000 places of one category some share four digits: each label is another one, and no other is longer."""
    found = labels(*[("", "Home", 1)] * 2000)
    assert len(set(found)) == 2000
    whole = [hashlib.sha256(f"p{number}".encode()).hexdigest() for number in range(2000)]
    shared = {start for start, times in Counter(code[:4] for code in whole).items() if times > 1}
    assert shared and all((len(text) > 11) == (code[:4] in shared) for text, code in zip(found, whole, strict=True))


def test_one_line_and_no_longer_than_it_may_be() -> None:
    """The code stays where a category is cut, and markup is text like any other."""
    found = labels(("", "x" * 500, 1), ("", "x" * 500, 2), ("a\nb\t c", "", 1), ("", "<b>", 1), ("y" * 81, "", 1))
    assert "… · " in found[0] and found[0] != found[1]
    assert found[2:4] == ["a b c", "<b>"]
    assert all(len(label) <= LONGEST for label in found) and len(found[0]) == len(found[4]) == LONGEST


def test_control_characters_are_shown() -> None:
    """What would drive a terminal or turn the reader's eye round is spelled out; it stays within the length."""
    assert labels(("\x1b[31mred", "", 1), ("a\u202eb\x9b", "", 1)) == ["\\x1b[31mred", "a\\u202eb\\x9b"]
    assert len(labels(("\x1b" * 80, "", 1))[0]) == LONGEST
