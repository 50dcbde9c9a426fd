"""Labels of places."""

import hashlib
from collections import Counter
from typing import Final

import pandas as pd

from recap import columns as c
from recap.machine.printable import one_line, shortened

LONGEST: Final = 80
SHORTEST_CODE: Final = 4
_WHOLE_CODE: Final = 64
_CODE_START: Final = " · "


def label_places(pois: pd.DataFrame) -> list[str]:
    """A label for every POI that is safe to show: its name; else its category, with a code where several nameless POIs
    share it; else its id. For example "Middle School · 4b0a". The code begins the SHA-256 of the POI's id, so it is the
    same in every dataset; it is longer where two POIs of a category agree in four digits.
    """
    columns = (c.POI_NAME, c.CATEGORY, c.POI_ID)
    rows = [
        tuple(shortened(one_line(str(text)), LONGEST) for text in row)
        for row in zip(*(pois[column] for column in columns), strict=True)
    ]
    labels = [name or category or poi_id or "unnamed" for name, category, poi_id in rows]
    nameless = Counter(category for name, category, _ in rows if category and not name)
    digests = {
        poi: hashlib.sha256(str(pois[c.POI_ID].iloc[poi]).encode("utf-8", "backslashreplace")).hexdigest()
        for poi, (name, category, _) in enumerate(rows)
        if not name and nameless[category] > 1
    }
    waiting = list(digests)
    for digits in range(SHORTEST_CODE, _WHOLE_CODE + 1):
        for poi in waiting:
            code = _CODE_START + digests[poi][:digits]
            labels[poi] = shortened(rows[poi][1], LONGEST - len(code)) + code
        found = Counter(labels[poi] for poi in waiting)
        waiting = [poi for poi in waiting if found[labels[poi]] > 1]
    return labels
