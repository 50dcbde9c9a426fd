"""A value that takes long and is made once, with a progress bar that only the visitor who waits for it sees.

Streamlit's cached functions play back what was drawn inside them at every later call: a bar drawn there came back as
empty elements, each run shifted what follows it, and the browser built map and tables again at every click.
"""

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

import streamlit as st

T = TypeVar("T")
Progress = Callable[[int, int], None]


class Once(Generic[T]):
    """A place for one value; keep it in a cached function that does nothing but return it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._made: tuple[T] | None = None

    def get(self, message: str, make: Callable[[Progress], T], *, at_once: bool = False) -> T:
        """The value; the first call makes it, others wait for that. After an error the next call tries again.

        Args:
            message: shown while it is made.
            make: told whom to tell (cases done, cases in all).
            at_once: nobody waits for it, since it only has to be read: nothing is drawn, and so nothing is left empty
                wherever a cached function asked for it.
        """
        if self._made is None and at_once:
            with self._lock:
                if self._made is None:
                    self._made = (make(lambda done, total: None),)
        if self._made is None:
            with st.container(), st.spinner(message):
                bar = st.empty()

                def show(done: int, total: int) -> None:
                    bar.progress(done / max(total, 1), f"{done:,} of {total:,} cases")

                with self._lock:
                    if self._made is None:
                        self._made = (make(show),)
                bar.empty()
        return self._made[0]
