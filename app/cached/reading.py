"""A large dataset is read in the background, so that the first view is there before it; a small one at once."""

import threading
from functools import partial
from typing import Final

import pyarrow as pa
import pyarrow.parquet as pq
import streamlit as st

from app.cached import datasets
from app.cached.background import run_beside
from app.cached.keys import BY_DATASET
from app.sources import Source
from recap.errors import RecapError

LARGE_CHECKINS: Final = 3_000_000
"""Check-ins beyond which reading takes more than the two seconds that a first view may wait for it."""
PATIENCE_S: Final = 1.0
"""How long a view waits for a large dataset before it shows that it is being read."""


class Reading:
    """Reads a dataset in a thread of its own.

    Attributes:
        failure: what went wrong; empty while nothing has.
    """

    def __init__(self, source: Source) -> None:
        self.failure = ""
        self._ended = threading.Event()
        run_beside(partial(self._run, source), "reading")

    def is_over(self, patience: float) -> bool:
        """Whether it has been read, or failed; waits so many seconds for it."""
        return self._ended.wait(patience)

    def _run(self, source: Source) -> None:
        try:
            opened = datasets.open_dataset(source)
            _ = opened.cases, opened.labels, opened.visits, opened.dataset.local_time
        except RecapError as error:
            self.failure = str(error)  # the view that opens the dataset meets the error itself, and shows it
        finally:
            self._ended.set()


def is_read(source: Source) -> bool:
    """Whether a view may open the dataset without a long wait; begins to read a large one."""
    checkins, _ = size_of(source)
    return checkins <= LARGE_CHECKINS or reading_of(source).is_over(PATIENCE_S)


@st.cache_resource(max_entries=64, show_spinner=False, hash_funcs=BY_DATASET)
def size_of(source: Source) -> tuple[int, int]:
    """Check-ins and places, as the tables' own headers say; zeros where they cannot be read."""
    try:
        checkins, pois = (pq.read_metadata(source.dataset_folder / f"{name}.parquet") for name in ("checkins", "pois"))
        return checkins.num_rows, pois.num_rows
    except (OSError, pa.ArrowException):
        return 0, 0


@st.cache_resource(max_entries=4, show_spinner=False, hash_funcs=BY_DATASET)
def reading_of(source: Source) -> Reading:
    """The source's reading, begun by whoever asks first."""
    return Reading(source)
