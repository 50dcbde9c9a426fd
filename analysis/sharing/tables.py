"""A table with people, places or times as it may be shared.

The rule is that of `analysis.sharing.places` and `recap.privacy`, by column. Users get pseudonyms, places of fewer than
k people become cells, times become weekday and part of the day. Numbers of cases, rows and trajectories are left out,
and rows about cases are reordered, since their position would reveal the case. A model's numbers stay as they are.
"""

from typing import Any, Final

import numpy as np
import pandas as pd

from analysis.sharing.places import MaskedPlaces, masked_places
from analysis.workspace import Workspace
from recap import columns as c
from recap.machine.printable import one_line
from recap.privacy import Generalisation
from recap.storage.frames import mark_formulas

PRIVACY: Final = "privacy"
"""The column that says what kind of table this is; tables without people or places have none."""
AS_RECORDED: Final = "exact: as recorded"
_PLACES: Final = (c.POI, c.SOURCE, c.TARGET, "middle", "first", "runner_up", "truth_poi")
_PEOPLE: Final = (c.USER, c.USER_ID, "user_name")
_DROPPED: Final = (
    *(c.CASE, c.ROW, c.TRAJECTORY, c.POSITION, c.SOURCE_ROW, c.POI_ID, "stop", "visit", "key"),
    *("visits", "revisit"),  # where else the user had been
)
_DISTANCES: Final = {"distance_km": 1.0, "first_distance_m": 1000.0}
"""Rounded to so much: an exact distance from a known place tells where the other one is."""
_NAMES: Final = ("name", c.POI_NAME, c.CATEGORY)
_OF_CASES: Final = (c.CASE, c.ROW)
_POINTS: Final = (c.LATITUDE, c.LONGITUDE)
_LOCAL_TIME: Final = "local_time"
"""A time as ISO text."""


def is_personal(table: pd.DataFrame) -> bool:
    """Whether a table has rows about people, cases or single places, and not only counts of them."""
    named = {*_PLACES, *_PEOPLE, *_OF_CASES, *_POINTS, *_DISTANCES, c.TRAJECTORY, c.POI_ID, "kind", _LOCAL_TIME}
    return bool(named & set(table.columns)) or any(map(_is_time, (table[name] for name in table.columns)))


def share_table(table: pd.DataFrame, opened: Workspace, *, exact: bool = False) -> pd.DataFrame:
    """A copy for a file, with a column on its privacy; a table of counts stays as it is."""
    if not is_personal(table):
        return table.copy()
    if exact:
        return table.assign(**{PRIVACY: AS_RECORDED})
    if _LOCAL_TIME in table:
        table = table.assign(**{_LOCAL_TIME: pd.to_datetime(table[_LOCAL_TIME])})
    rule = Generalisation()
    masked = masked_places(opened, rule)
    columns = {str(name): _share_column(str(name), table, masked, rule) for name in table.columns}
    kept = {name: list(column) for name, column in columns.items() if column is not None}
    shared = pd.DataFrame(kept, index=range(len(table)))
    if set(_OF_CASES) & set(table.columns):
        order = np.random.default_rng(int(rule.digest("rows", "")[:12], 16)).permutation(len(shared))
        shared = shared.iloc[order].reset_index(drop=True)
    return shared.assign(**{PRIVACY: f"generalised: k = {rule.min_users}, cells of {rule.cell_km:.0f} km or more"})


def to_csv(table: pd.DataFrame) -> bytes:
    """CSV in UTF-8 that is safe in spreadsheets.

    Text that would run as a formula gets an apostrophe in front; control characters are shown.
    """
    shown = table.map(lambda cell: one_line(cell) if isinstance(cell, str) else cell)
    return mark_formulas(shown).to_csv(index=False).encode("utf-8")


def _share_column(
    name: str, table: pd.DataFrame, masked: MaskedPlaces, rule: Generalisation
) -> list[Any] | np.ndarray | None:
    """The column as shown; None if it is left out."""
    column, owner = table[name], next((place for place in (c.POI, "middle") if place in table.columns), None)
    if name in _DROPPED or (name == c.POI and "kind" in table.columns):
        return None
    if name in _PEOPLE:
        return [rule.pseudonym(str(user)) for user in column]
    if name in _PLACES:
        return [masked.name[int(poi)] for poi in column]
    if name == c.TOP_POIS:
        return [", ".join(masked.name[int(poi)] for poi in pois) for pois in column]
    if name in _POINTS:
        if owner is None:
            return np.asarray(rule.cell(column.to_numpy(float)))
        points = [masked.at(int(poi)) for poi in table[owner]]
        return [None if point is None else point[_POINTS.index(name)] for point in points]
    if name in _NAMES and owner is not None:
        by_poi = masked.category if name == c.CATEGORY else masked.name
        return [by_poi[int(poi)] for poi in table[owner]]
    if name == "label" and c.POI in table.columns:
        return [_item_label(*row, masked) for row in zip(table["kind"], column, table[c.POI], strict=True)]
    if name in _DISTANCES:
        return np.asarray((column / _DISTANCES[name]).round() * _DISTANCES[name])
    if _is_time(column):
        if "stop" in table.columns:
            return None  # a day's places with their times would be the trace itself
        return ["" if pd.isna(moment) else rule.part_of_week(moment.weekday(), moment.hour) for moment in column]
    return np.asarray(column)


def _item_label(kind: str, label: str, poi: Any, masked: MaskedPlaces) -> str:
    """The label of a check-in by its order only."""
    if kind == "checkin":
        return f"check-in {label.rsplit(', ', 1)[-1]}".replace("check-in current", "current")
    return label if pd.isna(poi) else f"path via {masked.name[int(poi)]}"


def _is_time(column: pd.Series) -> bool:
    return bool(pd.api.types.is_datetime64_any_dtype(column))
