"""Threads of the server's own, beside those of its visitors."""

import logging
import threading
from collections.abc import Callable


def run_beside(work: Callable[[], None], name: str) -> None:
    """Do something in a thread that ends with the server.

    Streamlit warns about every call of its functions outside a visitor's script; that is what this is.
    """
    logging.getLogger("streamlit.runtime.scriptrunner_utils.script_run_context").setLevel(logging.ERROR)
    threading.Thread(target=work, name=name, daemon=True).start()
