"""A running app and a browser; skipped with a reason where there is no chromium, required where CI says so."""

import os
import shutil
import socket
import subprocess
import time
import urllib.request
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import pytest

from app.settings import BUNDLES_VARIABLE, CHECKPOINT_VARIABLE, DATA_VARIABLE
from tests.shell import RECAP

if TYPE_CHECKING:
    import playwright.sync_api as playwright_api
    from playwright.sync_api import Browser, BrowserContext, Page, Request
else:
    playwright_api = pytest.importorskip(
        "playwright.sync_api", reason="playwright is not installed: pip install -e '.[dev]'"
    )
    Browser, BrowserContext, Page = playwright_api.Browser, playwright_api.BrowserContext, playwright_api.Page
    Request = playwright_api.Request

ROOT = Path(__file__).parents[2]
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
GROUNDS: dict[Literal["light", "dark"], str] = {"light": "rgb(255, 255, 255)", "dark": "rgb(18, 24, 29)"}
"""The page's ground in each theme."""
TABS = pytest.StashKey[list[Page]]()
"""The tabs that a test has opened."""
FOCUS = "`${document.activeElement?.tagName} ${document.activeElement?.closest('[class*=st-key-]')?.className ?? ''}`"
"""The element that has the keyboard, and the keyed one around it."""
GROUND = "colour => getComputedStyle(document.querySelector('[data-testid=stApp]')).backgroundColor === colour"
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
                report.sections.append((f"{page.url}, focus on {page.evaluate(FOCUS)}", page.inner_text("body")))
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


@pytest.fixture(scope="package")
def browser(chromium: str) -> Iterator[Browser]:
    """One browser for this folder."""
    with playwright_api.sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=chromium, args=CHROMIUM_FLAGS)
        yield started
        started.close()


@contextmanager
def _opened(browser: Browser) -> Iterator[BrowserContext]:
    opened = browser.new_context()
    opened.set_default_timeout(PATIENCE_MS)
    yield opened
    opened.close()


@pytest.fixture(scope="package")
def window(browser: Browser) -> Iterator[BrowserContext]:
    """One window, whose tabs share what was loaded once; a session of the app belongs to its tab alone."""
    with _opened(browser) as opened:
        yield opened


@pytest.fixture(scope="package")
def other_window(browser: Browser) -> Iterator[BrowserContext]:
    """The window of somebody else, who gets links: no storage or session in common, but programs are loaded once."""
    with _opened(browser) as opened:
        yield opened


@pytest.fixture(scope="session")
def address(chromium: str, city_folder: Path, city_checkpoint: Path) -> Iterator[str]:
    """A running `recap app` on the small city."""
    command: list[str | Path] = [RECAP, "app", "--data", city_folder, "--checkpoint", city_checkpoint, "--port"]
    with running(command, os.environ | {BUNDLES_VARIABLE: "/nonexistent"}) as url:
        yield url


@pytest.fixture
def plain_address(chromium: str, city_folder: Path, city_checkpoint: Path, tmp_path: Path) -> Iterator[str]:
    """The same app started by Streamlit's own command, without `recap app`."""
    command: list[str | Path] = [RECAP.with_name("streamlit"), "run", ROOT / "app" / "main.py", "--server.port"]
    folders = {DATA_VARIABLE: str(city_folder), CHECKPOINT_VARIABLE: str(city_checkpoint)}
    with running(command, os.environ | {BUNDLES_VARIABLE: "/nonexistent"} | folders, tmp_path) as url:
        yield url


@contextmanager
def running(command: Sequence[str | Path], environment: dict[str, str], folder: Path = ROOT) -> Iterator[str]:
    """A server while it is needed, started in a folder; the port comes last in the command."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = str(probe.getsockname()[1])
    with subprocess.Popen(
        [*command, port],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=environment,
        cwd=folder,
    ) as server:
        url = f"http://127.0.0.1:{port}"
        try:
            _wait_until_healthy(url, server)
            yield url
        finally:
            server.terminate()
            server.wait(timeout=20)


@pytest.fixture
def open_page(
    window: BrowserContext, other_window: BrowserContext, address: str, request: pytest.FixtureRequest
) -> Iterator[Callable[..., Page]]:
    """Open a path of the app in a tab of its own; nothing outside may be asked for, and no request may fail."""
    tabs = request.node.stash.setdefault(TABS, [])
    outside: list[str] = []
    failed: list[str] = []

    def note_failure(request: Request) -> None:
        # A request that the browser itself gave up, because the page had moved on before its answer, is no failure.
        if _is_local(request.url) and request.failure != "net::ERR_ABORTED":
            failed.append(f"{request.url}: {request.failure}")

    def open_path(
        path: str,
        *,
        theme: Literal["light", "dark"] = "light",
        width: int = 1440,
        height: int = 900,
        at: str = address,
        elsewhere: bool = False,
    ) -> Page:
        """``elsewhere`` is another visitor's window, which knows nothing of this one."""
        page = (other_window if elsewhere else window).new_page()
        tabs.append(page)
        page.set_viewport_size({"width": width, "height": height})
        page.emulate_media(color_scheme=theme)
        page.on("request", lambda request: None if _is_local(request.url) else outside.append(request.url))
        page.on("requestfailed", note_failure)
        page.goto(at + path)
        page.wait_for_selector("h1")
        wait_until_idle(page)
        return page

    yield open_path
    for tab in tabs:
        tab.close()
    assert outside == [], "the app asked for something outside"
    assert failed == [], "a request of the app failed"


IDLE = """document.querySelector('[data-testid=stApp]')?.dataset.testScriptState === 'notRunning'
  && document.querySelector('[data-testid=stSkeleton]') === null"""
"""Whether no script runs and every part of the page is there.

A kind of widget that the browser has not loaded yet is drawn as a grey bar, which no key reaches, for up to a second
after the script has ended.
"""


def wait_until_idle(page: Page) -> None:
    """Until no script runs any more and nothing that it drew is still being loaded."""
    page.wait_for_function(IDLE)


SETTLED = """width => {
  const keyed = [...document.querySelectorAll('[class*=st-key-]')].map(element => element.getBoundingClientRect());
  const now = JSON.stringify(keyed.map(box => [box.x, box.y, box.width, box.height].map(Math.round)));
  const still = window.layoutBefore === now;
  window.layoutBefore = now;
  return still && document.querySelector('[data-testid=stMain]').clientWidth === width;
}"""
"""Whether the page has that width, and everything stands where it stood at the look before."""


def resized(page: Page, width: int, height: int = 900) -> Page:
    """The same page in a window of another size, when its layout has come to rest."""
    page.set_viewport_size({"width": width, "height": height})
    page.wait_for_function(SETTLED, arg=width, polling=400)
    return page


def _is_local(url: str) -> bool:
    return url.startswith(("http://127.0.0.1:", "ws://127.0.0.1:", "data:", "blob:"))


def _wait_until_healthy(url: str, server: "subprocess.Popen[bytes]") -> None:
    for _ in range(300):
        if server.poll() is not None:
            pytest.fail(f"recap app ended with code {server.returncode}")
        try:
            with urllib.request.urlopen(f"{url}/_stcore/health", timeout=2) as answer:  # noqa: S310  # our own server
                if answer.status == 200:
                    return
        except OSError:
            time.sleep(0.2)
    pytest.fail("recap app did not answer within a minute")
