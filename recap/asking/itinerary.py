"""A moment with changed stops: check-ins left out or moved, and places added; or the stops of a new user.

Shape suffix: H check-ins of the history.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import torch

from recap.asking.counterfactuals import History
from recap.data.dataset import Dataset
from recap.errors import CaseError, ConfigError
from recap.history.moments import Moment, find_moment, is_moment, link_number, link_time
from recap.history.tensors import SECONDS_PER_DAY, CheckinTensors

MOST_ADDED: Final = 12
NEW_GAP_MINUTES: Final = 30
"""Between two stops of a user without a recorded gap."""
_FEWEST_PAUSES: Final = 5
_NOON: Final = SECONDS_PER_DAY // 2
_TOKEN: Final = re.compile(r"x(\d{1,6})|m(\d{1,6})\.(-?\d{1,6})|(\d{1,9})\.(\d{1,6})", re.ASCII)


@dataclass(frozen=True)
class Itinerary(Moment):
    """A user at one of their check-ins, or a new user, with stops changed.

    Recorded stops are counted back from the row: 0 is the row itself.

    Attributes:
        user, row: -1 for a new user, whose first stop is at noon of the data's last day.
        left_out: recorded stops that are left out.
        moved: recorded stops and how many minutes later they are.
        added: places and minutes after the stop before.
    """

    user: int = -1
    row: int = -1
    left_out: tuple[int, ...] = ()
    moved: tuple[tuple[int, int], ...] = ()
    added: tuple[tuple[int, int], ...] = ()

    @classmethod
    def read(cls, fields: Mapping[str, str | None], dataset: Dataset, checkins: CheckinTensors) -> "Itinerary":
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
        if changed.is_changed and not len(changed.history(dataset, checkins)):
            raise ConfigError("no stop is left to predict from: add one")
        return changed

    def with_stops(self, text: str, num_pois: int) -> "Itinerary":
        """With the changes that `text` wrote.

        Raises:
            ConfigError: they cannot be read, or name a place that does not exist.
        """
        found = [_TOKEN.fullmatch(token) for token in text.split(",")] if text else []
        tokens = [match.groups() for match in found if match is not None]
        added = tuple((int(poi), int(gap)) for _, _, _, poi, gap in tokens if poi)
        if len(tokens) < len(found) or len(added) > MOST_ADDED or any(poi >= num_pois for poi, _ in added):
            raise ConfigError(f"expected stops such as 152.30 (place 152, 30 minutes later), got {text[:60]!r}")
        moved = tuple((int(back), int(minutes)) for _, back, minutes, _, _ in tokens if back)
        return replace(self, left_out=tuple(int(out) for out, *_ in tokens if out), moved=moved, added=added)

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

        >>> Itinerary(407, 12, left_out=(1,), moved=((0, -15),), added=((99, 30),)).text
        'x1,m0.-15,99.30'
        """
        out = [f"x{back}" for back in self.left_out]
        moved = [f"m{back}.{minutes}" for back, minutes in self.moved]
        return ",".join([*out, *moved, *(f"{poi}.{minutes}" for poi, minutes in self.added)])

    @property
    def fields(self) -> dict[str, int | str]:
        user: dict[str, int | str] = {} if self.is_new_user else {"user": self.user, "row": self.row}
        return user | ({"stops": self.text} if self.is_changed else {}) | self.at_field

    def plus(self, poi: int, minutes: int) -> "Itinerary":
        return replace(self, added=(*self.added, (poi, minutes)))

    def without(self, stop: int) -> "Itinerary":
        """Without a recorded stop (counted back) or an added one (-1 is the first)."""
        if stop >= 0:
            return replace(self, left_out=(*self.left_out, stop))
        return replace(self, added=tuple(item for at, item in enumerate(self.added) if at != -1 - stop))

    def later(self, stop: int, minutes: int) -> "Itinerary":
        """With a stop, named as in `without`, so many minutes later; added stops after it keep their gaps."""
        if stop >= 0:
            moved = dict(self.moved)
            return replace(self, moved=tuple({**moved, stop: moved.get(stop, 0) + minutes}.items()))
        at = -1 - stop
        poi, gap = self.added[at]
        return replace(self, added=(*self.added[:at], (poi, max(gap + minutes, 0)), *self.added[at + 1 :]))

    def numbers(self, checkins: CheckinTensors) -> np.ndarray:
        """Of each check-in of `history` the number that `without` takes, int64 (H,)."""
        recorded = 0 if self.is_new_user else self.row - int(checkins.first_T[self.row]) + 1
        back_H = np.arange(recorded)[::-1]
        return np.append(back_H[~np.isin(back_H, self.left_out)], -1 - np.arange(len(self.added)))

    def history(self, dataset: Dataset, checkins: CheckinTensors) -> History:
        """The check-ins to predict from; no moved one passes another. A long gap begins a new trajectory."""
        numbers = self.numbers(checkins)
        back_H, moved = numbers[numbers >= 0], dict(self.moved)
        row_H = torch.from_numpy(self.row - back_H)
        poi_H, second_H, local_H, trajectory_H = (
            column[row_H].numpy()
            for column in (checkins.poi_T, checkins.seconds_T, checkins.local_seconds_T, checkins.trajectory_T)
        )
        offset_H = local_H - second_H
        later_H = np.array([60 * moved.get(back, 0) for back in back_H.tolist()], dtype=np.int64)
        second_H = np.maximum.accumulate(second_H + later_H)
        last, offset = (second_H[-1], offset_H[-1]) if len(back_H) else last_noon(checkins)
        added = np.array(self.added, dtype=np.int64).reshape(-1, 2)
        second_H = np.append(second_H, last + 60 * added[:, 1].cumsum())
        begins = 60 * added[:, 1] > 3600 * dataset.manifest.config.trajectory_gap_hours
        begins[:1] &= len(back_H) > 0  # the first stop of a new user is in the first trajectory
        trajectory = trajectory_H[-1] if len(back_H) else 0
        return History(
            dataset.num_users if self.is_new_user else self.user,
            poi_H=np.append(poi_H, added[:, 0]),
            seconds_H=second_H,
            local_seconds_H=second_H + np.append(offset_H, np.full(len(added), offset)),
            trajectory_H=np.append(trajectory_H, trajectory + begins.cumsum()),
        )


def last_noon(checkins: CheckinTensors) -> tuple[int, int]:
    """Noon of the data's last day in UTC seconds, and the local offset there in seconds."""
    last = int(torch.argmax(checkins.seconds_T))
    local = int(checkins.local_seconds_T[last])
    offset = local - int(checkins.seconds_T[last])
    return local // SECONDS_PER_DAY * SECONDS_PER_DAY + _NOON - offset, offset


def usual_pause(known: History) -> tuple[int, int, int] | None:
    """Lower quartile, median and upper quartile of the user's pauses after a check-in within an hour of the last one's
    time of day, in minutes; after any check-in where those are too few. None for a user with a single check-in.
    """
    if len(known) < 2:
        return None
    pause, clock = np.diff(known.seconds_H), known.local_seconds_H % SECONDS_PER_DAY
    apart = np.abs(clock[:-1] - clock[-1])
    near = pause[np.minimum(apart, SECONDS_PER_DAY - apart) <= 3600]
    low, middle, high = np.quantile(near if len(near) >= _FEWEST_PAUSES else pause, [0.25, 0.5, 0.75]) / 60
    return round(low), round(middle), round(high)


def usual_gap(checkins: CheckinTensors, itinerary: Itinerary) -> int:
    """The median gap inside the user's trajectories up to the moment, in minutes."""
    if itinerary.is_new_user:
        return NEW_GAP_MINUTES
    known = History.until(checkins, itinerary.row)
    gaps = np.diff(known.seconds_H)[np.diff(known.trajectory_H) == 0]
    return max(1, round(float(np.median(gaps)) / 60)) if len(gaps) else NEW_GAP_MINUTES
