"""A board's slides: from Overview to a PowerPoint file of three true slides in eight clicks."""

import io
from collections.abc import Callable

from pptx import Presentation

from tests.e2e.conftest import Page, playwright_api, wait_until_idle

Locator = playwright_api.Locator

MOST_ACTIONS = 8


def test_three_slides_from_overview(open_page: Callable[..., Page]) -> None:
    """Each headline is the title of its slide, with a picture and the caveat in the notes."""
    page, actions, said = open_page("/"), 0, []

    def press(what: Locator) -> None:
        nonlocal actions
        what.click()
        actions += 1
        wait_until_idle(page)

    for tab in ("", "Long tail", "Compare"):
        if tab:
            press(page.get_by_role("link", name=tab, exact=True))
            page.wait_for_url(f"**/{tab.lower().replace(' ', '_')}**")
            page.locator(".st-key-add-slide").wait_for()
            wait_until_idle(page)
        said.append(page.locator("h1").inner_text())
        press(page.locator(".st-key-add-slide button:visible").first)
        page.locator(".st-key-present").wait_for()
    press(page.locator(".st-key-present button:visible").first)
    page.locator(".st-key-present_next").wait_for()
    wait_until_idle(page)
    assert page.locator("h1").inner_text() == said[0]
    press(page.locator(".st-key-present-files button:visible").first)
    with page.expect_download() as saved:
        press(page.locator(".st-key-present-pptx button:visible").first)
    slides = Presentation(io.BytesIO(saved.value.path().read_bytes())).slides
    assert saved.value.suggested_filename == "recap-slides.pptx" and actions <= MOST_ACTIONS
    assert [slide.shapes.title.text_frame.text for slide in slides] == said
    for slide in slides:
        assert [shape.shape_type for shape in slide.shapes].count(13) == 1
        assert "test cases" in slide.notes_slide.notes_text_frame.text
