"""Measure the first useful paint in a real browser: seconds from the command to headline and charts of the Overview.

The browser is open already, its cache and the app's cache are empty, the operating system's file cache is warm. Every
start is in an empty folder whose name has a space and umlauts, with a home of its own.
One JSON line: medians over the starts. With --against, another installation's `recap` (of a wheel, of an earlier
version) starts in turn with this one, and the line holds both and the median ratio of neighbouring starts.

    python benchmarks/first_paint.py [--starts 5] [--against OTHER/bin/recap] [--browser /usr/bin/chromium]
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
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright
from playwright.sync_api import Error as BrowserError

RECAP = Path(sys.executable).with_name("recap")
ARGUMENTS = ["--no-sandbox", "--disable-dev-shm-usage", "--use-gl=angle", "--use-angle=swiftshader"]
SEEN = {
    "facts": ".st-key-distribution",
    "headline": "h1",
    "charts": "[class*=st-key-lollipops-] .main-svg",
}


def start_once(browser: Browser, program: Path, home: Path) -> dict[str, float]:
    """One start of the app with an empty cache, watched by an empty browser."""
    home.mkdir(parents=True)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    page = browser.new_context(viewport={"width": 1440, "height": 900}).new_page()
    environment = os.environ | {"RECAP_HOME": str(home / "recap"), "HOME": str(home)}
    started = time.perf_counter()
    command = [str(program), "app", "--port", str(port)]
    quiet = subprocess.DEVNULL
    server = subprocess.Popen(command, cwd=home, env=environment, stdout=quiet, stderr=quiet)  # noqa: S603 # our own command
    try:
        while True:
            try:
                page.goto(f"http://127.0.0.1:{port}/", wait_until="commit")
                break
            except BrowserError:
                time.sleep(0.05)
        seconds = {}
        for name, selector in SEEN.items():
            page.wait_for_selector(selector, timeout=60_000)
            seconds[name] = time.perf_counter() - started
        return seconds
    finally:
        server.terminate()
        server.wait()
        page.context.close()


def main() -> None:
    """Measure and print one JSON line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--starts", type=int, default=5)
    parser.add_argument("--against", type=Path, help="the recap program of another installation, started in turn")
    parser.add_argument("--browser", default="/usr/bin/chromium")
    arguments = parser.parse_args()
    programs = {"this": RECAP} | ({"against": arguments.against.absolute()} if arguments.against else {})
    rows: dict[str, list[dict[str, float]]] = {name: [] for name in programs}
    load_before = os.getloadavg()[0]
    with sync_playwright() as playwright, tempfile.TemporaryDirectory(prefix="recap-bench-") as homes:
        browser = playwright.chromium.launch(executable_path=arguments.browser, args=ARGUMENTS)
        browser.new_page()
        time.sleep(5)
        for number in range(arguments.starts):
            for name, program in programs.items():
                rows[name].append(start_once(browser, program, Path(homes) / f"Empty Größe {name} {number}"))
        browser.close()
    described = {"cpus": os.cpu_count(), "load_before": load_before, "machine": platform.machine()}
    measured = {name: seconds(found) for name, found in rows.items()}
    line = {"benchmark": "first_paint", "starts": arguments.starts, **measured.pop("this"), **described}
    if measured:
        ratios = {f"{name}_ratio": ratio(rows["against"], rows["this"], name) for name in SEEN}
        line |= {
            "against": str(programs["against"]),
            **{f"against_{name}": s for name, s in measured["against"].items()},
        }
        line |= ratios
    print(json.dumps(line))


def seconds(rows: list[dict[str, float]]) -> dict[str, float]:
    """Median and slowest seconds until each part is seen."""
    medians = {f"{name}_s": round(statistics.median(row[name] for row in rows), 2) for name in SEEN}
    slowest = {f"{name}_slowest_s": round(max(row[name] for row in rows), 2) for name in SEEN}
    return medians | slowest


def ratio(rows: list[dict[str, float]], base: list[dict[str, float]], name: str) -> float:
    """Median over neighbouring starts of the seconds of `rows` over those of `base`."""
    return round(statistics.median(row[name] / other[name] for row, other in zip(rows, base, strict=True)), 2)


if __name__ == "__main__":
    main()
