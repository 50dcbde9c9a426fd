"""What is made from a value that does not change, kept as long as the value itself is.

Tables and explanations are shared by all visitors and never changed. Telling two of them apart by content, or bringing
one into the form it is sent in, takes longer than to look up which one it is.
"""

import threading
import weakref
from collections.abc import Callable
from typing import Generic, TypeVar

Thing = TypeVar("Thing")
Made = TypeVar("Made")


class PerObject(Generic[Thing, Made]):
    """``make(thing)``, made once for each object; forgotten with it."""

    def __init__(self, make: Callable[[Thing], Made]) -> None:
        self._make = make
        self._made: dict[int, tuple[weakref.ref[Thing], Made]] = {}
        self._lock = threading.Lock()

    def __call__(self, thing: Thing) -> Made:
        """What was made of this very object."""
        number = id(thing)
        known = self._made.get(number)
        if known is not None and known[0]() is thing:
            return known[1]
        made = self._make(thing)

        def forget(gone: "weakref.ref[Thing]") -> None:
            with self._lock:  # unless the number has gone to another object by now
                if number in self._made and self._made[number][0] is gone:
                    del self._made[number]

        with self._lock:
            self._made[number] = weakref.ref(thing, forget), made
        return made
