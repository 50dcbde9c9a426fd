"""The handout is one file that asks first and answers last."""

from dataclasses import replace

from analysis.learn.charts import Bar, Bars
from analysis.learn.course import COURSE, ROUTE
from analysis.learn.handout import handout_html
from tests.learn_worlds import demo_lesson


def test_questions_come_before_answers() -> None:
    """All titles twice; replies only after the heading of the answers; nothing is asked of the network."""
    lessons = [demo_lesson(entry) for entry in COURSE]
    page = handout_html("Town", list(lessons))
    asked, answered = page.split("<h1>Answer key</h1>")
    for lesson in lessons:
        assert f"{lesson.outline.title}</h2>" in asked and f"{lesson.outline.title}</h2>" in answered
    assert asked.index("Appendix") < asked.index(f"{COURSE[ROUTE].outline.title}</h2>")
    assert asked.index("Appendix") > asked.index(f"{COURSE[ROUTE - 1].outline.title}</h2>")
    assert asked.count("<figure>") == sum(lesson.guess.picture is not None for lesson in lessons)
    assert asked.count("<svg") >= ROUTE and "<rect" in asked and "<circle" in asked
    assert "Right." in answered and "Right." not in asked
    assert "http" not in page.replace("http-equiv", "") and "<script" not in page


def test_names_are_escaped_and_real_cities_ask_nothing() -> None:
    """A name that looks like a tag stays text; without lessons the page holds titles and questions to talk about."""
    lesson = demo_lesson(COURSE[1])
    picture = Bars("<b>Bar</b>", "<b>Bar</b>", (Bar("<b>Bar</b>", 1.0, "<b>Bar</b>"),))
    hostile = replace(lesson, intro="To **<b>Bar</b> \\*x\\***", guess=replace(lesson.guess, picture=picture))
    page = handout_html("<i>Town</i>", [None, hostile, *[None] * (len(COURSE) - 2)])
    assert "<b>Bar</b>" not in page and "<i>Town" not in page
    assert "&lt;b&gt;Bar&lt;/b&gt; *x*" in page
    empty = handout_html("Town", [None] * len(COURSE))
    assert "Guess:" not in empty
    assert COURSE[0].outline.questions[0] in empty
