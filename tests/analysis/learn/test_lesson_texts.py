"""What lessons show: a picture before each guess, and a text for every figure."""

import math
from itertools import combinations

import pytest

from analysis.figures.palette import DARK
from analysis.glossary import TERMS
from analysis.learn.charts import Chart
from analysis.learn.course import COURSE, Entry
from analysis.learn.drawing import draw
from tests.learn_worlds import demo_lesson

EACH_LESSON = pytest.mark.parametrize("entry", COURSE, ids=lambda entry: entry.outline.key)


@EACH_LESSON
def test_every_figure_can_be_drawn_and_read_out(entry: Entry) -> None:
    """At both ends of the handles: a sentence for a screen reader, and a table; terms are in the glossary."""
    lesson = demo_lesson(entry)
    assert lesson.guess.picture is not None and all(term in TERMS for term in lesson.outline.terms)
    pictures: list[Chart] = [question.picture for question in (lesson.guess, lesson.check) if question.picture]
    ends = [tuple(len(handle.positions) - 1 for handle in lesson.handles), tuple(0 for _ in lesson.handles)]
    for at in (lesson.start, *ends):
        scene = lesson.scene(at)
        assert scene.finding.endswith(".")
        pictures += scene.charts
    for chart in pictures:
        assert chart.says.endswith(".") and len(chart.table()) > 0
        assert len(draw(chart, DARK).data) > 0


def test_no_two_texts_overlap_on_the_map_of_the_toy_town() -> None:
    """A town some 350 pixels high: a letter takes at most 6 by 14."""
    lesson = demo_lesson(next(entry for entry in COURSE if entry.outline.key == "two_hops"))
    for middle in range(len(lesson.handles[0].positions)):
        (chart,) = lesson.scene((middle,)).charts
        texts = draw(chart, DARK).layout.annotations
        scale = 350 / (max(text.y for text in texts) - min(text.y for text in texts))
        for one, other in combinations(texts, 2):
            across = abs(one.x - other.x) * scale * math.cos(math.radians(one.y))
            assert abs(one.y - other.y) * scale >= 14 or across >= 3 * (len(one.text) + len(other.text))
