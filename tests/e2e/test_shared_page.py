"""A shared page in a browser that is cut off from everything: it asks for nothing, fits the window and prints."""

import re
from functools import cache
from pathlib import Path
from typing import Literal

import pytest

from analysis.sharing.page import render_html
from analysis.sharing.share import share_cases
from tests.analysis.sharing.scanner import basemap, explained, opened
from tests.e2e.conftest import DARK, Browser, violations


@cache
def page_text() -> str:
    cases = [explained(number, full=number == 700) for number in range(700, 1600, 90)]
    return render_html(share_cases(cases, opened(), title="Ten cases", basemap=basemap()))


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_opens_cut_off_and_prints(browser: Browser, tmp_path: Path, theme: Literal["light", "dark"]) -> None:
    """No request but the file, no word on the console, nothing wider than the window, nothing for axe-core to find,
    one printed page or more a case."""
    text = page_text()
    assert text.count("<article") == 10 and len(text.encode()) < 3_000_000
    file = tmp_path / "page.html"
    file.write_text(text, encoding="utf-8")
    window = browser.new_context(color_scheme=theme, viewport={"width": 800, "height": 900}, offline=True)
    page = window.new_page()
    asked: list[str] = []
    said: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: said.append(message.text))
    page.goto(file.as_uri())
    assert asked == [file.as_uri()] and said == []
    for width in (800, 1440):
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (ground == DARK) == (theme == "dark")
    assert violations(page) == []
    assert len(re.findall(rb"/Type\s*/Page\b", page.pdf(prefer_css_page_size=True))) >= 10
    window.close()
