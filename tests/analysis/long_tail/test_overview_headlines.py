"""What Overview may say, each sentence from the smallest numbers that ask for it."""

import math

import pandas as pd
import pytest

from analysis.long_tail.accuracy_tables import Difference
from analysis.long_tail.notable_cases import NotableCase
from analysis.long_tail.overview_headlines import (
    absent_line,
    card_badge,
    card_sentence,
    curves_headline,
    curves_line,
    describe_data,
    overview_headline,
    overview_sentence,
)


def groups(
    model: str,
    values: dict[str, tuple[float, float, float]],
    n: tuple[int, int, int] = (700, 300, 500),
    **ahead: str,
) -> pd.DataFrame:
    """Accuracy of models on rare transitions to known and new places and on frequent ones, as `accuracy_by_group`.

    Args:
        ahead: by group, the other model whose whole interval lies above the first.
    """
    rows = []
    for at, (group, cases) in enumerate(zip(("tail_known", "tail_new", "head"), n, strict=True)):
        for name, value in values.items():
            row = {"model": name, "group": group, "n": cases, "value": value[at] if cases else math.nan}
            if name == model:
                row |= {"baseline": ahead.get(group, "Markov"), "lead_upper": -0.01 if group in ahead else 0.01}
            rows.append(row)
    everything = [{"model": name, "group": "all", "n": sum(n), "value": value[2]} for name, value in values.items()]
    return pd.DataFrame([*everything, *rows])


TWO = {"RECAP": (0.943, 0.031, 0.99), "Visit count": (0.929, 0.02, 0.98)}
RARE = "rare transitions to places a user knows"


@pytest.mark.parametrize(
    ("values", "metric", "said"),
    [
        ((0.943, 0.031), "hr20", f"RECAP finds 94 of 100 {RARE}, but only 3 of 100 to new"),
        ((0.4, 0.3), "hr20", f"RECAP finds 40 of 100 {RARE}, and 30 of 100 to new places."),
        ((0.4, 0.004), "hr20", f"RECAP finds 40 of 100 {RARE}, but almost none to new"),
        ((0.31, 0.02), "hr1", "With one guess, RECAP finds 31 of 100 rare transitions"),
        ((0.4553, 0.017), "mrr", f"RECAP reaches MRR 0.455 on {RARE}, but only 0.017 on"),
    ],
)
def test_the_headline(values: tuple[float, float], metric: str, said: str) -> None:
    """Hits as places of a hundred, the others as a number."""
    assert overview_headline(groups("RECAP", {"RECAP": (*values, 0.9)}), metric).startswith(said)


@pytest.mark.parametrize(
    ("n", "said"),
    [
        ((0, 0, 0), "There is no test case to measure accuracy on."),
        ((0, 0, 500), "RECAP finds 99 of 100 next places."),
        ((700, 0, 500), "RECAP finds 94 of 100 rare transitions; none leads to a new place."),
        ((0, 300, 500), "RECAP finds 3 of 100 rare transitions; all lead to new places."),
        ((0, 0, 30), "RECAP finds 30 of 30 next places."),
    ],
)
def test_the_headline_where_cases_are_missing(n: tuple[int, int, int], said: str) -> None:
    """Nothing is said of an empty group."""
    assert overview_headline(groups("RECAP", TWO, n=n), "hr20") == said
    assert "Counting" not in overview_sentence(groups("RECAP", TWO, n=n), "hr20", 0.5)


def test_few_cases_are_counted() -> None:
    """Eight cases are not called a hundred; a model that is named after a comma is the subject all the same."""
    few = groups(
        "RECAP, pretrained", {"RECAP, pretrained": (0.842, 1.0, 0.97), "Visit count": (1, 0, 1)}, n=(19, 8, 73)
    )
    assert overview_headline(few, "hr20") == (
        "Pretrained RECAP finds 16 of 19 rare transitions to places a user knows, and 8 of 8 to new places."
    )
    assert overview_sentence(few, "hr20", 0.0) == (
        "Counting past visits alone finds 19 and 0. "
        "In all, pretrained RECAP finds 97 of 100 next places within 20 guesses."
    )


def test_where_the_model_is_behind_the_headline_says_so() -> None:
    """Only where the whole interval favours the other; a new place is named in the second sentence."""
    values = {"RECAP": (0.78, 0.03, 0.9), "Visit count": (0.81, 0.02, 0.9), "Nearest": (0.3, 0.17, 0.5)}
    behind = groups("RECAP", values, tail_known="Visit count", tail_new="Nearest")
    assert overview_headline(behind, "hr20").endswith("to new places. Counting past visits finds more: 81 of 100.")
    assert overview_headline(behind, "mrr").endswith("Counting past visits reaches 0.810.")
    said = overview_sentence(behind, "hr20", 0.66)
    assert said.startswith("Counting past visits alone finds 81 and 2. Ranking by distance finds more new places: 17")
    assert "In all, RECAP finds 90 of 100 next places within 20 guesses." in said
    level = groups("RECAP", values)
    assert "more" not in overview_headline(level, "hr20") + overview_sentence(level, "hr20", 0.66)


def test_the_second_sentence() -> None:
    """The counter's numbers and how many transitions are rare; a counter is not compared with itself."""
    assert overview_sentence(groups("RECAP", TWO), "hr20", 0.66) == (
        "Counting past visits alone finds 93 and 2. In all, RECAP finds 99 of 100 next places within 20 guesses. "
        "Two of three next transitions are rare: seen at most once in training."
    )
    own = groups("Visit count", {"Visit count": (0.9, 0.1, 0.9)})
    assert overview_headline(own, "hr20").startswith("Counting past visits finds 90 of 100")
    assert overview_sentence(own, "hr20", 0.43) == (
        "In all, it finds 90 of 100 next places within 20 guesses. "
        "43 of 100 next transitions are rare: seen at most once in training."
    )
    assert describe_data(533, 2102, 3984, invented=True).endswith("3,984 test cases · the city is invented")


def test_feature_curves_alone() -> None:
    """Ahead by more than .002 MRR: a sentence; in any case one line with the interval."""
    ours, level, better = (pd.DataFrame({"reciprocal_rank": [value]}) for value in (0.5, 0.502, 0.503))
    assert curves_headline("RECAP", ours, level) == ""
    ahead = "Feature curves alone rank better than RECAP: MRR 0.503 against 0.500."
    assert curves_headline("RECAP", ours, better) == ahead
    spans = ((0, -0.001, 0.005), (0.1, 0.05, 0.2), (-1, -2, -0.5))
    said = [curves_line("RECAP", Difference(*span), "hr20") for span in spans]
    assert said[0] == "RECAP ties with feature curves alone (HR@20 difference −0.001 to +0.005)."
    assert "is ahead of" in said[1] and "is behind" in said[2]


def test_cards() -> None:
    """ "Needs" only where an ablation was run; what no case shows is said where all were ablated."""
    card = NotableCase("past_visits", 3, 1.0, 2.0, 0, 14)
    assert card_badge(card) == "Found, place known"
    assert card_sentence(card) == "Training never saw this transition; the user had visited the place 14 times."
    ablated = card._replace(ablation="past_visits", rank_without=37.0)
    assert card_badge(ablated) == "Needs past visits"
    hops = NotableCase("two_hop_paths", 4, 16.0, 90.0, 0, 0, "two_hop_paths", 24.0)
    assert card_sentence(hops) == "A new place for this user; two-hop paths lead there."
    assert absent_line([ablated], ablated=True) == "No case in the top 20 is lost without two-hop paths."
    assert absent_line([ablated], ablated=False) == absent_line([ablated, hops], ablated=True) == ""
