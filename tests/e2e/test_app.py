"""The app as a visitor uses it: open, walk by keyboard, click through, share a link, switch the theme."""

import re
from collections.abc import Callable

import psutil

from tests.e2e.conftest import Page, playwright_api, wait_until_idle

expect = playwright_api.expect
Open = Callable[..., Page]


def test_every_view_has_an_address(open_page: Open) -> None:
    """Overview answers to its name as well as to ``/``, and keeps the settings of a link."""
    page = open_page("/overview?metric=MRR")
    expect(page.locator("h1")).to_contain_text("MRR")
    expect(page.get_by_role("link", name="Overview")).to_have_attribute("aria-current", "page")
    assert page.get_by_text("Page not found").count() == 0


def test_streamlits_own_command_starts_it(plain_address: str, open_page: Open) -> None:  # its tab closes first
    """`streamlit run app/main.py` shows the same views, map included, and listens on this machine only."""
    page = open_page("/walk?case=1", at=plain_address)
    page.locator("[data-testid=stDeckGlJsonChart] canvas").first.wait_for(state="attached")
    expect(page.locator("h1")).to_contain_text("→")
    page.get_by_role("link", name="Overview").first.click()
    expect(page.locator("h1")).to_contain_text("RECAP finds")
    port = int(plain_address.rpartition(":")[2])
    assert {entry.laddr.ip for entry in psutil.net_connections("tcp") if entry.laddr.port == port} == {"127.0.0.1"}


def test_two_chosen_places_travel_in_the_address(open_page: Open) -> None:
    """Places picked for Explain, one by typing its name, are the same in a browser that gets the address."""
    page = open_page("/explain?case=3")
    first = page.locator(".st-key-pair_about input")
    first.click()
    first.press("ArrowDown")
    first.press("Enter")
    page.wait_for_url(re.compile("about=|against="))
    wait_until_idle(page)
    second = page.locator(".st-key-pair_against input")
    second.fill("nobody is called this")
    second.press("Enter")
    expect(page.get_by_text("No other place here is called")).to_be_visible()
    wait_until_idle(page)
    other = open_page("/" + page.url.split("/", 3)[-1], elsewhere=True)
    expect(other.locator("h1")).to_have_text(page.locator("h1").inner_text())


def test_walk_by_keyboard_and_by_itself(open_page: Open) -> None:
    """The right arrow steps along the trajectory, the left arrow back, the address follows; play goes to the end."""
    page = open_page("/walk?case=0")
    page.locator("[data-testid=stDeckGlJsonChart] canvas").first.wait_for(state="attached")
    stop = page.get_by_text(re.compile(r"Stop \d+ of \d+"))
    before = stop.inner_text()
    expect(page.locator(".st-key-next button")).to_be_enabled()
    page.keyboard.press("ArrowRight")
    expect(stop).not_to_have_text(before)
    expect(page).not_to_have_url(re.compile(r"case=0(&|$)"))
    page.keyboard.press("ArrowLeft")
    expect(stop).to_have_text(before)
    expect(page).to_have_url(re.compile(r"case=0(&|$)"))
    play = page.locator(".st-key-play button")
    play.click()
    expect(stop).not_to_have_text(before)
    expect(page.locator(".st-key-next button")).to_be_disabled()
    expect(play).to_contain_text("Play")


def test_bar_and_row_lead_to_their_cases(open_page: Open) -> None:
    """By keyboard a row of the list of cases is ticked (Tab, Shift and Space) and a button opens its case; a click on
    the bar of unseen steps opens Walk with exactly its cases."""
    page = open_page("/long_tail")
    table = page.locator(".st-key-cases_rows")
    table.scroll_into_view_if_needed()
    table.locator("canvas").first.focus()
    page.keyboard.press("Tab")
    page.keyboard.press("Shift+Space")
    page.locator(".st-key-cases_to_walk button").wait_for()
    assert "/long_tail" in page.url
    wait_until_idle(page)
    bar = page.locator(".st-key-bars-transition_count g.barlayer g.point path").first
    bar.scroll_into_view_if_needed()
    box = bar.bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.get_by_role("button", name="Step seen 0 times").wait_for()
    assert "/walk" in page.url and "cases=step" in page.url
    expect(page.get_by_text(re.compile(r"^[\d,]+ of [\d,]+ cases$"))).to_be_visible()


def test_a_link_opens_the_same_view_elsewhere(open_page: Open) -> None:
    """Filter, case and switches of one browser are those of another that gets the address."""
    page = open_page("/walk?case=2")
    page.get_by_role("button", name="Unseen", exact=True).click()
    page.get_by_text(re.compile(r"^[\d,]+ of [\d,]+ cases$")).wait_for()
    wait_until_idle(page)
    page.locator(".st-key-paths label").click()
    page.wait_for_url(re.compile("paths=false"))
    wait_until_idle(page)
    other = open_page("/" + page.url.split("/", 3)[-1], elsewhere=True)
    for pattern in (r"Stop \d+ of \d+", r"^[\d,]+ of [\d,]+ cases$"):
        expect(other.get_by_text(re.compile(pattern))).to_have_text(page.get_by_text(re.compile(pattern)).inner_text())
    expect(other.locator("h1")).to_have_text(page.locator("h1").inner_text())
    expect(other.locator(".st-key-paths input")).not_to_be_checked()
