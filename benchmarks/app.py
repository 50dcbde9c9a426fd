"""Measure the app at its server: first view, every view, step, filter, clock, switch and other case, for many visitors.

Clients speak Streamlit's protocol over loopback, without a browser. A time goes from the click to the end of the script
run, with all data received. Prints one JSON line: medians, 95th percentiles, versions, hardware. ``--against`` measures
another checkout in turns with this one.

Two kinds of visits:

- ``people`` come within ``--span`` seconds at random. They look at every new answer for about ``--pause`` seconds
  before they act again, and for half a second between two steps of a walk.
- ``stampede`` (with ``--stampede``): all act in the same instant. This measures the total work, since one Python
  process serves one script at a time.

``--limit`` ends a round after this many seconds; ``unfinished`` then lists the actions without an answer. Answers that
take longer than ten seconds are reported on standard error.

Each visitor has other cases, so no explanation is already cached.

    python -m benchmarks.app [--data DIR --checkpoint DIR] [--clients 1,20] [--stampede] [--against CHECKOUT]

Large data: ``--draw 1_400_000`` makes a dataset of that many synthetic check-ins (`benchmarks/scale.py`) and an
untrained checkpoint under ``--folder``, once. 1,400,000 give 40,000 places and 35,000 test cases; 33,278,683 give a
million places. ``--home`` keeps the user's folder with its records: without it, Overview is measured on samples while
the app ranks the other cases.
"""

import argparse
import asyncio
import json
import os
import platform
import random
import re
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections import defaultdict
from collections.abc import Coroutine, Iterator
from contextlib import ExitStack
from itertools import cycle
from pathlib import Path
from typing import Any

import psutil
import streamlit
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState
from websockets.asyncio.client import ClientConnection, connect
from websockets.typing import Origin

from benchmarks.scale import write_checkins

COMMAND = [sys.executable, "-c", "from app.cli.main import run; run()"]
ROOT = Path(__file__).parents[1]
MAX_CLIENTS = 40
FEWER = 6
"""Filters, switches and other cases of a round."""
WRITE_UNTRAINED = """\
from pathlib import Path
from recap.data.dataset import Dataset
from recap.presets import paper
from tests.untrained import write_untrained_checkpoint
def write(data, checkpoint):
    write_untrained_checkpoint(Dataset.load(Path(data)), Path(checkpoint), config=paper())
"""
SLOW_S = 10.0
"""Seconds after which an answer that is waited for is told."""
STEP_PAUSE = 0.5
"""Seconds between two steps along a walk."""


class Client:
    """One visitor: knows the page's widgets, presses buttons, waits for the end of the script."""

    def __init__(self, socket: ClientConnection) -> None:
        self.socket = socket
        self.buttons: dict[str, tuple[str, str]] = {}
        self.widgets: dict[str, tuple[str, str, list[str]]] = {}
        self.page = ""
        self.query = ""
        self.received = 0
        self.num_cases = 0
        self.waits_for: tuple[str, float] | None = None

    async def open(self, page: str, query: str) -> float:
        """Open a view; returns seconds until its script has finished."""
        message = BackMsg()
        message.rerun_script.page_name = page
        message.rerun_script.query_string = query
        message.rerun_script.page_script_hash = ""
        self.page, self.query = "", query
        return await self._run(message)

    async def press(self, key: str) -> float:
        """Press a button by its key; returns seconds until the script or fragment has finished."""
        widget, fragment = self.buttons[key]
        message, state = self._rerun(fragment)
        state.id = widget
        state.trigger_value = True
        return await self._run(message)

    async def choose(self, key: str, values: list[str]) -> float:
        """Choose pills by their labels; returns seconds."""
        widget, fragment, _ = self.widgets[key]
        message, state = self._rerun(fragment)
        state.id = widget
        state.string_array_value.data.extend(values)
        return await self._run(message)

    async def enter(self, key: str, number: int) -> float:
        """Type a number into a field or a list; returns seconds."""
        widget, fragment, options = self.widgets[key]
        message, state = self._rerun(fragment)
        state.id = widget
        if options:
            state.string_value = str(number)
        else:
            state.double_value = number
        return await self._run(message)

    async def pick(self, key: str, number: int) -> float:
        """Choose from a list, counted round; returns seconds."""
        widget, fragment, options = self.widgets[key]
        message, state = self._rerun(fragment)
        state.id = widget
        state.string_value = options[number % len(options)]
        return await self._run(message)

    async def slide(self, key: str, number: int) -> float:
        """Move a slider to one of its steps, counted round; returns seconds."""
        widget, fragment, (least, step, steps) = self.widgets[key]
        message, state = self._rerun(fragment)
        state.id = widget
        state.double_array_value.data.append(float(least) + number % int(steps) * float(step))
        return await self._run(message)

    def pills(self, key: str) -> list[str]:
        return self.widgets[key][2]

    def _rerun(self, fragment: str) -> tuple[BackMsg, WidgetState]:
        """A request to rerun the open page, and its state of the changed widget."""
        message = BackMsg()
        message.rerun_script.page_script_hash = self.page
        message.rerun_script.query_string = self.query
        message.rerun_script.fragment_id = fragment
        return message, message.rerun_script.widget_states.widgets.add()

    async def _run(self, message: BackMsg) -> float:
        started, told = time.perf_counter(), SLOW_S
        await self.socket.send(message.SerializeToString())
        while True:
            answer = ForwardMsg()
            try:
                data = await asyncio.wait_for(self.socket.recv(decode=False), timeout=SLOW_S)
            except TimeoutError:
                if time.perf_counter() - started >= told:
                    action = self.waits_for[0] if self.waits_for else "an answer"
                    print(f"{action}: {time.perf_counter() - started:.0f} s and waiting", file=sys.stderr, flush=True)
                    told *= 2
                continue
            self.received += len(data)
            answer.ParseFromString(data)
            kind = answer.WhichOneof("type")
            if kind == "navigation":
                if self.page not in ("", answer.navigation.page_script_hash):
                    raise RuntimeError("a control led to another view, so its time is not the control's")
                self.page = answer.navigation.page_script_hash
            elif kind == "page_info_changed":
                self.query = answer.page_info_changed.query_string
            elif kind == "delta" and answer.delta.WhichOneof("type") == "new_element":
                self._remember(answer)
            elif kind == "script_finished" and answer.script_finished != ForwardMsg.FINISHED_EARLY_FOR_RERUN:
                return time.perf_counter() - started

    def _remember(self, answer: ForwardMsg) -> None:
        element = answer.delta.new_element
        if element.WhichOneof("type") == "exception":
            raise RuntimeError(element.exception.message)
        for kind in ("button_group", "number_input", "selectbox"):
            if element.WhichOneof("type") == kind:
                widget = getattr(element, kind)
                options = [] if kind == "number_input" else [getattr(each, "content", each) for each in widget.options]
                self.widgets[widget.id.rsplit("-", 1)[-1]] = (widget.id, answer.delta.fragment_id, options)
        if element.WhichOneof("type") == "slider":
            slider = element.slider
            steps = [slider.min, slider.step, 1 + int((slider.max - slider.min) / slider.step)]
            self.widgets[slider.id.rsplit("-", 1)[-1]] = slider.id, answer.delta.fragment_id, list(map(str, steps))
        if element.WhichOneof("type") == "number_input" and element.number_input.id.endswith("explained_case"):
            self.num_cases = int(element.number_input.max) + 1
        if element.WhichOneof("type") == "selectbox" and element.selectbox.id.endswith("explained_case"):
            self.num_cases = 1 + max(
                int(number.replace(",", "")) for number in re.findall(r"\d[\d,]*", element.selectbox.help)
            )
        if element.WhichOneof("type") == "button" and "-" in element.button.id:
            self.buttons[element.button.id.rsplit("-", 1)[-1]] = (element.button.id, answer.delta.fragment_id)


class Pace:
    """When a visitor acts."""

    def __init__(self, arguments: argparse.Namespace, number: int, together: asyncio.Barrier | None) -> None:
        self.together = together
        self.random = random.Random(number)  # noqa: S311  # seeded, so that every checkout meets the same visitors
        self.arguments = arguments
        self.is_first = True

    async def look(self, pause: float | None = None) -> None:
        """Wait before the next action: first for the visitor's arrival, then for a look at the page."""
        if self.together is not None:
            await self.together.wait()
        elif self.is_first:
            await asyncio.sleep(self.random.uniform(0, self.arguments.span))
        else:
            pause = self.arguments.pause if pause is None else pause
            await asyncio.sleep(self.random.uniform(0.5 * pause, 1.5 * pause))
        self.is_first = False


class Visit:
    """One client's round.

    Attributes:
        times: seconds of every answered action.
        waits_for: the unanswered action, and its start.
    """

    def __init__(self) -> None:
        self.times: dict[str, list[float]] = defaultdict(list)
        self.client: Client | None = None

    @property
    def waits_for(self) -> tuple[str, float] | None:
        return None if self.client is None else self.client.waits_for

    async def take(self, url: str, cases: Iterator[int], steps: int, pace: Pace) -> None:
        """Open each view, step to and fro along a trajectory, filter, explain, switch and go on."""
        case, fewer = next(cases), min(steps, FEWER)
        async with connect(url.replace("http", "ws") + "/_stcore/stream", max_size=None, origin=Origin(url)) as socket:
            client = self.client = Client(socket)
            await pace.look()
            await self._timed("first_view", client.open("", ""))
            for page in ("long_tail", "walk", "", "walk"):  # Overview's own address is the first
                await pace.look()
                await self._timed(page or "overview", client.open(page, f"case={case}" if page == "walk" else ""))
            for step in range(steps):
                await pace.look(STEP_PAUSE if step else None)
                before = client.received
                await self._timed("step", client.press("back" if step % 2 else "next"))
                self.times["step_kilobytes"].append((client.received - before) / 1024)
            for turn in range(fewer):
                await pace.look()
                await self._timed("filter", client.choose("show", [] if turn % 2 else client.pills("show")[1:2]))
            await pace.look()
            await self._timed("next", client.open("next", ""))
            for _ in range(fewer):
                await pace.look()
                await self._timed("other_user", client.pick("user", next(cases)))
                await pace.look()
                await self._timed("stop", client.press("there"))
            await pace.look()
            await self._timed("at", client.choose("question", ["At"]))
            for _ in range(fewer):
                await pace.look()
                await self._timed("clock", client.slide("clock", next(cases)))
            await pace.look()
            await self._timed("whenever", client.choose("question", ["Whenever"]))
            await pace.look()
            await self._timed("everyone", client.open("next", "part=everyone"))
            await pace.look()
            await self._timed("explain", client.open("explain", f"case={case}"))
            for turn in range(fewer):
                await pace.look()
                parts = client.pills("edit_parts")
                await self._timed("switch", client.choose("edit_parts", parts if turn % 2 else parts[1:]))
                await pace.look()
                await self._timed("other_case", client.enter("explained_case", next(cases)))

    async def _timed(self, action: str, answer: Coroutine[Any, Any, float]) -> None:
        assert self.client is not None
        self.client.waits_for = action, time.perf_counter()
        self.times[action].append(await answer)
        self.client.waits_for = None


async def measure(
    url: str, server: psutil.Process, clients: int, arguments: argparse.Namespace, cases: Iterator[int], stampede: bool
) -> dict[str, Any]:
    """Medians and 95th percentiles of many clients' times in milliseconds.

    The server's processor time per request does not depend on the machine's load.
    """
    before, started = sum(server.cpu_times()[:2]), time.perf_counter()
    together = asyncio.Barrier(clients) if stampede else None
    paces = [Pace(arguments, number, together) for number in range(clients)]
    visits = [Visit() for _ in paces]
    rounds = [
        asyncio.create_task(visit.take(url, cases, arguments.steps, pace))
        for visit, pace in zip(visits, paces, strict=True)
    ]
    ended, going_on = await asyncio.wait(rounds, timeout=arguments.limit)
    used, seconds = sum(server.cpu_times()[:2]) - before, time.perf_counter() - started
    waiting = [visit.waits_for for visit, task in zip(visits, rounds, strict=True) if task in going_on]
    for task in going_on:
        task.cancel()
    await asyncio.gather(*going_on, return_exceptions=True)
    for task in ended:
        task.result()  # raise if an action failed
    names = list(dict.fromkeys(name for visit in visits for name in visit.times))
    merged = {name: [value for visit in visits for value in visit.times[name]] for name in names}
    kilobytes = statistics.median(merged.pop("step_kilobytes", [0.0]))
    requests = sum(len(values) for values in merged.values())
    late = [f"{wait[0]} for {started + seconds - wait[1]:.0f} s" if wait else "a look" for wait in waiting]
    return {name: summary(values) for name, values in merged.items()} | {
        "worst_p95_ms": max((summary(values)["p95_ms"] for values in merged.values()), default=0.0),
        "step_kilobytes": round(kilobytes, 1),
        "unfinished": late,
        "seconds": round(seconds, 1),
        "server_cpu_ms_per_request": round(1000 * used / requests, 1),
    }


def summary(seconds: list[float]) -> dict[str, float]:
    ordered = sorted(seconds)
    p95 = ordered[min(int(0.95 * len(ordered)), len(ordered) - 1)]
    return {"n": len(ordered), "median_ms": round(1000 * statistics.median(ordered), 1), "p95_ms": round(1000 * p95, 1)}


def start(arguments: argparse.Namespace, checkout: Path, home: str) -> tuple["subprocess.Popen[bytes]", str, float]:
    """Start a checkout's app; returns process, address and seconds until it answers."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [*COMMAND, "app", "--port", str(port)]
    for name in ("data", "checkpoint"):
        if getattr(arguments, name):
            command += [f"--{name}", str(getattr(arguments, name).resolve())]
    started = time.perf_counter()
    environment = os.environ | {"RECAP_HOME": home, "PYTHONPATH": str(checkout)}
    quiet = subprocess.DEVNULL
    server = subprocess.Popen(command, stdout=quiet, stderr=quiet, env=environment, cwd=checkout)  # noqa: S603
    url = f"http://127.0.0.1:{port}"
    while True:
        try:
            with urllib.request.urlopen(f"{url}/_stcore/health", timeout=2):  # noqa: S310  # our own server
                return server, url, time.perf_counter() - started
        except OSError:
            if server.poll() is not None:
                sys.exit(f"recap app of {checkout} ended with code {server.returncode}")
            time.sleep(0.05)


def measure_all(arguments: argparse.Namespace, servers: ExitStack) -> dict[str, dict[str, Any]]:
    """Measure every number of clients; checkouts take turns, so both meet the same load."""
    checkouts = {"here": ROOT} | ({"against": arguments.against.resolve()} if arguments.against else {})
    result: dict[str, dict[str, Any]] = {}
    running = {}
    for name, checkout in checkouts.items():
        fresh = tempfile.TemporaryDirectory(prefix="recap-bench-", ignore_cleanup_errors=True)
        home = str(arguments.home.resolve()) if arguments.home else servers.enter_context(fresh)
        server, url, until_healthy = start(arguments, checkout, home)
        servers.callback(end, server)
        process = psutil.Process(server.pid)
        before = sum(process.cpu_times()[:2])
        cold, num_cases = asyncio.run(first_round(url, process))
        result[name] = {
            "server_answers_s": round(until_healthy, 2),
            "server_answers_cpu_s": round(before, 2),
            "cases": num_cases,
            "cold_s": {page: round(seconds, 2) for page, (seconds, _) in cold.items()},
            "cold_cpu_s": {page: round(seconds, 2) for page, (_, seconds) in cold.items()},
            "peak_gb": round(peak_gb(process), 2),
        }
        cases = cycle((arguments.case + number) % num_cases for number in range(1, num_cases))
        running[name] = url, psutil.Process(server.pid), cases
    manners = {"people": False, "stampede": True} if arguments.stampede else {"people": False}
    for manner, stampede in manners.items():
        for count in [min(int(count), MAX_CLIENTS) for count in arguments.clients.split(",")]:
            for name, (url, process, cases) in running.items():
                measured = measure(url, process, count, arguments, cases, stampede=stampede)
                result[name][f"{manner}_{count}"] = asyncio.run(measured)
    return result


async def first_round(url: str, server: psutil.Process) -> tuple[dict[str, tuple[float, float]], int]:
    """Open every view once, Explain on two cases. Returns wall and server processor seconds of each, and the number of
    cases.
    """
    took = {}
    async with connect(url.replace("http", "ws") + "/_stcore/stream", max_size=None, origin=Origin(url)) as socket:
        client = Client(socket)
        rounds = {"first_view": ("", ""), "walk": ("walk", ""), "another_walk": ("walk", "case=7")}
        rounds |= {"next": ("next", ""), "everyone": ("next", "part=everyone")}
        rounds |= {"explain": ("explain", ""), "another_explain": ("explain", "case=7"), "long_tail": ("long_tail", "")}
        for name, (page, query) in rounds.items():
            before = sum(server.cpu_times()[:2])
            seconds = await client.open(page, query)
            took[name] = seconds, sum(server.cpu_times()[:2]) - before
        return took, client.num_cases


def peak_gb(process: psutil.Process) -> float:
    """The server's peak resident memory in GB, or its current one if unknown."""
    try:
        status = Path(f"/proc/{process.pid}/status").read_text(encoding="utf-8")
        return int(status.split("VmHWM:")[1].split()[0]) / (1 << 20)
    except (OSError, IndexError, ValueError):
        return process.memory_info().rss / (1 << 30)


def make_city(count: int, folder: Path) -> tuple[Path, Path]:
    """A dataset of ``count`` synthetic check-ins and a checkpoint, made if missing.

    The model has the paper's sizes and is untrained, which costs the same to score.
    """
    folder.mkdir(parents=True, exist_ok=True)
    raw, data, checkpoint = (folder / f"{count}.{kind}" for kind in ("parquet", "dataset", "checkpoint"))
    if not data.exists():
        if not raw.exists():
            write_checkins(raw, count, "parquet")
        prepare = ["prepare", str(raw), "--format", "parquet", "--out", str(data), "--preset", "default"]
        subprocess.run([*COMMAND, *prepare], check=True, cwd=ROOT, stdout=subprocess.DEVNULL)  # noqa: S603
    if not checkpoint.exists():
        program = f"{WRITE_UNTRAINED}write({str(data)!r}, {str(checkpoint)!r})"
        subprocess.run([sys.executable, "-c", program], check=True, cwd=ROOT)  # noqa: S603
    return data, checkpoint


def end(server: "subprocess.Popen[bytes]") -> None:
    server.terminate()
    try:
        server.wait(timeout=20)
    except subprocess.TimeoutExpired:  # it frees many GB
        server.kill()
        server.wait()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--data", type=Path)
    parser.add_argument("--checkpoint", type=Path)
    parser.add_argument("--against", type=Path, help="another checkout, measured in turns with this one")
    parser.add_argument("--case", type=int, default=0, help="the case before the first that is opened")
    parser.add_argument("--clients", default="1,20")
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--pause", type=float, default=5.0, help="seconds a person looks at a new answer")
    parser.add_argument("--limit", type=float, help="end a round after so many seconds and tell what was not answered")
    parser.add_argument("--span", type=float, default=60.0, help="seconds within which people come, at random")
    parser.add_argument("--stampede", action="store_true", help="also let all act in the same instant, time and again")
    parser.add_argument("--draw", type=int, metavar="COUNT", help="measure on so many synthetic check-ins")
    parser.add_argument("--folder", type=Path, default=Path("recap-drawn"), help="where --draw makes its files")
    parser.add_argument("--home", type=Path, help="the user's folder, kept; a fresh one by default")
    arguments = parser.parse_args()
    if arguments.draw:
        arguments.data, arguments.checkpoint = make_city(arguments.draw, arguments.folder)
    load_before = psutil.getloadavg()[0]
    with ExitStack() as servers:
        result = measure_all(arguments, servers)
    facts = {"cpus": os.cpu_count(), "load_before": round(load_before, 2), "machine": platform.machine()}
    versions = {"python": platform.python_version(), "streamlit": streamlit.__version__}
    print(json.dumps({"benchmark": "app", **result, **facts, **versions}))


if __name__ == "__main__":
    main()
