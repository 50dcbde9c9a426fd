"""What visitors do on Next: go somewhere, look at everyone, try a trajectory of their own."""

import re
from collections.abc import Callable

from tests.e2e.conftest import Page, playwright_api, wait_until_idle

expect = playwright_api.expect
Open = Callable[..., Page]
STOPS = re.compile(r"stops=\d+\.\d+(&|$)")


def test_one_user_goes_somewhere(open_page: Open) -> None:
    """A stop more is predicted from at once; Back, a reload and a shared link keep what they show."""
    page = open_page("/next?user=407")
    title = page.locator("h1").first
    before = title.inner_text()
    page.wait_for_url(re.compile(r"row=\d+"))
    page.locator(".st-key-go-there button").click()
    page.wait_for_url(STOPS)
    expect(title).to_contain_text("would")
    wait_until_idle(page)
    after = title.inner_text()
    page.reload()
    expect(title).to_have_text(after)
    other = open_page("/" + page.url.split("/", 3)[-1])
    assert other.locator("h1").first.inner_text() == after
    wait_until_idle(page)
    page.get_by_role("link", name="Walk", exact=True).click()
    page.wait_for_url("**/walk?**case=**")
    wait_until_idle(page)
    page.go_back()
    expect(title).to_have_text(after)
    wait_until_idle(page)
    page.locator(".st-key-next-reset button").click()
    expect(title).to_have_text(before)
    assert other.locator("h1").first.inner_text() == after


def test_a_row_of_everyone_opens_the_user(open_page: Open) -> None:
    """And Explain opens at that moment."""
    page = open_page("/next?part=everyone")
    box = page.locator("[data-testid=stDataFrame]").last.bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + 18, box["y"] + 52)  # the first row's tick
    page.wait_for_url(re.compile(r"user=0&row=\d+"))
    expect(page.locator("h1").first).to_contain_text("User 000")
    wait_until_idle(page)
    page.locator(".st-key-next-explain button").click()
    page.wait_for_url(re.compile(r"/explain\?.*(row|case)=\d+"))


def test_try_it_by_click_and_by_name(open_page: Open) -> None:
    """A place on the map and a name become stops, half an hour apart; a chip takes one out."""
    page = open_page("/next?part=try")
    page.locator("[data-testid=stDeckGlJsonChart] canvas").first.wait_for(state="attached")
    place = page.locator(".st-key-add-stop input")
    place.fill("Merefield Halt")
    place.press("Enter")
    page.wait_for_url(STOPS)
    expect(page.locator("h1").first).to_contain_text(re.compile("new user", re.IGNORECASE))
    wait_until_idle(page)
    page.locator(".st-key-go-there button").click()
    page.wait_for_url(re.compile(r"stops=\d+\.0(%2C|,)\d+\.30"))
    wait_until_idle(page)
    drawn = page.locator("[data-testid=stDeckGlJsonChart]")
    box = drawn.bounding_box()
    assert box is not None
    drawn.click(position={"x": box["width"] / 2, "y": box["height"] / 2})  # it may hit no place
    wait_until_idle(page)
    page.locator(".st-key-stop-added-1 button").first.click()
    page.locator(".st-key-stop-added-1-remove button").click()
    page.wait_for_url(re.compile(r"stops=\d+\.30"))
