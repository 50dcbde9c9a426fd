"""Lessons: answers that counting in another way finds, texts of figures, the handout and progress; the glossary."""

import math
from dataclasses import replace
from itertools import chain, combinations
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.explain.curves import learned_curves
from analysis.figures.palette import DARK
from analysis.formatting import percent, signed_points
from analysis.glossary import TERMS, glossary_page
from analysis.learn.charts import Bar, Bars, Chart
from analysis.learn.course import CLASS_MINUTES, COURSE, ROUTE, Entry, class_plan
from analysis.learn.drawing import draw
from analysis.learn.handout import sheet_html
from analysis.learn.lesson import MOST_CHOICES, Lesson, LessonUnavailableError
from analysis.learn.lessons.curve import FLAT, SHAPES
from analysis.learn.progress import CourseProgress
from analysis.learn.toy_town import build_toy_town
from analysis.long_tail.misses import MISSES
from analysis.workspace import Workspace
from recap import columns as c
from recap.history.asked_times import ClockTime, parse_next_time
from recap.machine.printable import markdown_text
from tests.learn_answers import Answers, planted_rank
from tests.learn_worlds import demo_lesson, demo_world

COUNTED = ("rare", "two_hops", "visits", "hops", "privacy")
LABELS = {"past visits": "Past visits", "core": "Sequence model", "correction": "Correction"}
ENTRIES = {entry.outline.key: entry for entry in COURSE}


def _lessons(data: Path, checkpoint: Path) -> dict[str, Lesson]:
    """All but those on curves, which these models have none of, and on the time, which they cannot read."""
    world = Workspace.open(data, checkpoint, keep=False)
    missing = {"curve": "learned curves", "clock": "with and without a time. Choose another one"}
    for key, says in missing.items():
        with pytest.raises(LessonUnavailableError, match=says):
            ENTRIES[key].build(world)
    return {key: entry.build(world) for key, entry in ENTRIES.items() if key not in missing}


@pytest.mark.parametrize("city", [0, 1])
def test_answers_are_found_again(two_cities: list[tuple[Path, Path]], city: int) -> None:
    """Guesses and checks, by dictionaries and loops over check-ins or by scoring single cases again."""
    data, checkpoint = two_cities[city]
    lessons = _lessons(data, checkpoint)
    predictor = Workspace.open(data, checkpoint).predictor
    answers = Answers(predictor.dataset, predictor)
    right = {key: (lesson.guess.right, lesson.check.right) for key, lesson in lessons.items()}
    for key in COUNTED:
        assert right[key] == getattr(answers, key)(), key
    reply = lessons["visits"].guess.choices[0].reply
    assert all(percent(share, 1) in reply for share in answers.alone), (reply, answers.alone)
    assert planted_rank(build_toy_town(0.5, 0.0, 0).dataset, "House 7", "Square 1") == 1, "the path of lesson 2"
    lead, stable = answers.score(int(lessons["score"].deeper.params["case"]))
    assert lessons["score"].guess.choices[right["score"][0]].label == LABELS[lead]
    assert right["score"][1] == stable


@pytest.mark.parametrize("city", [pytest.param("demo", marks=pytest.mark.slow), "6", "12"])
def test_the_clock_moves_the_first_place(two_cities: list[tuple[Path, Path]], city: str) -> None:
    """The place to guess by scoring one moment; gains by loops and other draws. Either question opens the lesson."""
    folders = {"6": two_cities[0][0], "12": two_cities[1][0]}
    world = demo_world("checkpoint") if city == "demo" else Workspace.open(folders[city], "pretrained", keep=False)
    assert isinstance(world.model, str | Path)
    given = world.with_model(world.model, given_time=True)
    lesson, again = (ENTRIES["clock"].build(one) for one in (world, given))
    row, hours = int(lesson.deeper.params["row"]), lesson.handles[0].positions
    start, asked = (parse_next_time(hours[at]) for at in (0, lesson.start[0]))
    last = int(world.checkins.local_seconds_T[row])
    assert isinstance(start, ClockTime) and start.after(last) - last <= 3600 and len(set(hours)) == len(hours) == 24
    assert isinstance(asked, ClockTime)
    answers = Answers(world.dataset, world.predictor)
    first, gain = answers.clock(given.predictor, row, asked.after(last))
    label = lesson.guess.choices[lesson.guess.right].label
    assert label == markdown_text(world.labels[first]) and lesson.check.right == gain
    assert world.labels[first] in lesson.scene(lesson.start).finding and again.check == lesson.check
    assert "With the time given " in lesson.check.choices[gain].reply and (gain == 2) == (city == "demo")


def test_the_curve_is_the_models() -> None:
    """Its shape by its ends and its middle; the place that is asked for is found again among the user's check-ins."""
    lesson, world = demo_lesson(ENTRIES["curve"]), demo_world("checkpoint")
    curve = next(curve for curve in learned_curves(world.predictor) if curve.name == "time_since_visit")
    first, middle, last = map(curve.at, (curve.knots[1], (curve.knots[1] + curve.knots[-1]) / 2, curve.knots[-1]))
    assert first + FLAT < middle and first + FLAT < last and abs(last - middle) < FLAT
    assert list(SHAPES)[lesson.guess.right] == "It rises"
    picture = lesson.check.picture
    assert picture is not None
    marks = picture.table().set_index("Mark")["Points"]
    name = lesson.check.prompt.split(" was last at ")[1].split(" ")[0].replace("\\", "")
    user, table = int(lesson.check.prompt.split()[1]), world.dataset.checkins
    now = int(world.cases.loc[world.cases[c.USER] == user, c.ROW].iloc[0])
    mine = table.iloc[:now][(table[c.USER] == user).to_numpy()[:now]]
    mine = mine[[world.labels[poi].startswith(name) for poi in mine[c.POI]]]
    hours = (table[c.TIME].iloc[now] - mine[c.TIME]).dt.total_seconds() / 3600
    assert marks["ABC"[lesson.check.right]] in {signed_points(curve.at(1 + math.log1p(ago))) for ago in hours}


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


@pytest.mark.slow
def test_no_two_texts_overlap_on_the_map_of_the_toy_town() -> None:
    """A town some 350 pixels high: a letter takes at most 6 by 14."""
    lesson = demo_lesson(ENTRIES["two_hops"])
    for middle in range(len(lesson.handles[0].positions)):
        (chart,) = lesson.scene((middle,)).charts
        texts = [(text.x, text.y, len(text.text)) for text in draw(chart, DARK).layout.annotations]
        height = [y for _, y, _ in texts]
        scale = 350 / (max(height) - min(height))
        for (x, y, letters), (other_x, other_y, others) in combinations(texts, 2):
            across = abs(x - other_x) * scale * math.cos(math.radians(y))
            assert abs(y - other_y) * scale >= 14 or across >= 3 * (letters + others)


def test_the_handout_asks_and_the_answer_key_answers() -> None:
    """All titles in both files; replies only in the key; nothing is asked of the network."""
    lessons = [demo_lesson(entry) for entry in COURSE]
    asked, answered = (sheet_html(sheet, "Town", lessons) for sheet in ("handout", "answer_key"))
    for lesson in lessons:
        assert f"{lesson.outline.title}</h2>" in asked and f"{lesson.outline.title}</h2>" in answered
    assert asked.index("Further lessons") < asked.index(f"{COURSE[ROUTE].outline.title}</h2>")
    assert asked.index("Further lessons") > asked.index(f"{COURSE[ROUTE - 1].outline.title}</h2>")
    assert asked.count("<figure>") == sum(lesson.guess.picture is not None for lesson in lessons)
    assert asked.count("<svg") >= ROUTE and "<rect" in asked and "<circle" in asked
    assert "Right." in answered and "Right." not in asked and "minutes" not in answered
    assert "http" not in (asked + answered).replace("http-equiv", "") and "<script" not in asked + answered


def test_the_plan_fills_ninety_minutes_on_one_page() -> None:
    """Each part begins where the one before ends; every lesson says what it needs; at most 45 lines of a page."""
    rows = class_plan()
    starts, ends = zip(*(map(int, row.minutes.split(" to ")) for row in rows if " to " in row.minutes), strict=True)
    assert (0, *ends) == (*starts, CLASS_MINUTES) and CLASS_MINUTES == 90
    assert [row.part for row in rows if row.part[0].isdigit()] == [
        f"{number}. {entry.outline.title}" for number, entry in enumerate(COURSE, start=1)
    ]
    lines = [max(math.ceil(len(row.does) / 34), math.ceil(len(row.needs) / 17)) for row in rows]
    assert all(row.needs for row in rows) and sum(lines) <= 45, lines
    page = sheet_html("handout", "Town", [None] * len(COURSE))
    plan, rest = page.split("</section>", 1)
    assert (
        plan.count("<tr>") == 1 + len(rows) and "Name: ___" in rest and ".plan+*,.appendix{break-before:page}" in page
    )


def test_names_are_escaped_and_real_cities_ask_nothing() -> None:
    """A name that looks like a tag stays text; without lessons the page holds titles and questions to talk about."""
    lesson = demo_lesson(COURSE[1])
    picture = Bars("<b>Bar</b>", "<b>Bar</b>", (Bar("<b>Bar</b>", 1.0, "<b>Bar</b>"),))
    hostile = replace(lesson, intro="To **<b>Bar</b> \\*x\\***", guess=replace(lesson.guess, picture=picture))
    page = sheet_html("handout", "<i>Town</i>", [None, hostile, *[None] * (len(COURSE) - 2)])
    assert "<b>Bar</b>" not in page and "<i>Town" not in page and "&lt;b&gt;Bar&lt;/b&gt; *x*" in page
    empty = sheet_html("handout", "Town", [None] * len(COURSE))
    assert "Guess:" not in empty and COURSE[0].outline.questions[0] in empty


CHOICES = st.one_of(st.none(), st.integers(0, MOST_CHOICES - 1))


@given(st.lists(st.tuples(CHOICES, CHOICES), min_size=1, max_size=12))
def test_what_is_written_is_read(answers: list[tuple[int | None, int | None]]) -> None:
    """For any answers: text and back, and how many there are; one lesson begun again leaves the others."""
    progress = CourseProgress(tuple(chain.from_iterable(answers)))
    assert CourseProgress.parse(progress.text, len(answers)) == progress
    done = sum(answer is not None for pair in answers for answer in pair)
    assert sum(map(progress.answered, range(len(answers)))) == done
    again = progress.without(0)
    assert again.answers == (None, None, *progress.answers[2:])


@given(st.text(max_size=60), st.integers(1, 12))
def test_any_text_is_some_progress(text: str, lessons: int) -> None:
    """Whatever a link brings: every lesson has an answer that a question could have, or none."""
    progress = CourseProgress.parse(text, lessons)
    assert len(progress.guesses) == len(progress.checks) == lessons
    assert all(answer is None or 0 <= answer < MOST_CHOICES for answer in progress.answers)


ROOT = Path(__file__).parents[3]


def test_the_page_is_made_from_the_file() -> None:
    """Made again with `python -c "from analysis.glossary import glossary_page; print(glossary_page(), end='')"`."""
    assert (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8") == glossary_page()


def test_every_miss_has_a_term() -> None:
    """Keys are the names in code; one sentence each."""
    assert set(MISSES) <= TERMS.keys()
    for term in TERMS.values():
        for sentence in (term.plain, term.exact):
            assert sentence.endswith(".") and "|" not in sentence, term.key
