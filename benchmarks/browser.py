"""Measure every view as one visitor meets it, in a real browser: how high it is, how many words, how soon it is there.

Prints a JSON line for each view and a table of all: the page's height in a window of 1440 x 900; the words on the first
screen, without tables, navigation, controls and pictures; the position of the first picture; whether 800 pixels are
wide enough; seconds until headline and first picture are painted, ``cold`` (empty browser cache) and ``warm`` (opened
again); and on pages of one case ``other_case_s``, until the next case's headline. ``--against`` measures another
checkout in turns, so ratios also hold on a busy machine.

    python benchmarks/browser.py [--against CHECKOUT] [--data DIR --checkpoint DIR] [--views walk explain]
"""

import argparse
import json
import os
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

from playwright.sync_api import Browser, Page, ViewportSize, sync_playwright
from playwright.sync_api import Error as PlaywrightError

ROOT: Final = Path(__file__).parents[1]
ARGUMENTS: Final = [
    "--no-sandbox",
    "--disable-dev-shm-usage",
    "--use-gl=angle",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--ignore-gpu-blocklist",
]
STARTED: Final = "from app.cli.main import run; run()"
VIEWS: Final = ("overview", "walk", "explain", "long_tail", "compare", "cases", "runs", "learn", "present")
WINDOW: ViewportSize = {"width": 1440, "height": 900}
NARROW: ViewportSize = {"width": 800, "height": 900}
PATIENCE_S: Final = 120
PICTURES: Final = """[...document.querySelectorAll(
    '.js-plotly-plot .main-svg, [data-testid=stDeckGlJsonChart] canvas, [data-testid=stMain] img, ' +
    '[data-testid=stVegaLiteChart] :is(canvas, svg)'),
  ...[...document.querySelectorAll('[data-testid=stBidiComponentIsolated]')]
    .flatMap(host => [...host.shadowRoot?.querySelectorAll('figure') ?? []])]"""
"""Every picture of a page: charts, maps, images and what `app.components.picture` draws."""

WATCH: Final = """
(() => {
  const times = window.firstSeen = {headline: null, picture: null, settled: null};
  const drawn = e => e.getBoundingClientRect().height > 20 && (e.tagName !== 'IMG' || e.naturalWidth > 0);
  const frame = () => new Promise(done => requestAnimationFrame(() => setTimeout(done)));
  const state = () => document.querySelector('[data-testid=stApp]')?.dataset.testScriptState;
  (async () => {
    for (let quiet = 0, last = performance.now(); quiet < 15;) {
      const headline = document.querySelector('[data-testid=stMain] h1')?.innerText.trim();
      const picture = PICTURES.some(drawn);
      await frame();
      const now = performance.now(), quick = now - last < 100;
      last = now;
      if (headline && times.headline === null) times.headline = now;
      if (picture && quick && times.picture === null) times.picture = now;
      const whole = state() === 'notRunning' && !document.querySelector('[data-testid=stSkeleton]');
      quiet = headline && whole && quick ? quiet + 1 : 0;
    }
    times.settled = performance.now();
  })();
})()
""".replace("PICTURES", PICTURES)
"""Notes when headline and first picture are there, each once the frame after it was painted: a map's canvas is there
long before its map, so a picture counts from the first frame that took less than 100 ms."""

FIRST_SCREEN: Final = """
() => {
  const main = document.querySelector('[data-testid=stMain]');
  const left = 'table, button, input, textarea, label, svg, header, nav, [role=radiogroup], [role=tablist], ' +
    '[role=combobox], [data-testid=stDataFrame], [data-testid=stDeckGlJsonChart], [data-testid=stSlider], ' +
    '[data-testid=stSelectbox], [data-baseweb=select], [data-testid=stWidgetLabel], [data-testid=stCode], ' +
    '[data-testid=stExpander] summary, .js-plotly-plot, [aria-hidden=true]';
  const walker = document.createTreeWalker(main, NodeFilter.SHOW_TEXT), range = document.createRange();
  const words = [];
  for (let node; (node = walker.nextNode());) {
    if (node.parentElement.closest(left)) continue;
    range.selectNodeContents(node);
    const box = range.getBoundingClientRect();
    if (box.height && box.width && box.top < innerHeight)
      words.push(...node.textContent.split(/\\s+/).filter(word => /[\\p{L}\\p{N}]/u.test(word)));
  }
  const pictures = PICTURES.map(e => e.getBoundingClientRect());
  const first = pictures.filter(box => box.height > 20).sort((a, b) => a.top - b.top)[0];
  return {
    height_px: Math.max(main.scrollHeight, document.documentElement.scrollHeight),
    words: words.length,
    picture_px: first ? [Math.round(first.top), Math.round(first.bottom)] : null,
  };
}
""".replace("PICTURES", PICTURES)

OTHER: Final = """
() => {
  const headline = () => document.querySelector('h1')?.innerText, before = headline(), started = performance.now();
  window.otherCase = new Promise(done => {
    const look = () => {
      const now = performance.now() - started;
      if (headline() && headline() !== before) requestAnimationFrame(() => setTimeout(() => done(now)));
      else if (now > 15000) done(null);
      else requestAnimationFrame(look);
    };
    look();
  });
}
"""


@contextmanager
def serving(checkout: Path, options: list[str]) -> Iterator[str]:
    """A server of a checkout with an empty user folder."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-c", STARTED, "app", "--port", str(port), *options]
    url, silent = f"http://127.0.0.1:{port}", subprocess.DEVNULL
    with ExitStack() as stack:
        home = stack.enter_context(tempfile.TemporaryDirectory(prefix="recap-bench-"))
        environment = os.environ | {"RECAP_HOME": home, "PYTHONPATH": str(checkout)}
        server = subprocess.Popen(command, cwd=checkout, env=environment, stdout=silent, stderr=silent)  # noqa: S603
        try:
            while True:
                try:
                    urllib.request.urlopen(f"{url}/_stcore/health", timeout=2).close()  # noqa: S310  # our own server
                    break
                except OSError:
                    if server.poll() is not None:
                        sys.exit(f"recap app of {checkout} ended with code {server.returncode}")
                    time.sleep(0.05)
            yield url
        finally:
            server.terminate()
            server.wait(timeout=30)


def open_view(page: Page, address: str) -> dict[str, float | None]:
    """Load an address; returns seconds from the request to headline and first picture."""
    page.goto(address, wait_until="commit")
    page.wait_for_function("window.firstSeen?.settled", timeout=PATIENCE_S * 1000)
    seen = page.evaluate("window.firstSeen")
    return {
        f"{name}_s": None if seen[name] is None else round(seen[name] / 1000, 3) for name in ("headline", "picture")
    }


def other_case(page: Page, number: int) -> float | None:
    """Seconds from the key press for another case to its headline; None if the page has none."""
    field = page.locator(".st-key-explained_case input")
    if field.count():
        field.fill(str(number))
        page.evaluate(OTHER)
        field.press("Enter")
    else:
        page.evaluate("document.activeElement?.blur()")
        page.evaluate(OTHER)
        page.keyboard.press("ArrowRight")
    took = page.evaluate("window.otherCase")
    page.wait_for_timeout(500)  # the rest of the page: the next key must not wait for it
    return None if took is None else took / 1000


def measure_view(browser: Browser, view: str, urls: dict[str, str], repeats: int) -> dict[str, dict[str, Any]]:
    """A line for each checkout; they take turns."""
    lines: dict[str, dict[str, Any]] = {}
    warm: dict[str, list[dict[str, float | None]]] = defaultdict(list)
    others: dict[str, list[float]] = defaultdict(list)
    pages: dict[str, tuple[Page, str]] = {}
    try:
        for name, url in urls.items():
            page, address = browser.new_context(viewport=WINDOW).new_page(), f"{url}/{view}"
            pages[name] = page, address
            page.add_init_script(WATCH)
            lines[name] = {"view": view, "checkout": name, "cold": open_view(page, address)}
            lines[name] |= page.evaluate(FIRST_SCREEN)
            page.set_viewport_size(NARROW)
            page.wait_for_timeout(500)
            lines[name]["fits_800_px"] = page.evaluate("document.documentElement.scrollWidth <= innerWidth")
            page.set_viewport_size(WINDOW)
        for _ in range(repeats):
            for name, (page, address) in pages.items():
                warm[name].append(open_view(page, address))
        for turn in range(repeats if view in ("walk", "explain") else 0):
            for name, (page, _) in pages.items():
                took = other_case(page, 100 + turn)
                others[name] += [] if took is None else [took]
    finally:
        for page, _ in pages.values():
            page.context.close()
    for name, line in lines.items():
        line["warm"] = {key: median([row[key] for row in warm[name]]) for key in ("headline_s", "picture_s")}
        if others[name]:
            line["other_case_s"] = median(list(others[name]))
    return lines


def print_table(measured: list[dict[str, dict[str, Any]]]) -> None:
    """This checkout's numbers, the other's, and their ratio, warm unless named cold."""
    numbers = (
        ("height", lambda line: line["height_px"]),
        ("words", lambda line: line["words"]),
        ("headline", lambda line: line["warm"]["headline_s"]),
        ("picture", lambda line: line["warm"]["picture_s"]),
        ("cold headline", lambda line: line["cold"]["headline_s"]),
        ("cold picture", lambda line: line["cold"]["picture_s"]),
        ("other case", lambda line: line.get("other_case_s")),
    )
    print(f"{'view':<10}" + "".join(f"{name:>22}" for name, _ in numbers))
    for lines in measured:
        cells = []
        for _, read in numbers:
            here, before = read(lines["here"]), read(lines["against"]) if "against" in lines else None
            said = "-" if here is None else f"{here:g}"
            cells.append(said if not (here and before) else f"{said} / {before:g} = {here / before:.2f}")
        print(f"{lines['here']['view']:<10}" + "".join(f"{cell:>22}" for cell in cells), flush=True)


def median(values: list[float | None]) -> float | None:
    """Of the known values, rounded to milliseconds; None without any."""
    known = [value for value in values if value is not None]
    return round(statistics.median(known), 3) if known else None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--against", type=Path, help="another checkout, measured in turns with this one")
    parser.add_argument("--data", type=Path)
    parser.add_argument("--checkpoint", type=Path)
    parser.add_argument("--views", nargs="+", default=VIEWS)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--browser", default="/usr/bin/chromium")
    arguments = parser.parse_args()
    checkouts = {"here": ROOT} | ({"against": arguments.against.resolve()} if arguments.against else {})
    given = {name: getattr(arguments, name) for name in ("data", "checkpoint")}
    options = [text for name, path in given.items() if path for text in (f"--{name}", str(path.resolve()))]
    measured = []
    with ExitStack() as stack:
        urls = {name: stack.enter_context(serving(checkout, options)) for name, checkout in checkouts.items()}
        playwright = stack.enter_context(sync_playwright())
        browser = playwright.chromium.launch(executable_path=arguments.browser, args=ARGUMENTS)
        for view in arguments.views:
            try:
                lines = measure_view(browser, view, urls, arguments.repeats)
            except PlaywrightError as error:
                print(f"{view}: not measured, {str(error).splitlines()[0]}", file=sys.stderr, flush=True)
                continue
            measured.append(lines)
            for line in lines.values():
                print(json.dumps(line), flush=True)
        browser.close()
    print_table(measured)


if __name__ == "__main__":
    main()
