"""Times that somebody asks for, as people and links write them."""

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from recap.errors import ConfigError

_DAY: Final = 86_400
_WEEKDAYS: Final = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_WEEKDAY_CLOCK: Final = re.compile(r"(mon|tue|wed|thu|fri|sat|sun)[a-z]* +(\d{1,2}):(\d{2})", re.ASCII)


def local_text(local_seconds: int) -> str:
    """Local seconds as a link writes them.

    >>> local_text(0)
    '1970-01-01T00:00'
    """
    return datetime.fromtimestamp(local_seconds, UTC).strftime("%Y-%m-%dT%H:%M")


def link_time(text: str | None) -> int | None:
    """Local seconds as `local_text` writes them; None for anything else.

    >>> link_time("1970-01-01T00:15"), link_time("soon")
    (900, None)
    """
    try:
        return int(datetime.strptime(text or "", "%Y-%m-%dT%H:%M").replace(tzinfo=UTC).timestamp())
    except ValueError:
        return None


def parse_time(text: str | None, option: str = "--as-of") -> datetime | None:
    """An ISO time; without a zone it is each check-in's own local time. Raises ConfigError: another text."""
    if text is None:
        return None
    try:
        return datetime.fromisoformat(text.strip())
    except ValueError as error:
        example = "2012-10-20T12:47 (local) or 2012-10-20T12:47Z"
        raise ConfigError(f"{option} expects a time such as {example}, got {text!r}") from error


@dataclass(frozen=True)
class ClockTime:
    """A weekday (0 Monday) and a minute of the day: the first such local time after a moment."""

    weekday: int
    minute: int

    def after(self, local_seconds: int) -> int:
        """Local seconds of the first such time later than these.

        >>> ClockTime(0, 18 * 60).after(0)  # 1970 began on a Thursday; the Monday after is day 4
        410400
        """
        day = local_seconds // _DAY
        days = (self.weekday - day - 3) % 7  # 1 January 1970 was a Thursday
        seconds = (day + days) * _DAY + 60 * self.minute
        return seconds if seconds > local_seconds else seconds + 7 * _DAY


NextTime = datetime | ClockTime
"""A time asked for."""


def parse_next_time(text: str | None, option: str = "--at") -> NextTime | None:
    """An ISO time as in `parse_time`, or a weekday and a clock such as ``mon 18:00``. Raises ConfigError."""
    if text is None:
        return None
    clock = _WEEKDAY_CLOCK.fullmatch(text.strip().casefold())
    if clock is not None and int(clock[2]) < 24 and int(clock[3]) < 60:
        return ClockTime(_WEEKDAYS.index(clock[1]), 60 * int(clock[2]) + int(clock[3]))
    try:
        return parse_time(text, option)
    except ConfigError:
        example = "2012-10-22T18:00 (local), 2012-10-22T18:00Z or 'mon 18:00'"
        raise ConfigError(f"{option} expects a time such as {example}, got {text!r}") from None


def whole_seconds(time: datetime) -> int:
    """UTC seconds since 1970, or wall-clock seconds of a time without a zone."""
    return int((time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp() // 1)
