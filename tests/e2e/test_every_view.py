"""Every view, opened once on the demo city: both themes, two widths, axe; and on a city with hostile names."""

from collections.abc import Callable

import pytest

from app.settings import AppSettings
from app.sources import find_sources
from recap import columns as c
from recap.data.dataset import Dataset
from tests.e2e.conftest import DARK, App, Page, playwright_api, violations, wait_until_idle

expect = playwright_api.expect
Open = Callable[..., Page]
REPAINTED = """() => {
  const ink = getComputedStyle(document.querySelector("[data-testid=stApp]")).color;
  const hosts = [...document.querySelectorAll("[data-testid=stBidiComponentIsolated]")];
  const drawn = hosts.flatMap(host => [...host.shadowRoot.querySelectorAll("figure")]);
  const [red] = getComputedStyle(document.querySelector("h1")).color.match(/\\d+/g);
  return red > 128 && drawn.every(figure => getComputedStyle(figure).color === ink);
}"""
"""Words follow the dark theme one frame after the ground; pictures, which are drawn for a theme, one run later."""
VIEWS = (
    "/overview?metric=MRR",
    "/next?user=407&row=49600&happened=true",
    "/next?part=everyone&days=20",
    "/next?part=try&stops=5.0,99.30",
    "/walk?case=1",
    "/explain?case=3&edits=hour:05:00",
    "/long_tail",
    "/compare",
    "/cases?list=past_visits",
    "/learn",
    "/learn?page=teacher",
    "/runs",
    "/present?case=3&step=why",
)
HOSTILE_VIEWS = ("/walk?case=1", "/explain?case=1")
GROUND = "colour => getComputedStyle(document.querySelector('[data-testid=stApp]')).backgroundColor === colour"
FITS = "() => document.documentElement.scrollWidth <= innerWidth"


@pytest.mark.parametrize("path", VIEWS)
def test_a_view_is_whole(open_page: Open, path: str) -> None:
    check_whole(open_page(path))


def check_whole(page: Page) -> None:
    """It paints in both themes without an error or an axe violation, and is never wider than the window."""
    expect(page.locator("h1").first).not_to_have_text("")
    page.evaluate("document.activeElement.blur()")  # a pill in focus or under the mouse has Streamlit's colours
    page.mouse.move(0, 0)
    wait_until_idle(page)
    assert violations(page) == []
    page.emulate_media(color_scheme="dark")
    page.wait_for_function(GROUND, arg=DARK)
    page.wait_for_function(REPAINTED)
    wait_until_idle(page)
    assert violations(page) == [], "in the dark theme"
    for width in (1440, 800):
        page.set_viewport_size({"width": width, "height": 900})
        page.wait_for_function(FITS)
    assert page.get_by_text("Page not found").count() == 0
    assert page.locator("[data-testid=stException], [data-testid=stAlertContentError]").count() == 0


def test_back_leads_to_the_page_before(open_page: Open) -> None:
    """A page's own changes of its address are no steps of their own."""
    page = open_page("/?case=5")
    for view in ("Walk", "Explain", "Compare"):
        page.get_by_role("link", name=view, exact=True).first.click()
        page.wait_for_url(f"**/{view.lower()}?**{'b=' if view == 'Compare' else 'case='}**")
        wait_until_idle(page)
    for view in ("explain", "walk"):
        page.go_back()
        page.wait_for_url(f"**/{view}?**case=**")
        wait_until_idle(page)
        expect(page.locator("h1").first).not_to_have_text("")


def test_back_brings_the_address_of_the_click(open_page: Open) -> None:
    """What the next page writes while the address is still this page's is gone when one comes back."""
    page = open_page("/long_tail?metric=MRR")
    page.locator("h1").first.dispatch_event("pointerdown")
    page.evaluate("""() => {
        const before = location.search;
        history.pushState({}, "", before + "&a=visit_count");
        history.pushState({}, "", "/compare" + before + "&a=visit_count");
    }""")
    page.go_back()
    page.wait_for_url("**/long_tail?**")
    assert "metric=MRR" in page.url and "&a=" not in page.url
    wait_until_idle(page)


def test_fast_clicks_leave_the_page(open_page: Open) -> None:
    """A tab that is drawn again before it was sent, with the parts inside it, leaves no white page."""
    page = open_page("/long_tail?tab=cases")
    page.evaluate("""async () => {
        for (const wait of [10, 20, 50, 160]) for (let click = 0; click < 20; click++) {
            document.querySelectorAll('[data-testid=stMain] [data-testid=stTab]')[[1, 2, 1, 2, 0][click % 5]].click();
            await new Promise(done => setTimeout(done, wait));
        }
    }""")
    wait_until_idle(page)


def test_hostile_names_stay_text(open_page: Open, app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    """No link, picture, formula or icon comes from the data; `open_page` fails where anything outside is asked for."""
    monkeypatch.setenv("RECAP_HOME", str(app.home))
    source, *_ = [found for found in find_sources(AppSettings()) if "nasty" in found.label]
    dataset = Dataset.load(source.dataset_folder)
    truth = int(dataset.checkins[c.POI].iloc[int(dataset.cases(2)[1]) + 1])
    name = dataset.poi_labels[truth]
    assert "javascript:" in name
    for path in HOSTILE_VIEWS:
        page = open_page(f"{path}{'&' if '?' in path else '?'}source={source.token}")
        main = page.locator("[data-testid=stMain]")
        assert name in main.inner_text().replace("\u2060", "")  # the joiner that `markdown_text` puts in
        for foreign in ("a[href*='evil']", "a[href^=mailto]", "img[src*='evil']", ".katex", "b:text('nasty')"):
            assert main.locator(foreign).count() == 0, (path, foreign)
        assert main.locator("[data-testid=stMarkdownContainer] img").count() == 0
