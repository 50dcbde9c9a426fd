"""A case told for a room: exact numbers, at most three a screen, plain words, and changes that were really ranked."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from analysis.cases.causes_told import CaseFindings, tell_why
from analysis.cases.screen import Screen
from analysis.cases.small_changes import SmallChange, try_small_changes
from analysis.cases.story import STEPS, Story, tell_case, tell_limits
from analysis.explain.edited_case import build_edited_case
from analysis.explain.edits import parse_edits
from analysis.formatting import ordinal
from analysis.records.ablations import describe_ablations
from analysis.workspace import Workspace
from recap.errors import CaseError
from recap.evaluation.ranks import rank_of
from recap.predictor import Predictor

NUMBER = re.compile(
    r"\d[\d,.]*|\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|hundred|thousand|once|twice)\b",
    re.IGNORECASE,
)
JARGON = re.compile(
    r"\b(poi|pois|transition|softmax|logit|prior|token|embedding|encoder|head|tail|HR|MRR|NDCG|K|eta|hops?|checkpoint|"
    r"vocabulary|score|scores|rank \d|case \d)\b"
)
CASES = 24


@pytest.fixture(scope="module")
def predictor(city_folder: Path, city_checkpoint: Path) -> Predictor:
    return Predictor.load(city_checkpoint, city_folder)


@pytest.fixture(scope="module")
def opened(city_folder: Path) -> Workspace:
    return Workspace.open(city_folder)


@pytest.fixture(scope="module")
def stories(predictor: Predictor, opened: Workspace) -> list[Story]:
    return [tell_case(predictor, opened, case) for case in range(CASES)]


def words(screen: Screen, labels: list[str]) -> str:
    """Everything that stands on a screen, without names of places."""
    text = " | ".join([screen.text, *(f"{n.label}: {n.value}" for n in screen.numbers), screen.detail])
    for label in sorted(labels, key=len, reverse=True):
        text = text.replace(label, "X")
    return text


def test_at_most_three_numbers_and_no_jargon(stories: list[Story], opened: Workspace) -> None:
    """Counted over all screens, number words included; also on the last screen."""
    screens = [screen for story in stories for screen in story.screens.values()]
    for screen in [*screens, tell_limits(0.5, 4000, invented=True), tell_limits(0.5, 4000, invented=False)]:
        told = words(screen, opened.labels)
        assert len(NUMBER.findall(told)) <= 3, told
        assert not JARGON.search(told), told


def test_the_counter_counts() -> None:
    """It would see a fourth number, as a digit or a word, and a word from a textbook."""
    assert len(NUMBER.findall("1st of 2,102, twice, and two hours later")) == 4
    assert JARGON.search("the graph token")


def test_numbers_are_the_librarys(stories: list[Story], predictor: Predictor) -> None:
    """Ranks, and ranks without a source for all places."""
    ablations = describe_ablations(predictor, predictor.cases.iloc[:CASES])
    for story, row in zip(stories, ablations.to_dict(orient="records"), strict=True):
        assert list(story.screens) == list(STEPS)
        numbers = {number.label: number.value for number in story.screens["why"].numbers}
        assert numbers["Where it came"] == ordinal(row["rank"])
        if "Without their own past" in numbers:
            assert numbers["Without their own past"] == ordinal(row["without_history"])
        if "Without such paths" in numbers:
            assert numbers["Without such paths"] == ordinal(row["without_two_hops"])


def test_a_change_is_ranked_exactly(predictor: Predictor) -> None:
    """Applying the same edit again gives the same rank; one that turns nothing is not told."""
    told = 0
    for case in range(CASES):
        tried = try_small_changes(build_edited_case(predictor, case))
        assert tried.tried > 0
        if tried.best is None:
            continue
        told += 1
        assert tried.best.edit is not None and tried.best.turns()
        again = build_edited_case(predictor, case, (tried.best.edit,))
        assert rank_of(again.total_P, again.case.target) == pytest.approx(tried.best.rank)
    assert told


def test_where_nothing_small_changes_it_the_screen_says_so(stories: list[Story], predictor: Predictor) -> None:
    """In the same words, with how many were tried."""
    for story in stories:
        tried = try_small_changes(build_edited_case(predictor, story.case))
        screen = story.screens["change"]
        assert screen.text.startswith("Nothing small changes it") == (tried.best is None)
        if tried.best is None:
            assert screen.numbers[0].value == f"{tried.tried:,}"


def test_edits_of_a_saved_view_are_what_is_changed(predictor: Predictor, opened: Workspace) -> None:
    """The first three screens show the case as it was."""
    plain, edited = tell_case(predictor, opened, 3), tell_case(predictor, opened, 3, "weekday:sun")
    assert edited.screens["why"] == plain.screens["why"]
    changed = build_edited_case(predictor, 3, parse_edits("weekday:sun"))
    screen = edited.screens["change"]
    assert screen.text.startswith("On a Sunday")
    assert screen.numbers[1].value == ordinal(rank_of(changed.total_P, changed.case.target))
    assert (
        tell_case(predictor, opened, 3, "off:past_visits;hour:5")
        .screens["change"]
        .text.startswith("With several things")
    )
    with pytest.raises(CaseError):
        tell_case(predictor, opened, 3, "remove:99999")
    with pytest.raises(CaseError):
        tell_case(predictor, opened, 10**6)


@pytest.mark.parametrize(
    ("before", "after", "turns"),
    [
        (2.0, 1.0, True),
        (1.0, 2.0, True),
        (20.0, 21.0, True),
        (21.0, 20.0, True),
        (2.0, 20.0, False),
        (30.0, 21.0, False),
    ],
)
def test_what_counts_as_a_turn(before: float, after: float, turns: bool) -> None:
    """In or out of the first place, or of the first twenty."""
    assert SmallChange("clock", None, "", before, after).turns() == turns


FOUND = CaseFindings(
    names={0: "Here", 1: "There", 2: "Elsewhere", 3: "Between"},
    source=0,
    truth=1,
    first=2,
    first_share=0.5,
    rank=3.0,
    num_places=100,
    without={"history": 5.0, "two_hops": 6.0, "core": 4.0},
    visits=7,
    first_visits=2,
    direct=0,
    within_two_hops=True,
    middles=(3,),
    people=4,
    by_others=True,
)


def why(**changes: object) -> str:
    return tell_why(replace(FOUND, **changes)).screen.text  # type: ignore[arg-type]


def test_a_cause_is_told_only_where_an_ablation_shows_it() -> None:
    """Found with a source and lost without it; else nothing decides."""
    lost = 50.0
    assert "No single thing decides" in why()
    assert "had been to There before. Without their own past" in why(without=dict(FOUND.without) | {"history": lost})
    assert "Other people's trips lead there by Between" in why(without=dict(FOUND.without) | {"two_hops": lost})
    assert "In the trips it learned from, nobody went straight to There" in why(
        without=dict(FOUND.without) | {"two_hops": lost}
    )
    assert "nobody" not in why(without=dict(FOUND.without) | {"two_hops": lost}, direct=2)
    assert "Trips lead there" in why(without=dict(FOUND.without) | {"two_hops": lost}, by_others=False)
    assert "It takes both" in why(without=dict(FOUND.without) | {"history": lost, "two_hops": lost})
    assert "never been there" in why(without=dict(FOUND.without) | {"history": lost}, visits=0)
    assert "what the network says by itself" in why(without=dict(FOUND.without) | {"core": lost})


def test_a_miss_is_told_by_what_frees_it_or_by_what_is_missing() -> None:
    """An ablation that finds it; no visit and no trip; or other places that were put higher."""
    assert "crowded out" in why(rank=40.0, without={"history": 3.0, "two_hops": 40.0})
    nothing = why(rank=40.0, without={}, visits=0, within_two_hops=False, middles=())
    assert "Nothing led to There" in nothing
    assert "before, but the model put other places higher, Elsewhere first" in why(rank=40.0, without={})
    assert "had more" not in why(rank=40.0, without={}, visits=9, first_visits=0)  # of points, never of visits
    assert "Known trips lead to There" in why(rank=40.0, without={}, visits=0)
