"""The course by keyboard alone: all ten lessons, from the guess to the next one, without a mouse."""

import os
from collections.abc import Callable, Iterator
from contextlib import suppress

import pytest

from analysis.learn.course import COURSE
from app.settings import BUNDLES_VARIABLE
from tests.e2e.conftest import Page, playwright_api, running, wait_until_idle
from tests.e2e.test_every_view import violations
from tests.shell import RECAP

Open = Callable[..., Page]
FOCUSED = "name => document.activeElement?.closest(`.st-key-${name}`) !== null"
MOST_TABS = 40
MOST_TRIES, WAIT_FOR_LIST = 4, 10_000
HANDLES = {
    "popular": "popular",
    "tails": "eta",
    "compose": "middle",
    "hops": "ahead",
    "habit": "recency",
    "context": "hour",
    "holdout": "hidden",
    "cause": "knows",
    "sum": "rows",
    "privacy": "points",
}
"""What is moved in each lesson, so that one position on changes what its figures say."""
AXE = ("popular", "compose", "sum")
"""Lessons that axe-core looks at once they are answered: a chart, a map to click, a table."""
SHOWN = "[...document.querySelectorAll('[role=figure]')].map(figure => figure.ariaLabel).join()"
"""What a screen reader reads of all figures."""


@pytest.fixture(scope="module")
def address(chromium: str) -> Iterator[str]:
    """A running `recap app` on the bundled city, whose every lesson works."""
    with running([RECAP, "app", "--port"], os.environ | {BUNDLES_VARIABLE: ""}) as url:
        yield url


def tab_to(page: Page, name: str) -> None:
    """Press Tab until the focus is in an element with this key."""
    for _ in range(MOST_TABS):
        if page.evaluate(FOCUSED, name):
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"Tab does not lead to {name}")


def press_button(page: Page, question: str, button: str) -> None:
    """Choose the first answer of a question and press its button, which works from then on."""
    tab_to(page, question)
    page.keyboard.press("Space")
    page.locator(f".st-key-{button} button:not([disabled])").wait_for()
    wait_until_idle(page)
    tab_to(page, button)
    page.keyboard.press("Enter")


def open_list(page: Page) -> None:
    """Open the list that has the focus; one that a late rerun has closed is opened again, as a person would."""
    options = page.get_by_role("option").first
    for _ in range(MOST_TRIES):
        page.keyboard.press("ArrowDown")
        with suppress(playwright_api.TimeoutError):
            return options.wait_for(timeout=WAIT_FOR_LIST)
    raise AssertionError(f"the list did not open within {MOST_TRIES} presses")


def move_handle(page: Page, lesson: str) -> None:
    """One position on by keys, a slider at once, a list opened and chosen from; the link and the scene follow."""
    told = page.evaluate(SHOWN)
    tab_to(page, f"learn_{lesson}_{HANDLES[lesson]}")
    if lesson == "compose":
        open_list(page)
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")
    else:
        page.keyboard.press("ArrowRight")
    page.wait_for_function(f"told => location.search.includes('at=') && {SHOWN} !== told", arg=told)


def test_all_ten_lessons_by_keyboard(open_page: Open) -> None:
    """Guess, commit, move what moves, answer the check, go on; at the end all ten are done, and the link says so."""
    page = open_page("/learn")
    for number, entry in enumerate(COURSE):
        key = f"learn_{entry.outline.key}"
        page.locator("h1", has_text=entry.outline.title).wait_for()
        wait_until_idle(page)
        assert page.locator(f".st-key-{key}_check").count() == 0  # nothing is told before the guess
        press_button(page, f"{key}_guess", f"{key}_guess_commit")
        page.locator(f".st-key-{key}_check").wait_for()
        wait_until_idle(page)
        move_handle(page, entry.outline.key)
        wait_until_idle(page)
        press_button(page, f"{key}_check", f"{key}_check_answer")
        page.get_by_text(f"{number + 1} of {len(COURSE)} done").wait_for()
        wait_until_idle(page)
        if entry.outline.key in AXE:
            assert violations(page) == [], entry.outline.key
        if number + 1 < len(COURSE):
            tab_to(page, "learn_next")
            page.keyboard.press("Enter")
    assert "answers=aaaaaaaaaaaaaaaaaaaa" in page.url
