"""What is predicted and explained: a case, or a user at a moment, with stops as recorded or changed.

Shape suffixes: N check-ins, U users, H check-ins of a history.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pandas as pd

from recap import columns as c
from recap.data.dataset import Dataset
from recap.data.schema import seconds_of
from recap.errors import CaseError, ConfigError
from recap.history.asked_times import link_time, local_text, whole_seconds

if TYPE_CHECKING:
    from recap.history.tensors import CheckinTensors

MOST_ADDED: Final = 12
_TOKEN: Final = re.compile(r"x(\d{1,6})|m(\d{1,6})\.(-?\d{1,6})|(\d{1,9})\.(\d{1,6})", re.ASCII)


@dataclass(frozen=True)
class Moment:
    """A user at one of their check-ins, or a new user; the check-ins up to it are known, stops may be changed.

    Recorded stops are counted back from the row: 0 is the row itself.

    Attributes:
        user, row: numbers of the user and of the last known check-in in the dataset; -1 for a new user, whose first
            stop is at noon of the data's last day.
        at: local seconds of the time asked for, for a model that reads it.
        case: number of the case in its ``split``, if the next check-in is one.
        left_out: recorded stops that are left out.
        moved: recorded stops and how many minutes later they are.
        added: places and minutes after the stop before.
    """

    user: int = -1
    row: int = -1
    at: int | None = field(default=None, kw_only=True)
    case: int | None = field(default=None, kw_only=True)
    split: int = field(default=c.TEST, kw_only=True)
    left_out: tuple[int, ...] = field(default=(), kw_only=True)
    moved: tuple[tuple[int, int], ...] = field(default=(), kw_only=True)
    added: tuple[tuple[int, int], ...] = field(default=(), kw_only=True)

    @classmethod
    def of_case(cls, case: pd.Series, split: int = c.TEST) -> "Moment":
        """From a row of `describe_cases`."""
        return cls(int(case[c.USER]), int(case[c.ROW]), case=int(case[c.CASE]), split=split)

    @classmethod
    def read(cls, fields: Mapping[str, str | None], dataset: Dataset, checkins: "CheckinTensors") -> "Moment":
        """Read `fields`; a user without a row is at their last check-in.

        Raises:
            CaseError: no such user, or a check-in that is not the user's.
            ConfigError: stops cannot be read, name a place that does not exist, or leave nothing to predict from.
        """
        user, row = (fields.get(name) for name in ("user", "row"))
        start = cls()
        if user is not None or row is not None:
            last = find_moment(dataset, link_number(user))
            start = cls(last.user, last.row if row is None else link_number(row))
            if not is_moment(dataset, start):
                raise CaseError(f"check-in {row} is not one of user {user}")
        changed = replace(start, at=link_time(fields.get("at"))).with_stops(fields.get("stops") or "", dataset.num_pois)
        if changed.is_changed and not len(changed.numbers(checkins)):
            raise ConfigError("no stop is left to predict from: add one")
        return changed

    def with_stops(self, text: str, num_pois: int) -> "Moment":
        """A copy with the changes that a link's text names.

        Raises:
            ConfigError: they cannot be read, or name a place that does not exist.
        """
        matches = [_TOKEN.fullmatch(token) for token in text.split(",")] if text else []
        tokens = [match.groups() for match in matches if match is not None]
        added = tuple((int(poi), int(gap)) for _, _, _, poi, gap in tokens if poi)
        if len(tokens) < len(matches) or len(added) > MOST_ADDED or any(poi >= num_pois for poi, _ in added):
            raise ConfigError(f"expected stops such as 152.30 (place 152, 30 minutes later), got {text[:60]!r}")
        moved = tuple((int(back), int(minutes)) for _, back, minutes, _, _ in tokens if back)
        return self._with(left_out=tuple(int(out) for out, *_ in tokens if out), moved=moved, added=added)

    @property
    def is_new_user(self) -> bool:
        return self.user < 0

    @property
    def is_changed(self) -> bool:
        return bool(self.left_out or self.moved or self.added)

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to predict from."""
        return self.is_new_user and not self.added

    @property
    def text(self) -> str:
        """The changes as a link writes them.

        >>> Moment(407, 12, left_out=(1,), moved=((0, -15),), added=((99, 30),)).text
        'x1,m0.-15,99.30'
        """
        out = [f"x{back}" for back in self.left_out]
        moved = [f"m{back}.{minutes}" for back, minutes in self.moved]
        return ",".join([*out, *moved, *(f"{poi}.{minutes}" for poi, minutes in self.added)])

    @property
    def fields(self) -> dict[str, int | str]:
        """How a link names it."""
        if self.case is not None:
            return {"case": self.case}
        user: dict[str, int | str] = {} if self.is_new_user else {"user": self.user, "row": self.row}
        asked: dict[str, int | str] = {} if self.at is None else {"at": local_text(self.at)}
        return user | ({"stops": self.text} if self.is_changed else {}) | asked

    def next_place(self, dataset: Dataset) -> int | None:
        """The true next place; None if the dataset has none, stops were changed, or another time is asked for."""
        return None if self.is_changed or self.at is not None else next_place(dataset, self.row)

    def _with(self, **stops: Any) -> "Moment":
        changed = replace(self, **stops)
        return replace(changed, case=None) if changed.is_changed else changed

    def plus(self, poi: int, minutes: int) -> "Moment":
        return self._with(added=(*self.added, (poi, minutes)))

    def without(self, stop: int) -> "Moment":
        """Without a recorded stop (counted back) or an added one (-1 is the first)."""
        if stop >= 0:
            return self._with(left_out=(*self.left_out, stop))
        return self._with(added=tuple(item for number, item in enumerate(self.added) if number != -1 - stop))

    def later(self, stop: int, minutes: int) -> "Moment":
        """With a stop, named as in `without`, so many minutes later; added stops after it keep their gaps."""
        if stop >= 0:
            moved = dict(self.moved)
            return self._with(moved=tuple({**moved, stop: moved.get(stop, 0) + minutes}.items()))
        position = -1 - stop
        poi, gap = self.added[position]
        return self._with(added=(*self.added[:position], (poi, max(gap + minutes, 0)), *self.added[position + 1 :]))

    def numbers(self, checkins: "CheckinTensors") -> np.ndarray:
        """The number of each check-in of the history, as `without` takes it, int64 (H,)."""
        recorded = 0 if self.is_new_user else self.row - int(checkins.first_T[self.row]) + 1
        back_H = np.arange(recorded)[::-1]
        return np.append(back_H[~np.isin(back_H, self.left_out)], -1 - np.arange(len(self.added)))


def named_case(moment: Moment, test_cases: pd.DataFrame) -> Moment:
    """The test case (none with number -1) at a moment, or the moment itself if none starts or stops were changed."""
    if moment.case is not None or moment.is_changed or moment.at is not None:
        return moment
    rows = test_cases[c.ROW].to_numpy()
    position = int(np.searchsorted(rows, moment.row))
    is_case = position < len(rows) and rows[position] == moment.row and test_cases[c.CASE].iloc[position] >= 0
    return Moment.of_case(test_cases.iloc[position]) if is_case else Moment(moment.user, moment.row)


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


def link_number(text: str | None, below: int = 10**12) -> int:
    """A whole number as a link writes it; -1 for anything else."""
    is_number = text is not None and text.isascii() and text.isdigit() and len(text) <= 12
    return int(text) if text is not None and is_number and int(text) < below else -1


def is_known_by(dataset: Dataset, as_of: datetime, rows: slice = slice(None)) -> np.ndarray:
    """Whether each check-in is at or before a time, bool."""
    table = dataset.checkins.iloc[rows]
    second_N = seconds_of(table)
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
    numbers = np.flatnonzero((np.arange(len(ids)) if isinstance(user, int) else ids) == user)
    if not len(numbers):
        raise CaseError(f"{name} has no user {user!r}; ids are those of the raw table, such as {''.join(ids[:1])}")
    number = int(numbers[0])
    row = int(last_rows(dataset, as_of, number)[number])
    if row < 0:
        first = dataset.local_time.iloc[int(np.searchsorted(dataset.checkins[c.USER].to_numpy(), number))]
        who = f"user {user!r}" if (last_rows(dataset, as_of) >= 0).any() else name
        raise CaseError(f"{who} has no check-in at or before {as_of}; the first of user {user!r} is at {first} (local)")
    return Moment(number, row)
