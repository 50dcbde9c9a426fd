"""A value made once: others wait for it, an error is not kept."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from app.cached.once import Once, Progress


def test_made_once_by_whoever_comes_first() -> None:
    """Eight ask at the same time, one makes it; all get the same object."""
    made: list[object] = []
    once: Once[object] = Once()

    def make(show: Progress) -> object:
        show(1, 2)
        made.append(object())
        return made[-1]

    with ThreadPoolExecutor(8) as pool:
        got = list(pool.map(lambda _: once.get("Making it", make), range(8)))
    assert len(made) == 1
    assert all(value is made[0] for value in got)


def test_after_an_error_the_next_call_tries_again() -> None:
    """A full disk today is not a full disk forever."""
    once: Once[int] = Once()

    def fail(_: Progress) -> int:
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        once.get("Making it", fail)
    assert once.get("Making it", lambda _: 7) == 7
