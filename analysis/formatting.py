"""How numbers are written: one rule for each kind, used by sentences, reports and views alike."""

from typing import Final

MINUS: Final = "−"
"""A true minus."""


def ordinal(rank: float) -> str:
    """A rank as a word; a mean rank of two tied places names both.

    >>> [ordinal(rank) for rank in (1, 2, 3, 11, 22, 1204, 2.5)]
    ['1st', '2nd', '3rd', '11th', '22nd', '1,204th', '2nd or 3rd']
    """
    if rank != int(rank):
        return f"{ordinal(int(rank))} or {ordinal(int(rank) + 1)}"
    number = int(rank)
    suffix = "th" if 10 <= number % 100 <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number:,}{suffix}"


def points(value: float) -> str:
    """Score points: two decimals, a true minus, never minus zero.

    >>> points(-0.004), points(-1.5), points(0.385)
    ('0.00', '−1.50', '0.39')
    """
    text = f"{value + 0.0:.2f}"
    return "0.00" if text == "-0.00" else text.replace("-", MINUS)


def signed_points(value: float) -> str:
    """Score points with their sign; zero has none.

    >>> signed_points(0.3), signed_points(-0.3), signed_points(0.001)
    ('+0.30', '−0.30', '0.00')
    """
    text = points(value)
    return text if text == "0.00" or text.startswith(MINUS) else f"+{text}"


def share(value: float) -> str:
    """A share or probability: three decimals."""
    return f"{value:.3f}"


def percent(value: float) -> str:
    """A chance in per cent; small ones are bounded rather than shown as zero.

    >>> percent(0.1234), percent(0.0004), percent(0.0)
    ('12.3 %', 'less than 0.1 %', 'less than 0.1 %')
    """
    return "less than 0.1 %" if value < 0.0005 else f"{100 * value:.1f} %"


def times(count: int) -> str:
    """How often.

    >>> times(1), times(2), times(1200)
    ('once', 'twice', '1,200 times')
    """
    return {1: "once", 2: "twice"}.get(count, f"{count:,} times")


def days(value: float) -> str:
    """A time span: hours below two days, else days, whole numbers.

    >>> days(0.01), days(0.5), days(12.4)
    ('less than an hour', '12 hours', '12 days')
    """
    if value < 2:
        hours = round(24 * value)
        return "less than an hour" if hours < 1 else "1 hour" if hours == 1 else f"{hours} hours"
    return f"{round(value):,} days"


def clock(hour: float) -> str:
    """A local time of day from hours, such as 18:30."""
    minutes = int(hour * 60)
    return f"{minutes // 60:02d}:{minutes % 60:02d}"


def adds_up(parts: list[float], total: float) -> bool:
    """Whether parts rounded to two decimals add up to the rounded total."""
    return round(sum(round(part, 2) for part in parts), 2) == round(total, 2)
