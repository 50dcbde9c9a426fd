"""What lessons say: plain, short, every long word known, and the same numbers for every reader."""

import re
from functools import cache

import pytest

from analysis.glossary import TERMS
from analysis.learn.course import COURSE, Entry
from analysis.learn.lesson import Lesson, Question
from analysis.learn.vocabulary import Say
from analysis.registers import REGISTERS, Register, Words
from tests.analysis.learn.everyday_words import EVERYDAY
from tests.learn_worlds import demo_world
from tests.readability import grade, long_words, words_of

HARDEST_GRADE = 9
MOST_WORDS = 400
NUMBER = re.compile(r"[−+]?\d[\d,]*(?:\.\d+)?")
EACH_LESSON = pytest.mark.parametrize("entry", COURSE, ids=lambda entry: entry.outline.key)


@cache
def _lesson(entry: Entry, register: Register) -> Lesson:
    return entry.build(demo_world(), Say(Words(register)))


def _asked(question: Question) -> list[str]:
    return [question.prompt, *(choice.label for choice in question.choices)]


def _read(lesson: Lesson, register: Register) -> list[str]:
    """What a reader meets who makes one guess and answers the check once, on the first scene."""
    scene = lesson.scene(lesson.start)
    parts = [lesson.outline.title, lesson.intro, *(text for card in lesson.cards for text in (card.title, card.words))]
    parts += [*_asked(lesson.prediction), lesson.prediction.choices[lesson.prediction.right].reply]
    parts += [*(handle.label for handle in lesson.handles), scene.finding, scene.note, lesson.lesson_learned]
    parts += [lesson.aside[register]]
    if lesson.training is not None:
        parts += [lesson.training.label, lesson.training.words, *(handle.label for handle in lesson.training.handles)]
    if lesson.contrast is not None:
        parts += [lesson.contrast.finding, lesson.contrast.note]
    parts += [*_asked(lesson.check), lesson.check.choices[lesson.check.right].reply]
    return parts


@EACH_LESSON
@pytest.mark.parametrize("register", ["student", "stakeholder"])
def test_a_lesson_is_short_and_plain(entry: Entry, register: Register) -> None:
    """At most 400 words and a Flesch-Kincaid grade of 9: the whole, its running text, and its beginning alone."""
    lesson = _lesson(entry, register)
    text = "\n".join(_read(lesson, register))
    assert len(words_of(text)) <= MOST_WORDS
    assert grade(text) <= HARDEST_GRADE
    for running in (lesson.intro, f"{lesson.intro} {lesson.lesson_learned} {lesson.aside[register]}"):
        assert grade(running) <= HARDEST_GRADE


@EACH_LESSON
def test_every_rare_word_is_in_the_glossary(entry: Entry) -> None:
    """A word of three syllables is a term of the glossary or in the list of everyday words."""
    told = " ".join(f"{term.word} {term.plain_word} {term.paper}" for term in TERMS.values())
    known = long_words(told.lower()) | EVERYDAY
    lesson = _lesson(entry, "student")
    questions = "\n".join([*entry.outline.questions, entry.outline.idea, entry.outline.aim])
    names = {word.lower() for label in demo_world().opened.labels for word in words_of(label)}
    assert long_words("\n".join([*_read(lesson, "student"), questions])) - known - names == set()
    assert all(key in TERMS for key in entry.outline.terms)


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
