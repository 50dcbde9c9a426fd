"""Every view, opened once: both themes, three widths, axe and the keyboard; nothing outside is asked for."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.e2e.conftest import GROUND, GROUNDS, Page, playwright_api, wait_until_idle

expect = playwright_api.expect
Open = Callable[..., Page]

VIEWS = [
    "/",
    "/walk?case=1",
    "/explain?case=3",
    "/explain?case=3&edits=hour:05:00",
    "/long_tail",
    "/compare?a=markov",
    "/cases",
    "/runs",
    "/present?case=3&step=why",
]
WIDTHS = (1440, 800, 390)
PRESSES = 40
LOGO_CHANGED = "src => document.querySelector('[data-testid=stHeaderLogo]')?.getAttribute('src') !== src"
STILL = "* {transition: none !important; animation: none !important}"
FOCUS = """() => {
  const look = element => {
    const around = [element, ...[...element.querySelectorAll('*')].slice(0, 10)];
    for (let at = element.parentElement, n = 0; at && n < 4; at = at.parentElement, n++) around.push(at);
    return around.map(one => {
      const style = getComputedStyle(one);
      return [style.outlineStyle, style.outlineColor, style.boxShadow, style.borderTopColor, style.borderBottomColor,
        style.backgroundColor, style.color, style.textDecorationLine];
    }).join();
  };
  const unseen = [], last = window.focusedBefore, element = document.activeElement;
  if (last && last.element !== element && last.element.isConnected && look(last.element) === last.look)
    unseen.push(`as without focus: ${last.element.outerHTML.slice(0, 150)}`);
  window.focusedBefore = null;
  if (element === document.body || element.matches('main')) return unseen;
  // A table is a canvas: its cells for screen readers have no size, the canvas draws a ring around the one in focus.
  const table = element.closest('[data-testid=stDataFrame]');
  const box = (table ?? element.closest('label') ?? element).getBoundingClientRect();
  if (!(box.width > 0 && box.height > 0 && box.bottom > 0 && box.top < innerHeight))
    unseen.push(`not on the screen: ${element.outerHTML.slice(0, 150)}`);
  // A map's canvas shows no focus without CSS of our own; the table beside it holds the same places.
  const map = element.closest('[data-testid=stDeckGlJsonChart]');
  if (!table && !map) window.focusedBefore = {element, look: look(element)};
  return unseen;
}"""


@pytest.mark.parametrize("path", VIEWS)
def test_a_view_is_whole(open_page: Open, path: str) -> None:
    """It paints in both themes without an axe violation, is never wider than the window, and Tab stays inside."""
    page = open_page(path)
    expect(page.locator("h1").first).not_to_have_text("")
    assert page.get_by_text("Page not found").count() == 0
    tab_through(page)
    assert violations(page) == []
    switch_to_dark(page)
    assert violations(page) == [], "in the dark theme"
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        page.wait_for_function("width => document.documentElement.scrollWidth <= width", arg=width)
    assert page.locator("[data-testid=stException]").count() == 0


def switch_to_dark(page: Page) -> None:
    """As the system does; logo, figures and maps follow without a click."""
    logo = page.get_by_test_id("stHeaderLogo")
    light = logo.get_attribute("src") if logo.count() else None
    page.emulate_media(color_scheme="dark")
    page.wait_for_function(GROUND, arg=GROUNDS["dark"])
    if light is not None:
        page.wait_for_function(LOGO_CHANGED, arg=light)
    wait_until_idle(page)


def tab_through(page: Page) -> None:
    """Forty presses: same address, same heading, same widgets open, and the focus is always on the screen and seen."""
    heading, address = page.locator("h1").inner_text(), page.url
    page.add_style_tag(content=STILL)
    unseen = []
    for _ in range(PRESSES):
        page.keyboard.press("Tab")
        unseen += page.evaluate(FOCUS)
        assert page.url.split("?")[0] == address.split("?")[0]
    page.evaluate("document.activeElement.blur()")  # a pill in focus has colours of Streamlit's own
    wait_until_idle(page)
    assert page.url == address
    assert page.locator("h1").inner_text() == heading
    assert unseen == []


def violations(page: Page) -> list[tuple[str, str]]:
    """What axe-core finds outside what Streamlit itself draws."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed")
    found: list[dict[str, Any]] = axe.Axe().run(page).response["violations"]
    return [
        (entry["id"], node["html"][:200])
        for entry in found
        for node in entry["nodes"]
        if not any(entry["id"] == rule and node["html"].startswith(start) for rule, start in STREAMLITS_OWN)
    ]


STREAMLITS_OWN = [("color-contrast", "<kbd"), ("aria-dialog-name", '<div data-testid="stToast"')]
"""Rule and beginning of what breaks it: Streamlit draws the key of a shortcut in a grey of its own, and gives a message
that passes no name."""
