"""Where things stand: Explain's first screen, two columns on a projector, stacked panels, filters that move nothing."""

from collections.abc import Callable
from typing import Any

from tests.e2e.conftest import Page, playwright_api, resized, wait_until_idle

expect = playwright_api.expect
Open = Callable[..., Page]
PANELS = ("target", "rival", "difference")


def box(page: Page, selector: str) -> dict[str, Any]:
    found = page.locator(selector).first.bounding_box()
    assert found is not None, selector
    return dict(found)


def side_by_side(page: Page, left: str, right: str) -> bool:
    return box(page, right)["x"] > box(page, left)["x"] + 200


STACKED = """() => {
  const [map, list] = ['.st-key-map', '.st-key-list'].map(name => document.querySelector(name).getBoundingClientRect());
  return list.top > map.top + map.height / 2 && map.width > 760;
}"""
"""Whether the list stands below the map, which has the whole width of 800 pixels less the page's margins."""


def overlaps(page: Page, names: list[str]) -> list[tuple[str, str]]:
    """Pairs of elements that lie over one another."""
    boxes = [(name, box(page, name)) for name in names]
    return [
        (first, second)
        for at, (first, one) in enumerate(boxes)
        for second, other in boxes[at + 1 :]
        if not (
            one["x"] + one["width"] <= other["x"] + 1
            or other["x"] + other["width"] <= one["x"] + 1
            or one["y"] + one["height"] <= other["y"] + 1
            or other["y"] + other["height"] <= one["y"] + 1
        )
    ]


def test_explain_at_every_width_and_under_an_edit(open_page: Open) -> None:
    """The first screen holds title, ledger and map, at a projector's width too; a phone stacks the panels.

    More edits lists the page's places by name; applied, the edit is told with the name, stands in the address, and
    answers above the controls of its tray.
    """
    page = open_page("/explain?case=3")
    page.wait_for_selector(".st-key-ledger-difference .js-plotly-plot")
    for width, height in ((1440, 900), (1024, 768)):
        resized(page, width, height)
        title, ledger, chart = (box(page, name) for name in ("h1", ".st-key-ledger", ".st-key-explain-map"))
        assert title["y"] > 0 and ledger["y"] > title["y"] + title["height"]
        assert ledger["y"] + ledger["height"] <= height
        assert chart["x"] >= ledger["x"] + ledger["width"] and abs(chart["y"] - ledger["y"]) < 40
        assert chart["y"] + 0.7 * chart["height"] <= height
    for width in (960, 1100):
        assert side_by_side(resized(page, width), ".st-key-ledger", ".st-key-explain-map")
    resized(page, 390)
    assert overlaps(page, [f".st-key-ledger-{name}" for name in PANELS]) == []
    resized(page, 1440)
    page.locator(".st-key-more-edits button").click()
    page.get_by_role("radio", name="Start elsewhere").or_(page.get_by_role("button", name="Start elsewhere")).click()
    expect(page.get_by_text("The walker stands at")).to_be_visible()
    page.locator(".st-key-edit_apply button").click()
    page.wait_for_url("**edits=source**")
    wait_until_idle(page)
    expect(page.get_by_text("Edits: standing at")).to_be_visible()
    metric, slider = (box(page, f".st-key-tray [data-testid={name}]") for name in ("stMetric", "stSlider"))
    assert metric["y"] < slider["y"]


def test_overview_at_every_width(open_page: Open) -> None:
    """Accuracies and long tail stand side by side on a projector; a phone stacks the panels."""
    page = open_page("/")
    page.wait_for_selector(".st-key-lollipops-tail .js-plotly-plot")
    for width in (960, 1100):
        assert side_by_side(resized(page, width), ".st-key-lollipops-all", ".st-key-distribution")
    resized(page, 390)
    assert overlaps(page, [f".st-key-lollipops-{name}" for name in ("all", "head", "tail")]) == []


def test_walk_at_every_width_and_under_a_filter(open_page: Open) -> None:
    """Map and list stand where they stood, whatever is chosen; side by side on a projector, stacked below that."""
    page = open_page("/walk?case=1")
    page.locator(".st-key-list canvas").first.wait_for(state="attached")
    before = [box(page, name)["y"] for name in ("h1", ".st-key-map")]
    page.get_by_role("button", name="Unseen", exact=True).click()
    page.wait_for_url("**show=Unseen**")
    wait_until_idle(page)
    assert [box(page, name)["y"] for name in ("h1", ".st-key-map")] == before
    for width in (960, 1100):
        assert side_by_side(resized(page, width), ".st-key-map", ".st-key-list")
    resized(page, 800)
    page.wait_for_function(STACKED)
