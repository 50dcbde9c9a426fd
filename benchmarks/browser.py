"""Measure the app as one visitor feels it: from a click to the painted answer, in a real browser.

For each action two times in the page's own clock: ``answer`` until what was asked for is painted (a heading, a count, a
rank), ``whole`` until the script has ended and everything is painted. Beside them the processor seconds that server
and browser used, which say more than times do where other programs use the cores too. With ``--against`` the same is
measured with another checkout of the repository, in turns of the same run: before and after under one load. An action
whose control a checkout does not have is "not there".

    python benchmarks/browser.py [--against CHECKOUT] [--repeats 15] [--data DIR --checkpoint DIR] [--busy 1]
"""

import argparse
import json
import os
import platform
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections import defaultdict
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Final

import psutil
from playwright.sync_api import Browser, Page, sync_playwright

ROOT: Final = Path(__file__).parents[1]
ARGUMENTS: Final = ["--no-sandbox", "--disable-dev-shm-usage", "--use-gl=angle", "--use-angle=swiftshader"]
STARTED: Final = "from app.cli.main import run; run()"

CLICK_AND_WATCH: Final = """
async ([click, watched, number, patience]) => {
  const find = ([selector, text]) =>
    [...document.querySelectorAll(selector)].find(e => new RegExp(text).test(e.innerText));
  const seen = () => find(watched)?.innerText;
  const idle = () => document.querySelector('[data-testid=stApp]').dataset.testScriptState === 'notRunning';
  const frame = () => new Promise(done => requestAnimationFrame(() => setTimeout(done)));
  for (const asked = performance.now(); !find(click);) {
    if (performance.now() - asked > patience) return null;
    await frame();
  }
  const before = seen(), started = performance.now(), element = find(click);
  if (number === null) element.click();
  else {
    element.focus();
    Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set.call(element, number);
    element.dispatchEvent(new Event('input', {bubbles: true}));
    element.dispatchEvent(new KeyboardEvent('keydown', {key: 'Enter', keyCode: 13, bubbles: true}));
  }
  let answer = null, quiet = 0, last = 0;
  while (quiet < 3) {
    await frame();
    const now = performance.now() - started, changed = seen(), took = now - last;
    last = now;
    if (answer === null && changed !== undefined && changed !== before) answer = now;
    quiet = answer !== null && idle() && took < 100 ? quiet + 1 : 0;
    if (now > 300000) throw new Error('no answer within five minutes: ' + click + ' ' + before);
  }
  return [answer, performance.now() - started];
}
"""
"""Clicks an element (or types a number into it), watches another; three quick frames without a script are the end.

Null where there is nothing to click."""
PATIENCE_MS: Final = 20_000
"""How long a page that has settled may take to show a control; after that it has none."""

SETTLED: Final = """
async () => {
  const idle = () => document.querySelector('[data-testid=stApp]')?.dataset.testScriptState === 'notRunning';
  const whole = () => !document.querySelector('[data-testid=stSkeleton]');
  for (let quiet = 0, last = performance.now(); quiet < 20;) {
    await new Promise(done => requestAnimationFrame(() => setTimeout(done)));
    const now = performance.now();
    quiet = idle() && whole() && now - last < 100 ? quiet + 1 : 0;
    last = now;
  }
}
"""
"""Waits until a page that was opened is painted with its maps: the next click must not pay for them."""

Target = tuple[str, str]
"""A CSS selector, and a pattern that the element's words match."""
COUNT: Final[Target] = ("[data-testid=stMarkdownContainer]", "of [0-9,]+ cases$")
HEADING: Final[Target] = ("h1", "")
EDITS: Final[Target] = ("[data-testid=stMarkdownContainer]", "places re-ranked")


UNSEEN: Final[Target] = (".st-key-show button", "Unseen")
NEXT_CASE: Final[Target] = (".st-key-jump-on button", "")
TOKEN: Final[Target] = (".st-key-edit_parts button", "Graph token")
CASE: Final[Target] = (".st-key-explained_case input", "")


class Visit:
    """One server and one window."""

    def __init__(self, browser: Browser, url: str, server: psutil.Process) -> None:
        self.page: Page = browser.new_context(viewport={"width": 1440, "height": 900}).new_page()
        self.page.set_default_timeout(120_000)
        self.url, self.server = url, server

    def open(self, path: str, watched: str = "h1") -> dict[str, float]:
        """Load an address again."""
        before, started = self._used(), time.perf_counter()
        self.page.goto(self.url + path, wait_until="commit")
        self.page.wait_for_selector(watched)
        answer = time.perf_counter() - started
        self.page.evaluate(SETTLED)
        return self._row(answer, time.perf_counter() - started, before)

    def act(self, click: Target, watched: Target, number: int | None = None) -> dict[str, float] | None:
        """Click, or type a number, and wait for what is watched to change; None where the page has no such control."""
        before, typed = self._used(), None if number is None else str(number)
        times = self.page.evaluate(CLICK_AND_WATCH, [click, watched, typed, PATIENCE_MS])
        return None if times is None else self._row(times[0] / 1000, times[1] / 1000, before)

    def _row(self, answer: float, whole: float, before: tuple[float, float]) -> dict[str, float]:
        server, browser = (now - then for now, then in zip(self._used(), before, strict=True))
        return {"answer_s": answer, "whole_s": whole, "server_cpu_s": server, "browser_cpu_s": browser}

    def _used(self) -> tuple[float, float]:
        spent = 0.0
        for child in psutil.Process().children(recursive=True):
            try:
                if "chrom" in child.name():
                    spent += sum(child.cpu_times()[:2])
            except psutil.Error:
                continue
        return sum(self.server.cpu_times()[:2]), spent


def one_round(visit: Visit, cases: list[int]) -> Iterator[tuple[str, dict[str, float] | None]]:
    """Every action once, each from the state before it; cases are ones that were not opened before."""
    first, second, third = cases
    yield "open_walk", visit.open(f"/walk?case={first}")
    yield "filter", visit.act(UNSEEN, COUNT)
    yield "filter_off", visit.act(UNSEEN, COUNT)
    yield "walk_other_case", visit.act(NEXT_CASE, HEADING)
    yield "cold_explain", visit.open(f"/explain?case={second}")
    yield "toggle", visit.act(TOKEN, EDITS)
    yield "toggle_back", visit.act(TOKEN, EDITS)
    yield "other_case", visit.act(CASE, HEADING, third)


@contextmanager
def serving(checkout: Path, home: str, options: list[str]) -> Iterator[tuple[str, psutil.Process, float]]:
    """A server of a checkout, its process, and when its command was given."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    environment = os.environ | {"RECAP_HOME": home, "PYTHONPATH": str(checkout)}
    command = [sys.executable, "-c", STARTED, "app", "--port", str(port), *options]
    quiet, url, started = subprocess.DEVNULL, f"http://127.0.0.1:{port}", time.perf_counter()
    with subprocess.Popen(command, cwd=checkout, env=environment, stdout=quiet, stderr=quiet) as server:  # noqa: S603
        try:
            while True:
                try:
                    urllib.request.urlopen(f"{url}/_stcore/health", timeout=2).close()  # noqa: S310  # our own server
                    break
                except OSError:
                    if server.poll() is not None:
                        sys.exit(f"recap app of {checkout} ended with code {server.returncode}")
                    time.sleep(0.05)
            yield url, psutil.Process(server.pid), started
        finally:
            server.terminate()
            server.wait(timeout=30)


def headline(browser: Browser, checkout: Path, options: list[str]) -> float:
    """Seconds from the command to the first heading, cache empty."""
    with (
        tempfile.TemporaryDirectory(prefix="recap-bench-") as home,
        serving(checkout, home, options) as (url, server, started),
    ):
        visit = Visit(browser, url, server)
        visit.open("/")
        seconds = time.perf_counter() - started
        visit.page.context.close()
        return seconds


def summary(rows: list[dict[str, float]]) -> dict[str, float]:
    """Medians, and 95th percentiles of both times."""
    medians = {name: round(statistics.median(row[name] for row in rows), 3) for name in rows[0]}
    ordered = {name: sorted(row[name] for row in rows) for name in ("answer_s", "whole_s")}
    p95 = {
        f"{name}_p95": round(times[min(int(0.95 * len(times)), len(times) - 1)], 3) for name, times in ordered.items()
    }
    return medians | p95


@contextmanager
def busy(processes: int) -> Iterator[None]:
    """Other programs that compute without pause, as a run in the background does."""
    started = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(processes)]
    try:
        yield
    finally:
        for process in started:
            process.kill()
            process.wait()


def measure(arguments: argparse.Namespace) -> dict[str, Any]:
    """All rounds; the checkouts take turns."""
    checkouts = {"here": ROOT} | ({"against": arguments.against.resolve()} if arguments.against else {})
    options = [
        text
        for name in ("data", "checkpoint")
        if getattr(arguments, name)
        for text in (f"--{name}", str(getattr(arguments, name)))
    ]
    rows: dict[str, dict[str, list[dict[str, float]]]] = {name: defaultdict(list) for name in checkouts}
    result: dict[str, Any] = {name: {} for name in checkouts}
    with sync_playwright() as playwright, tempfile.TemporaryDirectory(prefix="recap-bench-") as homes:
        browser = playwright.chromium.launch(executable_path=arguments.browser, args=ARGUMENTS)
        for name, checkout in checkouts.items():
            starts = [headline(browser, checkout, options) for _ in range(arguments.starts)]
            result[name]["headline_s"] = round(statistics.median(starts), 2) if starts else None
        visits = {}
        with ExitStack() as servers:
            for name, checkout in checkouts.items():
                url, process, _ = servers.enter_context(serving(checkout, f"{homes}/{name}", options))
                visits[name] = Visit(browser, url, process)
                list(one_round(visits[name], [0, 1, 2]))  # the first round also opens model and records
            for turn in range(arguments.repeats):
                for name, visit in visits.items():
                    cases = [arguments.first_case + 3 * turn + offset for offset in range(3)]
                    for action, row in one_round(visit, cases):
                        rows[name][action] += [] if row is None else [row]
        browser.close()
    for name, actions in rows.items():
        result[name] |= {action: summary(found) if found else "not there" for action, found in actions.items()}
    return result


def main() -> None:
    """Measure and print one JSON line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--against", type=Path, help="another checkout, measured in turns with this one")
    parser.add_argument("--data", type=Path)
    parser.add_argument("--checkpoint", type=Path)
    parser.add_argument("--repeats", type=int, default=15)
    parser.add_argument("--starts", type=int, default=3, help="cold starts for the headline")
    parser.add_argument("--first-case", type=int, default=100)
    parser.add_argument("--busy", type=int, default=0, help="processes that compute without pause beside it")
    parser.add_argument("--browser", default="/usr/bin/chromium")
    arguments = parser.parse_args()
    load_before = psutil.getloadavg()[0]
    with busy(arguments.busy):
        result = measure(arguments)
    facts = {"repeats": arguments.repeats, "busy": arguments.busy, "cpus": os.cpu_count(), "load_before": load_before}
    print(json.dumps({"benchmark": "browser", **result, **facts, "machine": platform.machine()}))


if __name__ == "__main__":
    main()
