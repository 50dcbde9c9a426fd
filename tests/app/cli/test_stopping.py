"""Ctrl-C and SIGTERM: a training saves first, all else ends at once. Threads: sleeping ones, and one in the app."""

import os
import signal
import subprocess
import sys

import pytest

from app.cli.train import stop_on_signals

SIGNALS = (signal.SIGINT, signal.SIGTERM)


@pytest.mark.parametrize("number", SIGNALS)
def test_a_training_that_asks_may_save(number: signal.Signals) -> None:
    """The first signal answers the next question; a second one does not wait. The handlers before come back.

    Where nobody asks, as while a baseline is measured, the first one ends it at once.
    """
    before = [signal.getsignal(one) for one in (*SIGNALS, signal.SIGALRM)]
    with stop_on_signals() as stop:
        assert not stop()
        os.kill(os.getpid(), number)
        assert stop() and signal.getitimer(signal.ITIMER_REAL)[0] == 0
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), number)
    with pytest.raises(KeyboardInterrupt), stop_on_signals():
        os.kill(os.getpid(), number)
    assert [signal.getsignal(one) for one in (*SIGNALS, signal.SIGALRM)] == before


@pytest.mark.parametrize(("given", "expected"), [({}, "PASSIVE 0"), ({"OMP_WAIT_POLICY": "ACTIVE"}, "ACTIVE 0")])
def test_threads_sleep_while_they_wait(given: dict[str, str], expected: str) -> None:
    """Set before torch is loaded by the command's first import; a value of the user stays."""
    names = ("OMP_WAIT_POLICY", "KMP_BLOCKTIME")
    code = "import app, os, sys; assert 'torch' not in sys.modules; print(*(os.environ[n] for n in sys.argv[1:]))"
    environment = {name: value for name, value in os.environ.items() if name not in names} | given
    found = subprocess.run([sys.executable, "-c", code, *names], env=environment, capture_output=True, text=True)
    assert found.stdout.strip() == expected, found.stderr


ASK = "import threading, torch; got = []; t = threading.Thread(target=lambda: got.append(torch.get_num_threads()))"
IN_A_THREAD = f"{ASK}; t.start(); t.join(); print(*got)"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("modules", "threads"),
    [
        ("app.threads; app.threads.share_cores()", 1),
        ("recap.asking.predictor, recap.evaluation.scoring, analysis.explain.explanation, app.cli.evaluate", 2),
    ],
)
@pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="one core: torch's choice is one thread anyway")
def test_one_thread_in_the_app_alone(modules: str, threads: int) -> None:
    """Asked in a thread of its own, as a visitor's script run is, where two threads would be torch's choice."""
    environment = os.environ | {"OMP_NUM_THREADS": "2", "MKL_NUM_THREADS": "2"}
    command = [sys.executable, "-c", f"import {modules}; {IN_A_THREAD}"]
    asked = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    assert asked.stdout.split() == [str(threads)]
