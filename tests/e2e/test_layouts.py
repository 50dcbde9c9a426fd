"""Every view and lesson at four window sizes: nothing is cut or covered, and the main thing is on the first screen."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from analysis.learn.course import COURSE
from app.settings import AppSettings
from app.sources import find_sources
from tests.e2e.conftest import DARK, App, BrowserContext, Page, wait_until_idle
from tests.e2e.test_every_view import GROUND, REPAINTED

SIZES = ((1440, 900), (1280, 800), (1024, 768), (390, 844))
PROJECTOR, PHONE = 1024, 390
"""Narrower windows may scroll for the main thing, and scroll tables sideways."""
LIST = "[data-testid=stDataFrame]"
CHART = ".js-plotly-plot, figure"
ROWS_PX = 240
"""Heading and nearly six rows of a list."""


class View(NamedTuple):
    """An address, what it is opened for, and how much of that must be seen: all of it where None."""

    address: str
    main: str
    pixels: int | None = ROWS_PX


LESSONS = {
    f"lesson {entry.outline.key}{', answered' * bool(answers)}": View(
        f"/learn?lesson={entry.outline.key}&answers={'--' * number}{answers}", ".st-key-learn_main", pixels
    )
    for number, entry in enumerate(COURSE)
    for answers, pixels in (("", None), ("b", None))
}
VIEWS = {
    "overview": View("/overview?", CHART),
    "next": View("/next?user=407", LIST),
    "next, at a time": View("/next?user=407&at=2024-10-28T18:00", LIST),
    "everyone": View("/next?part=everyone", LIST),
    "try it": View("/next?part=try&stops=5.0,99.30", LIST),
    "walk": View("/walk?case=1", LIST),
    "explain": View("/explain?case=3", CHART),
    "explain, the model": View("/explain?case=3&half=model", CHART),
    "long tail": View("/long_tail?", CHART),
    "compare": View("/compare?", CHART),
    "compare, far apart": View("/compare?a=popularity", CHART),
    "cases": View("/cases?", "[data-testid=stImage]", None),
    "present": View("/present?case=3", CHART, None),
    "runs": View("/runs?", ".st-key-run_data", None),
    "open your data": View("/open_data?", "[data-testid=stFileUploader]", None),
    "teacher": View("/learn?page=teacher", "[data-testid=stTable]"),
} | LESSONS
SAME_BAR = set(LESSONS) - {"lesson rare, answered"}
"""Lessons have the same popovers."""


def script(name: str) -> str:
    """A function of JavaScript that looks at the page."""
    text = (Path(__file__).parent / "page_scripts" / f"{name}.js").read_text(encoding="utf-8")
    return text.replace("%PHONE%", str(PHONE))


STILL, FAULTS, SEEN = map(script, ("still", "faults", "seen"))
EXPAND = """[...document.querySelectorAll('[data-testid=stExpander] details:not([open]) summary')]
  .map(e => e.click()).length"""


@pytest.fixture(scope="module")
def page(app: App, window: BrowserContext) -> Iterator[Page]:
    """One tab for all views."""
    opened = window.new_page()
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def tokens() -> dict[bool, str]:
    """The bundled city's models, by whether they read the time asked for."""
    found = [source for source in find_sources(AppSettings()) if source.label.startswith("Saltmere · RECAP")]
    return {source.reads_time: source.token for source in reversed(found)}


@pytest.mark.parametrize("name", VIEWS)
def test_nothing_is_cut_or_covered(page: Page, app: App, tokens: dict[bool, str], name: str) -> None:
    """In wide windows as it is, in the light theme; in the others in the dark one, with all of it opened once."""
    view = VIEWS[name]
    page.emulate_media(color_scheme="light")
    page.set_viewport_size({"width": 1440, "height": 900})
    page.goto(f"{app.url}{view.address}&source={tokens['&at=' in view.address]}".replace("?&", "?"))
    page.wait_for_selector("h1")
    wait_until_idle(page)
    faults: dict[str, Any] = {}
    for width, height in SIZES:
        page.set_viewport_size({"width": width, "height": height})
        if width == PROJECTOR:
            page.emulate_media(color_scheme="dark")
            page.wait_for_function(GROUND, arg=DARK)
            page.wait_for_function(REPAINTED)
        faults[f"{width} x {height}"] = faults_of(page, view if width > PHONE else None)
        for what in parts_opened(page, popovers=width == PHONE and name not in SAME_BAR) if width <= PROJECTOR else ():
            faults[f"{width} x {height}, {what}"] = faults_of(page)
    assert {where: found for where, found in faults.items() if found} == {}


def faults_of(page: Page, view: View | None = None) -> dict[str, Any]:
    """What is wrong with the page when nothing on it moves; with a view, also with what of its main thing is seen."""
    for _ in range(12):  # a page may be drawn again for its new width
        wait_until_idle(page)
        page.evaluate(STILL)
        found = {kind: what for kind, what in page.evaluate(FAULTS).items() if what}
        where = page.evaluate(SEEN, [view.main, view.pixels]) if view else ""
        found |= {"main": where} if where else {}
        if not found:
            break
    return found


def parts_opened(page: Page, *, popovers: bool) -> Iterator[str]:
    """The page with its expanders open, then with each tab, then with each popover."""
    if page.evaluate(EXPAND):
        yield "expanded"
    tabs, buttons = (
        page.locator(f"[data-testid=stMain] [data-testid={part}]") for part in ("stTab", "stPopoverButton")
    )
    for at in range(tabs.count()):
        tabs.nth(at).click()
        yield tabs.nth(at).inner_text()
    for at in range(buttons.count() if popovers else 0):
        buttons.nth(at).dispatch_event("click")
        page.wait_for_selector("[data-testid=stPopoverBody]")
        yield f"{buttons.nth(at).inner_text()} open"
        page.keyboard.press("Escape")
        page.wait_for_selector("[data-testid=stPopoverBody]", state="detached")
