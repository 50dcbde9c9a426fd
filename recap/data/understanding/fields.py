"""Roles of columns: coordinates by range and spread, ids by how they repeat, the rest by its name."""

from collections.abc import Callable
from typing import Final

import numpy as np
import pandas as pd

from recap.data.coordinates import look_swapped
from recap.data.parsing.column_names import field_of, says, words_of
from recap.data.parsing.table_builder import SPLIT_WORDS
from recap.data.parsing.zones import find_zone
from recap.data.understanding.columns import Column, comes_back, determines, keeps_spot
from recap.data.understanding.draft import Draft

_FITS: Final = 3.0
"""Points for values that fit a field; a name brings 2 to 3."""
_CONTRADICTS: Final = 1.5
_IS_ID: Final = 0.3


def choose_coordinates(draft: Draft) -> None:
    """Latitude and longitude: by name, else a point's numbers, or two columns of fine numbers that fix each other."""
    if {"lat", "lon"} <= draft.taken.keys():
        return
    angles = [column for column in draft.sample.values() if column.is_angle]
    named = {
        field: [column for column in angles if draft.taken.get(field, column.name) == column.name]
        if field in draft.taken
        else [column for column in angles if field_of(column.name)[0] == field]
        for field in ("lat", "lon")
    }
    pairs = sorted(((a, b) for a in named["lat"] for b in named["lon"]), key=lambda pair: _unlike(*pair))[:1]
    by_name = bool(pairs)
    pairs = pairs or _pairs_by_content(angles)
    if len(pairs) != 1:
        answers = {f"{a.name} and {b.name}": {"lat": a.name, "lon": b.name} for a, b in pairs[:4]}
        return draft.ask_which("lat", "latitude and longitude in degrees", answers)
    first, second = pairs[0]
    straight = {"lat": first.name, "lon": second.name}
    turned = {"lat": second.name, "lon": first.name}
    is_turned = look_swapped(first.numbers, second.numbers)
    if by_name and is_turned:
        draft.ask("lat", f"{first.name} and {second.name} look swapped", {"swapped": turned, "as named": straight})
    elif not by_name and not is_turned and not look_swapped(second.numbers, first.numbers):
        is_turned = first.name.removesuffix(".1").endswith("coordinates") or _is_wkt(draft, first)
        if not is_turned:
            draft.ask("lat", "which column is the latitude?", {first.name: straight, second.name: turned})
    for field, column in zip(("lon", "lat") if is_turned else ("lat", "lon"), (first, second), strict=True):
        low, high = np.nanmin(column.numbers), np.nanmax(column.numbers)
        draft.take(field, column, f"{low:.1f} to {high:.1f}".replace("-", "−"))


def _is_wkt(draft: Draft, first: Column) -> bool:
    base = draft.sample.get(first.name.removesuffix(".1"), first)
    return base.distinct[0][:1].isalpha()


def _unlike(latitude: Column, longitude: Column) -> tuple[int, bool, int]:
    """How badly two columns fit together: different words, a user's home, many different values."""
    a, b = set(words_of(latitude.name)), set(words_of(longitude.name))
    return len(a ^ b), bool(a & {"user", "home", "customer"}), len(latitude.distinct) + len(longitude.distinct)


def _pairs_by_content(angles: list[Column]) -> list[tuple[Column, Column]]:
    degrees = [column for column in angles if column.is_degrees and field_of(column.name)[1] >= 0]
    pairs = [(a, b) for place, a in enumerate(degrees) for b in degrees[place + 1 :]]
    points = [(a, b) for a, b in pairs if a.name.endswith(".1") and b.name == f"{a.name[:-2]}.2"]
    return points or [
        (a, b) for a, b in pairs if not min(determines(a.codes, b.codes), determines(b.codes, a.codes)) < 0.9
    ]


def choose_place(draft: Draft) -> None:
    """The id whose coordinates do not change; of several the finest."""
    scored = []
    for column, points in _possible(draft, "poi", ("", "name", "user")):
        reason = ""
        if draft.can_tell and len(column.distinct) > 1:
            keeps = keeps_spot(column.codes, draft.latitude, draft.longitude)
            points += _FITS * (keeps >= 0.9) - _CONTRADICTS * (keeps < 0.5)
            reason = "keeps its spot" if keeps >= 0.9 else f"keeps its spot on {keeps:.0%} of rows" * (keeps < 0.5)
        scored.append((points, column, reason))
    draft.choose("poi", scored)


def choose_user(draft: Draft) -> None:
    """The id that repeats, moves and returns to places, over more than a day."""
    scored = []
    for column, points in _possible(draft, "user", ("",)):
        reason = ""
        if draft.can_tell and len(column.distinct) > 1:
            repeats = len(column.distinct) < 0.8 * draft.rows
            moves = not determines(draft.spots, column.codes) >= 0.95
            fits = repeats and moves and comes_back(column.codes, draft.spots) >= 3 and not _is_short(draft, column)
            points += _FITS * fits - _CONTRADICTS * (not (repeats and moves))
            reason = "repeats, moves" if fits else "hardly repeats" if not repeats else "" if moves else "does not move"
        scored.append((points, column, reason))
    draft.choose("user", scored)


def _possible(draft: Draft, field: str, others: tuple[str, ...]) -> list[tuple[Column, float]]:
    """Columns that may be an id, with points for their names."""
    named = [(column, *_meaning(column)) for column in draft.free() if not column.is_degrees]
    return [
        (column, points * (found == field) + _IS_ID * says(column.name, "id"))
        for column, found, points in named
        if points >= 0 and (found == field or found in others)
    ]


def _meaning(column: Column) -> tuple[str, float]:
    """Field and points of a name; none where it names an angle and the values are none."""
    field, points = field_of(column.name)
    return (field, points) if field not in ("lat", "lon") or column.is_angle else ("", 0.0)


def _is_short(draft: Draft, column: Column) -> bool:
    """whether most values are outings: their rows are within one day, out of several."""
    for time in draft.times[:1]:
        seconds, day = pd.Series(time.seconds), pd.Timedelta(days=1)
        groups = seconds.groupby(column.codes)
        is_long = seconds.max() - seconds.min() > 2 * day
        return bool(is_long and ((groups.max() - groups.min()) < day).mean() > 0.9)
    return False


def choose_described(draft: Draft) -> None:
    """Offsets, a split, categories and names: by their names where the values fit, or where nothing else could be."""
    tests: dict[str, Callable[[Column], bool]] = {
        "tz": _are_offsets,
        "split": lambda column: any(text.lower() in SPLIT_WORDS for text in column.distinct),
        "trajectory": lambda column: "split" in draft.taken,
        **dict.fromkeys(("category", "category_id", "name"), lambda column: _is_of_place(draft, column)),
    }
    for field, fits in tests.items():
        fitting = [column for column in draft.free() if field not in draft.taken and fits(column)]
        named = [column for column in fitting if field_of(column.name)[0] == field]
        unnamed = [
            column
            for column in fitting
            if (field == "tz" and all("/" in text for text in column.distinct))
            or (field == "category" and draft.can_tell and _is_kind(draft, column))
        ]
        if named or len(unnamed) == 1:
            column = max(named or unnamed, key=lambda column: field_of(column.name)[1])
            draft.take(field, column, f"{len(column.distinct):,} names" if field == "category" else "")


def _are_offsets(column: Column) -> bool:
    """Names of zones, or hours or minutes of which most are such offsets."""
    if any(find_zone(text) for text in column.distinct[:100] if not text.strip("+-").isdigit()):
        return True
    numbers = np.abs(np.unique(column.numbers[np.isfinite(column.numbers)]))
    return len(numbers) > 0 and bool(((numbers <= 14) | ((numbers <= 900) & (numbers % 15 == 0))).mean() >= 0.5)


def _is_of_place(draft: Draft, column: Column) -> bool:
    if not draft.can_tell or "poi" not in draft.taken:
        return True
    return len(column.distinct) > 1 and not determines(draft.spots, column.codes) < 0.9


def _is_kind(draft: Draft, column: Column) -> bool:
    is_number = np.isfinite(column.numbers).mean() > 0.5
    if is_number or field_of(column.name)[1] or not 3 <= len(column.distinct) <= draft.rows / 20:
        return False
    points = pd.DataFrame({"lat": draft.latitude, "lon": draft.longitude})
    middle = points.groupby(column.codes).transform("mean") - points.mean()
    return float(middle.pow(2).sum().sum() / (points - points.mean()).pow(2).sum().sum()) < 0.3
