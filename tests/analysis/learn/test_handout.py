"""The handout is one file that asks first and answers last."""

from dataclasses import replace
from pathlib import Path

from analysis.learn.course import COURSE
from analysis.learn.handout import handout_html
from analysis.learn.lesson import Card, Lesson
from analysis.learn.vocabulary import Say
from tests.learn_worlds import world_of


def test_questions_come_before_answers(two_cities: list[tuple[Path, Path]]) -> None:
    """All ten titles twice; replies only after the heading of the answers; nothing is asked of the network."""
    world = world_of(*two_cities[1])
    lessons = [entry.build(world, Say()) for entry in COURSE]
    page = handout_html("Town", list(lessons))
    asked, answered = page.split("<h1>Answers</h1>")
    for lesson in lessons:
        assert f"{lesson.outline.title}</h2>" in asked and f"{lesson.outline.title}</h2>" in answered
    assert "Right." in answered
    assert "Right." not in asked
    assert "http" not in page.replace("http-equiv", "")
    assert "<script" not in page


def test_names_are_escaped_and_real_cities_ask_nothing(two_cities: list[tuple[Path, Path]]) -> None:
    """A name that looks like a tag stays text; without lessons the page holds titles and questions to talk about."""
    made: Lesson = COURSE[1].build(world_of(*two_cities[1]), Say())
    hostile = replace(made, cards=(Card("A", "To **<b>Bar</b> \\*x\\***"),))
    page = handout_html("<i>Town</i>", [None, hostile, *[None] * (len(COURSE) - 2)])
    assert "<b>Bar</b>" not in page and "<i>Town" not in page
    assert "&lt;b&gt;Bar&lt;/b&gt; *x*" in page
    empty = handout_html("Town", [None] * len(COURSE))
    assert "Guess:" not in empty
    assert COURSE[0].outline.questions[0] in empty
