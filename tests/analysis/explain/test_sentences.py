"""Sentences say nothing that is not so: read back over thousands of cases."""

from typing import Any

import pytest

from analysis.explain.edits import SetEdge, parse_edits
from analysis.explain.explanation import explain_fully
from recap import columns as c
from recap.predictor import Predictor
from tests.analysis.planted import small_predictor, untrained_predictor
from tests.analysis.sentence_reader import check, check_pointing, masked


def check_cases(predictor: Predictor, limit: int) -> int:
    read = 0
    for split in (c.TEST, c.VAL, c.TRAIN):
        for number in range(len(predictor.cases_of(split))):
            if read == limit:
                return read
            explanation = explain_fully(predictor, number, split=split, counterfactuals=False)
            assert check(explanation) >= 1
            read += 1
    return read


def test_sentences_read_back_true() -> None:
    """Every number of 200 cases from all splits is true."""
    assert check_cases(small_predictor(), 200) == 200


@pytest.mark.parametrize("changes", [{"use_graph": False}, {"use_history": False}])
def test_inactive_evidence_is_never_mentioned(changes: dict[str, Any]) -> None:
    """Without a part no sentence speaks of it."""
    predictor = untrained_predictor(**changes)
    assert check_cases(predictor, 40) == 40
    explanation = explain_fully(predictor, 0)
    forms = " ".join(masked(sentence) for sentence in explanation.sentences)
    words = {"use_graph": "two-hop", "use_history": "This user"}
    assert words[next(iter(changes))] not in forms


def test_trips_and_edges_of_edited_cases() -> None:
    """Under an edited training count trips no longer tell who went, so nobody is named."""
    predictor = small_predictor()
    first = explain_fully(predictor, 0)
    edited = explain_fully(
        predictor, 0, edits=(SetEdge(source=first.source, destination=first.target, count=7),), counterfactuals=False
    )
    assert check(edited) >= 1
    texts = [sentence.text for sentence in edited.sentences]
    assert any("edited training data" in text and " 7 transitions " in text for text in texts)
    assert not any("other user" in text for text in texts)


def test_sentences_of_edited_cases_read_back_true() -> None:
    """Parts off, another hour or day, an edge more, and the walker put where the step ends: a step that stays."""
    predictor = untrained_predictor()
    stays = 0
    for number in range(40):
        first = explain_fully(predictor, number, split=c.TRAIN, counterfactuals=False)
        edits = (
            "off:prior",
            "hour:5",
            "weekday:mon",
            f"edge:{first.source}-{first.target}:1",
            f"source:{first.target}",
        )
        for edit in edits:
            told = explain_fully(
                predictor, number, split=c.TRAIN, against=first.rival, edits=parse_edits(edit), counterfactuals=False
            )
            assert check(told) >= 1
            stays += told.source == told.target
    assert stays >= 10


def test_a_number_never_follows_a_name() -> None:
    """Names such as "Food Shop 72" end in a number: "to Food Shop 72 4 times" is caught, and so is a bare "there"."""
    check_pointing("This user had made 4 visits to TARGET, the last 2 days ago.")
    for text in ("This user had been to TARGET 4 times.", "people went from there to TARGET.", "Its score is 1.00."):
        with pytest.raises(AssertionError):
            check_pointing(text)


@pytest.mark.slow
@pytest.mark.thorough
def test_ten_thousand_cases_read_back_true() -> None:
    """10,000 cases from all splits of a larger world."""
    assert check_cases(untrained_predictor(num_users=80, num_walks=40), 10_000) == 10_000
