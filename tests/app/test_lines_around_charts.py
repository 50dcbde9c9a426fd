"""One line below a chart, map or table and at most one above it; at most three numbers in a sentence."""

import re
from collections.abc import Iterator
from typing import Any, Final

import pytest

from analysis.explain.case_words import describe_changes, describe_chart
from analysis.explain.explain_case import explain_case
from analysis.learn.course import COURSE, Entry
from analysis.learn.progress import CourseProgress
from tests.app.app_driver import check_calm, open_view
from tests.learn_worlds import demo_lesson, demo_world

CHARTS: Final = frozenset({"plotly_chart", "deck_gl_json_chart", "dataframe", "bidi_component"})
PAGES: Final[tuple[tuple[str, dict[str, str], dict[str, Any]], ...]] = (
    ("overview", {}, {}),
    ("overview", {"metric": "MRR"}, {}),
    ("walk", {}, {}),
    *(("explain", {}, {"explain-tab": tab, "tab_chosen": True}) for tab in ("Two-hop paths", "Past visits")),
    *(("explain", {}, {"explain-tab": tab, "tab_chosen": True}) for tab in ("Curves", "Map", "Is it stable?")),
    *(("explain", {"half": "model"}, {"model-tab": tab}) for tab in ("Curves", "What each part is worth")),
    *(("long_tail", {"tab": tab}, {}) for tab in ("cases", "worth", "misses")),
    ("long_tail", {"metric": "MRR"}, {}),
    ("compare", {}, {}),
    ("compare", {"metric": "MRR"}, {}),
    ("cases", {}, {}),
    ("runs", {}, {}),
    *(("present", {"case": "660", "at": "1", "step": step}, {}) for step in ("often", "case", "why", "change")),
    *(("learn", {"lesson": entry.outline.key}, {}) for entry in COURSE),
    *(
        (
            "learn",
            {"lesson": entry.outline.key, "answers": CourseProgress.parse("", len(COURSE)).with_guess(at, 0).text},
            {},
        )
        for at, entry in enumerate(COURSE)
    ),
)
NAMES: Final = re.compile(r"(HR|NDCG)⁠?@\d+|95 % intervals?|\b(House|Stop|Square|User|case) \d+")
"""Names with digits, which are no numbers."""
NUMBER: Final = re.compile(r"\d+(?:[.,:]\d+)*(?:st|nd|rd|th)?")


def sentences(text: str) -> list[str]:
    """Sentences without Markdown's signs.

    >>> sentences("It ranks 1st\\\\. The rest: 2\\\\.5 and 3.")
    ['It ranks 1st.', 'The rest: 2.5 and 3.']
    """
    return re.split(r"(?<=[.?!])\s+", text.replace("\\", "").replace("\u2060", ""))


def numbers(sentence: str) -> list[str]:
    """Numbers of a sentence.

    >>> numbers("HR@20 of User 7 is 0.31 at 13:20, the 4th of 2,102 places.")
    ['0.31', '13:20', '4th', '2,102']
    """
    return NUMBER.findall(NAMES.sub("", sentence))


def is_row(block: Any) -> bool:
    if block.type != "flex_container":
        return False
    container = block.proto.flex_container
    return bool(container.direction == container.Direction.Value("HORIZONTAL"))


def parts(block: Any) -> Iterator[tuple[str, str]]:
    """(kind, text) of a page in order, without popovers; texts next to each other are one."""
    for child in block.children.values():
        if child.type == "popover":
            continue
        if not hasattr(child, "children"):
            yield child.type, str(child.value) if child.type in ("markdown", "header", "title") else ""
            continue
        if child.type == "tab":  # its name is between what is above and its content
            yield "end", ""
        inside = list(parts(child))
        texts = [text for kind, text in inside if kind == "markdown"]
        if texts and is_row(child):
            yield "markdown", " ".join(texts)
            inside = [part for part in inside if part[0] in CHARTS]
        yield from inside
        if block.type == "grid_container":
            yield "end", ""


def is_explanation(text: str) -> bool:
    """Whether a text explains: no badges, no bold question, not the note that the city is invented."""
    return "-badge[" not in text and not text.startswith("**") and "This city is invented" not in text


@pytest.mark.parametrize(("view", "params", "chosen"), PAGES)
def test_what_stands_around_a_chart(view: str, params: dict[str, str], chosen: dict[str, Any], demo_city: None) -> None:
    """On the demo city, in every view and tab."""
    app = open_view(view, **params)
    if chosen:
        for key, value in chosen.items():
            app.session_state[key] = value
        app.run()
    check_calm(app)
    page = [part for part in parts(app.main) if part[0] != "markdown" or is_explanation(part[1])]
    for at, (kind, _) in enumerate(page):
        if kind in CHARTS:
            assert len(lines_until_other(page[at + 1 :])) <= 1
            assert len(lines_until_other(page[:at][::-1])) <= 1
    for kind, text in page:
        for sentence in sentences(text) if kind == "markdown" else []:
            assert len(numbers(sentence)) <= 3, sentence


def lines_until_other(page: list[tuple[str, str]]) -> list[str]:
    """Lines of the texts that come before anything else."""
    lines: list[str] = []
    for kind, text in page:
        if kind != "markdown":
            break
        lines += text.split("\n")
    return lines


@pytest.mark.parametrize("entry", COURSE, ids=lambda entry: entry.outline.key)
def test_lessons_explain_in_one_sentence(entry: Entry) -> None:
    """Above its picture; its answers, findings and notes have at most three numbers in a sentence."""
    lesson = demo_lesson(entry)
    assert len(sentences(lesson.intro)) == 1
    ends = (lesson.start, tuple(0 for _ in lesson.handles), tuple(len(one.positions) - 1 for one in lesson.handles))
    said = [text for at in ends for scene in [lesson.scene(at)] for text in (scene.finding, scene.note)]
    for question in (lesson.guess, lesson.check):
        said += [question.prompt, *(choice.reply for choice in question.choices)]
    for sentence in (sentence for text in [*said, lesson.intro, lesson.idea] for sentence in sentences(text)):
        assert len(numbers(sentence)) <= 3, sentence


@pytest.mark.parametrize("model", ["checkpoint", "paper"])
def test_explanations_have_three_numbers_in_a_sentence(model: str) -> None:
    """Of cases all over the test weeks; a chart has one or two short sentences below it."""
    world = demo_world(model)
    for case in range(0, len(world.cases), 150):
        shown = explain_case(world.predictor, case)
        below = sentences(describe_chart(shown))
        assert len(below) <= 2
        said = [*sentences(shown.headline.text), *(sentence.text for sentence in shown.sentences), *below]
        for sentence in [*said, describe_changes((), world.labels, shown)]:
            assert len(numbers(sentence)) <= 3, sentence
