"""The dataset of a workspace: cases, names and coordinates, each computed when it is first needed."""

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self, TypeVar

import numpy as np
import pandas as pd

from analysis.formatting import user_name
from analysis.geography import unwrap_longitudes
from analysis.records.table_cache import TableKey, kept_table
from recap import columns as c
from recap.data.dataset import Dataset
from recap.errors import CaseError
from recap.evaluation.cases import describe_cases
from recap.history.graph import TransitionGraph
from recap.history.moments import Moment, named_case
from recap.history.visits import Visits
from recap.machine.printable import one_line, shortened

if TYPE_CHECKING:
    from recap.features.others import OtherUsers
    from recap.history.tensors import CheckinTensors

_Part = TypeVar("_Part")
_LONGEST_ID: Final = 24


@dataclass(frozen=True, eq=False)
class OpenedDataset:
    """A dataset with what is computed of it alone; models of one dataset share these parts.

    Attributes:
        graph: training transitions.
        bundle: the folder around the dataset, which may have records and other results.
        keep: whether slow results are written to the user's cache.
        shows_ids: whether users have their own ids, and not numbers, where the dataset is shown; never in an invented
            city, nor in a shared file.
    """

    dataset: Dataset
    graph: TransitionGraph
    bundle: Path | None = None
    keep: bool = True
    shows_ids: bool = False
    _without_model: "Self | None" = None
    _made: dict[str, Any] = field(default_factory=dict, init=False)
    _making: dict[str, threading.Lock] = field(default_factory=dict, init=False)

    def _once(self, kind: str, make: Callable[[], _Part]) -> _Part:
        """A part computed by the first caller; others wait only for that part."""
        if kind not in self._made:
            with self._making.setdefault(kind, threading.Lock()):
                if kind not in self._made:
                    self._made[kind] = make()
        part: _Part = self._made[kind]
        return part

    @property
    def without_model(self) -> Self:
        return self._without_model or self

    @property
    def name(self) -> str:
        return self.dataset.manifest.name

    @property
    def visits(self) -> Visits:
        return Visits.of(self.dataset)

    @property
    def checkins(self) -> "CheckinTensors":
        from recap.history.tensors import CheckinTensors

        return self.without_model._once("checkins", lambda: CheckinTensors.from_dataset(self.dataset))

    @property
    def others(self) -> "OtherUsers":
        """Training transitions of all users but one, whichever is asked for."""
        from recap.features.others import OtherUsers

        return self.without_model._once("others", lambda: OtherUsers.from_dataset(self.dataset, self.graph))

    @property
    def cases(self) -> pd.DataFrame:
        """The test cases in records order, see `describe_cases`."""
        return self.without_model._once("cases", lambda: describe_cases(self.dataset, self.graph, c.TEST))

    @property
    def places_known(self) -> int:
        """How many places a user knows in the median test case; 0 without a case."""
        known = self.visits.places_known(self.cases[c.ROW].to_numpy(np.int64))
        return int(np.median(known)) if len(known) else 0

    @property
    def labels(self) -> list[str]:
        return self.dataset.poi_labels

    @cached_property
    def own_ids(self) -> list[str]:
        """Each user's id in the data; empty where users have numbers."""
        return self.dataset.users[c.USER_ID].astype(str).tolist() if self.shows_ids else []

    def user_name(self, user: int) -> str:
        """The user's name where the dataset is shown."""
        return f"User {shortened(one_line(self.own_ids[user]), _LONGEST_ID)}" if self.own_ids else user_name(user)

    @cached_property
    def latitude(self) -> np.ndarray:
        """Degrees, one per POI."""
        return self.dataset.pois[c.LATITUDE].to_numpy(np.float64)

    @cached_property
    def longitude(self) -> np.ndarray:
        """Degrees, one per POI, without a jump at the date line."""
        return unwrap_longitudes(self.dataset.pois[c.LONGITUDE].to_numpy(np.float64))

    def case(self, number: int) -> pd.Series:
        """One test case; raises CaseError where there is no such number."""
        if not 0 <= number < len(self.cases):
            raise CaseError(f"there is no test case {number}; {self.name} has {len(self.cases):,} cases, from 0")
        return self.cases.iloc[number]

    def moment(self, case: int | Moment) -> Moment:
        """The test case of a number, or a user's moment, with its number where a test case starts; see `case`."""
        return named_case(case, self.cases) if isinstance(case, Moment) else Moment.of_case(self.case(case))

    def facts(self, moment: Moment) -> pd.Series:
        """A test case's row of `cases`; of another moment what is known, case -1, and the target if there is one."""
        if moment.case is not None:
            return self.case(moment.case)
        now, target = self.dataset.checkins.iloc[moment.row], moment.next_place(self.dataset)
        facts = {c.CASE: -1, c.ROW: moment.row, c.USER: moment.user, c.TRAJECTORY: now[c.TRAJECTORY]}
        return pd.Series(facts | {c.SOURCE: now[c.POI]} | ({} if target is None else {c.TARGET: target}))

    def kept(self, kind: str, make: Callable[[], pd.DataFrame], *, rows: int) -> pd.DataFrame:
        """A table of the dataset alone with so many rows, made only if the user's cache has none."""
        key = TableKey(self.dataset.hash, kind, c.SPLIT_NAMES[c.TEST], kind)
        return self.without_model._once(kind, lambda: kept_table(key, make, rows=rows, keep=self.keep))
