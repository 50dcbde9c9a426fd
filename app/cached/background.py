"""Threads of the server's own, beside those of its visitors."""

import logging
import threading
import time
from collections.abc import Callable
from typing import Final

PAUSE_S: Final = 0.02
"""Between two looks: a lock taken again at once would never reach a visitor who waits for it."""
_PAGE_MAKERS: Final = "ScriptRunner."
"""What Streamlit's names of threads that make a page begin with."""


def run_beside(work: Callable[[], None], name: str) -> None:
    """Do something in a thread that ends with the server.

    Streamlit warns about every call of its functions outside a visitor's script; that is what this is.
    """
    logging.getLogger("streamlit.runtime.scriptrunner_utils.script_run_context").setLevel(logging.ERROR)
    threading.Thread(target=work, name=name, daemon=True).start()


def give_way(patience: float, go_on: Callable[[], bool] = lambda: False) -> float:
    """Let the pages that are being made for visitors be made first; seconds that this took.

    Args:
        patience: seconds after which the work goes on all the same, or it would never come.
        go_on: whether somebody waits for the work itself.
    """
    started = time.monotonic()
    while not go_on() and time.monotonic() < started + patience and _makes_pages():
        time.sleep(PAUSE_S)
    return time.monotonic() - started


def _makes_pages() -> bool:
    return any(thread.name.startswith(_PAGE_MAKERS) for thread in threading.enumerate())
