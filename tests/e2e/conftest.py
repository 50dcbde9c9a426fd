"""A running app and a browser; skipped with a reason where there is no chromium, required where CI says so."""

import os
import shutil
from collections.abc import Callable, Generator, Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import pytest

from tests.app.test_hostile_data import CASES, hostile_dataset
from tests.background import new_store, runner_process, running, wait_for
from tests.shell import RECAP
from tests.untrained import write_untrained_checkpoint

if TYPE_CHECKING:
    import playwright.sync_api as playwright_api
    from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, Request
else:
    playwright_api = pytest.importorskip(
        "playwright.sync_api", reason="playwright is not installed: pip install -e '.[dev]'"
    )
    Browser, BrowserContext, Page = playwright_api.Browser, playwright_api.BrowserContext, playwright_api.Page
    Request, ConsoleMessage = playwright_api.Request, playwright_api.ConsoleMessage

CHROMIUM_FLAGS = [
    "--no-sandbox",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--use-gl=angle",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--ignore-gpu-blocklist",
    # Nothing outside is reached. Not by intercepting requests: that switches the browser's cache off.
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
]
PATIENCE_MS = 60_000
DARK = "rgb(18, 24, 29)"
"""The page's ground in the dark theme."""
TABS = pytest.StashKey[list[Page]]()
"""The tabs that a test has opened."""
playwright_api.expect.set_options(timeout=PATIENCE_MS)  # a busy two-core machine is slow now and then


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Everything in this folder drives a browser."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.e2e)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """What every open tab of a test says goes into the report of its failure."""
    report = yield
    if call.when == "call" and report.failed:
        for page in item.stash.get(TABS, []):
            with suppress(playwright_api.Error):  # a tab that crashed has nothing to say
                report.sections.append((page.url, page.inner_text("body")))
    return report


@pytest.fixture(scope="session")
def chromium() -> str:
    """The browser's program."""
    named = os.environ.get("RECAP_CHROMIUM", "")
    found = named or next((path for path in map(shutil.which, ("chromium", "chromium-browser")) if path), "")
    if not found or not Path(found).exists():
        reason = "no chromium here: install it or name it in RECAP_CHROMIUM"
        if os.environ.get("CI") == "true":
            pytest.fail(reason)
        pytest.skip(reason)
    return found


@pytest.fixture(scope="session")
def browser(chromium: str) -> Iterator[Browser]:
    """One browser for all tests."""
    with playwright_api.sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=chromium, args=CHROMIUM_FLAGS)
        yield started
        started.close()


@pytest.fixture(scope="session")
def window(browser: Browser) -> BrowserContext:
    """One window, whose tabs share what was loaded once; a session of the app belongs to its tab alone."""
    opened = browser.new_context()
    opened.set_default_timeout(PATIENCE_MS)
    return opened


class App(NamedTuple):
    """A running `recap app` on the bundled city; a user's folder next to it holds a hostile city and no runs."""

    url: str
    home: Path


@pytest.fixture(scope="session")
def app(chromium: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    """One server for all tests."""
    home = tmp_path_factory.mktemp("app")
    store = new_store(home)
    hostile = hostile_dataset(*CASES["names that are markup"])
    hostile.save(home / "datasets" / "hostile")
    write_untrained_checkpoint(hostile, home / "checkpoints" / "hostile")
    with running([RECAP, "app", "--port"], os.environ | {"RECAP_HOME": str(home)}, home) as url:
        yield App(url, home)
    for run in store.runs():
        run.change({"queued", "running"}, "stopping")
    runner = runner_process(store)
    if runner is not None:
        wait_for(lambda: not runner.is_alive(), "the runner to leave", 120)


@pytest.fixture
def open_page(window: BrowserContext, request: pytest.FixtureRequest) -> Iterator[Callable[..., Page]]:
    """Open a path of the app in a tab of its own; nothing outside may be asked for, and the console shows no error."""
    tabs = request.node.stash.setdefault(TABS, [])
    outside: list[str] = []
    failed: list[str] = []

    def note_error(message: ConsoleMessage) -> None:
        # A picture that the next run of the page has replaced is no longer there, and no longer wanted.
        if message.type == "error" and "/media/" not in message.text + message.location["url"]:
            failed.append(f"{message.text} {message.location}")

    def note_failure(request: Request) -> None:
        # A request that the browser itself gave up, because the page had moved on before its answer, is no failure.
        if _is_local(request.url) and request.failure != "net::ERR_ABORTED":
            failed.append(f"{request.url}: {request.failure}")

    def open_path(path: str, *, theme: Literal["light", "dark"] = "light", at: str | None = None) -> Page:
        page = window.new_page()
        tabs.append(page)
        page.set_viewport_size({"width": 1440, "height": 900})
        page.emulate_media(color_scheme=theme)
        page.on("request", lambda request: None if _is_local(request.url) else outside.append(request.url))
        page.on("requestfailed", note_failure)
        page.on("console", note_error)
        page.goto((at or request.getfixturevalue("app").url) + path)
        page.wait_for_selector("h1")
        wait_until_idle(page)
        return page

    yield open_path
    for tab in tabs:
        tab.close()
    assert outside == [], "the app asked for something outside"
    assert failed == [], "a request of the app failed, or its console shows an error"


IDLE = """document.querySelector('[data-testid=stApp]')?.dataset.testScriptState === 'notRunning'
  && document.querySelector('[data-testid=stSkeleton]') === null"""
"""Whether no script runs and every part of the page is there.

A kind of widget that the browser has not loaded yet is drawn as a grey bar, which no key reaches, for up to a second
after the script has ended.
"""


def wait_until_idle(page: Page) -> None:
    """Until no script runs any more and nothing that it drew is still being loaded."""
    page.wait_for_function(IDLE)


def violations(page: Page) -> list[tuple[str, str]]:
    """What axe-core finds outside what Streamlit itself draws."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed")
    found: list[dict[str, Any]] = axe.Axe().run(page).response["violations"]
    return [
        (entry["id"], node["html"][:200])
        for entry in found
        for node in entry["nodes"]
        if not any(entry["id"] == rule and node["html"].startswith(start) for rule, start in STREAMLITS_OWN)
    ]


STREAMLITS_OWN = [("color-contrast", "<kbd"), ("aria-dialog-name", '<div data-testid="stToast"')]
"""Rule and beginning of what breaks it: Streamlit draws the key of a shortcut in a grey of its own, and gives a message
that passes no name."""


def _is_local(url: str) -> bool:
    return url.startswith(("http://127.0.0.1:", "ws://127.0.0.1:", "data:", "blob:"))
