"""Test cases and misses by the grid cell of the source, without cells of few people."""

from typing import Final

import numpy as np
import pandas as pd

from analysis.basemap.document import box_of
from analysis.records.accuracy import is_hit
from analysis.workspace import Workspace
from recap import columns as c
from recap.privacy import users_per_group

CELLS_ACROSS: Final = 48
MIN_USERS: Final = 5


def miss_cells(opened: Workspace, records: pd.DataFrame, k: int, min_users: int = MIN_USERS) -> pd.DataFrame:
    """Cells with cases of at least ``min_users`` people, the most cases whose truth ranks below k first.

    ``west, south, east, north`` in degrees, ``cases, missed, users`` and ``share`` (missed of cases).
    """
    source = records[c.SOURCE].to_numpy(np.int64)
    longitude, latitude = opened.longitude[source], opened.latitude[source]
    west, south, east, _ = box_of(opened.latitude, opened.longitude)
    width = (east - west) / CELLS_ACROSS
    height = width * float(np.cos(np.radians(np.median(opened.latitude))))  # square on the ground
    column, row = np.floor((longitude - west) / width), np.floor((latitude - south) / height)
    cells, cell = np.unique(np.stack([column, row]), axis=1, return_inverse=True)
    cell = cell.reshape(-1)
    number = cells.shape[1]
    missed = ~is_hit(records, k)
    table = pd.DataFrame(
        {
            "west": west + cells[0] * width,
            "south": south + cells[1] * height,
            "east": west + (cells[0] + 1) * width,
            "north": south + (cells[1] + 1) * height,
            "cases": np.bincount(cell, minlength=number),
            "missed": np.bincount(cell, weights=missed, minlength=number).astype(np.int64),
            "users": users_per_group(records[c.USER].to_numpy(np.int64), cell, number),
        }
    )
    table["share"] = table["missed"] / table["cases"]
    shown = table[table["users"] >= min_users]
    return shown.sort_values(["missed", "west", "south"], ascending=[False, True, True]).reset_index(drop=True)
