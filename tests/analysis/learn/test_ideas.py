"""Ideas of lessons, each held to its number, on the bundled city and on New York."""

import re

import numpy as np
import pytest

from analysis.explain.curves import learned_curves
from analysis.explain.edited_case import build_edited_case
from analysis.learn.course import COURSE
from analysis.learn.lessons.score import clear_case
from analysis.learn.lessons.two_hops import found_with_path
from analysis.long_tail.lift import kept_hops
from analysis.workspace import Workspace
from recap import columns as c
from recap.evaluation.cases import is_known_place
from tests.learn_worlds import demo_lesson, demo_world
from tests.nyc import needs_nyc, nyc_dataset

ENTRIES = {entry.outline.key: entry for entry in COURSE}


@pytest.fixture(params=["bundled", pytest.param("nyc", marks=[needs_nyc, pytest.mark.slow])], scope="module")
def world(request: pytest.FixtureRequest) -> Workspace:
    return demo_world("checkpoint") if request.param == "bundled" else Workspace.of(nyc_dataset(), keep=False)


def test_where_nobody_went_only_counting_transitions_fails(world: Workspace) -> None:
    """Lesson 1: Markov finds next to none of these, past visits most of the known places and hardly a new one."""
    cases = world.cases
    unseen, known = (cases[c.TRANSITION_COUNT] == 0).to_numpy(), is_known_place(cases)
    found = {name: world.with_model(name).records()[c.RANK].to_numpy() <= 20 for name in ("markov", "visit_count")}
    assert found["markov"][unseen].mean() < 0.1
    assert found["visit_count"][unseen & known].mean() > 0.8 and found["visit_count"][unseen & ~known].mean() < 0.1
    visits = world.dataset.pois[c.TRAIN_CHECKINS].to_numpy()
    popular = visits[cases[c.TARGET]] >= np.sort(visits)[-max(1, round(len(visits) / 10))]
    asked = unseen & popular
    said = ENTRIES["rare"].build(world).idea
    for mask, name in ((asked, "markov"), (asked, "visit_count"), (asked & ~known, "visit_count")):
        assert f"{100 * found[name][mask].mean():.0f} %" in said, said
    number = re.findall(r"saw ([\d,]+) next transitions", said)
    assert int(number[0].replace(",", "")) == pytest.approx(asked.sum(), rel=0.02)  # the bar of a popular place may tie


def test_returns_go_where_each_number_points(world: Workspace) -> None:
    """Lesson 3: most next places are returns, above all to places visited often, recently or just now."""
    cases, poi = world.cases, world.dataset.checkins[c.POI].to_numpy()
    returns = cases[is_known_place(cases)]
    assert len(returns) > len(cases) / 2
    found = np.zeros(3)
    some = returns.iloc[:: max(1, len(returns) // 400)]
    for row, position, target in zip(some[c.ROW], some[c.POSITION], some[c.TARGET], strict=True):
        seen = poi[row - position : row + 1][::-1]
        places, first, count = np.unique(seen, return_index=True, return_counts=True)
        often, late = places[np.argsort(-count, kind="stable")[:5]], places[np.argsort(first)[:5]]
        found += [target in often, target in late, 5 / len(places)]
    assert found[0] > found[2] and found[1] > found[2], found / len(some)


def test_a_further_hop_reaches_more_and_many_more_wrong_places(world: Workspace) -> None:
    table = kept_hops(world)
    true, listed = table["coverage"].to_numpy(), table["avg_candidates"].to_numpy()
    assert (np.diff(true) >= 0).all() and true[1] > true[0]
    assert (np.diff(listed) > 10 * np.diff(true)).all()


def test_each_place_hidden_is_not_enough(world: Workspace) -> None:
    """Lesson 8: the right answers of both questions are that most are still the only match."""
    lesson = ENTRIES["privacy"].build(world)
    assert lesson.guess.right == lesson.check.right == 3 and "removes detail until" not in lesson.outline.idea


def test_in_a_city_something_else_finds_most_places_of_paths() -> None:
    """Lesson 2: of what is found with a path, the rest finds more than half without it."""
    model = demo_world("checkpoint")
    rows = found_with_path(model)
    assert (model.ablations()["without_two_hops"].to_numpy()[rows] <= 20).mean() > 0.5


def test_a_curve_and_a_score_are_what_their_lessons_say() -> None:
    """Recent visits add points on the curve that fades; all terms but the sequence model's are curves."""
    model = demo_world("checkpoint")
    curves = {curve.name: curve for curve in learned_curves(model.predictor)}
    fading = curves["visits_50_checkins"]
    assert ("Recent visits still count" in demo_lesson(ENTRIES["curve"]).idea) <= (
        fading.points[-1] > fading.at(fading.knots[0])
    )
    terms = {term.name for term in build_edited_case(model.predictor, 0).scorer.terms}
    assert terms - curves.keys() == {"core"}


def test_the_group_asked_for_leads_clearly() -> None:
    """Lesson 5: in the first of these cases two groups lead by +0.44 and +0.42."""
    assert (
        clear_case(demo_world("checkpoint"), [201, 206]) == 206 and clear_case(demo_world("checkpoint"), [201]) == 201
    )


def test_no_idea_foresees_what_its_check_measures() -> None:
    """Lesson 5 leaves it to the check whether contributions are stable."""
    lesson = demo_lesson(ENTRIES["score"])
    assert not re.search("not all|may not", f"{lesson.outline.idea} {lesson.idea}")
