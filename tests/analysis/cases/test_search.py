"""Search among all cases, on a table to check by eye."""

import pandas as pd
import pytest

from analysis.cases.case_table import FROM, TO
from analysis.cases.search import search_cases
from analysis.cases.words import found_headline
from recap import columns as c

TABLE = pd.DataFrame(
    {
        c.CASE: [0, 1, 2, 3],
        c.USER: [3, 1, 1, 2],
        FROM: ["Pier 9", "Old Mill", "Pier 9", "Café Noir"],
        TO: ["Old Mill", "Pier 9", "Café Noir", "Bar 3"],
        c.CATEGORY: ["Mill", "Harbour", "Café", "Bar"],
    }
)


@pytest.mark.parametrize(
    ("text", "cases"),
    [
        ("", []),
        ("3", [3, 0]),  # the case, then the user's
        ("case 3", [3]),
        ("User 001", [1, 2]),
        ("user 9", []),
        ("9", [0, 1, 2]),  # no such case or user: the place
        ("pier MILL", [0, 1]),
        ("café", [2, 3]),
        ("harbour", [1]),
        ("nowhere", []),
    ],
)
def test_search(text: str, cases: list[int]) -> None:
    """By number, user, the name of either place, or the category of the true one."""
    assert search_cases(TABLE, text).tolist() == cases


def test_the_headline_counts_in_the_singular_too() -> None:
    said = [found_headline(count, 3984, "17").partition(" “")[0] for count in (0, 1, 2)]
    assert said == ["No case matches", "1 of 3,984 cases matches", "2 of 3,984 cases match"]
