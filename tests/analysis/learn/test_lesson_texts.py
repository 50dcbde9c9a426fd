"""What lessons show: a picture before each guess, and a text for every figure."""

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
