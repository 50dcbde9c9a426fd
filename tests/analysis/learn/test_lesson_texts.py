"""What lessons say: an aside for each audience, and a text for every figure."""

import re
from functools import cache
from typing import get_args

import pytest

from analysis.learn.course import COURSE, Entry
from analysis.learn.lesson import Audience, Lesson, Question
from analysis.learn.vocabulary import Say
from tests.learn_worlds import demo_world

AUDIENCES = get_args(Audience)
NUMBER = re.compile(r"[−+]?\d[\d,]*(?:\.\d+)?")
EACH_LESSON = pytest.mark.parametrize("entry", COURSE, ids=lambda entry: entry.outline.key)


@cache
def _lesson(entry: Entry) -> Lesson:
    return entry.build(demo_world(), Say())


def _asked(question: Question) -> list[str]:
    return [question.prompt, *(choice.label for choice in question.choices)]


@EACH_LESSON
def test_each_audience_has_its_own_aside(entry: Entry) -> None:
    asides = _lesson(entry).aside
    assert set(asides) == set(AUDIENCES) and len(set(asides.values())) == len(AUDIENCES)


@EACH_LESSON
def test_every_figure_says_what_it_shows(entry: Entry) -> None:
    """A sentence for a screen reader, with a number in it, and a table with every mark's text."""
    lesson = _lesson(entry)
    for scene in [lesson.scene(lesson.start), *([lesson.contrast] if lesson.contrast else [])]:
        for chart in scene.charts:
            assert chart.says.endswith(".") and NUMBER.search(chart.says)
            assert len(chart.table()) > 0
