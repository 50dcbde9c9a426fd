"""Which column holds what: coordinates by range and spread, ids by how they repeat, the rest by its name."""

from collections.abc import Callable

import numpy as np
import pandas as pd

from recap.data.parsing.column_names import field_of, is_id, words_of
from recap.data.parsing.table_builder import SPLIT_WORDS
from recap.data.parsing.zone_column import find_zone
from recap.data.parsing.zone_proposal import share_on_land
from recap.data.understanding.columns import Column, comes_back, determines, keeps_spot
from recap.data.understanding.draft import Draft

_FITS = 3.0
"""Points for values that fit a field; a name alone brings 2 to 3."""
_ID = 0.3
_LAT_LON = "latitude and longitude in degrees"


def choose_coordinates(draft: Draft) -> None:
    """Latitude and longitude: by name, else two columns of fine numbers that fix each other."""
    if {"lat", "lon"} <= draft.taken.keys():
        return
    named = {
        field: [draft.sample[draft.taken[field]]]
        if field in draft.taken
        else [column for column in draft.sample.values() if field_of(column.name)[0] == field and column.is_angle]
        for field in ("lat", "lon")
    }
    pairs = [(a, b) for a in named["lat"] for b in named["lon"]]
    by_name = bool(pairs)
    pairs = [min(pairs, key=lambda pair: _unlike(*pair))] if by_name else _pairs_by_content(draft)
    if len(pairs) != 1:
        answers = {f"{a.name} and {b.name}": {"lat": a.name, "lon": b.name} for a, b in pairs[:4]}
        return draft.ask("lat", f"which columns are {_LAT_LON}?", answers) if pairs else draft.ask_name("lat", _LAT_LON)
    (first, second) = pairs[0]
    straight, turned = share_on_land(first.numbers, second.numbers), share_on_land(second.numbers, first.numbers)
    as_lat_lon = {"lat": first.name, "lon": second.name}
    as_lon_lat = {"lat": second.name, "lon": first.name}
    if turned >= 0.9 and straight < 0.5:
        if by_name:
            draft.ask(
                "lat", f"{first.name} and {second.name} look swapped", {"swapped": as_lon_lat, "as named": as_lat_lon}
            )
        first, second = second, first
    elif not by_name and not (straight >= 0.9 and turned < 0.5):
        if not _is_lon_first(draft, first):
            draft.ask("lat", "which column is the latitude?", {first.name: as_lat_lon, second.name: as_lon_lat})
        else:
            first, second = second, first
    for field, column in (("lat", first), ("lon", second)):
        low, high = np.nanmin(column.numbers), np.nanmax(column.numbers)
        draft.take(field, column, f"{low:.1f} to {high:.1f}".replace("-", "−"))


def _unlike(latitude: Column, longitude: Column) -> tuple[int, bool, int]:
    """How badly two columns go together: words that they do not share, a user's home, many different values."""
    a, b = set(words_of(latitude.name)), set(words_of(longitude.name))
    return len(a ^ b), bool(a & {"user", "home", "customer"}), len(latitude.distinct) + len(longitude.distinct)


def _is_lon_first(draft: Draft, first: Column) -> bool:
    """WKT and GeoJSON begin with the longitude."""
    base = first.name.removesuffix(".1")
    if base in draft.points:
        return any(text[:1].isalpha() for text in draft.sample[base].distinct[:1])
    return words_of(base)[-1:] == ["coordinates"]


def _pairs_by_content(draft: Draft) -> list[tuple[Column, Column]]:
    """The two numbers of points, else columns of fine numbers within ±180 that fix each other, in the file's order."""
    degrees = [column for column in draft.sample.values() if column.is_degrees and field_of(column.name)[1] >= 0]
    pairs = [(a, b) for place, a in enumerate(degrees) for b in degrees[place + 1 :]]
    points = [(a, b) for a, b in pairs if a.name.endswith(".1") and b.name == f"{a.name[:-2]}.2"]
    return points or [
        (a, b) for a, b in pairs if not min(determines(a.codes, b.codes), determines(b.codes, a.codes)) < 0.9
    ]


def choose_place(draft: Draft) -> None:
    """The place's id keeps its coordinates; of several the finest."""
    scored = []
    for column, score in _possible(draft, "poi", ("", "name", "user")):
        reason = ""
        if draft.can_tell and len(column.distinct) > 1:
            keeps = keeps_spot(column.codes, draft.latitude, draft.longitude)
            reason = (
                "keeps its spot" if keeps >= 0.9 else f"keeps its spot on {keeps:.0%} of rows" if keeps < 0.5 else ""
            )
            score += _FITS * (keeps >= 0.9) - (keeps < 0.5)
        scored.append((score + _ID * is_id(column.name), column, reason))
    draft.choose("poi", scored, lambda a, b: determines(a.codes, b.codes) >= 0.99 > determines(b.codes, a.codes))


def choose_user(draft: Draft) -> None:
    """The user's id repeats, moves and comes back to places."""
    scored = []
    for column, score in _possible(draft, "user", ("", "trajectory")):
        reason = ""
        if draft.can_tell and len(column.distinct) > 1:
            repeats = len(column.distinct) < 0.8 * draft.rows
            moves = not determines(draft.spots, column.codes) >= 0.95
            fits = repeats and moves and comes_back(column.codes, draft.spots) >= 3
            reason = "repeats, moves" if fits else "hardly repeats" if not repeats else "" if moves else "does not move"
            score += _FITS * fits - (not (repeats and moves))
        scored.append((score + _ID * is_id(column.name), column, reason))
    draft.choose("user", scored, lambda a, b: _is_better_user(draft, a, b))


def _possible(draft: Draft, field: str, others: tuple[str, ...]) -> list[tuple[Column, float]]:
    """Columns that may be an id, with the points of their names: names that say something else are left out."""
    named = [(column, *field_of(column.name)) for column in draft.free() if not column.is_degrees]
    return [
        (column, points if found == field else 0.0)
        for column, found, points in named
        if points >= 0 and (found == field or found in others)
    ]


def _is_better_user(draft: Draft, a: Column, b: Column) -> bool:
    """Of a user, their age and their trips, the user: what fixes the others, unless it lasts for less than a day."""
    a_fixes, b_fixes = determines(a.codes, b.codes) >= 0.99, determines(b.codes, a.codes) >= 0.99
    if a_fixes == b_fixes:
        return False
    finer, coarser = (a, b) if a_fixes else (b, a)
    is_trip = field_of(finer.name)[0] == "trajectory" or _is_short(draft, finer)
    return a is (coarser if is_trip and len(coarser.distinct) >= 20 else finer)


def _is_short(draft: Draft, column: Column) -> bool:
    """Whether the rows of most values lie within a day."""
    time = next((time for time in draft.times.values()), None)
    if time is None:
        return False
    times = pd.Series(time.seconds).groupby(column.codes)
    return bool(((times.max() - times.min()) < pd.Timedelta(days=1)).mean() > 0.9)


def choose_described(draft: Draft) -> None:
    """Offsets, a split, categories and names: by their names where the values fit, or where nothing else could be."""
    tests: dict[str, Callable[[Column], bool]] = {
        "tz": _are_offsets,
        "split": lambda column: any(text.lower() in SPLIT_WORDS for text in column.distinct),
        "trajectory": lambda column: "split" in draft.taken,
        "category": lambda column: _is_of_place(draft, column),
        "category_id": lambda column: _is_of_place(draft, column),
        "name": lambda column: _is_of_place(draft, column),
    }
    for field, fits in tests.items():
        named = [column for column in draft.free() if field_of(column.name)[0] == field and fits(column)]
        unnamed: list[Column] = []
        if field == "tz":
            unnamed = [
                column for column in draft.free() if all("/" in text for text in column.distinct) and fits(column)
            ]
        elif field == "category" and draft.can_tell:
            unnamed = [column for column in draft.free() if fits(column) and _is_kind(draft, column)]
        found = max(
            named, key=lambda column: field_of(column.name)[1], default=unnamed[0] if len(unnamed) == 1 else None
        )
        if field not in draft.taken and found is not None:
            draft.take(field, found, f"{len(found.distinct):,} names" if field == "category" else "")


def _are_offsets(column: Column) -> bool:
    """Names of zones, or hours, minutes or seconds in quarters of an hour."""
    if not column.is_number:
        return any(find_zone(text) for text in column.distinct[:200])
    numbers = np.unique(column.numbers[np.isfinite(column.numbers)])
    return bool(((np.abs(numbers) <= 14) | ((np.abs(numbers) <= 900) & (numbers % 15 == 0))).mean() >= 0.5)


def _is_of_place(draft: Draft, column: Column) -> bool:
    if not draft.can_tell or "poi" not in draft.taken:
        return True
    return len(column.distinct) > 1 and not determines(draft.spots, column.codes) < 0.9


def _is_kind(draft: Draft, column: Column) -> bool:
    """Few words that say nothing about where: not a borough."""
    if column.is_number or field_of(column.name)[1] != 0 or not 3 <= len(column.distinct) <= draft.rows / 20:
        return False
    points = pd.DataFrame({"lat": draft.latitude, "lon": draft.longitude})
    middle = points.groupby(column.codes).transform("mean") - points.mean()
    return float(middle.pow(2).sum().sum() / (points - points.mean()).pow(2).sum().sum()) < 0.3
