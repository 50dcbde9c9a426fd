"""Learn on its page: a guess before the reveal, replies to right and wrong answers, handles, progress in the link."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from analysis.learn.course import COURSE
from analysis.learn.lesson import Lesson
from analysis.learn.vocabulary import Say
from recap.predictor import Predictor
from tests.app.app_driver import check_calm, open_view, point_app_at, texts
from tests.learn_answers import Answers
from tests.learn_worlds import world_of

KEYS = [entry.outline.key for entry in COURSE]
ROW_LABELS = {"own_visits": "Past visits", "core": "Sequence model"}


@pytest.fixture(scope="module")
def city(two_cities: list[tuple[Path, Path]]) -> dict[str, tuple[Lesson, int, int]]:
    """Lessons of the second city with their right answers, found by counting again (`tests.learn_answers`)."""
    data, checkpoint = two_cities[1]
    predictor = Predictor.load(checkpoint, data)
    answers, world = Answers(predictor.dataset, predictor), world_of(data, checkpoint)
    found = {}
    for entry in COURSE:
        lesson, key = entry.build(world, Say()), entry.outline.key
        case = int(lesson.deeper.params.get("case", 0))
        if key == "sum":
            lead, check = answers.ledger(case)
            labels = [choice.label for choice in lesson.prediction.choices]
            guess = labels.index(ROW_LABELS[lead])
        elif key == "context":
            habit = answers.habit_without_time(case)
            guess, check = answers.context(case, habit)
        else:
            guess, check = answers.cause(case) if key == "cause" else getattr(answers, key)()
        found[key] = lesson, guess, check
    return found


@pytest.fixture
def _app_on_city(two_cities: list[tuple[Path, Path]], monkeypatch: pytest.MonkeyPatch) -> None:
    point_app_at(monkeypatch, *two_cities[1])


def commit(app: AppTest, key: str, choice: int) -> None:
    """Choose a prediction and commit to it."""
    app.radio(key=f"learn_{key}_guess").set_value(choice).run()
    app.button(key=f"learn_{key}_guess_commit").click().run()
    check_calm(app)


def answer(app: AppTest, key: str, choice: int) -> str:
    """Answer the check; returns the reply."""
    app.radio(key=f"learn_{key}_check").set_value(choice).run()
    app.button(key=f"learn_{key}_check_answer").click().run()
    check_calm(app)
    return str(app.info[-1].value)


@pytest.mark.usefixtures("_app_on_city")
@pytest.mark.parametrize("key", KEYS)
def test_a_lesson_by_right_and_wrong_answers(city: dict[str, tuple[Lesson, int, int]], key: str) -> None:
    """Nothing is told before the guess; each answer has the reply of its own; right ones are those counted again."""
    lesson, guess, check = city[key]
    app = open_view("learn", lesson=key)
    check_calm(app)
    assert not app.info
    assert not app.header
    wrong = (guess + 1) % len(lesson.prediction.choices)
    commit(app, key, wrong)
    assert app.info[0].value == lesson.prediction.choices[wrong].reply
    assert not str(app.info[0].value).startswith("Right")
    app.button(key="learn_again").click().run()
    assert not app.info
    commit(app, key, guess)
    assert app.info[0].value == lesson.prediction.choices[guess].reply
    wrong = (check + 1) % len(lesson.check.choices)
    assert not answer(app, key, wrong).startswith("Right")
    assert answer(app, key, check).startswith("Right")
    letters = "abcdef"
    assert app.query_params["answers"] == "--" * KEYS.index(key) + letters[guess] + letters[check]


@pytest.mark.usefixtures("_app_on_city")
def test_a_link_brings_everything_along(city: dict[str, tuple[Lesson, int, int]]) -> None:
    """Lesson, answers, handle and reader; a handle that is moved changes the finding and the link."""
    app = open_view("learn", lesson="tails", answers="ab" * 10, at="3", reader="Researcher")
    check_calm(app)
    assert app.title[0].value == "Two long tails"
    scene = city["tails"][0].scene((3,))
    assert app.header[0].value.startswith("At eta 3")
    app.select_slider(key="learn_tails_eta").set_value(7).run()
    assert app.header[0].value.startswith("At eta 7")
    assert app.header[0].value != scene.finding
    assert app.query_params["at"] == "7"
    assert "transition" in texts(app)
    app.button(key="learn_next").click().run()
    check_calm(app)
    assert app.query_params["lesson"] == "compose"
    assert "at" not in app.query_params
    assert app.query_params["answers"] == "ab" * 10


@pytest.mark.usefixtures("_app_on_city")
@pytest.mark.parametrize(
    ("key", "at", "carried"), [("tails", "3", ("eta", "3")), ("context", "5", ("edits", "hour:05:00"))]
)
def test_the_way_into_a_view_carries_the_handle(key: str, at: str, carried: tuple[str, str]) -> None:
    """Where the learner left eta or the hour, the matching view begins."""
    app = open_view("learn", lesson=key, answers="a" * 20, at=at)
    app.button(key="learn_deeper").click().run()
    check_calm(app)
    name, value = carried
    assert app.query_params[name] in (value, [value])
    assert not app.get("learn_deeper")


@pytest.mark.usefixtures("_app_on_city")
@pytest.mark.parametrize("answers", ["zz", "f" * 300, "<b>", "--é"])
def test_a_bad_link_is_an_unanswered_lesson(answers: str) -> None:
    """What cannot be read counts as not answered, and nothing is refused."""
    app = open_view("learn", lesson="nowhere", answers=answers, at="9.9.9", page="x")
    check_calm(app)
    assert app.title[0].value == "A popular place, a failed guess"


@pytest.mark.slow
@pytest.mark.usefixtures("_app_on_city")
def test_three_small_models_train() -> None:
    """The button trains, the result stays, and a moved handle asks for a new training."""
    app = open_view("learn", lesson="holdout", answers="------------a")
    app.button(key="learn_holdout_training_run").click().run(timeout=120)
    check_calm(app)
    found = [header.value for header in app.header if str(header.value).startswith("With the holdout")]
    assert len(found) == 1
    app.select_slider(key="learn_holdout_training_town").set_value(1).run()
    assert "train again" in texts(app)


@pytest.mark.usefixtures("_app_on_city")
def test_the_teachers_page() -> None:
    """Order, timing, aims and questions of all ten."""
    app = open_view("learn", page="teacher")
    check_calm(app)
    assert list(app.table[0].value["Lesson"]) == [entry.outline.title for entry in COURSE]
    assert [expander.label for expander in app.expander] == [
        f"{number + 1}. {entry.outline.title}" for number, entry in enumerate(COURSE)
    ]
    app.button(key="learn_back").click().run()
    assert app.title[0].value == COURSE[0].outline.title


def test_without_a_model_the_counting_lessons_work(
    two_cities: list[tuple[Path, Path]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A dataset alone: lessons that need a model say so, and the way on stays open."""
    point_app_at(monkeypatch, two_cities[0][0], None)
    app = open_view("learn", lesson="habit")
    check_calm(app)
    assert "needs a trained RECAP" in app.info[0].value
    app = open_view("learn", lesson="privacy")
    check_calm(app)
    assert not app.info
