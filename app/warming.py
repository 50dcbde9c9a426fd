"""Load the first source and its records while the browser opens, then what later views need."""

import logging
import threading
import time
from contextlib import suppress
from typing import Final

from app import uploads
from recap.errors import RecapError

_first_view = threading.Event()
_PATIENCE_S: Final = 20.0
_CLEANING_S: Final = 600.0
_PAINTING_S: Final = 2.0
"""How long a browser takes to draw the first view; until then, leave it the processor."""


def start_warming() -> None:
    """Load in a thread that ends with the server; another removes abandoned uploads.

    Streamlit's warnings about calls outside a visitor's script do not apply here.
    """
    logging.getLogger("streamlit.runtime.scriptrunner_utils.script_run_context").setLevel(logging.ERROR)
    threading.Thread(target=_warm_up, name="warming", daemon=True).start()
    threading.Thread(target=_clean_up, name="cleaning", daemon=True).start()


def first_view_is_there() -> None:
    """Note that a visitor has a view, so loading for later views may start."""
    _first_view.set()


def _clean_up() -> None:
    """Remove the copies of files whose page was closed, every ten minutes."""
    while True:
        with suppress(OSError, RecapError):
            uploads.discard_old()
        time.sleep(_CLEANING_S)


def _warm_up() -> None:
    """Load what the first view needs, then the rest; views show failures again."""
    from app.cached import workspace
    from app.settings import AppSettings
    from app.sources import find_sources

    sources = find_sources(AppSettings.from_environment())
    if not sources:
        return
    try:
        _, *beside = workspace.model_keys(sources[0])
        for baseline in (None, *beside):
            workspace.read_records(sources[0], baseline)
        if _first_view.wait(_PATIENCE_S):
            time.sleep(_PAINTING_S)
        from analysis.explain.paths import training_rows
        from app.cached import explanations  # not before: loading torch takes longer than all of the above

        explanations.ready(sources[0])
        if sources[0].has_parts:
            training_rows(explanations.open_predictor(sources[0]))  # the index that all explanations need
        if sources[0].has_parts and not workspace.waits_for_causes(sources[0]):
            workspace.read_ablations(sources[0])
    except RecapError:
        return
    workspace.freeze()
