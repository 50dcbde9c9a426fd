"""What to call a place, in one line that can be shown, whatever the data says about it."""

import numpy as np
import pandas as pd

from recap import columns as c
from recap.printable import one_line, shortened

LONGEST = 80
"""Characters of a label at most."""


def label_places(pois: pd.DataFrame) -> list[str]:
    """A label for every POI: its name; else its category, numbered where several nameless POIs share it; else its id.

    "Coffee Shop 1" is the nameless coffee shop with the most training check-ins.

    Args:
        pois: rows of a dataset's POI table, in index order.
    """
    name, category, poi_id = (_one_line(pois[column], LONGEST) for column in (c.POI_NAME, c.CATEGORY, c.POI_ID))
    label = np.where(name != "", name, np.where(category != "", category, np.where(poi_id != "", poi_id, "unnamed")))
    nameless = pd.DataFrame({c.CATEGORY: category, "visits": pois[c.TRAIN_CHECKINS].to_numpy()})
    nameless = nameless[(name == "") & (category != "")].sort_values("visits", ascending=False, kind="stable")
    kinds = nameless.groupby(c.CATEGORY, sort=False)[c.CATEGORY]
    for poi, kind, number, size in zip(
        nameless.index, nameless[c.CATEGORY], kinds.cumcount() + 1, kinds.transform("size"), strict=True
    ):
        if size > 1:
            label[poi] = f"{shortened(kind, LONGEST - len(f' {number}'))} {number}"
    return label.tolist()


def _one_line(texts: pd.Series, limit: int) -> np.ndarray:
    return np.array([shortened(one_line(str(text)), limit) for text in texts], dtype=object)
