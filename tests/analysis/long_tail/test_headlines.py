"""Every phrase of a heading, each from the smallest numbers that ask for it, and each limit from both sides."""

import math

import numpy as np
import pandas as pd
import pytest

from analysis.long_tail.accuracy_tables import accuracy_rises
from analysis.long_tail.headlines import (
    ablation_finding,
    hop_finding,
    long_tail_finding,
    overview_finding,
    trend_words,
)
from recap import columns as c

Lead = tuple[float, float, float]
NO_LEAD: Lead = (math.nan, math.nan, math.nan)


def groups(
    value: float,
    every: Lead = NO_LEAD,
    head: Lead = NO_LEAD,
    tail: Lead = NO_LEAD,
    counts: tuple[int, int] = (60, 40),
) -> pd.DataFrame:
    """Accuracy of a model "ours" and a baseline "count", as `accuracy_by_group` gives it; leads with bounds."""
    rows = [
        ("ours", "all", sum(counts), value, *every, "count"),
        ("ours", "head", counts[0], value, *head, "count"),
        ("ours", "tail", counts[1], value, *tail, "count"),
        ("count", "all", sum(counts), 0.5, *NO_LEAD, ""),
    ]
    names = ["model", "group", "n", "value", "lead", "lead_lower", "lead_upper", "baseline"]
    return pd.DataFrame(rows, columns=names)


Span = tuple[float, float, float]


def rises(step: Span, place: Span, difference: Span = NO_LEAD) -> pd.DataFrame:
    """Rises with bounds, as `accuracy_rises` gives them; accuracy begins at 0.5."""
    rows = [
        (over, 0.5, 0.5 + rise, rise, low, high)
        for over, (rise, low, high) in zip(("step", "place", "difference"), (step, place, difference), strict=True)
    ]
    return pd.DataFrame(rows, columns=["over", "first", "last", "rise", "lower", "upper"])


@pytest.mark.parametrize(
    ("metric", "value", "said"),
    [
        ("hr1", 0.284, "ours finds 28 of 100 next places with its first guess."),
        ("hr5", 0.5, "ours finds 50 of 100 next places with its 5 guesses."),
        ("hr20", 0.836, "ours finds 84 of 100 next places with its 20 guesses."),
        ("mrr", 0.44236, "ours reaches MRR 0.442."),
        ("ndcg20", 0.5, "ours reaches NDCG@20 0.500."),
    ],
)
def test_the_overview_says_the_accuracy(metric: str, value: float, said: str) -> None:
    """Hits as places of a hundred, the others as a number; without a baseline nothing is compared."""
    assert overview_finding(groups(value), metric) == said


def test_the_overview_without_cases() -> None:
    """No case, no accuracy."""
    assert overview_finding(groups(math.nan, counts=(0, 0)), "hr20") == "There is no test case to judge the model by."


UP: Lead = (0.02, 0.01, 0.03)
LEVEL: Lead = (0.02, -0.01, 0.05)


DOWN: Lead = (-0.036, -0.059, -0.005)


@pytest.mark.parametrize(
    ("every", "head", "tail", "said"),
    [
        pytest.param((-0.02, -0.03, -0.01), DOWN, DOWN, "count is ahead.", id="the whole interval below 0"),
        pytest.param((-0.02, -0.04, 0.0), LEVEL, LEVEL, "It and count are too close to tell apart.", id="ends at 0"),
        pytest.param((0.02, 0.0, 0.04), LEVEL, LEVEL, "It and count are too close to tell apart.", id="begins at 0"),
        pytest.param(
            LEVEL,
            LEVEL,
            DOWN,
            "It and count are too close to tell apart; in the tail count is ahead.",
            id="behind in the tail",
        ),
        pytest.param(UP, UP, UP, "It is ahead of count, in head and tail alike.", id="ahead everywhere"),
        pytest.param(UP, UP, LEVEL, "It is ahead of count; the tail is too close to tell.", id="open in the tail"),
        pytest.param(
            UP, UP, (0.09, 0.0, 0.18), "It is ahead of count; the tail is too close to tell.", id="tail from 0"
        ),
        pytest.param(UP, DOWN, UP, "It is ahead of count; in the head count is ahead.", id="behind in the head"),
        pytest.param(DOWN, DOWN, UP, "count is ahead; in the tail it is ahead of count.", id="ahead in the tail alone"),
    ],
)
def test_the_overview_says_who_leads(every: Lead, head: Lead, tail: Lead, said: str) -> None:
    """The verdict follows the intervals, of all cases and of each group that stands otherwise."""
    first = "ours finds 60 of 100 next places with its 20 guesses."
    assert overview_finding(groups(0.6, every, head, tail), "hr20") == f"{first} {said}"


def test_the_overview_without_a_tail() -> None:
    """Where one group is empty the groups are not compared."""
    table = groups(0.6, UP, UP, NO_LEAD, counts=(60, 0))
    assert overview_finding(table, "mrr") == "ours reaches MRR 0.600. It is ahead of count."


FOLLOWS = "Accuracy follows how often the step was seen"


@pytest.mark.parametrize(
    ("step", "place", "difference", "said"),
    [
        ((0.02, -0.03, 0.07), UP, UP, "Accuracy hardly depends on how often the step was seen."),
        # a rise of 0.3 whose interval holds 0 is no trend
        ((0.30, -0.01, 0.6), UP, UP, "Whether accuracy follows how often the step was seen is too close to tell."),
        ((-0.30, -0.4, -0.2), UP, UP, "Accuracy falls with how often the step was seen."),
        ((0.32, 0.2, 0.4), (0.05, -0.05, 0.09), (0.27, 0.1, 0.4), f"{FOLLOWS}, not how popular the place is."),
        ((0.32, 0.2, 0.4), (0.05, -0.05, 0.11), (0.27, 0.1, 0.4), f"{FOLLOWS}, more than how popular the place is."),
        # rises of .32 and .31: which is more cannot be told
        (
            (0.32, 0.2, 0.4),
            (0.31, 0.2, 0.4),
            (0.01, -0.08, 0.1),
            f"{FOLLOWS}; whether more than the place's popularity is too close to tell.",
        ),
        (
            (0.2, 0.1, 0.3),
            (0.4, 0.3, 0.5),
            (-0.2, -0.3, -0.1),
            "Accuracy follows how popular the place is more than how often the step was seen.",
        ),
        (NO_LEAD, UP, NO_LEAD, "There are too few cases to see a trend."),
        (UP, NO_LEAD, NO_LEAD, "There are too few cases to see a trend."),
    ],
)
def test_the_long_tail_says_what_accuracy_follows(step: Span, place: Span, difference: Span, said: str) -> None:
    """The rise over the steps' counts, the one over the places', and their paired difference, each by its interval."""
    assert long_tail_finding(rises(step, place, difference)) == said


@pytest.mark.parametrize(
    ("rise", "said"),
    [
        ((0.38, 0.3, 0.5), "climbs from 0.50 to 0.88"),
        ((-0.15, -0.2, -0.1), "falls from 0.50 to 0.35"),
        ((0.05, -0.02, 0.09), "almost flat, 0.50 to 0.55"),
        ((0.05, 0.01, 0.09), "almost flat, 0.50 to 0.55"),
        ((0.20, -0.02, 0.4), "0.50 to 0.70, too close to tell a trend"),
        (NO_LEAD, "too few cases for a trend"),
    ],
)
def test_a_panels_trend(rise: Span, said: str) -> None:
    """Flat where the whole interval is within 0.1 of 0; a direction where it excludes 0; else neither."""
    assert trend_words(rises(rise, UP).iloc[0].to_dict()) == said


@pytest.mark.parametrize(
    ("spans", "said"),
    [
        ([(-0.1, 0.1), (0.0, 0.2)], "What each part adds is too close to tell"),
        ([(0.01, 0.1), (-0.1, 0.2)], "Worse without a; 1 more change is too close to tell"),
        ([(0.01, 0.1), (0.1, 0.2)], "Worse without a and without b"),
        (
            [(-0.2, -0.1), (0.1, 0.2), (-1, 1), (-1, 1)],
            "Worse without b; better without a; 2 more changes are too close to tell",
        ),
    ],
)
def test_what_each_part_adds(spans: list[tuple[float, float]], said: str) -> None:
    """Only parts whose interval excludes 0 are named."""
    names = ["w/o a", "w/o b", "N = 1", "N = 3"][: len(spans)]
    table = pd.DataFrame(
        [(name, *span) for name, span in zip(names, spans, strict=True)], columns=["name", "lower", "upper"]
    )
    assert ablation_finding(table) == said


def test_rises_are_differences_of_the_bins_ends() -> None:
    """40 cases each of steps never seen (1 of 4 right) and seen ten times (3 of 4), at places seen 5 and 300 times."""
    right = [1, 0, 0, 0] * 10 + [1, 1, 1, 0] * 10
    records = pd.DataFrame(
        {
            c.USER: np.arange(80) % 8,
            c.CASE: np.arange(80),
            c.RANK: [1.0 if hit else 50.0 for hit in right],
            c.NUM_BETTER: [0 if hit else 49 for hit in right],
            c.NUM_TIED: [1] * 80,
            c.TRANSITION_COUNT: [0] * 40 + [10] * 40,
            c.DESTINATION_COUNT: [5, 300] * 40,
        }
    )
    table = accuracy_rises(records, "hr20").set_index("over")
    assert table.loc[["step"], ["first", "last", "rise"]].to_numpy().tolist() == [[0.25, 0.75, 0.5]]
    even, odd = np.mean(right[::2]), np.mean(right[1::2])
    assert table.loc["place", "rise"] == pytest.approx(odd - even)
    assert table.loc["difference", "rise"] == pytest.approx(0.5 - abs(odd - even))
    assert (table["lower"] <= table["rise"]).all() and (table["rise"] <= table["upper"]).all()
    few = accuracy_rises(records.iloc[:59], "hr20").set_index("over")  # 19 cases of seen steps
    assert few.loc[["step", "difference"], "rise"].isna().all()


@pytest.mark.parametrize(
    ("best", "said"),
    [(1, "One hop has"), (2, "Two hops have"), (3, "Three hops have"), (4, "Four hops have"), (5, "Five hops have")],
)
def test_the_best_number_of_hops(best: int, said: str) -> None:
    """The row of the greatest signal to noise speaks, with its own coverage; the first of equals."""
    numbers = range(1, 6)
    ratio = [9.0 if n >= best else 1.0 for n in numbers]
    hops = pd.DataFrame({"n": numbers, "coverage": [n / 10 for n in numbers], "snr_x1000": ratio})
    assert hop_finding(hops) == (f"{said} the best signal to noise here and reach {10 * best} % of unseen steps.")


def test_hops_that_reach_nothing() -> None:
    """Coverage 0 everywhere: there is no best number; a number that reaches nothing is not the best."""
    nothing = pd.DataFrame({"n": [1, 2], "coverage": [0.0, 0.0], "snr_x1000": [0.0, 0.0]})
    assert hop_finding(nothing) == "No unseen step is reached at any number of hops."
    one = pd.DataFrame({"n": [1, 2], "coverage": [0.0, 0.25], "snr_x1000": [7.0, 1.0]})
    assert hop_finding(one).startswith("Two hops have") and "reach 25 %" in hop_finding(one)
