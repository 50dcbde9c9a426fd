"""The Learn view: guesses before answers, right and wrong replies, links, handles, and the teacher's page."""

import base64
import re
from pathlib import Path

import pytest
import segno
from streamlit import config
from streamlit.testing.v1 import AppTest

from analysis.learn.course import CLASS_MINUTES, COURSE, MINUTES, class_plan
from app import classroom
from app.components.learn import words
from tests.app.app_driver import calm_view, check_calm, click, open_view, point_app_at, texts, without_model
from tests.learn_worlds import DEMO, demo_lesson

KEYS = [entry.outline.key for entry in COURSE]
LETTERS = "abcdef"


@pytest.fixture
def _demo(monkeypatch: pytest.MonkeyPatch) -> None:
    """The bundled city, whose lessons have two models to choose from."""
    point_app_at(monkeypatch, DEMO / "dataset", DEMO / "checkpoint", bundles=DEMO.parent)


def ask(app: AppTest, key: str, question: str, choice: int) -> str:
    """Give an answer; returns the last reply."""
    app.radio(key=f"learn_{key}_{question}").set_value(choice).run()
    click(app, f"learn_{key}_{question}_answer")
    return str(app.info[-1].value)


@pytest.mark.usefixtures("_demo")
@pytest.mark.parametrize(
    "number", [0, 1, *(pytest.param(number, marks=pytest.mark.slow) for number in range(2, len(COURSE)))]
)
def test_a_lesson_by_right_and_wrong_answers(number: int) -> None:
    """A picture and no answer before the guess; each answer has its own reply, and progress counts it."""
    lesson, key = demo_lesson(COURSE[number]), KEYS[number]
    app = calm_view("learn", lesson=key)
    assert app.title[0].value == lesson.outline.title
    assert not app.info and not app.header and len(app.get("plotly_chart")) == 1
    wrong = (lesson.guess.right + 1) % len(lesson.guess.choices)
    assert ask(app, key, "guess", wrong) == lesson.guess.choices[wrong].reply
    app.button(key="learn_again").click().run()
    assert not app.info
    reply = ask(app, key, "guess", lesson.guess.right)
    assert reply == lesson.guess.choices[lesson.guess.right].reply and reply.startswith("Right")
    wrong = (lesson.check.right + 1) % len(lesson.check.choices)
    assert not ask(app, key, "check", wrong).startswith("Right")
    assert ask(app, key, "check", lesson.check.right).startswith("Right")
    answers = LETTERS[lesson.guess.right] + LETTERS[lesson.check.right]
    assert app.query_params["answers"] == "--" * number + answers
    assert f"2 of {2 * len(COURSE)} questions answered" in texts(app)


@pytest.mark.usefixtures("_demo")
def test_a_link_brings_everything_along() -> None:
    """Lesson, answers and handle; a handle that is moved changes the finding and the link, and goes into the view."""
    app = calm_view("learn", lesson="rare", answers="ab", at="3")
    assert app.header[0].value.startswith("At threshold 3")
    app.select_slider(key="learn_rare_threshold").set_value(7).run()
    assert app.header[0].value.startswith("At threshold 7") and app.query_params["at"] == "7"
    click(app, "learn_next")
    assert app.query_params["lesson"] == "two_hops" and "at" not in app.query_params
    app = open_view("learn", lesson="rare", answers="ab", at="3")
    click(app, "learn_deeper")
    assert app.query_params["eta"] in ("3", ["3"])


@pytest.mark.usefixtures("_demo")
@pytest.mark.parametrize("answers", ["zz", "f" * 300, "<b>", "--é"])
def test_a_bad_link_is_an_unanswered_lesson(answers: str) -> None:
    """What cannot be read counts as not answered, and nothing is refused."""
    app = calm_view("learn", lesson="nowhere", answers=answers, at="9.9.9", page="x")
    assert app.title[0].value == COURSE[0].outline.title


@pytest.mark.slow
@pytest.mark.usefixtures("_demo")
def test_three_small_models_train() -> None:
    """The button trains, the result stays, and a moved handle asks for a new training."""
    app = open_view("learn", lesson="two_hops", answers="--a")
    check_calm(app.button(key="learn_two_hops_training_run").click().run(timeout=120))
    assert any(str(header.value).startswith("The graph token") for header in app.header)
    app.select_slider(key="learn_two_hops_training_town").set_value(1).run()
    assert "Train again" in texts(app)


@pytest.mark.usefixtures("_demo")
def test_the_teachers_page() -> None:
    """Plan and questions of all lessons, the route first; handout and key are two files."""
    app = calm_view("learn", page="teacher")
    assert app.title[0].value == f"A class of {CLASS_MINUTES} minutes" and f"{MINUTES} minutes" in texts(app)
    assert app.table[0].value["Part"].str.replace("\\", "").tolist() == [row.part for row in class_plan()]
    assert [button.proto.label for button in app.get("download_button")] == ["Handout", "Answer key"]
    assert len(app.expander) == len(COURSE)
    app.button(key="learn_back").click().run()
    assert app.title[0].value == COURSE[0].outline.title


@pytest.mark.usefixtures("_demo")
def test_the_address_of_the_class_is_shown_where_others_reach_the_app() -> None:
    """As large words and as a QR code of the chosen one; no loopback and no link-local address; else no button."""
    own = list(config.get_option("server.allowedHosts") or [])
    assert "learn_invite" not in {button.key for button in calm_view("learn", page="teacher").button}
    try:
        config.set_option("server.allowedHosts", ["localhost", "127.0.1.1", "fe80::1", "192.0.2.7", "2001:db8::7"])
        app = click(calm_view("learn", page="teacher"), "learn_invite")
        pages = [f"http://{host}:{config.get_option('server.port')}/learn" for host in ("192.0.2.7", "[2001:db8::7]")]
        assert app.selectbox(key="learn_address").options == pages
        app.selectbox(key="learn_address").set_value(pages[1])
        click(app, "learn_invite")
    finally:
        config.set_option("server.allowedHosts", own)
    code = segno.make(pages[1], micro=False).svg_inline(omitsize=True, light="white")
    shown = base64.b64decode(app.image[0].proto.imgs[0].url.partition("base64,")[2]).decode()
    assert app.title[-1].value.replace("\\", "") == pages[1] and shown.endswith(code.partition(" ")[2])


def counts(app: AppTest) -> list[str]:
    """What the chart of a class's answers says; none where there is no chart."""
    return [count for chart in app.get("plotly_chart") for count in re.findall(r": (\d+)[;.]", chart.proto.alt)]


def enter(app: AppTest, token: str) -> AppTest:
    app.text_input(key="learn_token").set_value(token)
    return app.button(key="learn_enter").click().run()


@pytest.mark.usefixtures("_demo")
def test_a_class_is_counted_from_five_answers_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """One learner counts once, with the last answer, and the teacher not at all; a wrong token opens nothing."""
    off = calm_view("learn", lesson="rare")
    assert words.IS_COUNTED not in texts(off) and "learn_token" not in {one.key for one in off.text_input}
    monkeypatch.setattr(classroom, "_open", None)
    room = classroom.open_classroom()
    learner = calm_view("learn", lesson="rare")
    assert words.IS_COUNTED in texts(learner)
    ask(learner, "rare", "guess", 0)
    click(learner, "learn_again")
    ask(learner, "rare", "guess", 2)
    asked = classroom.Asked(learner.session_state["source"], "rare", "guess")
    for number in range(3):
        room.keep(asked, f"learner {number}", 1)
    teacher = open_view("learn", page="teacher")
    for token in ("", "é", room.token[:-1], room.token + "x"):
        enter(teacher, token)
        assert teacher.error[0].value == words.STAYS_CLOSED and not teacher.table and not teacher.get("download_button")
    check_calm(enter(teacher, f" {room.token}"))
    assert words.class_waits(4) in texts(teacher) and counts(teacher) == []
    click(teacher, "learn_back")
    ask(teacher, "rare", "guess", 0)
    assert room.tally(asked, 4).answers == 4
    ask(calm_view("learn", lesson="rare"), "rare", "guess", 3)
    assert counts(click(teacher, "learn_teacher")) == ["0", "3", "1", "1"]
    assert room.token not in str(teacher.query_params) and room.token not in texts(teacher)
    click(teacher, "learn_class_forget")
    assert words.class_waits(0) in texts(teacher)


def test_without_a_model_the_counting_lessons_work(
    two_cities: list[tuple[Path, Path]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A dataset alone: lessons that need a model say so, and the way on stays open."""
    point_app_at(monkeypatch, two_cities[0][0], None)
    alone = without_model(two_cities[0][0])
    app = calm_view("learn", lesson="visits", source=alone)
    assert "needs a trained RECAP" in app.info[0].value
    for key in ("rare", "two_hops", "privacy"):
        app = calm_view("learn", lesson=key, source=alone)
        assert not app.info
