"""What is predicted and explained: a case, or a user at a moment.

Shape suffixes: N check-ins, U users.
"""

import re
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final

import numpy as np
import pandas as pd

from recap import columns as c
from recap.data.dataset import Dataset
from recap.errors import CaseError, ConfigError

_DAY: Final = 86_400
_WEEKDAYS: Final = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_WEEKDAY_CLOCK: Final = re.compile(r"(mon|tue|wed|thu|fri|sat|sun)[a-z]* +(\d{1,2}):(\d{2})", re.ASCII)


@dataclass(frozen=True)
class Moment:
    """A user at one of their check-ins; the check-ins up to it are known. ``user``: its number in the dataset; ``row``:
    of the last known check-in; ``at``: local seconds of the time asked for, of a model that reads it.
    """

    user: int
    row: int
    at: int | None = field(default=None, kw_only=True)

    @property
    def fields(self) -> dict[str, int | str]:
        """How a link names it."""
        return {"user": self.user, "row": self.row, **self.at_field}

    @property
    def at_field(self) -> dict[str, int | str]:
        """The time asked for as a link writes it."""
        return {} if self.at is None else {"at": local_text(self.at)}

    @property
    def is_new_user(self) -> bool:
        """Whether it is about a user without recorded check-ins, see `recap.asking.itinerary`."""
        return False

    @property
    def is_changed(self) -> bool:
        """Whether its check-ins differ from the recorded ones, see `recap.asking.itinerary`."""
        return False

    def next_place(self, dataset: Dataset) -> int | None:
        """The true next place; None if the dataset has none, stops were changed, or another time is asked for."""
        return None if self.is_changed or self.at is not None else next_place(dataset, self.row)


@dataclass(frozen=True)
class Case(Moment):
    """A moment whose next check-in is a case of the dataset. ``number``: of the case in its split."""

    number: int
    split: int

    @property
    def fields(self) -> dict[str, int | str]:
        return {"case": self.number}

    @classmethod
    def of(cls, case: pd.Series, split: int = c.TEST) -> "Case":
        """From a row of `describe_cases`."""
        return cls(user=int(case[c.USER]), row=int(case[c.ROW]), number=int(case[c.CASE]), split=split)


def named_case(moment: Moment, test_cases: pd.DataFrame) -> Moment:
    """The test case (none with number -1) at a moment, or the moment itself if none starts or stops were changed."""
    if moment.is_changed or moment.at is not None:
        return moment
    rows = test_cases[c.ROW].to_numpy()
    at = int(np.searchsorted(rows, moment.row))
    is_case = at < len(rows) and rows[at] == moment.row and test_cases[c.CASE].iloc[at] >= 0
    return Case.of(test_cases.iloc[at]) if is_case else Moment(moment.user, moment.row)


def next_place(dataset: Dataset, row: int) -> int | None:
    """The place of the same user's next check-in; None if the dataset has none."""
    user_T = dataset.checkins[c.USER].to_numpy()
    if row + 1 >= len(user_T) or user_T[row + 1] != user_T[row]:
        return None
    return int(dataset.checkins[c.POI].iloc[row + 1])


def is_moment(dataset: Dataset, moment: Moment) -> bool:
    """Whether the row is one of the user's check-ins, or the user is new."""
    user_T = dataset.checkins[c.USER].to_numpy()
    return moment.is_new_user or (0 <= moment.row < len(user_T) and bool(user_T[moment.row] == moment.user))


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


def link_number(text: str | None, below: int = 10**12) -> int:
    """A whole number as a link writes it; -1 for anything else."""
    is_number = text is not None and text.isascii() and text.isdigit() and len(text) <= 12
    return int(text) if text is not None and is_number and int(text) < below else -1


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
        found = (day + days) * _DAY + 60 * self.minute
        return found if found > local_seconds else found + 7 * _DAY


NextTime = datetime | ClockTime
"""A time asked for."""


def parse_next_time(text: str | None, option: str = "--at") -> NextTime | None:
    """An ISO time as in `parse_time`, or a weekday and a clock such as ``mon 18:00``. Raises ConfigError."""
    if text is None:
        return None
    found = _WEEKDAY_CLOCK.fullmatch(text.strip().casefold())
    if found is not None and int(found[2]) < 24 and int(found[3]) < 60:
        return ClockTime(_WEEKDAYS.index(found[1]), 60 * int(found[2]) + int(found[3]))
    try:
        return parse_time(text, option)
    except ConfigError:
        example = "2012-10-22T18:00 (local), 2012-10-22T18:00Z or 'mon 18:00'"
        raise ConfigError(f"{option} expects a time such as {example}, got {text!r}") from None


def whole_seconds(time: datetime) -> int:
    """UTC seconds since 1970, or wall-clock seconds of a time without a zone."""
    return int((time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp() // 1)


def is_known_by(dataset: Dataset, as_of: datetime, rows: slice = slice(None)) -> np.ndarray:
    """Which check-ins are not later than a time, bool."""
    table = dataset.checkins.iloc[rows]
    second_N = table[c.TIME].to_numpy("datetime64[s]").astype(np.int64)
    if as_of.tzinfo is None:
        second_N = second_N + 60 * table[c.TZ_OFFSET_MINUTES].to_numpy(np.int64)
    return second_N <= whole_seconds(as_of)


def last_rows(dataset: Dataset, as_of: datetime | None = None, user: int | None = None) -> np.ndarray:
    """Row of each user's (or only this user's) last check-in at or before a time, int64 (U,), -1 for none; within one
    second, the last in the file. A time without a zone is compared with each check-in's own local time.
    """
    user_T = dataset.checkins[c.USER].to_numpy()
    start, stop = (0, len(user_T)) if user is None else np.searchsorted(user_T, [user, user + 1])
    row_N = np.arange(start, stop, dtype=np.int64)
    if as_of is not None:
        row_N = row_N[is_known_by(dataset, as_of, slice(start, stop))]
    last_U = np.full(dataset.num_users, -1, dtype=np.int64)
    np.maximum.at(last_U, user_T[row_N], row_N)
    return last_U


def find_moment(dataset: Dataset, user: str | int, as_of: datetime | None = None) -> Moment:
    """A user's last check-in at or before a time, see `last_rows`. ``user``: the id of the raw table as text, or the
    number in the dataset. Raises CaseError: no such user, or no check-in of the user that early.
    """
    name, ids = dataset.manifest.name, dataset.users[c.USER_ID].astype(str).to_numpy()
    found = np.flatnonzero((np.arange(len(ids)) if isinstance(user, int) else ids) == user)
    if not len(found):
        raise CaseError(f"{name} has no user {user!r}; ids are those of the raw table, such as {''.join(ids[:1])}")
    number = int(found[0])
    row = int(last_rows(dataset, as_of, number)[number])
    if row < 0:
        first = dataset.local_time.iloc[int(np.searchsorted(dataset.checkins[c.USER].to_numpy(), number))]
        who = f"user {user!r}" if (last_rows(dataset, as_of) >= 0).any() else name
        raise CaseError(f"{who} has no check-in at or before {as_of}; the first of user {user!r} is at {first} (local)")
    return Moment(number, row)
