"""What each column contains: coordinates by range and spread, ids by how they repeat, the rest by its name."""

import re
from itertools import combinations, product
from typing import Final

import numpy as np
import pandas as pd

from recap.data.coordinates import RADIANS, are_in_gulf, look_swapped
from recap.data.parsing.column_names import says, words_of
from recap.data.parsing.read_report import TRACK
from recap.data.parsing.table_builder import SPLIT_WORDS
from recap.data.parsing.time_spelling import find_zone
from recap.data.understanding.columns import Column, comes_back, determines, keeps_spot
from recap.data.understanding.draft import Candidate, Draft
from recap.data.understanding.missing import how_to_join, why_no_degrees
from recap.errors import DataError

_Scored = tuple[float, str]
"""Points for the values of a column, and why."""
_ENOUGH: Final = 2.0
"""Points that a column needs for a field."""
_FITS: Final = 3.0
"""Points for values that fit a field; a name brings 2 to 3."""
_CONTRADICTS: Final = -1.5
_IMPOSSIBLE: Final = -9.0
_PLACES_OF_THEIR_OWN: Final = -1.0
"""Users who share no place may be a property of places, unless the name says otherwise."""
_IS_ID: Final = 0.3
_ON_LAND, _X_FIRST = 1.1, 0.55
"""Points of one order of coordinates: the other is not on land; the form has longitude first."""


def choose_coordinates(draft: Draft) -> None:
    """Latitude and longitude: by name, else a point's numbers, or two columns of fine numbers that fix each other."""
    if {"lat", "lon"} <= draft.taken.keys():
        return
    angles = [column for column in draft.sample.values() if column.is_angle]
    means = {column.name: column.meaning[0] for column in angles if column.meaning[0] not in draft.taken}
    means |= {name: field for field, name in draft.taken.items()}
    halves = ([column for column in angles if means.get(column.name) == field] for field in ("lat", "lon"))
    best = min(product(*halves), key=_unlike, default=None)
    candidates = []
    for a, b in [best] if best else _pairs_by_content(angles):
        straight = _ON_LAND * look_swapped(b.numbers, a.numbers) + bool(best)
        turned = _ON_LAND * look_swapped(a.numbers, b.numbers) + _X_FIRST * a.is_x_first
        candidates += [Candidate(straight, {"lat": a, "lon": b}), Candidate(turned, {"lat": b, "lon": a})]
    swapped = f"{best[0].name} and {best[1].name} look swapped. " if best else ""
    draft.decide("lat", candidates, text=swapped, why_not=why_no_degrees([*draft.sample.values()]))
    _ask_about_hemispheres(draft)
    _ask_about_radians(draft)
    for field in {"lat", "lon"} & draft.taken.keys():
        numbers = draft.sample[draft.taken[field]].numbers
        low, high = (f"{degrees:z.1f}".replace("-", "−") for degrees in (np.nanmin(numbers), np.nanmax(numbers)))
        draft.add_reason(draft.taken[field], f"{low} to {high}")


def _ask_about_hemispheres(draft: Draft) -> None:
    """Refuse letters in a column of their own that turn degrees without a sign."""
    for field, letters in (("lat", {"N", "S"}), ("lon", {"E", "W"})):
        for column in draft.sample.values() if field in draft.taken else ():
            found = {text.upper() for text in column.distinct[:3]}
            is_turned = found <= letters and found & {"S", "W"}
            if is_turned and not (draft.sample[draft.taken[field]].numbers < 0).any():
                name = draft.taken[field]
                text = f"“{column.name}” holds hemispheres; write them next to the degrees in “{name}”, such as 11.6W."
                draft.ask(field, text, {}, is_explained=True)


def _ask_about_radians(draft: Draft) -> None:
    """Refuse coordinates that are no degrees unless they are named."""
    lat, lon = (draft.sample.get(draft.taken.get(field, "")) for field in ("lat", "lon"))
    if lat and lon and are_in_gulf(lat.numbers, lon.numbers):
        text = f"As degrees, “{lat.name}” and “{lon.name}” are in the sea around 0, 0. {RADIANS}"
        draft.ask("lat", f"{text} --map lat={lat.name},lon={lon.name} takes them as degrees.", {}, is_explained=True)


def _unlike(pair: tuple[Column, ...]) -> tuple[int, bool, int]:
    """How badly two columns fit together: different words, not of the place, many different values."""
    a, b = (set(words_of(column.name)) for column in pair)
    is_other = bool(a & {"user", "home", "customer"}) or says(pair[0].name, "end")
    return len(a ^ b), is_other, sum(len(column.distinct) for column in pair)


def _pairs_by_content(angles: list[Column]) -> list[tuple[Column, Column]]:
    degrees = [column for column in angles if column.is_degrees and column.meaning[1] >= 0]
    pairs = list(combinations(degrees, 2))
    points = [(a, b) for a, b in pairs if a.name.endswith(".1") and b.name == f"{a.name[:-2]}.2"]
    return points or [
        (a, b) for a, b in pairs if not min(determines(a.codes, b.codes), determines(b.codes, a.codes)) < 0.9
    ]


def choose_needed(draft: Draft, field: str) -> None:
    """The place's or the user's id; of columns that fix each other, such as a number and a name, either will do."""

    def replaces(first: Candidate, other: Candidate) -> str | None:
        return None if determines(first.columns[field].codes, other.columns[field].codes) < 0.99 else ""

    if field in draft.taken:
        return
    candidates = _candidates(draft, field)
    if field == "user" and not candidates:
        left = (item for item in _free(draft) if re.fullmatch(r"column\d+", item.name) and len(item.distinct) > 1)
        fits = (item for item in left if _as_user(draft, item)[0] >= 0)
        candidates = [Candidate(0, {field: item}, "the only one left") for item in fits]
    others = [item for item in _free(draft) if item.meaning[0] != "user" and item.meaning[1] >= 0]
    is_track = not others and not draft.taken.keys() & {"category", "name"}
    if field == "poi" and not candidates and is_track and not how_to_join(draft.path, draft.sample, {"poi"}):
        raise DataError(TRACK.format(name=draft.path.name))
    draft.decide(field, candidates, replaces)


def choose_optional(draft: Draft, field: str) -> None:
    """A description, by its name where its values fit, or where nothing else could be."""
    found = [] if field in draft.taken else _candidates(draft, field)
    named = [item for item in found if item.columns[field].meaning[0] == field]
    if named or len(found) == 1:
        best = max(named or found, key=lambda item: item.points)
        draft.take(best.columns, best.reason)


def _free(draft: Draft) -> list[Column]:
    """Columns that are not taken and hold no times."""
    taken = draft.taken.values()
    return [item for item in draft.sample.values() if not (item.name in taken or item.layouts or item.is_clock)]


def _candidates(draft: Draft, field: str) -> list[Candidate]:
    """Columns with enough points for a field, from their names and their values."""
    score, may_mean = _SCORES[field]
    found = []
    for column in _free(draft):
        meaning, points = column.meaning
        if meaning == field or (meaning in may_mean and points >= 0):
            by_name = points * (meaning == field) + _IS_ID * says(column.name, "id")
            by_values, reason = score(draft, column)
            found.append(Candidate(by_name + by_values, {field: column}, reason))
    return [item for item in found if item.points >= _ENOUGH]


def _as_place(draft: Draft, column: Column) -> _Scored:
    """A place keeps its coordinates."""
    if not draft.can_tell or len(column.distinct) < 2:
        return 0, ""
    keeps = keeps_spot(column.codes, draft.where)
    if keeps >= 0.9:
        return _FITS, "stays in one spot"
    return (_CONTRADICTS, f"stays in one spot on {keeps:.0%} of rows") if keeps < 0.5 else (0, "")


def _as_user(draft: Draft, column: Column) -> _Scored:
    """A user repeats, moves and returns to places, over more than a day."""
    if not draft.can_tell or len(column.distinct) < 2:
        return 0, ""
    if len(column.distinct) >= 0.8 * draft.rows:
        return _CONTRADICTS, "hardly repeats"
    if determines(draft.spots, column.codes) >= 0.95:
        spots = len(np.unique(draft.spots)) / len(column.distinct)
        return (_CONTRADICTS, "does not move") if spots < 2 else (_PLACES_OF_THEIR_OWN, "shares no place")
    fits = comes_back(column.codes, draft.spots) >= 3 and not _is_short(draft, column)
    return (_FITS, "repeats, moves") if fits else (0, "")


def _is_short(draft: Draft, column: Column) -> bool:
    """Whether most values are outings: their rows are within one day, out of several."""
    for time in (column for column in draft.sample.values() if column.layouts):
        seconds, day = pd.Series(time.seconds), pd.Timedelta(days=1)
        groups = seconds.groupby(column.codes)
        is_long = seconds.max() - seconds.min() > 2 * day
        return bool(is_long and ((groups.max() - groups.min()) < day).mean() > 0.9)
    return False


def _as_property(draft: Draft, column: Column) -> _Scored:
    """A place has one."""
    is_known = draft.can_tell and "poi" in draft.taken
    fits = not is_known or (len(column.distinct) > 1 and not determines(draft.spots, column.codes) < 0.9)
    return 0 if fits else _IMPOSSIBLE, ""


def _as_category(draft: Draft, column: Column) -> _Scored:
    """A place has one; under a name that says nothing, few words that are spread over the map."""
    points, _ = _as_property(draft, column)
    is_few = 3 <= len(column.distinct) <= draft.rows / 20 and not column.is_number
    if column.meaning == ("", 0) and draft.can_tell and is_few:
        middles = draft.where.groupby(column.codes).transform("mean")
        points += _ENOUGH * (middles.var().sum() / draft.where.var().sum() < 0.3)
    return points, f"{len(column.distinct):,} values"


def _as_offset(draft: Draft, column: Column) -> _Scored:
    """Names of zones, or hours or minutes of which most are such offsets."""
    are_names = not column.is_number and any(map(find_zone, column.distinct[:100]))
    numbers = np.abs(np.unique(column.numbers[~np.isnan(column.numbers)]))
    is_usual = (numbers <= 14) | ((numbers <= 900) & (numbers % 15 == 0))
    if not are_names and not (len(numbers) and is_usual.mean() >= 0.5):
        return _IMPOSSIBLE, ""
    return _ENOUGH * all("/" in text for text in column.distinct), ""


def _as_split(draft: Draft, column: Column) -> _Scored:
    """Words such as train; only with such a column the file's trajectories are kept."""
    fits = "split" in draft.taken or any(text.lower() in SPLIT_WORDS for text in column.distinct)
    return 0 if fits else _IMPOSSIBLE, ""


_SCORES: Final = {
    "poi": (_as_place, ("", "name", "user")),
    "user": (_as_user, ("", "name")),
    "tz": (_as_offset, ("",)),
    "split": (_as_split, ()),
    "trajectory": (_as_split, ()),
    "category": (_as_category, ("",)),
    "category_id": (_as_property, ()),
    "name": (_as_property, ()),
}
"""field -> points for the values of a column, and what else its name may mean."""
