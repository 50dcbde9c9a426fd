"""The sentences of Explain, from numbers that a reader can check by hand."""

from typing import Any

import pytest

from analysis.explain.explanation import CaseExplanation
from analysis.explain.paths import TransitionMakers
from analysis.explain.sentences import describe_listed, headline, render_sentences
from analysis.explain.types import ExplainedPlace, PastVisits, PathTerms, Visit, Without
from analysis.explain.what_if import RankChange, WhatIf
from recap.features.catalogue import PAST, PATHS, TIME, TRANSITIONS

TARGET, RUNNER_UP, SOURCE = 1, 2, 3
NOBODY = TransitionMakers(own=0, others=0, users=0)


def place(poi: int, name: str, rank: float, *points: float) -> ExplainedPlace:
    """A place with points of past visits, time, transitions and paths."""
    groups = dict(zip((PAST, TIME, TRANSITIONS, PATHS), points, strict=True))
    of_score = {"probability": 0.1, "score": sum(points), "groups": groups, "terms": groups, "gate": None}
    return ExplainedPlace(poi=poi, name=name, category="", rank=rank, **of_score)


def arms(rank: float, *points: float) -> list[ExplainedPlace]:
    """The explained place, next to its runner-up."""
    return [place(TARGET, "Denholme Arms", rank, *points), LIDO]


def visits(*days_ago: float) -> list[PastVisits]:
    found = [
        Visit(visit=at, local_time="2013-10-03T18:20:00", checkins_ago=9, days_ago=days)
        for at, days in enumerate(days_ago)
    ]
    return [PastVisits(poi=TARGET, name="Denholme Arms", visits=found)]


def ranks(**without: float) -> list[Without]:
    return [
        Without(name=name.replace("_", " ").replace("two hop", "two-hop"), rank=rank) for name, rank in without.items()
    ]


def after(rank_before: float, edits: str) -> dict[str, Any]:
    change = RankChange(poi=TARGET, name="", rank_before=rank_before, rank=1, score_before=0, score=0)
    return {"edits": edits, "what_if": WhatIf(target=change, runner_up=change)}


PATH = PathTerms.model_construct(middle=9)  # type: ignore[call-arg]
LIDO = place(RUNNER_UP, "Curlew Lido", 2, 2.10, 0.41, 0.83, 0.05)
CASE = CaseExplanation.model_construct(  # type: ignore[call-arg] # what no sentence reads
    model="RECAP",
    source=SOURCE,
    source_name="Mole Steps Flats",
    target=TARGET,
    target_name="Denholme Arms",
    truth=TARGET,
    truth_name="Denholme Arms",
    runner_up=RUNNER_UP,
    num_places=2102,
    edits="",
    candidates=arms(1, 2.41, 0.86, 0.0, 0.22),
    without=ranks(past_visits=214, time_of_day_and_week=3, two_hop_paths=2),
    paths=[PATH],
    visits=visits(40, 33, 20, 12, 9, 3),
)


def case(**changes: Any) -> CaseExplanation:
    return CASE.model_copy(update=changes)


def said(shown: CaseExplanation, makers: TransitionMakers = NOBODY) -> list[str]:
    return [sentence.text for sentence in render_sentences(shown, makers)]


def test_a_found_case() -> None:
    """Six visits raise it, for the rank falls without them; so does the time; 214th and 2nd are the ablations."""
    assert headline(CASE).text == "RECAP ranks Denholme Arms 1st of 2,102, and that is where the user went."
    assert said(CASE) == [
        "Nobody made the transition Mole Steps Flats → Denholme Arms in training.",
        "Six past visits, the last one 3 days ago, and the time of day raise its rank.",
        "Without past visits it would rank 214th; without two-hop paths it would rank 2nd.",
    ]


def test_a_missed_case_says_what_speaks_for_the_first_choice() -> None:
    """Transitions: 0.00 - 0.83 is the largest difference against it; nothing raises where no rank falls."""
    target = place(TARGET, "Denholme Arms", 14, 2.41, 0.86, 0.0, 0.22)
    missed = case(
        candidates=[target, LIDO.model_copy(update={"rank": 1.0})],
        visits=visits(144),
        without=ranks(past_visits=14, two_hop_paths=14),
    )
    assert headline(missed).text == (
        "RECAP ranks Denholme Arms 14th of 2,102. The user went there; RECAP's first choice was Curlew Lido."
    )
    assert said(missed, TransitionMakers(own=2, others=5, users=3)) == [
        "In training, 3 other users (5 times) and this user (twice) made the transition "
        "Mole Steps Flats → Denholme Arms.",
        "The user had been there once, 144 days ago.",
        "Without two-hop paths it would stay 14th.",
        "Above all, transitions from here favour Curlew Lido.",
    ]


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"visits": visits()}, "The user had never been there."),
        ({"visits": visits(3), "without": ranks(past_visits=9)}, "One past visit, 3 days ago, raises its rank."),
        (  # the rank falls without them, but they subtract
            {"candidates": arms(1, -0.01, 1.64, 0.0, 0.15)},
            "The user had been there 6 times, the last time 3 days ago.",
        ),
        ({"source": TARGET}, "Nobody checked in again at Denholme Arms in training."),
        ({"source": TARGET, "visits": visits()}, "The user is there now and had never been there before."),
        ({"paths": [], "without": ranks(past_visits=9, two_hop_paths=1)}, "Without past visits it would rank 9th."),
        (
            {"without": ranks(past_visits=4, two_hop_paths=4)},
            "Without past visits, or without two-hop paths, it would rank 4th.",
        ),
        (
            after(1.0, "hour:05:00") | {"without": ranks(past_visits=9, two_hop_paths=2)},
            "Also without past visits it would rank 9th; without two-hop paths it would rank 2nd.",
        ),
    ],
)
def test_other_cases(changes: dict[str, Any], sentence: str) -> None:
    """No visit, one visit, no move, no two-hop path, one rank for two parts, an edit."""
    assert any(text.startswith(sentence) for text in said(case(**changes)))


def test_a_group_that_adds_nothing_is_not_said_to_matter() -> None:
    """Paths add 0.00 to the target: it would rank 2nd without them only because other places lose points."""
    for rank in (2, 5):
        shown = case(candidates=arms(3, 2.41, 0.86, 0.3, 0.004), without=ranks(two_hop_paths=rank))
        assert "ithout" not in " ".join(said(shown))


def test_who_made_the_transition() -> None:
    """The user alone; nothing where an edit set the count."""
    only = "In training, only this user made the transition Mole Steps Flats → Denholme Arms (once)."
    assert said(CASE, TransitionMakers(1, 0, 0))[0] == only
    assert "transition" not in {sentence.about for sentence in render_sentences(CASE, None)}


def test_headlines_after_edits_without_a_truth_and_of_lists() -> None:
    """The rank before; nothing of the truth where it is hidden; a list that does not hold it."""
    edited = headline(case(**after(3.0, "hour:05:00;remove:1")))
    assert edited.text == "After 2 changes, RECAP ranks Denholme Arms 1st of 2,102. It was 3rd."
    same = headline(case(**after(1.0, "hour:05:00")))
    assert same.text == "After 1 change, RECAP still ranks Denholme Arms 1st of 2,102."
    assert headline(case(truth=None, truth_name="")).text == "RECAP ranks Denholme Arms 1st of 2,102."
    other = headline(case(truth=9, truth_name="Ropewalk Market"))
    assert other.text == "RECAP ranks Denholme Arms 1st of 2,102. The user went to Ropewalk Market."
    assert describe_listed("LoTNext", "Pier 9", None, ["Ropewalk"]).text == "Pier 9 is not in the list of LoTNext."
    assert describe_listed("LoTNext", "Pier 9", 2.0, ["Ropewalk"]).text == (
        "LoTNext ranks Pier 9 2nd. The user went there; LoTNext's first choice was Ropewalk."
    )
