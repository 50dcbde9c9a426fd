"""By keyboard alone: Tab goes through a view and never leaves it, what has the focus is on the screen."""

from collections.abc import Callable

import pytest

from tests.e2e.conftest import Page, wait_until_idle

Open = Callable[..., Page]
PRESSES = 80
FOCUS = """() => {
  const element = document.activeElement;
  if (element === document.body) return null;
  // A table is a canvas: its cells for screen readers have no size, the canvas draws a ring around the one in focus.
  const seen = element.closest('[data-testid=stDataFrame]') ?? element.closest('label') ?? element;
  const box = seen.getBoundingClientRect();
  const onScreen = box.width > 0 && box.height > 0 && box.bottom > 0 && box.top < innerHeight;
  return onScreen ? null : element.outerHTML.slice(0, 200);
}"""


@pytest.mark.parametrize("path", ["/overview", "/walk?case=1", "/explain?case=3", "/long_tail", "/compare", "/runs"])
def test_tab_never_leaves_the_page(open_page: Open, path: str) -> None:
    """Eighty presses: same address, same heading, same widgets open, and the focus is always on the screen."""
    page = open_page(path)
    heading, address = page.locator("h1").inner_text(), page.url
    unseen = []
    for _ in range(PRESSES):
        page.keyboard.press("Tab")
        hidden = page.evaluate(FOCUS)
        unseen += [] if hidden is None else [hidden]
        assert page.url.split("?")[0] == address.split("?")[0]
    wait_until_idle(page)
    assert page.url == address
    assert page.locator("h1").inner_text() == heading
    assert unseen == []


def test_a_row_is_ticked_by_keyboard(open_page: Open) -> None:
    """In the list of cases the focus enters by Tab, Shift and Space tick the row, a button opens its case."""
    page = open_page("/long_tail")
    table = page.locator(".st-key-cases_rows")
    table.scroll_into_view_if_needed()
    table.locator("canvas").first.focus()
    page.keyboard.press("Tab")
    page.keyboard.press("Shift+Space")
    page.locator(".st-key-cases_to_walk button").wait_for()
    assert "/long_tail" in page.url
