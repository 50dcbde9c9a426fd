"""The right answers are those that counting in another way finds, in two cities; they differ between these."""

from pathlib import Path

import numpy as np
import pytest

from analysis.formatting import percent, signed_points
from analysis.learn.course import COURSE
from analysis.learn.lesson import Lesson, LessonUnavailableError
from analysis.learn.lessons.curve import FLAT, SHAPES
from analysis.learn.toy_town import build_toy_town
from analysis.workspace import Workspace
from recap import columns as c
from recap.predictor import Predictor
from tests.learn_answers import Answers, planted_rank
from tests.learn_worlds import demo_lesson, demo_world

COUNTED = ("rare", "two_hops", "visits", "hops", "holdout", "privacy")
LABELS = {"past visits": "Past visits", "core": "Sequence model", "correction": "Correction"}
ENTRIES = {entry.outline.key: entry for entry in COURSE}


def _lessons(data: Path, checkpoint: Path) -> dict[str, Lesson]:
    """All but the lesson on curves, which these models have none of."""
    world = Workspace.open(data, checkpoint, keep=False)
    with pytest.raises(LessonUnavailableError, match="learned curves"):
        ENTRIES["curve"].build(world)
    return {key: entry.build(world) for key, entry in ENTRIES.items() if key != "curve"}


@pytest.mark.parametrize("city", [0, 1])
def test_answers_are_found_again(two_cities: list[tuple[Path, Path]], city: int) -> None:
    """Guesses and checks, by dictionaries and loops over check-ins or by scoring single cases again."""
    data, checkpoint = two_cities[city]
    lessons = _lessons(data, checkpoint)
    predictor = Predictor.load(checkpoint, data)
    answers = Answers(predictor.dataset, predictor)
    right = {key: (lesson.guess.right, lesson.check.right) for key, lesson in lessons.items()}
    for key in COUNTED:
        assert right[key] == getattr(answers, key)(), key
    reply = lessons["visits"].guess.choices[0].reply
    assert all(percent(share, 1) in reply for share in answers.alone), (reply, answers.alone)
    lead, stable = answers.score(int(lessons["score"].deeper.params["case"]))
    assert lessons["score"].guess.choices[right["score"][0]].label == LABELS[lead]
    assert right["score"][1] == stable


def test_the_toy_towns_path_is_the_likeliest() -> None:
    """The guess of lesson 2, by dictionaries of shares: from House 7 two hops lead to Square 1 first of all."""
    assert planted_rank(build_toy_town(0.5, 0.0, 0).dataset, "House 7", "Square 1") == 1


def test_the_curve_is_the_models() -> None:
    """Its shape by its ends and its middle; the place that is asked for is found again among the user's check-ins."""
    lesson, world = demo_lesson(ENTRIES["curve"]), demo_world("checkpoint")
    curves = world.predictor.model.curves
    assert curves is not None
    row = [feature.name for feature in curves.curves.features].index("time_since_visit")
    knots = curves.curves.knot_FK1[row][curves.curves.knot_FK1[row].isfinite()].double().numpy()
    levels = curves.curves.levels[row].double().numpy()[: len(knots)]
    first, middle, last = np.interp([knots[1], (knots[1] + knots[-1]) / 2, knots[-1]], knots, levels)
    assert first + FLAT < middle and first + FLAT < last and abs(last - middle) < FLAT
    assert list(SHAPES)[lesson.guess.right] == "It rises"
    picture = lesson.check.picture
    assert picture is not None
    marks = picture.table().set_index("Mark")["Points"]
    name = lesson.check.prompt.split(" was last at ")[1].split(" ")[0].replace("\\", "")
    user, table = int(lesson.check.prompt.split()[1]), world.dataset.checkins
    tests = world.cases[world.cases[c.USER] == user]
    now = int(tests[c.ROW].iloc[0])
    mine = table.iloc[:now][(table[c.USER] == user).to_numpy()[:now]]
    hours = [
        (table[c.TIME].iloc[now] - time).total_seconds() / 3600
        for poi, time in zip(mine[c.POI], mine[c.TIME], strict=True)
        if world.labels[poi].startswith(name)
    ]
    points = {signed_points(float(np.interp(1 + np.log1p(ago), knots, levels))) for ago in hours}
    assert marks["ABC"[lesson.check.right]] in points
