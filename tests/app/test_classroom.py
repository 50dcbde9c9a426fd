"""A class's answers in memory."""

import asyncio
import os
import re
import socket
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from websockets.asyncio.client import connect
from websockets.typing import Origin

from app.classroom import FEWEST_ANSWERS, MOST_LEARNERS, MOST_QUESTIONS, Asked, Classroom, Tally, current_classroom
from benchmarks.app import Client
from tests.background import RECAP, answers, wait_for

ASKED = Asked("source", "rare", "guess")


def test_off_unless_opened() -> None:
    """Nobody counts by default; two starts have two tokens."""
    assert current_classroom() is None
    tokens = {Classroom().token for _ in range(20)}
    assert len(tokens) == 20 and min(map(len, tokens)) >= 16


def test_counts_last_answers_from_five_on() -> None:
    """Five learners of two questions, one of whom answers again; what was chosen of other questions does not count."""
    room = Classroom()
    for number in range(FEWEST_ANSWERS - 1):
        room.keep(ASKED, f"{number}", 0)
        room.keep(Asked("source", "rare", "check"), f"{number}", 1)
    room.keep(ASKED, "0", 2)
    assert room.tally(ASKED, 3) == Tally(4, None)
    room.keep(ASKED, "one more", 1)
    assert room.tally(ASKED, 3) == Tally(5, (3, 1, 1))
    room.forget(ASKED)
    assert room.tally(ASKED, 3) == Tally(0, None)


def test_the_oldest_are_forgotten() -> None:
    """Whoever opens page after page fills no memory; a learner who answers again is not the oldest."""
    room = Classroom()
    for number in range(MOST_LEARNERS):
        room.keep(ASKED, f"{number}", 0)
    for learner in ("0", "one more"):
        room.keep(ASKED, learner, 1)
    assert room.tally(ASKED, 2) == Tally(MOST_LEARNERS, (MOST_LEARNERS - 2, 2))
    for number in range(MOST_QUESTIONS):
        room.keep(Asked(f"{number}", "rare", "guess"), "0", 0)
    assert len(room._answers) == MOST_QUESTIONS and room.tally(ASKED, 2).answers == 0


def test_threads_lose_no_answer() -> None:
    """Many learners at once, while the teacher looks."""
    room = Classroom()

    def answer(number: int) -> int:
        for lesson in ("rare", "visits", "rare"):
            room.keep(Asked("source", lesson, "guess"), f"{number}", number % 3)
        return room.tally(ASKED, 3).answers

    with ThreadPoolExecutor(8) as pool:
        assert max(pool.map(answer, range(300))) == 300
    assert room.tally(ASKED, 3) == Tally(300, (100, 100, 100))


@pytest.mark.slow
def test_the_start_prints_a_token_and_the_served_page_asks_for_it(tmp_path: Path) -> None:
    """The server runs in the process that printed it; its log holds the token nowhere else."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    url = f"127.0.0.1:{port}"

    async def buttons() -> set[str]:
        async with connect(f"ws://{url}/_stcore/stream", max_size=None, origin=Origin(f"http://{url}")) as stream:
            client = Client(stream)
            await client.open("learn", "page=teacher")
            return set(client.buttons)

    command, home = [str(RECAP), "app", "--class", "--port", str(port)], os.environ | {"RECAP_HOME": str(tmp_path)}
    out = subprocess.PIPE
    with subprocess.Popen(command, text=True, env=home, stdout=out, stderr=subprocess.STDOUT) as server:
        assert server.stdout is not None
        try:
            printed = re.search(r"page=teacher, .* token (\S{16})$", server.stdout.readline())
            wait_for(lambda: answers(port), "the server")
            assert asyncio.run(buttons()) == {"learn_enter", "learn_back"}
        finally:
            server.kill()
        assert printed and printed[1] not in server.stdout.read()
