"""A shared page in a browser that is cut off from everything: it asks for nothing, fits the window and prints."""

import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import pytest

from analysis.sharing.page import render_html
from analysis.sharing.share import share_cases
from tests.analysis.sharing.demo import basemap, explained, opened

if TYPE_CHECKING:
    from playwright.sync_api import Browser
else:
    Browser = object


@cache
def page_text() -> str:
    cases = [explained(number, full=number == 700) for number in range(700, 1600, 90)]
    return render_html(share_cases(cases, opened(), title="Ten cases", basemap=basemap()))


def test_ten_cases_are_small() -> None:
    assert page_text().count("<article") == 10 and len(page_text().encode()) < 3_000_000


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [1440, 800])
def test_opens_cut_off_and_prints(
    browser: Browser, tmp_path: Path, theme: Literal["light", "dark"], width: int
) -> None:
    """No request but the file, no word on the console, nothing wider than the window, one page or more a case."""
    file = tmp_path / "page.html"
    file.write_text(page_text(), encoding="utf-8")
    window = browser.new_context(color_scheme=theme, viewport={"width": width, "height": 900}, offline=True)
    page = window.new_page()
    asked: list[str] = []
    said: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: said.append(message.text))
    page.goto(file.as_uri())
    assert asked == [file.as_uri()] and said == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (ground == "rgb(18, 24, 29)") == (theme == "dark")
    printed = page.pdf(prefer_css_page_size=True)
    assert len(re.findall(rb"/Type\s*/Page\b", printed)) >= 10
    window.close()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_everyone_can_read_it(browser: Browser, tmp_path: Path, theme: Literal["light", "dark"]) -> None:
    """axe-core finds nothing."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed")
    file = tmp_path / "page.html"
    file.write_text(page_text(), encoding="utf-8")
    window = browser.new_context(color_scheme=theme)
    page = window.new_page()
    page.goto(file.as_uri())
    found = axe.Axe().run(page).response["violations"]
    assert [(one["id"], one["nodes"][0]["html"][:200]) for one in found] == []
    window.close()
