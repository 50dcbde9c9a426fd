"""What a prediction starts from: a user's check-ins up to a moment, with stops left out, moved or added; or new stops.

Shape suffix: H check-ins of the history.
"""

import re
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import pandas as pd
import torch

from analysis.workspace import Workspace
from recap import columns as c
from recap.counterfactuals import History
from recap.errors import ConfigError

SHOWN_STOPS: Final = 4
"""Recorded stops that are shown, the latest of the last trajectory."""
MOST_ADDED: Final = 12
NEW_GAP_MINUTES: Final = 30
"""Between two stops of a user without a recorded gap."""
_NOON: Final = 12 * 3600
_DAY: Final = 86_400
_TOKEN: Final = re.compile(r"x(\d{1,6})|m(\d{1,6})\.(-?\d{1,6})|(\d{1,9})\.(\d{1,6})", re.ASCII)


@dataclass(frozen=True)
class Itinerary:
    """A user at one of their check-ins, or nobody, with stops changed.

    Recorded stops are counted back from the row: 0 is the row itself.

    Attributes:
        user, row: None for a new user, whose first stop is at noon of the data's last day.
        left_out: recorded stops that are left out.
        moved: recorded stops and how many minutes later they are.
        added: places and minutes after the stop before.
    """

    user: int | None = None
    row: int | None = None
    left_out: tuple[int, ...] = ()
    moved: tuple[tuple[int, int], ...] = ()
    added: tuple[tuple[int, int], ...] = ()

    @property
    def is_recorded(self) -> bool:
        """Whether it is what the data has, without a change."""
        return self.row is not None and not (self.left_out or self.moved or self.added)

    @property
    def text(self) -> str:
        """The changes as a link writes them; `with_changes` reads them.

        >>> Itinerary(407, 12, left_out=(1,), moved=((0, -15),), added=((99, 30),)).text
        'x1,m0.-15,99.30'
        """
        out = [f"x{back}" for back in self.left_out]
        moved = [f"m{back}.{minutes}" for back, minutes in self.moved]
        return ",".join([*out, *moved, *(f"{poi}.{minutes}" for poi, minutes in self.added)])

    def with_changes(self, text: str, num_pois: int) -> "Itinerary":
        """With the changes of a link.

        Raises:
            ConfigError: it cannot be read, or names a place that does not exist.
        """
        found = [_TOKEN.fullmatch(token) for token in text.split(",")] if text else []
        tokens = [match.groups() for match in found if match is not None]
        added = tuple((int(poi), int(gap)) for _, _, _, poi, gap in tokens if poi)
        if len(tokens) < len(found) or len(added) > MOST_ADDED or any(poi >= num_pois for poi, _ in added):
            raise ConfigError(f"expected stops such as 152.30 (place 152, 30 minutes later), got {text[:60]!r}")
        moved = tuple((int(back), int(minutes)) for _, back, minutes, _, _ in tokens if back)
        return replace(self, left_out=tuple(int(out) for out, *_ in tokens if out), moved=moved, added=added)

    def plus(self, poi: int, minutes: int) -> "Itinerary":
        return replace(self, added=(*self.added, (poi, minutes)))

    def without(self, stop: int) -> "Itinerary":
        """Without a stop, see `stops`."""
        if stop >= 0:
            return replace(self, left_out=(*self.left_out, stop))
        return replace(self, added=tuple(item for at, item in enumerate(self.added) if at != -1 - stop))

    def later(self, stop: int, minutes: int) -> "Itinerary":
        """With a stop so many minutes later; added stops after it keep their gaps."""
        if stop >= 0:
            moved = dict(self.moved)
            return replace(self, moved=tuple({**moved, stop: moved.get(stop, 0) + minutes}.items()))
        at = -1 - stop
        poi, gap = self.added[at]
        return replace(self, added=(*self.added[:at], (poi, max(gap + minutes, 0)), *self.added[at + 1 :]))

    def history(self, opened: Workspace) -> History:
        """The check-ins to predict from.

        Raises:
            ConfigError: there is none.
        """
        return self._applied(opened)[0]

    def stops(self, opened: Workspace) -> pd.DataFrame:
        """The latest stops of the last trajectory and the added ones.

        Returns:
            ``stop`` (from 1), ``poi, name, local_time`` and ``change`` (the number that `without` and `later` take:
            how far back for a recorded stop, negative for an added one).
        """
        history, change_H = self._applied(opened)
        shown = np.flatnonzero((change_H < 0) | (history.trajectory_H == history.trajectory_H[-1]))
        recorded = shown[change_H[shown] >= 0][-SHOWN_STOPS:]
        shown = np.concatenate([recorded, shown[change_H[shown] < 0]])
        poi = history.poi_H[shown]
        return pd.DataFrame(
            {
                "stop": np.arange(1, len(shown) + 1),
                c.POI: poi,
                "name": [opened.labels[p] for p in poi],
                "local_time": history.local_seconds_H[shown].astype("datetime64[s]"),
                "change": change_H[shown],
            }
        )

    def _applied(self, opened: Workspace) -> tuple[History, np.ndarray]:
        """The changed history, and the ``change`` of each of its check-ins."""
        known, change_H = self._recorded(opened)
        poi, seconds, trajectory = (list(column) for column in (known.poi_H, known.seconds_H, known.trajectory_H))
        limit = 3600 * opened.dataset.manifest.config.trajectory_gap_hours
        start, offset = last_noon(opened)
        if len(known):
            start, offset = int(known.seconds_H[-1]), int(known.local_seconds_H[-1] - known.seconds_H[-1])
        for place, minutes in self.added:
            far = not len(known) and not poi  # the first stop begins a trajectory
            is_next = bool(poi) and 60 * minutes > limit
            trajectory.append((trajectory[-1] if trajectory else 0) + int(is_next and not far))
            start += 60 * minutes
            poi.append(place)
            seconds.append(start)
        if not poi:
            raise ConfigError("no stop is left to predict from: add one")
        offset_H = np.append(known.local_seconds_H - known.seconds_H, np.full(len(self.added), offset))
        second_H = np.array(seconds, dtype=np.int64)
        history = History(
            opened.dataset.num_users if self.user is None else self.user,
            poi_H=np.array(poi, dtype=np.int64),
            seconds_H=second_H,
            local_seconds_H=second_H + offset_H.astype(np.int64),
            trajectory_H=np.array(trajectory, dtype=np.int64),
        )
        return history, np.append(change_H, -1 - np.arange(len(self.added)))

    def _recorded(self, opened: Workspace) -> tuple[History, np.ndarray]:
        """The recorded check-ins without those left out, at their changed times; none passes another."""
        if self.row is None:
            nothing = np.zeros(0, dtype=np.int64)
            return History(opened.dataset.num_users, nothing, nothing, nothing, nothing), nothing
        known = History.until(opened.checkins, self.row)
        back_H = np.arange(len(known))[::-1]
        shift_H = np.zeros(len(known), dtype=np.int64)
        for back, minutes in self.moved:
            shift_H[back_H == back] = 60 * minutes
        kept_H = ~np.isin(back_H, self.left_out)
        second_H = np.maximum.accumulate((known.seconds_H + shift_H)[kept_H])
        offset_H = (known.local_seconds_H - known.seconds_H)[kept_H]
        changed = replace(
            known,
            poi_H=known.poi_H[kept_H],
            seconds_H=second_H,
            local_seconds_H=second_H + offset_H,
            trajectory_H=known.trajectory_H[kept_H],
        )
        return changed, back_H[kept_H]


def last_noon(opened: Workspace) -> tuple[int, int]:
    """Noon of the data's last day in UTC seconds, and the local offset there in seconds."""
    last = int(torch.argmax(opened.checkins.seconds_T))
    local = int(opened.checkins.local_seconds_T[last])
    offset = local - int(opened.checkins.seconds_T[last])
    return local // _DAY * _DAY + _NOON - offset, offset


def usual_gap(opened: Workspace, itinerary: Itinerary) -> int:
    """The median gap inside the user's trajectories up to the moment, in minutes."""
    if itinerary.row is None:
        return NEW_GAP_MINUTES
    known = History.until(opened.checkins, itinerary.row)
    gaps = np.diff(known.seconds_H)[np.diff(known.trajectory_H) == 0]
    return max(1, round(float(np.median(gaps)) / 60)) if len(gaps) else NEW_GAP_MINUTES


def rows_of_user(opened: Workspace, user: int) -> range:
    """The rows of a user's check-ins."""
    user_T = opened.checkins.user_T
    bounds = torch.searchsorted(user_T, torch.tensor([user, user + 1]))
    return range(int(bounds[0]), int(bounds[1]))
