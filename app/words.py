"""Words and numbers as the app shows them."""


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


def times(count: int) -> str:
    """A count as how often: 0 times, once, 2 times."""
    return "once" if count == 1 else f"{count:,} times"
