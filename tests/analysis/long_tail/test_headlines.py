"""What Long tail and Overview may say, each sentence from the smallest numbers that ask for it."""

import math
import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.long_tail.accuracy_tables import RareAccuracy, Rises, accuracy_rises
from analysis.long_tail.headlines import (
    hop_line,
    is_beyond_chance,
    long_tail_headline,
    lost_hits_line,
    rare_sentence,
    worth_rows,
)
from analysis.long_tail.notable_cases import NotableCase
from analysis.long_tail.overview_headlines import (
    absent_line,
    card_badge,
    card_sentence,
    curves_headline,
    describe_data,
    distribution_title,
    fitted_curves_line,
    overview_headline,
    overview_sentence,
)
from analysis.records.bootstrap import MeanInterval
from analysis.records.causes import LostHits
from recap import columns as c

Span = tuple[float, float, float]
NONE: Span = (math.nan, math.nan, math.nan)
UP: Span = (0.02, 0.01, 0.03)
LEVEL: Span = (0.02, -0.01, 0.05)


def rare(known: float, new: float, known_behind: Span, new_behind: Span) -> RareAccuracy:
    return RareAccuracy(200, 150, known, new, MeanInterval(*known_behind), MeanInterval(*new_behind))


FLAT = Rises(*[MeanInterval(*LEVEL)] * 3)
FALLS = "Accuracy falls with how rare the transition is"


HARD = "Rare transitions are harder than frequent ones, above all to new places."
HARDLY = "Accuracy hardly depends on how rare"


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (rare(0.94, 0.03, (0.03, 0.01, 0.09), (0.9, 0.8, 0.95)), "A rare transition is only hard when the place is"),
        (rare(0.8, 0.03, (0.17, 0.11, 0.2), (0.77, 0.7, 0.8)), HARD),  # known places are behind by more than a tenth
        # new places are found more than half as often as known ones, or not clearly less
        (rare(0.94, 0.6, (0.03, 0.01, 0.05), (0.34, 0.3, 0.4)), HARDLY),
        (rare(0.94, 0.4, (0.03, 0.01, 0.05), (0.54, -0.1, 0.9)), HARDLY),
        (rare(math.nan, 0.4, NONE, NONE), HARDLY),
    ],
)
def test_when_rare_transitions_are_hard(found: RareAccuracy, said: str) -> None:
    """The headline follows the intervals; where the place does not decide, accuracy by count speaks."""
    assert long_tail_headline(found, FLAT).startswith(said)


STEEP: Span = (0.32, 0.2, 0.4)
UNPOPULAR = "with how unpopular the place is"


@pytest.mark.parametrize(
    ("transition", "place", "difference", "said"),
    [
        (LEVEL, UP, UP, f"{HARDLY} the transition is."),
        # a rise of 0.3 whose interval holds 0 is no trend
        ((0.30, -0.01, 0.6), UP, UP, "These cases do not show whether rare transitions are harder."),
        ((-0.30, -0.4, -0.2), UP, UP, "Rare transitions are easier than frequent ones here."),
        (STEEP, (0.05, -0.05, 0.09), (0.27, 0.1, 0.4), f"{FALLS}, not {UNPOPULAR}."),
        (STEEP, (0.05, -0.05, 0.11), (0.27, 0.1, 0.4), f"{FALLS}, more than {UNPOPULAR}."),
        (STEEP, STEEP, (0.01, -0.08, 0.1), f"{FALLS} and {UNPOPULAR}."),
        ((0.2, 0.1, 0.3), STEEP, (-0.2, -0.3, -0.1), f"Accuracy falls {UNPOPULAR}, more than {FALLS[15:]}."),
        (NONE, UP, NONE, "There are too few cases to see a trend."),
        (UP, NONE, NONE, "There are too few cases to see a trend."),
    ],
)
def test_what_accuracy_follows(transition: Span, place: Span, difference: Span, said: str) -> None:
    """The rise over transitions, the one over places, and their paired difference, each by its interval."""
    nothing = rare(0.9, 0.9, LEVEL, LEVEL)
    found = Rises(*(MeanInterval(*span) for span in (transition, place, difference)))
    assert long_tail_headline(nothing, found) == said


def test_the_numbers_behind_the_headline() -> None:
    """Rare transitions to known and to new places, in three numbers."""
    found = rare(0.943, 0.031, UP, UP)
    said = "RECAP finds 94 of 100 rare transitions to places a user knows, but only 3 to new places. "
    assert rare_sentence("RECAP", "hr20", found) == f"{said}Found means within 20 guesses."
    assert "MRR 0.943 on" in rare_sentence("RECAP", "mrr", found)


def test_parts_beyond_chance() -> None:
    """Parts are worth lost hits for hit rates and lost MRR otherwise; an interval around 0 is chance."""
    ends = {"hr_low": [-0.1, 0.2], "hr_high": [0.1, 0.4], "mrr_low": [-0.1, -0.2], "mrr_high": [0.1, 0.2]}
    worth = pd.DataFrame({"ablation": ["core", "past_visits"], "hr": [0.0, 0.3], "mrr": [0.0, 0.0], **ends})
    rows = worth_rows(worth, "hr20")
    assert rows["name"].tolist() == ["Past visits", "Sequence model"] and is_beyond_chance(rows)
    assert not is_beyond_chance(worth_rows(worth, "mrr"))


def test_lost_hits() -> None:
    """Past visits, and two-hop paths or what stands for them."""
    hits = LostHits(20, 3356, {"past_visits": 444, "core": 3, "two_hop_paths": 8, "graph_token": 1})
    assert lost_hits_line(hits) == "444 of 3,356 hits are lost without past visits; 8 without two-hop paths"
    assert lost_hits_line(LostHits(20, 9, {"past_visits": 4, "graph_token": 1})).endswith("; 1 without the graph token")
    assert lost_hits_line(LostHits(20, 0, {"past_visits": 0})) == "What each part is worth"


def test_rises_are_differences_of_the_bins_ends() -> None:
    """40 cases each of transitions never seen (1 of 4 right) and seen ten times (3 of 4), at two kinds of places."""
    right = [1, 0, 0, 0] * 10 + [1, 1, 1, 0] * 10
    cases, better = np.arange(80), np.where(right, 0, 49)
    facts = {c.USER: cases % 8, c.CASE: cases, c.RANK: better + 1.0, c.NUM_BETTER: better, c.NUM_TIED: 1}
    counts = {c.TRANSITION_COUNT: [0] * 40 + [10] * 40, c.DESTINATION_COUNT: [5, 300] * 40}
    records = pd.DataFrame(facts | counts)
    found = accuracy_rises(records, "hr20")
    even, odd = np.mean(right[::2]), np.mean(right[1::2])
    rises = [0.75 - 0.25, odd - even, 0.5 - abs(odd - even)]
    assert [rise.value for rise in found] == pytest.approx(rises)
    assert all(rise.low <= rise.value <= rise.high for rise in found)
    few = accuracy_rises(records.iloc[:59], "hr20")  # 19 cases of seen transitions
    assert math.isnan(few.transition.value) and math.isnan(few.difference.value)


@pytest.mark.parametrize(
    ("ratio", "coverage", "said"),
    [
        ([9.0, 1.0, 1.0], [0.1, 0.2, 0.3], "One hop has the best signal-to-noise ratio"),
        ([1.0, 9.0, 9.0], [0.1, 0.2, 0.3], "Two hops have the best signal-to-noise ratio"),
        ([7.0, 1.0, 0.0], [0.0, 0.25, 0.3], "Two hops have the best signal-to-noise ratio"),
        ([0.0, 0.0, 0.0], [0.0, 0.0, 0.0], "No unseen transition is reached at any number of hops"),
    ],
)
def test_the_best_number_of_hops(ratio: list[float], coverage: list[float], said: str) -> None:
    """The greatest ratio speaks, the first of equals; a number that reaches nothing is not the best."""
    assert hop_line(pd.DataFrame({"n": [1, 2, 3], "coverage": coverage, "snr_x1000": ratio})) == said


def groups(
    model: str, values: dict[str, tuple[float, float, float]], n: tuple[int, int, int] = (700, 300, 500), **ahead: str
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
        ((0, 0, 30), "RECAP finds 30 of 30 next places."),
        ((700, 0, 500), "RECAP finds 94 of 100 rare transitions; none leads to a new place."),
        ((0, 300, 500), "RECAP finds 3 of 100 rare transitions; all lead to new places."),
    ],
)
def test_the_headline_where_cases_are_missing(n: tuple[int, int, int], said: str) -> None:
    assert overview_headline(groups("RECAP", TWO, n=n), "hr20") == said
    assert overview_sentence(groups("RECAP", TWO, n=n), "hr20", 0.0, 32) == "A user knows 32 places (median)."


def test_few_cases_are_counted() -> None:
    """Eight cases are not called a hundred; a model that is named after a comma is the subject all the same."""
    few = groups(
        "RECAP, pretrained", {"RECAP, pretrained": (0.842, 1.0, 0.97), "Visit count": (1, 0, 1)}, n=(19, 8, 73)
    )
    assert overview_headline(few, "hr20") == (
        "Pretrained RECAP finds 16 of 19 rare transitions to places a user knows. New places: 8 of 8."
    )
    assert overview_sentence(few, "hr20", 0.0) == (
        "Counting past visits alone finds 19 of 19. Of the new places it finds 0 of 8. "
        "In all, pretrained RECAP finds 97 of 100 next places within 20 guesses."
    )
    counts = pd.DataFrame({c.TRANSITION_COUNT: [2, 0], "pairs": [5, 20], "share": [0.2, 0.8]})
    assert distribution_title(counts) == "20 of 25 distinct transitions are rare"


@settings(max_examples=60)
@given(st.tuples(*[st.integers(1, 300)] * 3), st.lists(st.floats(0, 1), min_size=6, max_size=6))
def test_a_sentence_has_one_denominator(n: tuple[int, int, int], found: list[float]) -> None:
    """No sentence counts of 100 and of another number, and a number without its own shares the one before it."""
    both = groups("RECAP", {"RECAP": tuple(found[:3]), "Visit count": tuple(found[3:])}, n=n)  # type: ignore[dict-item]
    said = f"{overview_headline(both, 'hr20')} {overview_sentence(both, 'hr20', 0.43, 32)}"
    rare = RareAccuracy(n[0], n[1], found[0], found[1], MeanInterval(*LEVEL), MeanInterval(*LEVEL))
    for sentence in re.split(r"(?<=\.) ", f"{said} {rare_sentence('RECAP', 'hr20', rare)}"):
        assert len(set(re.findall(r"\d+ of (\d+)", sentence))) <= 1, sentence
    assert f" of {min(sum(n), 100)} next transitions" in said
    if min(n[:2]) < 100:
        assert f"New places: {min(n[1], 100) * found[1]:.0f} of {min(n[1], 100)}." in said


def test_a_model_after_a_comma_is_in_the_middle_of_its_sentence() -> None:
    for model, said in (
        ("RECAP, pretrained", "pretrained RECAP"),
        ("Nearest", "ranking by distance"),
        ("RECAP", "RECAP"),
    ):
        headline = overview_headline(groups(model, {model: (0.5, 0.2, 0.5)}), "hr1")
        assert headline.startswith(f"With one guess, {said} finds 50 of 100")


def test_what_a_list_means_is_said() -> None:
    """Next to how many places a user knows; a metric without a list has no such words."""
    said = overview_sentence(groups("RECAP", TWO), "hr20", 0.66, 32)
    assert "finds 99 of 100 next places within 20 guesses. A user knows 32 places (median). Two of" in said
    assert "knows 32" not in overview_sentence(groups("RECAP", TWO), "mrr", 0.66, 32)


def test_where_the_model_is_behind_the_headline_says_so() -> None:
    """Only where the whole interval favours the other; a new place is named in the second sentence."""
    values = {"RECAP": (0.78, 0.03, 0.9), "Visit count": (0.81, 0.02, 0.9), "Nearest": (0.3, 0.17, 0.5)}
    behind = groups("RECAP", values, tail_known="Visit count", tail_new="Nearest")
    assert overview_headline(behind, "hr20").endswith("to new places. Counting past visits finds more: 81 of 100.")
    assert overview_headline(behind, "mrr").endswith("Counting past visits reaches 0.810.")
    near = groups("RECAP", values | {"Visit count": (0.784, 0.02, 0.9)}, tail_known="Visit count")
    assert overview_headline(near, "hr20").endswith("to new places. Counting past visits finds slightly more.")
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
    """Ahead by more than .002 MRR and clearly so: a sentence; in any case one line with the interval."""

    def records(*values: float) -> pd.DataFrame:
        return pd.DataFrame({"user": [0, 1], "reciprocal_rank": values})

    ours = records(0.5, 0.5)
    assert curves_headline("RECAP", ours, records(0.501, 0.501)) == ""
    assert curves_headline("RECAP", ours, records(0.4, 0.7)) == "", "users disagree"
    ahead = "Feature curves alone rank better than RECAP, by 0.003 MRR (0.003 to 0.003)."
    assert curves_headline("RECAP", ours, records(0.503, 0.503)) == ahead
    spans = ((0, -0.001, 0.005), (0.1, 0.05, 0.2), (-1, -2, -0.5))
    said = [fitted_curves_line("RECAP", MeanInterval(*span), "hr20") for span in spans]
    assert said[0] == "Over all cases RECAP ties with feature curves alone (HR@20 difference −0.001 to +0.005)."
    assert "is ahead of" in said[1] and "is behind" in said[2]


def test_cards() -> None:
    """ "Needs" only where an ablation was run; what no case shows is said where all were ablated."""
    card = NotableCase("past_visits", 3, 1.0, 2.0, 0, 14)
    assert card_badge(card) == "In the top 20, place known"
    assert card_sentence(card) == "Training never saw this transition; the user had visited the place 14 times."
    ablated = card._replace(ablation="past_visits", rank_without=37.0)
    assert card_badge(ablated) == "Needs past visits for the top 20"
    hops = NotableCase("two_hop_paths", 4, 16.0, 90.0, 0, 0, "two_hop_paths", 24.0)
    assert card_sentence(hops) == "A new place for this user; two-hop paths lead there."
    assert absent_line([ablated], ablated=True) == "No case in the top 20 is lost without two-hop paths."
    assert absent_line([ablated], ablated=False) == absent_line([ablated, hops], ablated=True) == ""
