"""Measure the first useful paint in a real browser: seconds from the command to headline and charts of the Overview.

The browser is open already, its cache and the app's cache are empty, the operating system's file cache is warm.
One JSON line: medians over the starts.

    python benchmarks/first_paint.py [--starts 5] [--browser /usr/bin/chromium]
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
    "charts": ".st-key-lollipops .main-svg",
}


def start_once(browser: Browser, home: str) -> dict[str, float]:
    """One start of the app with an empty cache, watched by an empty browser."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    page = browser.new_context(viewport={"width": 1440, "height": 900}).new_page()
    environment = os.environ | {"RECAP_HOME": home}
    started = time.perf_counter()
    command = [str(RECAP), "app", "--port", str(port)]
    quiet = subprocess.DEVNULL
    server = subprocess.Popen(command, env=environment, stdout=quiet, stderr=quiet)  # noqa: S603 # our own command
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
    parser.add_argument("--browser", default="/usr/bin/chromium")
    arguments = parser.parse_args()
    load_before = os.getloadavg()[0]
    with sync_playwright() as playwright, tempfile.TemporaryDirectory(prefix="recap-bench-") as homes:
        browser = playwright.chromium.launch(executable_path=arguments.browser, args=ARGUMENTS)
        browser.new_page()
        time.sleep(5)
        rows = [start_once(browser, f"{homes}/{number}") for number in range(arguments.starts)]
        browser.close()
    medians = {f"{name}_s": round(statistics.median(row[name] for row in rows), 2) for name in SEEN}
    slowest = {f"{name}_slowest_s": round(max(row[name] for row in rows), 2) for name in SEEN}
    described = {"cpus": os.cpu_count(), "load_before": load_before, "machine": platform.machine()}
    print(json.dumps({"benchmark": "first_paint", "starts": arguments.starts, **medians, **slowest, **described}))


if __name__ == "__main__":
    main()
