"""Runs in a real browser: launch from the form, kill the server, start it again, watch the end, open the result."""

import os
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect, sync_playwright

from recap.runs.store import RunStore
from tests.background import new_store, wait_for, wait_for_epoch, wait_until_over, walking_dataset

pytestmark = pytest.mark.e2e

CHROMIUM = Path("/usr/bin/chromium")
ARGUMENTS = [
    *("--no-sandbox", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-sync"),
    *("--disable-component-update", "--disable-dev-shm-usage", "--use-gl=angle", "--use-angle=swiftshader"),
    *("--enable-unsafe-swiftshader", "--ignore-gpu-blocklist"),
]
PORT = 8617
TRAIN = "epochs=150"


@pytest.fixture
def page() -> Iterator[Page]:
    if not CHROMIUM.exists():
        pytest.skip("no chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=str(CHROMIUM), args=ARGUMENTS)
        yield browser.new_page(viewport={"width": 1440, "height": 1200})
        browser.close()


def serve(home: Path, data: Path) -> subprocess.Popen[bytes]:
    """Start the app as a terminal would, and wait until it answers."""
    environment = os.environ | {"RECAP_HOME": str(home), "OMP_NUM_THREADS": "1"}
    command = [Path(sys.executable).with_name("recap"), "app", "--data", str(data), "--port", str(PORT)]
    with (home / "app.log").open("ab") as log:
        server = subprocess.Popen(command, env=environment, stdout=log, stderr=log, start_new_session=True)

    def answers() -> bool:
        try:
            return bool(urllib.request.urlopen(f"http://127.0.0.1:{PORT}/_stcore/health", timeout=1))
        except OSError:
            return False

    wait_for(answers, "the server", 60)
    return server


def test_a_run_outlives_the_server(tmp_path: Path, page: Page) -> None:
    """The training goes on while the server is dead, and its checkpoint opens in Walk."""
    home, data = tmp_path / "home", tmp_path / "data"
    walking_dataset().save(data)
    store: RunStore = new_store(home)
    server = serve(home, data)
    try:
        page.goto(f"http://127.0.0.1:{PORT}/runs")
        expect(page.get_by_role("heading", name="Nothing has been trained here yet")).to_be_visible(timeout=60_000)
        page.get_by_text("Curriculum and optimiser").click()
        page.get_by_label("Fields").fill(f"{TRAIN}\nvalidate_every=20")
        page.get_by_label("Fields").press("Control+Enter")
        page.get_by_role("button", name="Start the run").click()
        wait_for(store.runs, "the run")
        run = store.get("1")
        wait_for_epoch(run, 20)
        expect(page.get_by_role("heading", name="Run 1 is at epoch")).to_be_visible(timeout=30_000)
        expect(page.locator("[data-testid=stPlotlyChart] .scatterlayer .trace").first).to_be_attached(timeout=30_000)
        trainer = run.read_state().process

        os.killpg(server.pid, signal.SIGKILL)
        server.wait()
        epochs = len(run.read_metrics())
        wait_for_epoch(run, epochs + 2)
        assert trainer is not None and run.read_state().process == trainer

        server = serve(home, data)
        page.goto(f"http://127.0.0.1:{PORT}/runs?run=1")
        assert wait_until_over(run, 240) == "finished", run.log.read_text()
        expect(page.get_by_role("heading", name="Run 1 has finished its 150 epochs.")).to_be_visible(timeout=30_000)
        page.get_by_role("button", name="Open in Walk").click()
        page.wait_for_url("**/walk*", timeout=60_000)
        expect(page.locator("[data-testid=stDeckGlJsonChart]")).to_be_visible(timeout=90_000)
        expect(page.get_by_text(" core ").first).to_be_visible(timeout=30_000)
    finally:
        os.killpg(server.pid, signal.SIGKILL)
        server.wait()
