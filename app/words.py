"""Words and numbers as the app shows them; text from data is made harmless before it meets Markdown."""

import pandas as pd

from recap.printable import markdown_text


def plain(text: str) -> str:
    """Text from data, escaped so that Streamlit's Markdown shows it as it is, see `recap.printable.markdown_text`."""
    return markdown_text(text)


def ordinal(rank: float) -> str:
    """A rank in words: 1st, 2nd, 11th; a mean over ties keeps its half.

    >>> [ordinal(rank) for rank in (1, 2, 11, 103, 2.5)]
    ['1st', '2nd', '11th', '103rd', '2.5']
    """
    if rank != int(rank):
        return f"{rank:,.1f}"
    number = int(rank)
    ending = "th" if 10 <= number % 100 <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number:,}{ending}"


def walker(user: int) -> str:
    """A walker's pseudonym: the index, never the id."""
    return f"Walker {user:03d}"


def day(time: pd.Timestamp) -> str:
    """A day: Tue 14 May."""
    return f"{time:%a} {time.day} {time:%b}"


def times(count: int) -> str:
    """A count as how often: 0 times, once, 2 times."""
    return "once" if count == 1 else f"{count:,} times"


def signed(value: float, digits: int = 3) -> str:
    """A difference with its sign, a true minus.

    >>> signed(-0.1234)
    '−0.123'
    """
    return f"{value:+.{digits}f}".replace("-", "−")
