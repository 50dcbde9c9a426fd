"""Records by hand: cases with the ranks a test says, for comparisons without a model."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from analysis.compare.side import Side
from analysis.workspace import Workspace
from recap import columns as c


def records(
    ranks: Sequence[int], *, users: Sequence[int] | None = None, seen: Sequence[int] | None = None
) -> pd.DataFrame:
    """One case for each rank, without ties; by default of one user each, never seen in training."""
    better, number = np.array(ranks, dtype=np.int64) - 1, np.arange(len(ranks))
    facts = {c.CASE: number, c.USER: number if users is None else users, c.SOURCE: 0, c.TARGET: number}
    facts |= {c.TRANSITION_COUNT: 0 if seen is None else seen, c.DESTINATION_COUNT: 1}
    facts |= {c.IN_HISTORY: True, c.WITHIN_TWO_HOPS: False, c.NUM_BETTER: better, c.NUM_TIED: 1}
    return pd.DataFrame(facts | {c.RANK: better + 1.0, c.RECIPROCAL_RANK: 1.0 / (better + 1)})


def side(label: str, table: pd.DataFrame, *replicates: pd.DataFrame, trained: bool = False) -> Side:
    """A side of these records, with replicates of other seeds."""
    return Side(label.lower(), label, table, replicates, trained=trained)


def short_lists(table: pd.DataFrame, length: int, in_list: Sequence[bool]) -> pd.DataFrame:
    """The same records as of imported predictions with lists of one length."""
    return table.assign(listed=length, in_list=list(in_list))


def first_places(city: Workspace, model: str, path: Path) -> Path:
    """A model's six best places of every case, as a file to import."""
    scored = city.with_model(model).score().set_index(c.CASE)
    rows = pd.DataFrame({at: scored[at].str[:6].explode() for at in (c.TOP_POIS, c.TOP_SCORES)}).reset_index()
    ids = city.dataset.pois[c.POI_ID].astype(str).to_numpy()[rows[c.TOP_POIS].to_numpy(np.int64)]
    pd.DataFrame({c.CASE: rows[c.CASE], c.POI_ID: ids, c.SCORE: rows[c.TOP_SCORES]}).to_csv(path, index=False)
    return path
