"""From finding a case to presenting it, by keyboard alone; and a presentation that a room can read."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from app.settings import BUNDLES_VARIABLE
from tests.e2e.conftest import GROUND, GROUNDS, PATIENCE_MS, playwright_api, running, wait_until_idle
from tests.e2e.test_every_view import violations
from tests.shell import RECAP

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page
else:
    Browser, Page = playwright_api.Browser, playwright_api.Page

expect = playwright_api.expect
STEPS = ("where", "said", "why", "change", "limits")
CASES = (0, 3, 9, 14)

# Every word on the page: its size in CSS pixels and what it says. A picture's words are drawn, see ROOM_PX.
SMALL_WORDS = """() => {
  const found = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const text = walker.currentNode.textContent.trim();
    const box = walker.currentNode.parentElement.getBoundingClientRect();
    const style = getComputedStyle(walker.currentNode.parentElement);
    const hidden = style.visibility === 'hidden' || box.width < 2 || box.height < 2 || box.bottom < 0;
    if (text && !hidden && parseFloat(style.fontSize) < 20 && !['SCRIPT', 'STYLE', 'NOSCRIPT'].includes(
        walker.currentNode.parentElement.tagName)) found.push(`${style.fontSize} ${text}`);
  }
  return found;
}"""
SCROLLS = """() => [...document.querySelectorAll('*')].filter(e => {
  const style = getComputedStyle(e);
  const scrolls = ['auto', 'scroll'].includes(style.overflowY) && e.scrollHeight > e.clientHeight + 1;
  return scrolls && e.clientHeight > 100;
}).map(e => `${e.dataset.testid || e.className} ${e.scrollHeight} > ${e.clientHeight}`)"""


@pytest.fixture(scope="module")
def room(chromium: str, city_folder: Path, city_checkpoint: Path) -> Iterator[str]:
    """The app on the small city, in large text."""
    command: list[str | Path] = [RECAP, "app", "--large-text", "--data", city_folder, "--checkpoint", city_checkpoint]
    with running([*command, "--port"], os.environ | {BUNDLES_VARIABLE: "/nonexistent"}) as url:
        yield url


def test_a_room_can_read_every_screen(browser: Browser, room: str) -> None:
    """At 1280 x 720 nothing scrolls, no word is below 20 px, and there is no navigation, logo or toolbar."""
    window = browser.new_context(viewport={"width": 1280, "height": 720})
    window.set_default_timeout(PATIENCE_MS)
    page = window.new_page()
    for case in CASES:
        page.goto(f"{room}/present?case={case}")
        page.wait_for_selector(".st-key-present_next")
        for step in STEPS:
            if step != STEPS[0]:
                page.keyboard.press("ArrowRight")
                page.wait_for_url(f"**step={step}**")
            for theme, ground in GROUNDS.items() if case == CASES[0] else ():
                page.emulate_media(color_scheme=theme)
                page.wait_for_function(GROUND, arg=ground)
                wait_until_idle(page)
                assert page.evaluate(SMALL_WORDS) == [], (case, step, theme)
            wait_until_idle(page)
            assert page.evaluate(SMALL_WORDS) == [], (case, step)
            assert page.evaluate(SCROLLS) == [], (case, step)
            if step != "limits":
                picture = page.locator("[data-testid=stImage] img").bounding_box()
                # Names are drawn 46 px high in a picture of 1520.
                assert picture is not None and 46 * picture["width"] / 1520 >= 20
            for gone in ("stLogo", "stTopNavLink", "stToolbarActions", "stSidebar"):
                assert page.locator(f"[data-testid={gone}]").count() == 0
    window.close()


def press_until(page: Page, key: str, wanted: str, most: int = 60) -> None:
    """Press Tab until the focus is inside an element."""
    for _ in range(most):
        page.keyboard.press(key)
        if page.evaluate(f"!!document.activeElement.closest('{wanted}')"):
            return
    pytest.fail(f"{wanted} is not reached by {key}")


@pytest.fixture(scope="module")
def demo(chromium: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """`recap app` on the bundled city, which has cards and every recipe, with an empty library."""
    home = {"RECAP_HOME": str(tmp_path_factory.mktemp("home"))}
    with running([RECAP, "app", "--port"], os.environ | home) as url:
        yield url


def test_from_a_recipe_to_the_screen_by_keyboard(open_page: Callable[..., Page], demo: str) -> None:
    """Choose a recipe, write a note, save, collect, present, walk through the screens and leave: no mouse."""
    page = open_page("/cases?recipe=own_visits", at=demo)
    page.wait_for_selector("[class*=st-key-note-]")  # the last to be drawn, after the pictures
    wait_until_idle(page)
    press_until(page, "Tab", "[class*=st-key-note-]")
    page.keyboard.type("Ask the room first")
    press_until(page, "Tab", ".st-key-save_case")
    page.keyboard.press("Enter")
    page.wait_for_selector("[class*=st-key-new_collection-]")
    wait_until_idle(page)
    press_until(page, "Tab", "[class*=st-key-new_collection-]")
    page.keyboard.type("Tuesday")
    page.keyboard.press("Enter")
    wait_until_idle(page)
    assert violations(page) == [], "a saved case in a collection"
    page.goto(f"{demo}/cases")
    page.wait_for_selector("h1")
    wait_until_idle(page)
    assert violations(page) == [], "the library"
    press_until(page, "Tab", ".st-key-present")
    page.keyboard.press("Enter")
    page.wait_for_selector(".st-key-present_next")
    for step in ("said", "why", "change", "limits"):
        wait_until_idle(page)
        assert violations(page) == [], f"before {step}"
        page.keyboard.press("ArrowRight")
        page.wait_for_url(f"**step={step}**")
    wait_until_idle(page)
    assert violations(page) == [], "the last screen"
    page.keyboard.press("ArrowLeft")
    page.wait_for_url("**step=change**")
    wait_until_idle(page)
    page.keyboard.press("Escape")
    page.wait_for_url("**/cases**")


def test_two_clicks_from_the_start_page(open_page: Callable[..., Page], demo: str) -> None:
    """One click on a card of Overview presents it; a second one shows what the model said."""
    page = open_page("/", at=demo)
    page.locator("[class*=st-key-present-] button").first.click()
    page.wait_for_selector(".st-key-present_next")
    wait_until_idle(page)
    expect(page.locator("h1")).to_contain_text("Where do they go next?")
    page.locator(".st-key-present_next button").click()
    expect(page.locator("h1")).to_contain_text("The model said")
