"""Runs on the demo city in a real browser: launch from the form, kill the server, start it again, open the result."""

import os
import signal
import socket
import subprocess
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from recap.runs.store.run_store import RunStore
from tests.background import new_store, runner_process, wait_for, wait_for_epoch, wait_until_over
from tests.e2e.conftest import PATIENCE_MS, Browser, Page, playwright_api, wait_until_idle
from tests.shell import RECAP

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

EPOCHS = 8
LONG_MS, LONG_SECONDS = 4 * PATIENCE_MS, 600
CURVE = "[data-testid=stPlotlyChart] .scatterlayer .trace path.js-line"
expect = playwright_api.expect


class Server:
    """`recap app` with the bundled demo city, as a terminal would start it."""

    def __init__(self, home: Path) -> None:
        self.home = home
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self.start()

    def start(self) -> None:
        """Start and wait until it answers."""
        environment = os.environ | {"RECAP_HOME": str(self.home), "OMP_NUM_THREADS": "1"}
        command = [str(RECAP), "app", "--port", str(self.port)]
        with (self.home / "app.log").open("ab") as log:
            self.process = subprocess.Popen(command, env=environment, stdout=log, stderr=log, start_new_session=True)
        wait_for(self.answers, "the server", 120)

    def answers(self) -> bool:
        """Whether it is up."""
        try:
            with urllib.request.urlopen(f"{self.url}/_stcore/health", timeout=1) as answer:  # noqa: S310 # our own server
                return bool(answer.status == 200)
        except OSError:
            return False

    def kill(self) -> None:
        """kill -9, with everything in its process group."""
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


@pytest.fixture
def server(tmp_path: Path, chromium: str) -> Iterator[Server]:
    store = new_store(tmp_path / "home")
    server = Server(store.folder.parent)
    yield server
    server.kill()
    for run in store.runs():
        run.change({"queued", "running"}, "stopping")
    runner = runner_process(store)
    if runner is not None:
        wait_for(lambda: not runner.is_alive(), "the runner to leave", 120)


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    window = browser.new_context(viewport={"width": 1440, "height": 1200})
    window.set_default_timeout(PATIENCE_MS)
    yield window.new_page()
    window.close()


def launch(page: Page, *, seed: str, epochs: int) -> None:
    """Fill the form and press the button; tiny, at this length and with this seed."""
    page.locator(".st-key-run_preset").get_by_text("tiny", exact=True).click()
    expect(page.get_by_role("slider", name="Steps along the graph")).to_be_visible()  # the preset before has no graph
    wait_until_idle(page)
    slider = page.get_by_role("slider", name="Epochs")
    while (now := int(slider.input_value())) != epochs:
        slider.press("ArrowRight" if now < epochs else "ArrowLeft")
        expect(slider).not_to_have_value(str(now))
    wait_until_idle(page)
    if seed != "1":
        seeds = page.get_by_role("toolbar", name="Random starts")
        for name in (seed, "1"):
            seeds.get_by_role("button", name=name, exact=True).click()
            wait_until_idle(page)
    page.get_by_role("button", name="Start the run").click()


def test_a_run_outlives_the_server(server: Server, page: Page) -> None:
    """The training goes on while the server is dead; its checkpoint opens in Walk; a variation opens in Compare."""
    store = RunStore(server.home / "runs")
    page.goto(f"{server.url}/runs")
    expect(page.get_by_role("heading", name="Nothing has been trained here yet")).to_be_visible()
    expect(page.get_by_role("combobox", name="Data")).to_have_value("Saltmere")
    launch(page, seed="1", epochs=EPOCHS)
    wait_for(store.runs, "the run")
    run = store.get("1")
    assert (run.read_spec().dataset_name, run.read_spec().train_config().epochs) == ("Saltmere", EPOCHS)
    expect(page.get_by_role("heading", name=f"Run 1 is at epoch 2 of {EPOCHS}")).to_be_visible(timeout=LONG_MS)
    drawn = page.locator(CURVE).first.get_attribute("d")
    page.wait_for_function("([css, old]) => document.querySelector(css).getAttribute('d') !== old", arg=[CURVE, drawn])
    trainer = run.read_state().process

    server.kill()
    assert not server.answers()
    epochs = len(run.read_metrics())
    assert epochs < EPOCHS - 1, "the training was over before the server was killed: nothing is shown by what follows"
    wait_for_epoch(run, epochs + 1, LONG_SECONDS)
    assert trainer is not None and trainer.is_alive() and run.read_state().process == trainer

    server.start()
    page.goto(f"{server.url}/runs?run=1")
    expect(page.get_by_role("heading", name=f"Run 1 has finished its {EPOCHS} epochs.")).to_be_visible(timeout=LONG_MS)
    assert wait_until_over(run) == "finished", run.log.read_text()
    page.get_by_role("button", name="Open in Walk").click()
    page.wait_for_url("**/walk*")
    expect(page.locator("[data-testid=stDeckGlJsonChart]")).to_be_visible(timeout=LONG_MS)
    page.get_by_role("button", name="More", exact=True).click()
    expect(page.get_by_role("combobox", name="Dataset and model")).to_have_value("Saltmere · RECAP, run-1")

    page.goto(f"{server.url}/runs?run=1")
    page.get_by_role("button", name="Duplicate").click()
    wait_until_idle(page)  # an earlier click would send the form as the browser still has it
    launch(page, seed="2", epochs=4)
    wait_for(lambda: len(store.runs()) == 2, "the second run")
    second = store.get("2")
    assert second.read_spec().parent == "1"
    assert wait_until_over(second) == "finished", second.log.read_text()
    page.goto(f"{server.url}/runs?run=2")
    page.get_by_role("button", name="Open in Compare").click()
    page.wait_for_url("**/compare*")
    expect(page.get_by_role("heading", name="Difference in HR@20")).to_be_visible(timeout=LONG_MS)
