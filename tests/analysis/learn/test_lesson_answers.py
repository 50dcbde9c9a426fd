"""The right answers are those that counting in another way finds, in two cities; they differ between these."""

from pathlib import Path

import pytest

from analysis.formatting import points
from analysis.learn.course import COURSE
from analysis.learn.lesson import Lesson
from analysis.learn.toy_town import build_toy_town
from analysis.learn.vocabulary import Say
from recap.predictor import Predictor
from tests.learn_answers import Answers, planted_rank
from tests.learn_worlds import world_of


def _lessons(data: Path, checkpoint: Path) -> dict[str, Lesson]:
    world = world_of(data, checkpoint)
    return {entry.outline.key: entry.build(world, Say()) for entry in COURSE}


@pytest.mark.parametrize("city", [0, 1])
def test_answers_are_found_again(two_cities: list[tuple[Path, Path]], city: int) -> None:
    """All ten predictions and checks, by dictionaries and loops over check-ins or by scoring single cases again."""
    data, checkpoint = two_cities[city]
    lessons = _lessons(data, checkpoint)
    predictor = Predictor.load(checkpoint, data)
    answers = Answers(predictor.dataset, predictor)
    right = {key: (lesson.prediction.right, lesson.check.right) for key, lesson in lessons.items()}
    for key in ("popular", "tails", "compose", "hops", "habit", "holdout", "privacy"):
        assert right[key] == getattr(answers, key)(), key
    told = lessons["habit"].prediction.choices[0].reply
    assert all(f"{share:.1%}".replace("%", " %") in told for share in answers.alone), (told, answers.alone)
    assert right["cause"] == answers.cause(int(lessons["cause"].deeper.params["case"]))
    case = int(lessons["context"].deeper.params["case"])
    assert right["context"] == answers.context(case, answers.habit_without_time(case))
    morning, evening = (points(answers.habit_points(case, hour)) for hour in (8, 20))
    assert (
        f"At 8:00 habit is worth {morning} points, at 20:00 {evening}."
        in lessons["context"].prediction.choices[0].reply
    )
    lead, holding = answers.ledger(int(lessons["sum"].deeper.params["case"]))
    shown = {"own_visits": "Past visits", "core": "Sequence model"}
    assert lessons["sum"].prediction.choices[right["sum"][0]].label == shown[lead]
    assert right["sum"][1] == holding


def test_the_toy_towns_path_is_the_likeliest() -> None:
    """The prediction of lesson 3, by dictionaries of shares: from House 7 two steps lead to Square 1 first of all."""
    assert planted_rank(build_toy_town(0.5, 0.0, 0).dataset, "House 7", "Square 1") == 1


def test_answers_change_with_the_city(two_cities: list[tuple[Path, Path]]) -> None:
    """Over two cities each lesson's numbers differ; so does the right answer of most."""
    first, second = (_lessons(*folders) for folders in two_cities)
    for key in first:
        told = []
        for lesson in (first[key], second[key]):
            scene = lesson.scene(lesson.start)
            replies = [choice.reply for question in (lesson.prediction, lesson.check) for choice in question.choices]
            told.append((replies, scene.finding, scene.note))
        assert told[0] != told[1], key
    moved = [
        key
        for key in first
        if (first[key].prediction.right, first[key].check.right)
        != (second[key].prediction.right, second[key].check.right)
    ]
    assert len(moved) >= 3, moved
