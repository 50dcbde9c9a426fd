"""What visitors do: walk, click to cases, share a link, take a lesson, keep a case, open a file, train a model."""

import io
import os
import re
from collections.abc import Callable

import psutil
import pytest
from PIL import Image, ImageColor

from analysis.figures.palette import LIGHT
from analysis.learn.course import COURSE
from recap import columns as c
from tests.background import wait_for
from tests.e2e.conftest import (
    PATIENCE_MS,
    App,
    BrowserContext,
    Page,
    playwright_api,
    running,
    violations,
    wait_until_idle,
)
from tests.shell import RECAP
from tests.test_docs_commands import demo_rows

expect = playwright_api.expect
Open = Callable[..., Page]
MOST_TABS = 60
FOCUSED = "name => document.activeElement?.closest(`[class*=st-key-${name}]`) !== null"


def tab_to(page: Page, name: str) -> None:
    """Press Tab until the focus is in an element whose key begins so."""
    for _ in range(MOST_TABS):
        if page.evaluate(FOCUSED, name):
            return
        page.keyboard.press("Tab")
    pytest.fail(f"Tab does not lead to {name}")


def test_walk_by_keyboard_and_by_itself(open_page: Open, app: App) -> None:
    """The right arrow steps along the trajectory and the address follows; play goes to the end, on this machine."""
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
    page.locator(".st-key-play button").click()
    expect(page.locator(".st-key-next button")).to_be_disabled()
    port = int(app.url.rpartition(":")[2])
    listening = {entry.laddr.ip for entry in psutil.net_connections("tcp") if entry.laddr.port == port}
    assert listening == {"127.0.0.1"}


def test_filters_stay_when_the_view_changes(open_page: Open) -> None:
    """Chosen on Walk, left for another view and come back to by its tab: the same cases, in the address too."""
    page = open_page("/walk")
    count = page.get_by_text(re.compile(r"^[\d,]+( of [\d,]+)? cases"))
    every = count.inner_text()
    page.get_by_role("button", name="Never seen").click()
    expect(count).not_to_have_text(every)
    wait_until_idle(page)
    chosen = count.inner_text()
    page.get_by_role("link", name="Runs").click()
    page.wait_for_url("**/runs**")
    wait_until_idle(page)
    page.get_by_role("link", name="Walk", exact=True).click()
    expect(count).to_have_text(chosen)
    page.wait_for_url("**show=Never+seen**")


def test_an_online_map_without_tiles_keeps_its_ground(window: BrowserContext, app: App) -> None:
    """`--online-map` asks the tiles' provider and nobody else; where no tile comes, the offline ground is in sight."""
    asked: list[str] = []
    environment = os.environ | {"RECAP_HOME": str(app.home)}
    hostile = ["--data", str(app.home / "datasets" / "hostile"), "--online-map"]
    with running([RECAP, "app", *hostile, "--port"], environment, app.home) as url:
        page = window.new_page()
        page.on("request", lambda request: asked.append(request.url))
        with page.expect_request(re.compile("basemaps.cartocdn.com"), timeout=3 * PATIENCE_MS):
            page.goto(f"{url}/walk?case=1")
        drawn = page.locator("[data-testid=stDeckGlJsonChart]")

        def is_land() -> bool:
            picture = Image.open(io.BytesIO(drawn.screenshot())).convert("RGB")
            return ImageColor.getrgb(LIGHT.land) in {colour for _, colour in picture.getcolors(1 << 24) or []}

        wait_for(is_land, "the offline ground")
        page.close()
    outside = [
        address for address in asked if "://127.0.0.1" not in address and not address.startswith(("data", "blob"))
    ]
    assert outside and all(address.startswith("https://basemaps.cartocdn.com/light_all/") for address in outside)


def test_a_bar_lists_its_cases_that_a_row_opens(open_page: Open) -> None:
    """A click on a cell, then on a bar, filters the list; the link lists the same; a row's button opens its case."""
    page = open_page("/long_tail")
    for mark, words in (("cohort:1:0:1", "Rare, known place"), ("step:0:0", "Transition never seen")):
        page.locator(f"[data-pick='{mark}']").click()
        page.get_by_role("button", name=words).wait_for()
        wait_until_idle(page)
    listed = page.get_by_text(re.compile(r"^[\d,]+ of [\d,]+ cases$"))
    assert "cases=step%3A0%3A0" in page.url or "cases=step:0:0" in page.url
    other = open_page("/" + page.url.split("/", 3)[-1])
    expect(other.get_by_text(re.compile(r"^[\d,]+ of [\d,]+ cases$"))).to_have_text(listed.inner_text())
    table = other.locator("[data-testid=stDataFrame]").last
    table.scroll_into_view_if_needed()
    box = table.bounding_box()
    assert box is not None
    other.mouse.click(box["x"] + box["width"] - 60, box["y"] + 52)  # the first row's last cell
    other.wait_for_url(re.compile(r"/explain.*case=\d+"))


def test_a_lesson_by_keyboard(open_page: Open) -> None:
    """Guess, see the answer, move the threshold, answer the check, go on; the link says so."""
    page = open_page("/learn")
    wait_until_idle(page)
    assert page.locator(".st-key-learn_rare_check").count() == 0  # no answer before the guess
    for question in ("guess", "check"):
        tab_to(page, f"learn_rare_{question}")
        page.keyboard.press("Space")
        page.locator(f".st-key-learn_rare_{question}_answer button:not([disabled])").wait_for()
        wait_until_idle(page)
        tab_to(page, f"learn_rare_{question}_answer")
        page.keyboard.press("Enter")
        if question == "guess":
            page.locator(".st-key-learn_rare_check").wait_for()
            wait_until_idle(page)
            tab_to(page, "learn_rare_threshold")
            page.keyboard.press("ArrowRight")
            page.wait_for_url("**at=**")
            wait_until_idle(page)
    page.get_by_text(f"2 of {2 * len(COURSE)} questions answered").wait_for()
    wait_until_idle(page)
    tab_to(page, "learn_next")
    page.keyboard.press("Enter")
    page.locator("h1", has_text=COURSE[1].outline.title).wait_for()
    assert "answers=aa" in page.url


def test_from_a_recipe_to_the_screen_by_keyboard(open_page: Open, app: App) -> None:
    """Choose a recipe, write a note, save, present and leave without a mouse; slides fill the screen, none scrolls."""
    page = open_page("/cases?list=past_visits")
    page.wait_for_selector("[class*=st-key-note-]")  # the last to be drawn, after the pictures
    wait_until_idle(page)
    tab_to(page, "note-")
    page.keyboard.type("Ask the room first")
    tab_to(page, "save_case")
    page.keyboard.press("Enter")
    page.wait_for_selector("[class*=st-key-add_to-]")
    page.goto(f"{app.url}/cases")
    page.wait_for_selector(".st-key-present")
    wait_until_idle(page)
    tab_to(page, "present")
    page.keyboard.press("Enter")
    page.wait_for_selector(".st-key-present_next")
    page.set_viewport_size({"width": 1280, "height": 720})
    for step in ("case", "why", "change"):
        wait_until_idle(page)
        page.keyboard.press("ArrowRight")
        page.wait_for_url(f"**step={step}**")
        wait_until_idle(page)
        expect(page.locator(".st-key-picture img")).to_be_visible()
        box = page.locator(".st-key-picture img").bounding_box()
        assert box is not None and 0.7 < (box["y"] + box["height"]) / 720 < 0.9, step
        assert page.evaluate("document.documentElement.scrollHeight <= innerHeight"), step
    wait_until_idle(page)
    page.keyboard.press("Escape")
    page.wait_for_url("**/cases**")


def test_help_marks_change_nothing(open_page: Open) -> None:
    """A click on the "?" next to Truth and As recorded leaves both as they are; a click on the word changes them."""
    page = open_page("/explain?case=3")
    page.locator(".st-key-more button:visible").first.click()
    for key in ("truth", "explain-exact"):
        switch, row = page.locator(f".st-key-{key}"), page.locator(f"div:has(> .st-key-{key})")
        state = switch.locator("input").is_checked()
        assert switch.locator("[data-testid=stTooltipIcon]").count() == 0
        mark = row.locator("[data-testid=stTooltipIcon]")
        mark.hover()
        page.locator("[data-testid=stTooltipContent]").last.wait_for()
        mark.click()  # which may close the sentence again
        wait_until_idle(page)
        assert switch.locator("input").is_checked() == state
        switch.locator("label").click()
        wait_until_idle(page)
        assert switch.locator("input").is_checked() != state


def visits() -> bytes:
    """12,000 check-ins of the demo city under other names."""
    rows = demo_rows(10_000).sort_values([c.TIME, c.USER]).head(12_000)
    table = rows[[c.USER, c.POI]].rename(columns={c.USER: "customer", c.POI: "shop"})
    table["shop"] = "s" + table["shop"].astype(str)
    table["visited"] = rows[c.TIME].dt.strftime("%Y-%m-%dT%H:%M:%SZ")
    # On land: the invented city lies in the sea, where a table's coordinates look swapped.
    table["lat_deg"], table["lon_deg"] = rows[c.LATITUDE] + 5.5, rows[c.LONGITUDE] + 15.8
    return table.to_csv(index=False).encode()


def test_from_a_file_to_the_map(open_page: Open) -> None:
    """Drop, check, prepare, predict at once, train: the better model opens by itself; the data can be deleted again."""
    page = open_page("/open_data")
    page.locator("input[type=file]").set_input_files({"name": "visits.csv", "mimeType": "text/csv", "buffer": visits()})
    expect(page.get_by_role("heading", name="Is this right?")).to_contain_text("12,000 check-ins")
    wait_until_idle(page)
    assert violations(page) == []
    page.reload()
    page.get_by_role("button", name="Prepare").click()
    page.get_by_role("button", name="Predict").click()
    expect(page.get_by_role("heading", name="will most likely go to")).to_be_visible(timeout=60_000)
    page.go_back()
    page.get_by_role("button", name="Train RECAP").click()
    page.wait_for_url("**/next**", timeout=180_000)
    expect(page.get_by_role("heading", name="will most likely go to")).to_be_visible()
    expect(page.get_by_text("RECAP trained here")).to_contain_text("validation cases")
    page = open_page("/open_data")
    page.locator(".st-key-delete-visits").get_by_role("button").first.click()
    page.get_by_role("button", name="Delete now").click()
    expect(page.locator(".st-key-open-visits")).to_have_count(0)
