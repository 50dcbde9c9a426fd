"""Filters of cases: what passes, and what a link carries; and the search among all cases."""

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.cases.case_filter import CaseFilter, hide_truth
from analysis.cases.case_table import CAUSES, FROM, HOUR, REASON, TO
from analysis.cases.search import search_cases
from analysis.cases.words import found_headline
from analysis.long_tail.misses import MISSES
from analysis.records.ablations import ABLATIONS
from recap import columns as c
from recap.errors import ConfigError

ROWS = [
    # case, rank, step, place, user, hour, from, to, category, reason, causes
    (0, 1.0, 12, 40, 7, 8, "Home", "Harbour Cafe", "Cafe", "", ("history",)),
    (1, 2.5, 1, 3, 7, 17, "Harbour Cafe", "Pier Bar", "Bar", "", ("two_hops", "core")),
    (2, 21.0, 0, 3, 8, 23, "Pier Bar", "Home", "Home", "out_of_reach", ()),
    (3, 400.0, 0, 9, 8, 1, "Home", "Dock Bar", "Bar", "near_miss", ()),
]
NAMES = [c.CASE, c.RANK, c.TRANSITION_COUNT, c.DESTINATION_COUNT, c.USER, HOUR, FROM, TO, c.CATEGORY, REASON, CAUSES]
TABLE = pd.DataFrame(ROWS, columns=NAMES)


@pytest.mark.parametrize(
    ("text", "cases"),
    [
        ("", [0, 1, 2, 3]),
        ("hours=8-17", [0, 1]),
        ("hours=22-2", [2, 3]),
        ("categories=Bar", [1, 3]),
        ("categories=Bar&categories=Cafe&hours=8-17", [0, 1]),
        ("reasons=out_of_reach&reasons=near_miss", [2, 3]),
        ("causes=core", [1]),
        ("search=harbour++CAFE", [0, 1]),
        ("search=bar&hours=0-1", [3]),
    ],
)
def test_what_passes(text: str, cases: list[int]) -> None:
    """Fields narrow each other down; the values of one field widen it."""
    assert TABLE[c.CASE][CaseFilter.from_text(text).mask(TABLE)].tolist() == cases


filters = st.builds(
    CaseFilter,
    hours=st.none() | st.tuples(st.integers(0, 23), st.integers(0, 23)),
    categories=st.lists(st.text(min_size=1, max_size=12), max_size=3).map(tuple),
    reasons=st.lists(st.sampled_from(MISSES), max_size=3).map(tuple),
    causes=st.lists(st.sampled_from(ABLATIONS), max_size=3).map(tuple),
    search=st.text(max_size=20),
)


@given(chosen=filters)
def test_a_link_carries_every_filter(chosen: CaseFilter) -> None:
    """Written and read back it is the same, whatever signs a category has."""
    assert CaseFilter.from_text(chosen.text) == chosen


@pytest.mark.parametrize(
    "text", ["hours", "hours=5", "hours=a-b", "hours=8-24", "hours=8-", "rank=1-5", "reasons=bad+luck", "x" * 2001]
)
def test_other_texts_are_refused(text: str) -> None:
    """One line that says what was expected."""
    with pytest.raises(ConfigError) as refusal:
        CaseFilter.from_text(text)
    assert "\n" not in str(refusal.value)


def test_nothing_of_the_truth_is_left_while_it_is_hidden() -> None:
    """Two tables that differ in the truth alone show the same rows and columns."""
    other = TABLE.assign(rank=9, transition_count=9, destination_count=9, to="Zoo", category="Zoo", reason="")
    other[CAUSES] = [()] * 4
    chosen = CaseFilter.from_text("hours=8-17&categories=Bar&causes=core&search=bar")
    shown, same = (hide_truth(table)[chosen.without_truth().mask(hide_truth(table))] for table in (TABLE, other))
    pd.testing.assert_frame_equal(shown, same)
    assert shown[c.CASE].tolist() == [0, 1]


NAMED_TABLE = pd.DataFrame(
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
    assert search_cases(NAMED_TABLE, text).tolist() == cases


def test_the_headline_counts_in_the_singular_too() -> None:
    said = [found_headline(count, 3984, "17").partition(" “")[0] for count in (0, 1, 2)]
    assert said == ["No case matches", "1 of 3,984 cases matches", "2 of 3,984 cases match"]
