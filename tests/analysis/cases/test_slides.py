"""Slides of a case: the numbers of its explanation, no date, and changes that were ranked."""

import re
from pathlib import Path

import pytest

from analysis.cases.slides import Slide, case_slide, change_slide, shown_places, why_slide
from analysis.explain.edits import parse_edits
from analysis.explain.explain_case import explain_case
from analysis.explain.explanation import CaseExplanation
from analysis.formatting import ordinal
from analysis.workspace import Workspace

CASES = 12
DATE = re.compile(r"\b(Mon|Tue|Wed|Thu|Fri|Sat|Sun) \d|\b\d\d:\d\d\b|\bUser \d")


@pytest.fixture(scope="module")
def model(city_folder: Path, city_checkpoint: Path) -> Workspace:
    return Workspace.open(city_folder, city_checkpoint)


@pytest.fixture(scope="module")
def explained(model: Workspace) -> list[CaseExplanation]:
    return [explain_case(model.predictor, case, search=True) for case in range(CASES)]


def words(slide: Slide) -> str:
    """Everything on a slide."""
    return " | ".join([slide.text, *(f"{number.label}: {number.value}" for number in slide.numbers)])


def changed(model: Workspace, shown: CaseExplanation, text: str) -> Slide:
    """The last slide under edits."""
    edits = parse_edits(text)
    after = explain_case(model.predictor, shown.moment, against=shown.runner_up, edits=edits)
    return change_slide(shown, after, edits, 9, model.labels)


def test_slides_say_what_explain_says(explained: list[CaseExplanation]) -> None:
    """The headline, the ranks, and the ranks without a group, of which the one that carries the case comes first."""
    for shown in explained:
        case, why = case_slide(shown, "Visit count", 4.0), why_slide(shown)
        assert case.text == shown.headline.text
        assert [number.value for number in case.numbers[:2]] == [ordinal(shown.target_rank), "4th"]
        ranks = [number.value for number in why.numbers]
        assert ranks[0] == ordinal(shown.target_rank) and len(ranks) == 3
        worst = max(entry.rank for entry in shown.without)
        assert worst == shown.target_rank or ranks[1] == ordinal(worst)
        assert set(ranks[1:]) <= {ordinal(entry.rank) for entry in shown.without}
        places = set(shown_places(shown))
        assert all(set(slide.marks.places) <= places for slide in (case, why))


def test_the_smallest_change_is_explains(model: Workspace, explained: list[CaseExplanation]) -> None:
    """Before and after as ranked; where no single edit turns the two round, the slide says so."""
    found = [shown for shown in explained if shown.flip is not None]
    assert found
    for shown in found:
        slide = changed(model, shown, shown.flip.edit.text)
        again = explain_case(model.predictor, shown.moment, against=shown.runner_up, edits=(shown.flip.edit,))
        best = next(entry.name for entry in again.candidates if entry.poi != shown.target)
        ranks = [ordinal(shown.target_rank), ordinal(again.target_rank)]
        assert [number.value for number in slide.numbers] == [*ranks, best]
        assert not DATE.search(words(slide)), words(slide)
    nothing = change_slide(explained[0], None, (), 62, model.labels)
    assert nothing.text.startswith("None of 62 single changes puts ")


def test_edits_of_a_saved_view_are_what_is_changed(model: Workspace, explained: list[CaseExplanation]) -> None:
    """By name, and without a date."""
    shown = explained[3]
    assert changed(model, shown, "weekday:sun").text.startswith("On a Sunday, ")
    assert changed(model, shown, "weekday:sun;hour:5").text.startswith("With 2 changes, ")
    visit = next(place.visits[-1].visit for place in shown.visits if place.visits)
    removed = changed(model, shown, f"remove:{visit}")
    assert re.match(r"Without (the only|the last) past visit, ", removed.text) and not DATE.search(words(removed))


def test_why_says_why_the_first_choice_won(explained: list[CaseExplanation]) -> None:
    """As Explain does, where another place than the truth is first."""
    beaten = [shown for shown in explained if any(said.about == "runner_up" for said in shown.sentences)]
    assert beaten
    for shown in beaten:
        (said,) = [sentence.text for sentence in shown.sentences if sentence.about == "runner_up"]
        assert why_slide(shown).text.endswith(said)
