"""A trip in each row: columns that are there twice, for the origin and for the destination."""

from typing import Final

import numpy as np

from recap.data.coordinates import look_swapped
from recap.data.parsing.column_names import field_of, says
from recap.data.understanding.columns import LEAST_OVERLAP, Column, determines, overlap
from recap.data.understanding.draft import Draft
from recap.data.understanding.proposal import say

Pair = tuple[Column, Column]
_NAMED_OVERLAP: Final = 0.05
_NEEDED: Final = ("poi", "time", "lat", "lon")


def ends_of(draft: Draft) -> dict[str, Pair]:
    """Field -> its columns at the origin and at the destination; empty where rows are no trips."""
    ends: dict[str, Pair] = {}
    places: list[tuple[float, Pair]] = []
    names: list[Pair] = []
    for origin, destination, rest in draft.twins:
        pair = origin, destination
        meaning, points = field_of(rest) if rest else ("poi", 0.0)
        if origin.is_clock and destination.is_clock:
            ends["time"] = pair
        elif origin.layouts and destination.layouts:
            ends["time" if any(column.has_clocks for column in pair) else "date"] = pair
        elif origin.is_angle and destination.is_angle and (meaning in ("lat", "lon") or _half(origin)):
            ends[meaning if meaning in ("lat", "lon") else _half(origin)] = pair
        elif meaning in ("poi", "name", "") and points >= 0 and _are_places(pair, is_named=points > 0):
            places.append((says(rest, "id") - (meaning == "name") - 2 * (meaning == ""), pair))
            names += [pair] * (meaning != "" and not says(rest, "id"))
        elif meaning in ("category", "category_id"):
            ends["category"] = pair
    if not places:
        return {}
    ends["poi"] = max(places, key=lambda item: item[0])[1]
    if names:
        ends["name"] = names[-1]
    if "date" in ends and "time" not in ends:
        ends["time"] = ends.pop("date")
    times = [column for column in draft.sample.values() if column.layouts and not column.meaning[1] < 0]
    if "time" not in ends and len(times) == 2:
        ends["time"] = (times[0], times[1])
    return ends


def _half(column: Column) -> str:
    """Whether half of a point is a latitude or a longitude; empty for other columns."""
    is_first = column.name.endswith(".1")
    return "" if not column.point else "lon" if bool(column.is_x_first) == is_first else "lat"


def _are_places(pair: Pair, *, is_named: bool) -> bool:
    """Whether two columns hold ids of the same places, and neither follows from the other."""
    if any(len(column.distinct) < 2 or column.is_degrees or column.layouts for column in pair):
        return False
    least = _NAMED_OVERLAP if is_named else LEAST_OVERLAP
    return overlap(*pair) >= least and not determines(pair[0].codes, pair[1].codes) >= 1


def choose_trip(draft: Draft) -> None:
    """Take both ends of a trip, unless the user named a column of one; ask which of them one time belongs to."""
    ends = ends_of(draft)
    if not ends or {*_NEEDED, "date", "to_poi"} & draft.options.columns.keys():
        return
    if "time" in ends and not any(column.is_clock for column in ends["time"]):
        hours = ends["time"][1].seconds - ends["time"][0].seconds
        if 2 * (hours < np.timedelta64(0)).sum() > (~np.isnat(hours)).sum():  # from the destination to the origin
            ends = {field: (b, a) for field, (a, b) in ends.items()}
    if "lat" in ends and "lon" in ends and look_swapped(ends["lat"][0].numbers, ends["lon"][0].numbers):
        ends["lat"], ends["lon"] = ends["lon"], ends["lat"]
    if ends.keys() >= {*_NEEDED}:
        for field, (origin, destination) in ends.items():
            draft.take({field: origin}, "at the origin")
            draft.take({f"to_{field}": destination}, "at the destination")
    elif "time" not in ends:
        names = [column.name for column in ends["poi"]]
        # Ends that fix the row's coordinates: both where each has its own, or none has.
        degrees = [column for column in draft.sample.values() if column.is_degrees and "lat" not in ends]
        is_located = [all(not determines(end.codes, item.codes) < 0.9 for item in degrees) for end in ends["poi"]]
        answers = {
            f"at the {where}, {names[which]}": {field: pair[which].name for field, pair in ends.items()}
            for which, where in enumerate(("origin", "destination"))
            if is_located[which] or not any(is_located)
        }
        text = say("trip", origin=names[0], destination=names[1])
        one_end = say("one_end", place=names[is_located.index(True)]) if sum(is_located) == 1 else ""
        draft.ask("poi", text + one_end, answers)
