"""Compare as a visitor uses it: by keyboard alone, at both widths, opening cases side by side and in Walk."""

import re
from collections.abc import Callable

from tests.e2e.conftest import Page, playwright_api, wait_until_idle
from tests.e2e.test_every_view import violations

expect = playwright_api.expect
Open = Callable[..., Page]

LINK = "/compare?a=markov&cell=both"


def test_it_fits_and_works_by_keyboard_alone(open_page: Open) -> None:
    """A finding and its figure.

    Exchange the sides, choose a list, and go to Walk with its cases, without a mouse; the address holds it all.
    """
    page = open_page(LINK)
    expect(page.locator("h1")).to_contain_text(re.compile("finds|has|too close to tell"))
    page.wait_for_selector(".st-key-differences .js-plotly-plot")
    page.get_by_role("button", name="Exchange").first.focus()
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile("b=markov"))
    wait_until_idle(page)
    linked = open_page("/" + page.url.split("/", 3)[-1], elsewhere=True)
    expect(linked.locator("h1")).to_have_text(page.locator("h1").inner_text())
    page.get_by_role("button", name="All in Walk").first.focus()
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile(r"/walk\?.*cases=hits"))
    wait_until_idle(page)
    expect(page.get_by_role("button", name=re.compile("Both find it"))).to_be_visible()


def test_a_case_opens_side_by_side(open_page: Open) -> None:
    """A linked case shows both sides."""
    side_by_side = open_page("/compare?a=markov&open=2")
    expect(side_by_side.locator("[data-testid=stMain] img")).to_have_count(2)
    side_by_side.evaluate("document.activeElement.blur()")  # a pill in focus or under the mouse has Streamlit's colours
    side_by_side.mouse.move(0, 0)
    wait_until_idle(side_by_side)
    assert violations(side_by_side) == []
