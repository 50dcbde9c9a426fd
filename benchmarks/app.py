"""Measure the app at its server: cold start, view change, step, filter, switch and other case, for one client and many.

Clients speak Streamlit's own protocol over loopback, without a browser: a time is from the click to the end of the
script run, with everything the page needs received. One JSON line: medians, 95th percentiles, versions, hardware.
With ``--against`` another checkout of the repository is measured in turns with this one: before and after in one run.

    python benchmarks/app.py [--data DIR --checkpoint DIR] [--clients 1,20] [--steps 30] [--against CHECKOUT]
"""

import argparse
import asyncio
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
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import psutil
import streamlit
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState
from websockets.asyncio.client import ClientConnection, connect
from websockets.typing import Origin

COMMAND = [sys.executable, "-c", "from app.cli.main import run; run()"]
ROOT = Path(__file__).parents[1]
MAX_CLIENTS = 40
FEWER = 6
"""Filters, switches and other cases of a round."""


class Client:
    """One visitor: remembers what the page holds, presses buttons, waits for the end of the script."""

    def __init__(self, socket: ClientConnection) -> None:
        self.socket = socket
        self.buttons: dict[str, tuple[str, str]] = {}
        self.widgets: dict[str, tuple[str, str, list[str]]] = {}
        self.page = ""
        self.query = ""
        self.received = 0

    async def open(self, page: str, query: str) -> float:
        """Open a view; seconds until its script has finished."""
        message = BackMsg()
        message.rerun_script.page_name = page
        message.rerun_script.query_string = query
        message.rerun_script.page_script_hash = ""
        self.page, self.query = "", query
        return await self._run(message)

    async def press(self, key: str) -> float:
        """Press a button by its key; seconds until the script, or the button's fragment, has finished."""
        widget, fragment = self.buttons[key]
        message, state = self._rerun(fragment)
        state.id = widget
        state.trigger_value = True
        return await self._run(message)

    async def choose(self, key: str, values: list[str]) -> float:
        """Choose pills by their words; seconds as above."""
        widget, fragment, _ = self.widgets[key]
        message, state = self._rerun(fragment)
        state.id = widget
        state.string_array_value.data.extend(values)
        return await self._run(message)

    async def enter(self, key: str, number: int) -> float:
        """Type a number; seconds as above."""
        widget, fragment, _ = self.widgets[key]
        message, state = self._rerun(fragment)
        state.id, state.double_value = widget, number
        return await self._run(message)

    def pills(self, key: str) -> list[str]:
        """The words of all pills of a key."""
        return self.widgets[key][2]

    def _rerun(self, fragment: str) -> tuple[BackMsg, WidgetState]:
        """A run of the open page, as a browser asks for it, and the place for the widget that changed."""
        message = BackMsg()
        message.rerun_script.page_script_hash = self.page
        message.rerun_script.query_string = self.query
        message.rerun_script.fragment_id = fragment
        return message, message.rerun_script.widget_states.widgets.add()

    async def _run(self, message: BackMsg) -> float:
        started = time.perf_counter()
        await self.socket.send(message.SerializeToString())
        while True:
            answer = ForwardMsg()
            data = await asyncio.wait_for(self.socket.recv(decode=False), timeout=120)
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
        for kind in ("button_group", "number_input"):
            if element.WhichOneof("type") == kind:
                widget = getattr(element, kind)
                options = [option.content for option in widget.options] if kind == "button_group" else []
                self.widgets[widget.id.rsplit("-", 1)[-1]] = (widget.id, answer.delta.fragment_id, options)
        if element.WhichOneof("type") == "button" and "-" in element.button.id:
            self.buttons[element.button.id.rsplit("-", 1)[-1]] = (element.button.id, answer.delta.fragment_id)


async def visit(url: str, case: int, steps: int) -> dict[str, list[float]]:
    """One client's round: open each view, step to and fro along a trajectory, filter, explain, switch and go on."""
    names = ("first_view", "view_change", "step", "step_kilobytes", "filter", "explain", "switch", "other_case")
    times: dict[str, list[float]] = {name: [] for name in names}
    async with connect(url.replace("http", "ws") + "/_stcore/stream", max_size=None, origin=Origin(url)) as socket:
        client = Client(socket)
        times["first_view"].append(await client.open("", ""))
        for page in ("long_tail", "walk", "", "walk"):  # Overview's own address is the first
            times["view_change"].append(await client.open(page, f"case={case}" if page == "walk" else ""))
        for step in range(steps):
            before = client.received
            times["step"].append(await client.press("back" if step % 2 else "next"))
            times["step_kilobytes"].append((client.received - before) / 1024)
            await asyncio.sleep(0.5)  # a person looks before the next step
        for turn in range(min(steps, FEWER)):
            times["filter"].append(await client.choose("show", [] if turn % 2 else client.pills("show")[1:2]))
            await asyncio.sleep(0.5)
        times["explain"].append(await client.open("explain", f"case={case}"))
        for turn in range(min(steps, FEWER)):
            parts = client.pills("edit_parts")
            times["switch"].append(await client.choose("edit_parts", parts if turn % 2 else parts[1:]))
            await asyncio.sleep(0.5)
            times["other_case"].append(await client.enter("explained_case", case + turn + 1))
            await asyncio.sleep(0.5)
    return times


async def measure(url: str, server: psutil.Process, clients: int, case: int, steps: int) -> dict[str, Any]:
    """All clients at once; medians and 95th percentiles of all their times in milliseconds.

    The server's processor time per request is there because it does not depend on how busy the machine is.
    """
    before = sum(server.cpu_times()[:2])
    rounds = await asyncio.gather(*(visit(url, case, steps) for _ in range(clients)))
    used = sum(server.cpu_times()[:2]) - before
    merged = {name: [value for times in rounds for value in times[name]] for name in rounds[0]}
    kilobytes = statistics.median(merged.pop("step_kilobytes") or [0.0])
    requests = sum(len(values) for values in merged.values())
    return {name: summary(values) for name, values in merged.items() if values} | {
        "step_kilobytes": round(kilobytes, 1),
        "server_cpu_ms_per_request": round(1000 * used / requests, 1),
    }


def summary(seconds: list[float]) -> dict[str, float]:
    """Median and 95th percentile in milliseconds."""
    ordered = sorted(seconds)
    p95 = ordered[min(int(0.95 * len(ordered)), len(ordered) - 1)]
    return {"n": len(ordered), "median_ms": round(1000 * statistics.median(ordered), 1), "p95_ms": round(1000 * p95, 1)}


def start(arguments: argparse.Namespace, checkout: Path, home: str) -> tuple["subprocess.Popen[bytes]", str, float]:
    """Start a checkout's app; returns the process, its address and the seconds until it answers."""
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
    """Every number of clients for every checkout; the checkouts take turns, so that both meet the same load."""
    checkouts = {"here": ROOT} | ({"against": arguments.against.resolve()} if arguments.against else {})
    result: dict[str, dict[str, Any]] = {}
    running = {}
    for name, checkout in checkouts.items():
        home = servers.enter_context(tempfile.TemporaryDirectory(prefix="recap-bench-", ignore_cleanup_errors=True))
        server, url, until_healthy = start(arguments, checkout, home)
        servers.callback(end, server)
        started = time.perf_counter()
        asyncio.run(visit(url, arguments.case, 0))
        first_round = time.perf_counter() - started
        result[name] = {"server_answers_s": round(until_healthy, 2), "first_round_s": round(first_round, 2)}
        running[name] = url, psutil.Process(server.pid)
    for count in [min(int(count), MAX_CLIENTS) for count in arguments.clients.split(",")]:
        for name, (url, process) in running.items():
            measured = measure(url, process, count, arguments.case, arguments.steps)
            result[name][f"clients_{count}"] = asyncio.run(measured)
    return result


def end(server: "subprocess.Popen[bytes]") -> None:
    """Stop a server."""
    server.terminate()
    server.wait(timeout=20)


def main() -> None:
    """Measure and print one JSON line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--data", type=Path)
    parser.add_argument("--checkpoint", type=Path)
    parser.add_argument("--against", type=Path, help="another checkout, measured in turns with this one")
    parser.add_argument("--case", type=int, default=0, help="a case that is not the last of its trajectory")
    parser.add_argument("--clients", default="1,20")
    parser.add_argument("--steps", type=int, default=30)
    arguments = parser.parse_args()
    load_before = psutil.getloadavg()[0]
    with ExitStack() as servers:
        result = measure_all(arguments, servers)
    facts = {"cpus": os.cpu_count(), "load_before": round(load_before, 2), "machine": platform.machine()}
    versions = {"python": platform.python_version(), "streamlit": streamlit.__version__}
    print(json.dumps({"benchmark": "app", **result, **facts, **versions}))


if __name__ == "__main__":
    main()
