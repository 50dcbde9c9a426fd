"""Threads: one in the app, whose visitors share the cores; torch's choice in library and commands."""

import os
import subprocess
import sys

import pytest

ASK = "import threading, torch; got = []; t = threading.Thread(target=lambda: got.append(torch.get_num_threads()))"
IN_A_THREAD = f"{ASK}; t.start(); t.join(); print(*got)"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("modules", "threads"),
    [
        ("app.cached.explanations", 1),
        ("recap.predictor, recap.evaluation.scoring, analysis.explain.explanation, app.cli.evaluate", 2),
    ],
)
@pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="one core: torch's choice is one thread anyway")
def test_one_thread_in_the_app_alone(modules: str, threads: int) -> None:
    """Asked in a thread of its own, as a visitor's script run is, where two threads would be torch's choice."""
    environment = os.environ | {"OMP_NUM_THREADS": "2", "MKL_NUM_THREADS": "2"}
    command = [sys.executable, "-c", f"import {modules}; {IN_A_THREAD}"]
    asked = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    assert asked.stdout.split() == [str(threads)]
