"""Every phrase of a heading, each from the smallest numbers that ask for it, and each limit from both sides."""

import math

import pandas as pd
import pytest

from analysis.long_tail.headlines import hop_finding, long_tail_finding, overview_finding, spread, trend_words

Lead = tuple[float, float, float]
NO_LEAD: Lead = (math.nan, math.nan, math.nan)


def groups(
    value: float,
    every: Lead = NO_LEAD,
    head: Lead = NO_LEAD,
    tail: Lead = NO_LEAD,
    counts: tuple[int, int] = (60, 40),
) -> pd.DataFrame:
    """Accuracy of a model "ours" and a rival "count", as `accuracy_by_group` gives it; leads with bounds."""
    rows = [
        ("ours", "all", sum(counts), value, *every, "count"),
        ("ours", "head", counts[0], value, *head, "count"),
        ("ours", "tail", counts[1], value, *tail, "count"),
        ("count", "all", sum(counts), 0.5, *NO_LEAD, ""),
    ]
    names = ["model", "group", "n", "value", "lead", "lead_lower", "lead_upper", "rival"]
    return pd.DataFrame(rows, columns=names)


def bins(*rows: tuple[int, float]) -> pd.DataFrame:
    """Accuracy by count: (n, value) from the rarest bin to the most frequent."""
    return pd.DataFrame(rows, columns=["n", "value"])


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
    """Hits as places of a hundred, the others as a number; without a rival nothing is compared."""
    assert overview_finding(groups(value), metric) == said


def test_the_overview_without_cases() -> None:
    """No case, no accuracy."""
    assert overview_finding(groups(math.nan, counts=(0, 0)), "hr20") == "There is no test case to judge the model by."


UP: Lead = (0.02, 0.01, 0.03)
LEVEL: Lead = (0.02, -0.01, 0.05)


@pytest.mark.parametrize(
    ("every", "head", "tail", "said"),
    [
        pytest.param((-0.02, -0.03, -0.01), UP, UP, "count finds more.", id="the whole interval below 0"),
        pytest.param((-0.02, -0.04, 0.0), UP, UP, "It is level with count.", id="the interval ends at 0"),
        pytest.param((0.02, 0.0, 0.04), UP, UP, "It is level with count.", id="the interval begins at 0"),
        # 60 head cases x 0.02 = 1.2 and 40 tail cases x 0.04 = 1.6 found in addition
        pytest.param(UP, UP, (0.04, 0.01, 0.07), "It gains more tail cases than head cases.", id="more in the tail"),
        # 60 x 0.02 = 1.2 and 40 x 0.03 = 1.2
        pytest.param(UP, UP, (0.03, 0.01, 0.05), "It leads count in head and tail.", id="as many in both"),
        pytest.param(UP, UP, LEVEL, "Its lead is in the head.", id="level in the tail"),
        pytest.param(UP, UP, (0.09, 0.0, 0.18), "Its lead is in the head.", id="the tail's interval begins at 0"),
        pytest.param(UP, (-0.01, -0.02, 0.0), UP, "It gains more tail cases than head cases.", id="behind in the head"),
    ],
)
def test_the_overview_says_who_leads(every: Lead, head: Lead, tail: Lead, said: str) -> None:
    """The verdict follows the intervals."""
    first = "ours finds 60 of 100 next places with its 20 guesses."
    assert overview_finding(groups(0.6, every, head, tail), "hr20") == f"{first} {said}"


def test_the_overview_without_a_tail() -> None:
    """Where one group is empty the groups are not compared."""
    table = groups(0.6, UP, UP, NO_LEAD, counts=(60, 0))
    assert overview_finding(table, "mrr") == "ours reaches MRR 0.600. It leads count in head and tail."


@pytest.mark.parametrize(
    ("step", "place", "said"),
    [
        ((0.6, 0.64), (0.6, 0.6), "Accuracy hardly depends on how often the step was seen."),
        ((0.6, 0.5), (0.6, 0.9), "Accuracy hardly depends on how often the step was seen."),
        # 0.30 up; the place 0.09 up, which is flat and less than half
        (
            (0.6, 0.9),
            (0.7, 0.79),
            "Accuracy follows how often the step was seen, not how popular the place is.",
        ),
        # the place 0.11 up: no longer flat
        (
            (0.6, 0.9),
            (0.7, 0.81),
            "Accuracy follows how often the step was seen more than how popular the place is.",
        ),
        # 0.12 up; the place 0.07 down: flat, but more than half
        (
            (0.6, 0.72),
            (0.7, 0.63),
            "Accuracy follows how often the step was seen more than how popular the place is.",
        ),
        (
            (0.6, 0.8),
            (0.6, 0.9),
            "Accuracy follows how popular the place is as much as how often the step was seen.",
        ),
    ],
)
def test_the_long_tail_says_what_accuracy_follows(
    step: tuple[float, float], place: tuple[float, float], said: str
) -> None:
    """The rise over the steps' counts against the rise over the places'."""
    tables = [bins((50, low), (20, high)) for low, high in (step, place)]
    assert long_tail_finding(*tables) == said


def test_too_few_cases_for_a_trend() -> None:
    """Bins of 19 cases do not count, one bin of 20 is not a trend, and both panels need one."""
    enough, few = bins((20, 0.5), (20, 0.9)), bins((20, 0.5), (19, 0.9))
    assert spread(enough) == (0.5, 0.9) and spread(few) is None
    assert spread(bins((30, 0.4), (19, 0.0), (20, 0.7), (5, 1.0))) == (0.4, 0.7)
    for pair in ((few, enough), (enough, few)):
        assert long_tail_finding(*pair) == "There are too few cases to see a trend."


@pytest.mark.parametrize(
    ("table", "said"),
    [
        (bins((20, 0.6), (20, 0.98)), "climbs from 0.60 to 0.98"),
        (bins((20, 0.9), (20, 0.75)), "falls from 0.90 to 0.75"),
        (bins((20, 0.6), (20, 0.69)), "almost flat, 0.60 to 0.69"),
        (bins((20, 0.69), (20, 0.6)), "almost flat, 0.69 to 0.60"),
        (bins((20, 0.6), (3, 0.9)), "too few cases for a trend"),
    ],
)
def test_a_panels_trend(table: pd.DataFrame, said: str) -> None:
    """Less than 0.1 is flat, whichever way."""
    assert trend_words(table) == said


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
