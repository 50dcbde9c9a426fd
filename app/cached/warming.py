"""Getting ready while the browser is still opening: the first source and its records, then what later views need."""

import threading
import time
from typing import Final

from recap.errors import RecapError

_first_view = threading.Event()
_PATIENCE_S: Final = 20.0
_PAINTING_S: Final = 2.0
"""What a browser takes to draw the first view; until then the processor is its own."""


def first_view_is_there() -> None:
    """A visitor has been sent a view: what later views need may be made now."""
    _first_view.set()


def warm_up() -> None:
    """Load what the first view needs, then what the others do; a failure is shown by the view that meets it again."""

    from app.cached import datasets, tables
    from app.cached.ablations import waits_for_causes
    from app.cached.records import model_keys, read_records
    from app.settings import AppSettings
    from app.sources import find_sources

    sources = find_sources(AppSettings.from_environment())
    if not sources:
        return
    try:
        datasets.open_dataset(sources[0])
        _, *beside = model_keys(sources[0])
        for baseline in (None, *beside):
            read_records(sources[0], baseline)
        if _first_view.wait(_PATIENCE_S):
            time.sleep(_PAINTING_S)
        from app.cached import (
            explanations,
            models,  # not before: loading torch takes longer than all of the above
        )

        models.open_model(sources[0])
        if sources[0].has_parts:
            explanations.get_ready(sources[0])
        tables.hops(sources[0])
        tables.lift(sources[0])
        if sources[0].has_parts and not waits_for_causes(sources[0]):
            explanations.miss_labels(sources[0], 20)
    except RecapError:
        return
    datasets.freeze()
