"""Positions of two-hop paths' middle places in a figure."""


def spread_heights(number: int) -> list[float]:
    """Heights from 0 (top) to 1, evenly spread.

    >>> spread_heights(3), spread_heights(1)
    ([0.0, 0.5, 1.0], [0.5])
    """
    return [at / (number - 1) for at in range(number)] if number > 1 else [0.5] * number
