"""What lessons say: the same numbers for every reader, and a text for every figure."""

import re
from functools import cache

import pytest

from analysis.learn.course import COURSE, Entry
from analysis.learn.lesson import Lesson, Question
from analysis.learn.vocabulary import Say
from analysis.registers import REGISTERS, Register, Words
from tests.learn_worlds import demo_world

NUMBER = re.compile(r"[−+]?\d[\d,]*(?:\.\d+)?")
EACH_LESSON = pytest.mark.parametrize("entry", COURSE, ids=lambda entry: entry.outline.key)


@cache
def _lesson(entry: Entry, register: Register) -> Lesson:
    return entry.build(demo_world(), Say(Words(register)))


def _asked(question: Question) -> list[str]:
    return [question.prompt, *(choice.label for choice in question.choices)]


@EACH_LESSON
def test_a_register_changes_no_number(entry: Entry) -> None:
    """Questions, answers, replies and scenes have the same numbers in the same order; the words differ somewhere."""
    told = []
    for register in REGISTERS:
        lesson = _lesson(entry, register)
        scenes = [lesson.scene(lesson.start)] + ([lesson.contrast] if lesson.contrast else [])
        parts = [lesson.intro, *_asked(lesson.prediction), *_asked(lesson.check)]
        parts += [choice.reply for question in (lesson.prediction, lesson.check) for choice in question.choices]
        parts += [text for scene in scenes for text in (scene.finding, scene.note, *(c.says for c in scene.charts))]
        told.append(parts)
    numbers = [[NUMBER.findall(part) for part in parts] for parts in told]
    assert numbers[0] == numbers[1] == numbers[2]
    assert told[0] == told[1] != told[2]
    asides = [_lesson(entry, register).aside[register] for register in REGISTERS]
    assert len(set(asides)) == len(REGISTERS)


@EACH_LESSON
def test_every_figure_says_what_it_shows(entry: Entry) -> None:
    """A sentence for a screen reader, with a number in it, and a table with every mark's text."""
    lesson = _lesson(entry, "student")
    for scene in [lesson.scene(lesson.start), *([lesson.contrast] if lesson.contrast else [])]:
        for chart in scene.charts:
            assert chart.says.endswith(".") and NUMBER.search(chart.says)
            assert len(chart.table()) > 0
