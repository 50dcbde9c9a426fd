"""Where things stand: Explain's first screen, two columns on a projector, stacked panels, filters that move nothing."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.e2e.conftest import Page, playwright_api, wait_until_idle

expect = playwright_api.expect
Open = Callable[..., Page]
PANELS = ("target", "rival", "difference")


def box(page: Page, selector: str) -> dict[str, Any]:
    found = page.locator(selector).first.bounding_box()
    assert found is not None, selector
    return dict(found)


def linked(page: Page, width: int, height: int) -> Page:
    """The page again from its own, whole address, in a window of this size."""
    page.set_viewport_size({"width": width, "height": height})
    page.goto(page.url)
    page.wait_for_selector(".st-key-ledger-difference .js-plotly-plot")
    wait_until_idle(page)
    return page


@pytest.mark.parametrize(("width", "height"), [(1440, 900), (1024, 768)])
def test_explains_first_screen_holds_answer_sum_and_map(open_page: Open, width: int, height: int) -> None:
    """The title, the whole ledger, and the map beside it, which begins with it; the truth is named in the title."""
    page = linked(open_page("/explain?case=3"), width, height)
    title, ledger, chart = (box(page, name) for name in ("h1", ".st-key-ledger", ".st-key-explain-map"))
    assert title["y"] > 0 and ledger["y"] > title["y"] + title["height"]
    assert ledger["y"] + ledger["height"] <= height
    assert chart["x"] >= ledger["x"] + ledger["width"] and abs(chart["y"] - ledger["y"]) < 40
    assert chart["y"] + 0.7 * chart["height"] <= height


@pytest.mark.parametrize("width", [960, 1100])
def test_a_projector_keeps_two_columns(open_page: Open, width: int) -> None:
    """Explain's sum and map, Overview's accuracies and long tail, Walk's map and list stand side by side."""
    page = open_page("/explain?case=3", width=width)
    assert box(page, ".st-key-explain-map")["x"] > box(page, ".st-key-ledger")["x"] + 200
    page = open_page("/", width=width)
    assert box(page, ".st-key-distribution")["x"] > box(page, ".st-key-lollipops-all")["x"] + 200
    page = open_page("/walk?case=1", width=width)
    assert box(page, ".st-key-list")["x"] > box(page, ".st-key-map")["x"] + 200


@pytest.mark.parametrize(("path", "panels"), [("/explain?case=3", "ledger"), ("/", "lollipops")])
def test_a_phone_stacks_the_panels(open_page: Open, path: str, panels: str) -> None:
    """At 390 pixels nothing is wider than the window and no panel lies over another."""
    page = open_page(path, width=390)
    names = PANELS if panels == "ledger" else ("all", "head", "tail")
    page.wait_for_selector(f".st-key-{panels}-{names[-1]} .js-plotly-plot")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    boxes = [box(page, f".st-key-{panels}-{name}") for name in names]
    for at, one in enumerate(boxes):
        for other in boxes[at + 1 :]:
            beside = one["x"] + one["width"] <= other["x"] + 1 or other["x"] + other["width"] <= one["x"] + 1
            assert beside or one["y"] + one["height"] <= other["y"] + 1 or other["y"] + other["height"] <= one["y"] + 1


def test_a_filter_moves_nothing(open_page: Open) -> None:
    """Map and list stand where they stood, whatever is chosen above them."""
    page = open_page("/walk?case=1")
    page.locator(".st-key-list canvas").first.wait_for(state="attached")
    before = [box(page, name)["y"] for name in ("h1", ".st-key-map")]
    page.get_by_role("button", name="Unseen", exact=True).click()
    page.wait_for_url("**show=Unseen**")
    wait_until_idle(page)
    assert [box(page, name)["y"] for name in ("h1", ".st-key-map")] == before


def test_an_edit_answers_on_top_of_its_tray(open_page: Open) -> None:
    """The ranks before and after stand above the controls, and the tray is where it was."""
    page = open_page("/explain?case=3&edits=hour:05:00")
    metric = page.locator(".st-key-tray [data-testid=stMetric]").first.bounding_box()
    slider = page.locator(".st-key-tray [data-testid=stSlider]").first.bounding_box()
    assert metric is not None and slider is not None and metric["y"] < slider["y"]


def test_a_place_is_picked_by_name_for_an_edit(open_page: Open) -> None:
    """More edits lists the page's places by name; applied, the edit is told with the name and stands in the address."""
    page = open_page("/explain?case=3")
    page.locator(".st-key-more-edits button").click()
    page.get_by_role("radio", name="Start elsewhere").or_(page.get_by_role("button", name="Start elsewhere")).click()
    wait_until_idle(page)
    page.locator(".st-key-edit_apply button").click()
    page.wait_for_url("**edits=source**")
    wait_until_idle(page)
    expect(page.get_by_text("Edits: standing at")).to_be_visible()
