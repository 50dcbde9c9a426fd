"""A fuzzer over mutated inputs, forged folders and hostile names, from the file to terminal, HTML, log and page.

    python -m tests.chaos.fuzz --minutes 5
    python -m tests.chaos.fuzz --seed 7 --first 123 --cases 1      # one case again

Commands run in this process, one in 200 in its own; pages are opened as the app's tests open them. Prints one JSON line
for each finding and one at the end; exit code 1 where there was a finding: a traceback, another exit code, a control
character, an outside request, a half-written folder, more than 1 GB, more than 30 s of the processor or ten minutes in
all.
"""

import argparse
import json
import os
import resource
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, Final
from unittest.mock import patch

import numpy as np

from recap.data.dataset import Dataset
from recap.errors import RecapError
from recap.model.pretrained_curves import PretrainedCurves, _packaged
from tests.chaos.fuzz_cases import Case, Originals, make_case
from tests.chaos.fuzz_pages import CONTROLS, findings_on
from tests.cli_runner import recap_here
from tests.shell import RECAP

MOST_CPU_SECONDS: Final = 30
MOST_SECONDS: Final = 600
MOST_KILOBYTES: Final = 1 << 20
OWN_PROCESS_EVERY: Final = 200
ACTIVE_TAGS: Final = ("script", "img", "iframe", "object", "embed", "link", "base", "a", "form")


class _ActiveParts(HTMLParser):
    """What in a page would run or ask for something, as a browser takes its tags apart."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        acting = [name for name, _ in attrs if name.startswith("on") or name in ("src", "href")]
        if tag in ACTIVE_TAGS or acting:
            self.found.append(f"<{tag}> {acting}")


class TooSlowError(BaseException):
    """Past every `except Exception` and `except OSError` of the code under test."""


def look_for_findings(case: Case, folder: Path, number: int) -> list[str]:
    """Run a case and say what must not have happened."""
    outside: list[str] = []
    found: list[str] = []
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    try:
        with _time_limit(), _no_network(outside):
            if case.page is not None:
                found += findings_on(case.page)
                return found + _findings_of(outside, before)
            own = number % OWN_PROCESS_EVERY == 0 and case.curves is None
            with _pretrained_from(case.curves):
                result = _own_process(case.arguments) if own else recap_here(*case.arguments)
    except TooSlowError:
        return [f"more than {MOST_CPU_SECONDS} s of the processor, or {MOST_SECONDS} s in all"]
    except Exception:
        return ["traceback: " + traceback.format_exc(limit=-3).replace("\n", " | ")[-600:]]
    if result.returncode not in (0, 2):
        found.append(f"exit code {result.returncode}: {result.stderr[-300:]}")
    if "No such" in result.stderr and "(see `recap" in result.stderr:
        found.append(f"no command of today: {result.stderr[:200]}")
    if "Traceback" in result.stderr:
        found.append(f"traceback: {result.stderr[-400:]}")
    if result.returncode == 2 and not (result.stderr.startswith("recap: ") and result.stderr.count("\n") == 1):
        found.append(f"not one line: {result.stderr[:300]!r}")
    if len(result.stderr) > 4000:
        found.append(f"a refusal of {len(result.stderr):,} characters")
    if CONTROLS.search(result.stdout + result.stderr):
        found.append("control character on the terminal")
    return found + _findings_of(outside, before) + list(_bad_files(case, folder, result.returncode))


def _own_process(arguments: list[str]) -> "subprocess.CompletedProcess[str]":
    return subprocess.run([RECAP, *arguments], capture_output=True, text=True, check=False)  # ended by the time limit


def _peak_kilobytes() -> int:
    return max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))


def _findings_of(outside: list[str], before: int) -> list[str]:
    """Requests to the network, and more memory than before a case and than allowed."""
    peak = _peak_kilobytes()
    too_much = [f"{peak:,} KB"] if peak > max(MOST_KILOBYTES, before) else []
    return [*(f"outside request: {address}" for address in outside), *too_much]


def _bad_files(case: Case, folder: Path, code: int) -> Iterator[str]:
    """Half-written folders, left-over temporary ones, pages that would act."""
    for path in folder.rglob("*"):
        if path.name.startswith(".") and path.name not in (".cache",):
            yield f"left over: {path.name}"
        if path.suffix == ".html":
            page = path.read_text(encoding="utf-8")
            parts = _ActiveParts()
            parts.feed(page)
            if parts.found:
                yield f"{path.name} holds active HTML: {parts.found[0]}"
            if CONTROLS.search(page):
                yield f"{path.name} holds a control character"
    if case.out is None or not case.out.exists():
        if case.out is not None and code == 0:
            yield "nothing written after exit code 0"
        return
    if code != 0:
        yield f"something written in spite of exit code {code}"
    if case.out.is_file():
        return
    try:
        Dataset.load(case.out)
    except RecapError as error:
        yield f"half-written folder: {error}"
    card = case.out / "CARD.md"
    if card.is_file() and "](" in card.read_text(encoding="utf-8").replace("\\]\\(", ""):
        yield "the card holds a link or picture"


@contextmanager
def _time_limit() -> Iterator[None]:
    def stop(*_: Any) -> None:
        raise TooSlowError

    limits = (
        (signal.SIGPROF, signal.ITIMER_PROF, MOST_CPU_SECONDS),
        (signal.SIGALRM, signal.ITIMER_REAL, MOST_SECONDS),
    )
    for number, timer, seconds in limits:
        signal.signal(number, stop)
        signal.setitimer(timer, seconds)
    try:
        yield
    finally:
        for _, timer, _ in limits:
            signal.setitimer(timer, 0)


@contextmanager
def _pretrained_from(file: Path | None) -> Iterator[None]:
    """Another file in the place of the package's pretrained curves."""
    if file is None:
        yield
        return
    _packaged.cache_clear()
    try:
        with patch.object(PretrainedCurves.load.__func__, "__defaults__", (file,)):  # type: ignore[attr-defined]
            yield
    finally:
        _packaged.cache_clear()


@contextmanager
def _no_network(outside: list[str]) -> Iterator[None]:
    real = socket.socket.connect

    def connect(self: socket.socket, address: Any) -> None:
        if self.family != socket.AF_UNIX:
            outside.append(str(address))
            raise OSError("the fuzzer lets nothing out")
        real(self, address)

    with patch.object(socket.socket, "connect", connect):
        yield


def main() -> int:
    """Run until the time or the cases are over."""
    parser = argparse.ArgumentParser(description="Fuzz the recap command.")
    parser.add_argument("--minutes", type=float, default=5.0)
    parser.add_argument("--cases", type=int, default=1_000_000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = "1"
    root = Path(tempfile.mkdtemp(prefix="recap-fuzz-"))
    os.environ["RECAP_HOME"] = str(root / "home")
    counts: Counter[str] = Counter()
    ends = time.monotonic() + 60 * options.minutes
    findings = number = 0
    try:
        originals = Originals(root / "originals")
        os.chdir(root)
        for number in range(options.first, options.first + options.cases):
            if time.monotonic() > ends:
                break
            rng = np.random.default_rng([options.seed, number])
            folder = root / "case"
            folder.mkdir()
            case = make_case(originals, folder, rng)
            counts[case.arguments[0]] += 1
            for finding in look_for_findings(case, folder, number):
                findings += 1
                answer = {"seed": options.seed, "case": number, "what": case.what, "command": case.arguments[0]}
                print(json.dumps(answer | {"finding": finding}), flush=True)
            shutil.rmtree(folder)
    finally:
        os.chdir("/")
        shutil.rmtree(root, ignore_errors=True)
    facts = {"cases": sum(counts.values()), "findings": findings, "seed": options.seed, "commands": dict(counts)}
    took = time.monotonic() - ends + 60 * options.minutes
    print(json.dumps(facts | {"seconds": round(took), "peak_megabytes": _peak_kilobytes() >> 10}))
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
