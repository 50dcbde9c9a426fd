"""How numbers, times and users are written in sentences, reports and views."""

import math
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Final

MINUS: Final = "−"
"""A true minus."""
LIKELY: Final = 0.1
"""A first choice below is called unlikely; the map of Next shows every place from here on."""


def capitalised(text: str) -> str:
    """A text with its first letter in upper case.

    >>> capitalised("two-hop paths to Rome"), capitalised("")
    ('Two-hop paths to Rome', '')
    """
    return text[:1].upper() + text[1:]


def ordinal(rank: float) -> str:
    """A rank as a word; a mean over a tie is written as both neighbouring ranks.

    >>> [ordinal(rank) for rank in (1, 2, 3, 11, 22, 1204, 2.5)]
    ['1st', '2nd', '3rd', '11th', '22nd', '1,204th', 'tied 2nd–3rd']
    """
    if rank != int(rank):
        return f"tied {ordinal(math.floor(rank))}–{ordinal(math.ceil(rank))}"
    number = int(rank)
    suffix = "th" if 10 <= number % 100 <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number:,}{suffix}"


def rank_number(rank: float) -> str:
    """A rank as a number; a tie as in `ordinal`.

    >>> [rank_number(rank) for rank in (1, 1204, 2.5, float("nan"))]
    ['1', '1,204', '2–3', '–']
    """
    if rank != rank:  # a place beyond an imported list has none
        return "–"
    return f"{math.floor(rank):,}" if rank == int(rank) else f"{math.floor(rank):,}–{math.ceil(rank):,}"


def rank_column(ranks: Iterable[float]) -> list[str]:
    """Ranks padded with spaces, so that sorting their text sorts them by size.

    >>> rank_column([12, 2.5])
    ['12', ' 2–3']
    """
    texts = [rank_number(rank) for rank in ranks]
    digits = [len(text.partition("–")[0]) for text in texts]
    longest = max(digits, default=0)
    return [" " * (longest - length) + text for text, length in zip(texts, digits, strict=True)]


def rank_word(rank: float) -> str:
    """A rank, or that the place is not in the list.

    >>> rank_word(3.0), rank_word(float("nan"))
    ('3rd', 'not in its list')
    """
    return "not in its list" if rank != rank else ordinal(rank)


def moved_rank(rank: float | None, before: float) -> str:
    """A rank after an ablation; None if it was not run.

    >>> moved_rank(3.0, 1.0), moved_rank(1.0, 1.0), moved_rank(None, 1.0)
    ('3rd', 'stays 1st', '–')
    """
    if rank is None:
        return "–"
    return f"stays {ordinal(rank)}" if rank == before else ordinal(rank)


def next_sentence(
    who: str, place: str, probability: float, words: str, *, only_new: bool = False, verb: str = "will", when: str = ""
) -> str:
    """Where somebody goes next, by the first choice of a list; ``words``: its probability in words, if any.

    >>> next_sentence("user 3", "Oak Café", 0.26, "26 %"), next_sentence("user 3", "Oak Café", math.nan, "")
    ('User 3 will most likely go to Oak Café (26 %) next.', 'User 3 will most likely go to Oak Café next.')
    >>> next_sentence("user 3", "Oak Café", 0.003, "0.3 %", only_new=True)
    'No new place is likely for user 3: the first choice, Oak Café, has 0.3 %.'
    """
    if probability < LIKELY:
        who = f"{who} {when}".strip()
        return f"No {'new place' if only_new else 'place'} is likely for {who}: the first choice, {place}, has {words}."
    named = f"{place}{f' ({words})' if words else ''}"
    if when:
        return f"{capitalised(when)} {who} {verb} most likely be at {named}."
    return f"{capitalised(who)} {verb} most likely go to {named} next."


def points(value: float) -> str:
    """Score points with two decimals.

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
    return signed(value, 2)


def signed(value: float, digits: int = 3) -> str:
    """A difference with its sign.

    >>> signed(-0.1234), signed(0.2, 2), signed(-0.0004)
    ('−0.123', '+0.20', '0.000')
    """
    text = f"{value:+.{digits}f}"
    return text[1:] if not text.strip("+-0.") else text.replace("-", MINUS)


def share(value: float | None) -> str:
    """A share or probability with three decimals; None for an empty group.

    >>> share(0.25), share(None)
    ('0.250', '–')
    """
    return "–" if value is None else f"{value:.3f}"


def chance(probability: float) -> str:
    """A probability in per cent; small ones as a bound.

    >>> chance(0.1234), chance(0.0004), chance(0.0)
    ('12.3 %', 'less than 0.1 %', 'less than 0.1 %')
    """
    return "less than 0.1 %" if probability < 0.0005 else percent(probability, 1)


def percent(share: float, digits: int = 0) -> str:
    """A share in per cent.

    >>> percent(0.35), percent(0.1234, 1)
    ('35 %', '12.3 %')
    """
    return f"{share:.{digits}%}".replace("%", " %")


def all_or_percent(share: float, digits: int = 0) -> str:
    """A share in per cent; all and none in words.

    >>> all_or_percent(1.0), all_or_percent(0.995, 1), all_or_percent(0.005)
    ('all', '99.5 %', 'almost none')
    """
    text = percent(share, digits)
    if text == percent(0, digits):
        return "none" if share == 0 else "almost none"
    if text == percent(1, digits):
        return "all" if share == 1 else "almost all"
    return text


def times(count: int) -> str:
    """A number of times.

    >>> times(1), times(2), times(1200)
    ('once', 'twice', '1,200 times')
    """
    return {1: "once", 2: "twice"}.get(count, f"{count:,} times")


def number_word(count: int) -> str:
    """A small number in words.

    >>> number_word(1), number_word(6), number_word(1200)
    ('one', 'six', '1,200')
    """
    words = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
    return words[count] if count < len(words) else f"{count:,}"


def days(value: float) -> str:
    """A time span in complete hours below two days, else in complete days.

    >>> days(0.01), days(0.5), days(25.95)
    ('less than an hour', '12 hours', '25 days')
    """
    if value < 2:
        hours = int(24 * value)
        return "less than an hour" if hours < 1 else "1 hour" if hours == 1 else f"{hours} hours"
    return f"{int(value):,} days"


def day(time: datetime) -> str:
    """A day.

    >>> day(datetime(2013, 5, 14))
    'Tue 14 May'
    """
    return f"{time:%a} {time.day} {time:%b}"


def on_day(at: datetime, last: datetime) -> str:
    """A time given, with its date where that is a week or more after the last check-in.

    >>> on_day(datetime(2013, 5, 14, 18), datetime(2013, 5, 13)), on_day(datetime(2013, 5, 14), datetime(2013, 4, 1))
    ('on Tuesday at 18:00', 'on Tue 14 May at 00:00')
    """
    return f"on {f'{at:%A}' if (at.date() - last.date()).days < 7 else day(at)} at {at:%H:%M}"


def weekday_clock(local_seconds: int) -> str:
    """A time given, as its weekday and clock.

    >>> weekday_clock(0)
    'Thu 00:00'
    """
    return f"{datetime.fromtimestamp(local_seconds, UTC):%a %H:%M}"


def duration(seconds: float | None) -> str:
    """A duration in one unit.

    >>> [duration(seconds) for seconds in (None, 8, 95, 5400, 200_000)]
    ['–', '8 s', '2 min', '1.5 h', '2.3 days']
    """
    if seconds is None:
        return "–"
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 5400:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h" if seconds < 48 * 3600 else f"{seconds / 86400:.1f} days"


def stopwatch(seconds: float | None) -> str:
    """A duration as a clock shows it; empty for None.

    >>> [stopwatch(seconds) for seconds in (None, 8, 702, 5400)]
    ['', '0:08', '11:42', '1:30:00']
    """
    if seconds is None:
        return ""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"


def byte_size(count: float | None) -> str:
    """A number of bytes in MB or GB.

    >>> [byte_size(count) for count in (None, 350_000_000, 3_100_000_000)]
    ['–', '350 MB', '3.1 GB']
    """
    if count is None:
        return "–"
    return f"{count / 1e9:.1f} GB" if count >= 1e9 else f"{count / 1e6:.0f} MB"


def user_name(user: int) -> str:
    """A user's pseudonym: the index in the dataset, never an outside identifier.

    >>> user_name(17)
    'User 017'
    """
    return f"User {user:03d}"
