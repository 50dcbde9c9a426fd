"""What each column contains: coordinates by range and spread, ids by how they repeat, the rest by its name."""

import re
from itertools import combinations, product
from typing import Final

import numpy as np
import pandas as pd

from recap.arithmetic.geodesy import distance_km
from recap.data.coordinates import RADIANS, are_in_gulf, look_swapped
from recap.data.parsing.column_names import says, words_of
from recap.data.parsing.options import ONE_PERSON
from recap.data.parsing.read_report import NO_PLACES, TRACK
from recap.data.parsing.table_folder import SPLIT_WORDS
from recap.data.parsing.times import find_zone
from recap.data.understanding.columns import (
    LEAST_OVERLAP,
    LETTERS_READ,
    Column,
    comes_back,
    determines,
    keeps_spot,
    overlap,
)
from recap.data.understanding.draft import Candidate, Draft
from recap.data.understanding.missing import are_cells, how_to_join, why_no_degrees
from recap.data.understanding.proposal import say
from recap.errors import DataError
from recap.machine.printable import shortened

_ENOUGH: Final = 2.0
"""Points that a column needs for a field."""
_FITS: Final = 3.0
"""Points for values that fit a field; a name brings 2 to 3."""
_CONTRADICTS: Final = -1.5
_IMPOSSIBLE: Final = -9.0
_PLACES_OF_THEIR_OWN: Final = -1.0
"""Users who share no place may be a property of places, unless the name says otherwise."""
_IS_ID: Final = 0.3
_MOST_OFFERS: Final = 3
_FEW_KINDS: Final = 3
_MEMBER: Final = {"person", "member", "pers", "mitglied", "membre", "nr", "no", "num", "number", "n", "id", "index"}
_FAR_KM, _FASTEST_KMH = 50, 300
_ON_LAND, _X_FIRST = 1.1, 0.55
"""Points of one order of coordinates: the other is not on land; the form has longitude first."""


def choose_coordinates(draft: Draft) -> None:
    """Latitude and longitude: by name, else a point's numbers, or two columns of fine numbers that fix each other."""
    if {"lat", "lon"} <= draft.taken.keys():
        return
    angles = [item for item in draft.sample.values() if item.is_angle and not draft.is_at_other_end(item.name)]
    means = {column.name: column.meaning[0] for column in angles if column.meaning[0] not in draft.taken}
    means |= {name: field for field, name in draft.taken.items()}
    halves = ([column for column in angles if means.get(column.name) == field] for field in ("lat", "lon"))
    best = min(product(*halves), key=_unlike, default=None)
    candidates = []
    for a, b in [best] if best else _pairs_by_content(angles):
        straight = _ON_LAND * look_swapped(b.numbers, a.numbers) + bool(best)
        turned = _ON_LAND * look_swapped(a.numbers, b.numbers) + _X_FIRST * a.is_x_first
        candidates += [Candidate(straight, {"lat": a, "lon": b}), Candidate(turned, {"lat": b, "lon": a})]
    swapped = say("swapped", lat=best[0].name, lon=best[1].name) if best else ""
    draft.decide("lat", candidates, text=swapped, why_not=why_no_degrees([*draft.sample.values()], draft.source.crs))
    _ask_about_form(draft)
    for field in {"lat", "lon"} & draft.taken.keys():
        numbers = draft.sample[draft.taken[field]].numbers
        low, high = (f"{degrees:z.1f}".replace("-", "−") for degrees in (np.nanmin(numbers), np.nanmax(numbers)))
        draft.add_reason(draft.taken[field], f"{low} to {high}")


def _ask_about_form(draft: Draft) -> None:
    """Refuse letters in a column of their own that turn degrees without a sign, and what is no degrees unless named."""
    lat, lon = draft.column_of("lat"), draft.column_of("lon")
    if not lat or not lon:
        return
    for field, degrees, letters in (("lat", lat, {"N", "S"}), ("lon", lon, {"E", "W"})):
        for column in draft.sample.values():
            seen = {text.upper() for text in column.distinct[:3]}
            if seen <= letters and seen & {"S", "W"} and not (degrees.numbers < 0).any():
                draft.ask(field, say("hemispheres", column=column.name, degrees=degrees.name))
    names, why = {"lat": lat.name, "lon": lon.name}, ""
    if are_cells(lat, lon):
        why = say("are_cells_here", **names)
    elif are_in_gulf(lat.numbers, lon.numbers):
        why = say("in_gulf", radians=RADIANS, **names)
    if why:
        draft.ask("lat", say("as_degrees", why=why, **names))


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
        left = [item for item in _free(draft) if re.fullmatch(r"column\d+", item.name) and len(item.distinct) > 1]
        owners = [item for item in draft.sample.values() if says(item.name, "owner") and not item.layouts]
        for columns, reason, least in ((left, "the only one left", 0), (owners, "repeats, moves", 0.1)):
            may_be = [item for item in columns if _as_user(draft, item)[0] >= least]
            candidates = candidates or [Candidate(0, {field: item}, reason) for item in may_be]
    others = [item for item in _free(draft) if item.meaning[0] != "user" and item.meaning[1] >= 0]
    is_track = not others and not draft.taken.keys() & {"category", "name"}
    if field == "poi" and not candidates and is_track and not how_to_join(draft.path, draft.sample, {"poi"}):
        raise DataError(TRACK.format(name=draft.path.name))
    offers = {} if candidates else _offers(draft, field)
    why_not = say("one_person") if field == "user" else NO_PLACES
    if offers and field == "poi":
        split, why_not = next((draft.sample[answer[field]] for answer in offers.values() if "ids" in answer), None), ""
        if split is not None:
            places = draft.where.groupby(split.text.to_pylist())
            widest = str((places.max() - places.min()).sum(axis=1).idxmax())
            why_not = say("several_places", column=split.name, example=shortened(widest, 40))
    draft.decide(field, candidates, replaces, why_not=why_not, offers=offers)


def _offers(draft: Draft, field: str) -> dict[str, dict[str, str]]:
    """Answers where no column is sure: those whose names mean the field, though their values do not say so."""
    words = {"user": ("user",), "poi": ("poi", "name")}[field]
    offers: dict[str, dict[str, str]] = {}
    for item in _free(draft):
        is_named = item.meaning[0] in words or (field == "user" and says(item.name, "owner"))
        is_named |= item.name in draft.source.labels
        if is_named and field == "poi" and item.meaning[0] == "name" and draft.can_tell:
            offers[f"{item.name}, by name and position"] = {field: item.name, "ids": "split"}
        if is_named and len(item.distinct) > 1:
            offers[item.name] = {field: item.name}
    for item in _free(draft) if field == "user" and not offers else ():
        may_be = item.meaning[0] in ("", "name", "time") and not item.is_degrees
        may_be &= 2 <= len(item.distinct) <= draft.rows / 2
        if may_be and len(offers) < _MOST_OFFERS and _as_user(draft, item)[0] >= 0:
            offers[item.name] = {field: item.name}
    return offers | ({"one person's file": {"user": ONE_PERSON}} if field == "user" else {})


def ask_about_groups(draft: Draft) -> None:
    """Ask where people are numbered from 1 again in each household, agency or city."""
    user = draft.column_of("user")
    if user is None or "user" in draft.options.columns:
        return
    free = [item for item in _free(draft) if 2 <= len(item.distinct) < draft.rows / 2]
    pairs = [(group, user) for group in free if says(group.name, "household") or says(group.name, "area")]
    if says(user.name, "household"):
        pairs += [(user, member) for member in free if _MEMBER & {*words_of(member.name)}]
    for group, person in pairs:
        numbers = _numbers_of(person)
        both = pd.DataFrame({"person": numbers, "group": group.codes}).drop_duplicates()
        ranks = both["person"].rank(method="dense").groupby(both["group"]).agg(["max", "count"])
        restarts = numbers.notna().all() and (ranks["max"] <= 1.5 * ranks["count"]).mean() >= 0.8
        is_open = len(both) >= 1.5 * len(person.distinct) and (restarts or says(group.name, "household"))
        if is_open and (not determines(draft.spots, group.codes) >= 0.95 or _jumps(draft, person, group)):
            joined = {"user": f"{group.name}+{person.name}"}
            answers = {f"{group.name} and {person.name}": joined, f"{user.name} alone": {"user": user.name}}
            users = {"many": len(both), "few": len(user.distinct)}
            draft.ask("user", say("groups", person=person.name, group=group.name, **users), answers)


def _numbers_of(column: Column) -> pd.Series:
    """The numbers at the ends of ids, or those of short ids in their order; NaN where ids are of another kind."""
    texts = pd.Series(column.text.to_pylist())
    digits = pd.to_numeric(texts.str.extract(r"(\d{1,9})$")[0])
    if digits.nunique() != len(column.distinct) and max(map(len, column.distinct)) <= 2:
        digits = pd.Series(pd.factorize(texts, sort=True)[0])
    return digits


def tell_other_places(draft: Draft) -> None:
    """Say of a second column of places that it is not used."""
    place = draft.column_of("poi")
    if place is None:
        return
    for item in _free(draft):
        if item.meaning[0] in ("", "poi") and item.name not in draft.reasons and len(item.distinct) > 2:
            is_place = overlap(item, place) >= LEAST_OVERLAP and not determines(place.codes, item.codes) >= 0.95
            if is_place and not item.is_number | place.is_number:
                draft.add_reason(item.name, "another place of the row, not used")
                draft.other_places.add(item.name)


def _jumps(draft: Draft, user: Column, group: Column) -> bool:
    """Whether users change between groups, such as cities, faster than people travel."""
    time = next((column for column in draft.sample.values() if column.layouts), None)
    if time is None:
        return False
    table = draft.where.assign(user=user.codes, group=group.codes, time=time.seconds).sort_values(["user", "time"])
    before, after = table.shift().iloc[1:], table.iloc[1:]
    is_change = (after["user"] == before["user"]) & (after["group"] != before["group"])
    km = distance_km(*(part[name].to_numpy() for part in (before, after) for name in ("lat", "lon")))
    hours = (after["time"] - before["time"]).dt.total_seconds() / 3600
    is_fast = is_change & (km > _FAR_KM) & (km > _FASTEST_KMH * hours)
    return bool(is_fast.sum() > 0.05 * is_change.sum())


def choose_optional(draft: Draft, field: str) -> None:
    """A description, by its name where its values fit, or where nothing else could be."""
    if field in draft.taken:
        return
    if field == "name" and (place := draft.column_of("poi")):
        first = [text[:LETTERS_READ] for text in place.distinct[:200]]
        words = [text for text in first if re.search(r"[^\W\d_]{3}.* .*[^\W\d_]{2}", text)]  # such as Café am Markt
        if place.meaning[0] == "name" or len(words) > 0.5 * len(first):
            draft.take({field: place}, "")
            return
    candidates = _candidates(draft, field)
    candidates = [
        item for item in candidates if field == "split" or item.columns[field].name not in draft.source.labels
    ]
    named = [item for item in candidates if item.columns[field].meaning[0] == field]
    if named or len(candidates) == 1:
        best = max(named or candidates, key=lambda item: item.points)
        draft.take(best.columns, best.reason)


def _free(draft: Draft) -> list[Column]:
    """Columns that are not taken and hold no times."""
    taken = draft.taken.values()
    columns = (item for item in draft.sample.values() if not (item.name in taken or item.layouts or item.is_clock))
    return [item for item in columns if not draft.is_at_other_end(item.name)]


def _candidates(draft: Draft, field: str) -> list[Candidate]:
    """Columns with enough points for a field, from their names and their values."""
    score, may_mean = _SCORES[field]
    if field == "poi" and sum(item.meaning[0] == "user" for item in draft.sample.values()) < 2:
        may_mean = tuple(meaning for meaning in may_mean if meaning != "user")  # it is the only one who visits
    candidates = []
    for column in _free(draft):
        meaning, points = column.meaning
        if meaning == field or (meaning in may_mean and points >= 0):
            by_name = points * (meaning == field) + _IS_ID * says(column.name, "id")
            by_values, reason = score(draft, column)
            candidates.append(Candidate(by_name + by_values, {field: column}, reason))
    return [item for item in candidates if item.points >= _ENOUGH]


def _as_place(draft: Draft, column: Column) -> tuple[float, str]:
    """A place keeps its coordinates."""
    if not draft.can_tell or len(column.distinct) < 2:
        return 0, ""
    keeps = keeps_spot(column.codes, draft.where)
    if keeps >= 0.9:
        return _FITS, "stays in one spot"
    return (_CONTRADICTS, f"stays in one spot on {keeps:.0%} of rows") if keeps < 0.5 else (0, "")


def _as_user(draft: Draft, column: Column) -> tuple[float, str]:
    """A user repeats, moves and returns to places, over more than a day."""
    if not draft.can_tell or len(column.distinct) < 2:
        return 0, ""
    if len(column.distinct) >= 0.8 * draft.rows:
        return _CONTRADICTS, "hardly repeats"
    if determines(draft.spots, column.codes) >= 0.95:
        spots = len(np.unique(draft.spots)) / len(column.distinct)
        return (_CONTRADICTS, "does not move") if spots < 2 else (_PLACES_OF_THEIR_OWN, "shares no place")
    if comes_back(column.codes, draft.spots) >= 3 and not _is_short(draft, column):
        return _FITS, "repeats, moves"
    is_kind = len(column.distinct) <= _FEW_KINDS and not column.is_number and not says(column.name, "id")
    return (_CONTRADICTS if is_kind else 0), "few values, such as kinds of users" * is_kind


def _is_short(draft: Draft, column: Column) -> bool:
    """Whether most values are outings: their rows are within one day, out of several."""
    for time in (column for column in draft.sample.values() if column.layouts):
        seconds, day = pd.Series(time.seconds), pd.Timedelta(days=1)
        groups = seconds.groupby(column.codes)
        is_long = seconds.max() - seconds.min() > 2 * day
        return bool(is_long and ((groups.max() - groups.min()) < day).mean() > 0.9)
    return False


def _as_property(draft: Draft, column: Column) -> tuple[float, str]:
    """A place has one."""
    is_known = draft.can_tell and "poi" in draft.taken
    fits = not is_known or (len(column.distinct) > 1 and not determines(draft.spots, column.codes) < 0.9)
    return 0 if fits else _IMPOSSIBLE, ""


def _as_category(draft: Draft, column: Column) -> tuple[float, str]:
    """A place has one; under a name that says nothing, few words that are spread over the map."""
    points, _ = _as_property(draft, column)
    is_few = 3 <= len(column.distinct) <= draft.rows / 20 and not column.is_number
    if column.meaning == ("", 0) and draft.can_tell and is_few:
        middles = draft.where.groupby(column.codes).transform("mean")
        points += _ENOUGH * (middles.var().sum() / draft.where.var().sum() < 0.3)
    return points, f"{len(column.distinct):,} values"


def _as_offset(draft: Draft, column: Column) -> tuple[float, str]:
    """Names of zones, or hours or minutes of which most are such offsets."""
    are_names = not column.is_number and any(map(find_zone, column.distinct[:100]))
    numbers = np.abs(np.unique(column.numbers[~np.isnan(column.numbers)]))
    is_usual = (numbers <= 14) | ((numbers <= 900) & (numbers % 15 == 0))
    if not are_names and not (len(numbers) and is_usual.mean() >= 0.5):
        return _IMPOSSIBLE, ""
    return _ENOUGH * all("/" in text for text in column.distinct), ""


def _as_split(draft: Draft, column: Column) -> tuple[float, str]:
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
"""field -> points for the values of a column, with the reason, and what else its name may mean."""
