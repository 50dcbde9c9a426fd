"""Cases by the local time they start at: parts of the day, and weekdays or weekends."""

from collections.abc import Collection
from typing import Final

import numpy as np

from analysis.records.loaded_dataset import LoadedDataset
from recap import columns as c
from recap.errors import ConfigError

DAY_PARTS: Final = {
    "night": (0, 6),
    "morning": (6, 11),
    "midday": (11, 15),
    "afternoon": (15, 19),
    "evening": (19, 24),
}
"""First hour and the hour after the last, local time of the place the case starts from."""
DAYS: Final = {"weekdays": range(5), "weekends": range(5, 7)}
LABELS: Final = {name: f"{name.capitalize()}, {start} to {end} h" for name, (start, end) in DAY_PARTS.items()}


def cases_at_time(opened: LoadedDataset, parts: Collection[str], days: Collection[str] = ()) -> np.ndarray:
    """Numbers of the cases that start in any of the parts and on any of the days; none named means all.

    Raises:
        ConfigError: unknown name.
    """
    unknown = [name for name in parts if name not in DAY_PARTS] + [name for name in days if name not in DAYS]
    if unknown:
        raise ConfigError(f"no part of a day or week is called {unknown[0]!r}: {', '.join([*DAY_PARTS, *DAYS])}")
    time = opened.dataset.local_time.iloc[opened.cases[c.ROW].to_numpy(np.int64)]
    hour, weekday = time.dt.hour.to_numpy(), time.dt.day_of_week.to_numpy()
    kept = np.ones(len(hour), dtype=bool)
    if parts:
        kept &= np.logical_or.reduce([(hour >= DAY_PARTS[name][0]) & (hour < DAY_PARTS[name][1]) for name in parts])
    if days:
        kept &= np.isin(weekday, [day for name in days for day in DAYS[name]])
    return opened.cases[c.CASE].to_numpy(np.int64)[kept]
