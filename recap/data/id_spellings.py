"""Ids that differ only in how they are written, such as 4008.0 and 04008, and ids that several places share."""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd

from recap import columns as c
from recap.arithmetic.geodesy import distance_km

_SAME_SPOT_KM = 0.2
_BRANCH_KM = 0.5
"""Two rows of one name further from each other are at two places."""
_AT_ONCE_SECONDS = 60


@dataclass(frozen=True)
class Pair:
    """Two ids of one place or user; the one of more check-ins is kept."""

    kept: str
    other: str

    def shown(self) -> str:
        """Both ids; with their code points where they look the same."""
        same = unicodedata.normalize("NFKC", self.kept) == unicodedata.normalize("NFKC", self.other)
        return " and ".join(map(ascii if same else repr, (self.kept, self.other)))


def spelling_pairs(raw: pd.DataFrame) -> dict[str, list[Pair]]:
    """Pairs of ids by column: of places within 200 m, and of users who share a place and never overlap in time. Users
    whose ids differ by case alone overlap if their times do; others if they are in two places within a minute.
    """
    place, places = pd.factorize(raw[c.POI_ID])
    user, users = pd.factorize(raw[c.USER_ID])
    first = np.flatnonzero(~pd.Series(place).duplicated())
    lat, lon = (raw[name].to_numpy(np.float64)[first] for name in (c.LATITUDE, c.LONGITUDE))
    pairs: dict[str, list[Pair]] = {c.POI_ID: [], c.USER_ID: []}
    joined = np.arange(len(places))
    for kept, other in _alike(place, places):
        if distance_km(lat[[kept]], lon[[kept]], lat[[other]], lon[[other]])[0] <= _SAME_SPOT_KM:
            pairs[c.POI_ID].append(Pair(str(places[kept]), str(places[other])))
            joined[other] = kept
    seconds = raw[c.TIME].to_numpy("datetime64[s]").astype(np.int64)
    for kept, other in _alike(user, users):
        is_case = _fold(users[kept], keep_case=True) != _fold(users[other], keep_case=True)
        a, b = ((seconds[rows], joined[place[rows]]) for rows in (user == kept, user == other))
        if np.isin(a[1], b[1]).any() and not _overlap(a, b, is_case=is_case):
            pairs[c.USER_ID].append(Pair(str(users[kept]), str(users[other])))
    return pairs


def join_spellings(raw: pd.DataFrame) -> tuple[pd.DataFrame, str]:
    """The table with one spelling for each of the pairs, and how many there are, in words."""
    pairs = spelling_pairs(raw)
    for column, joined in pairs.items():
        kept = {pair.other: pair.kept for pair in joined}
        spelled = raw[column].astype(str).map(lambda name, kept=kept: kept.get(name, name))
        raw = raw.assign(**{column: spelled.astype("category")})
    count = sum(map(len, pairs.values()))
    return raw, f"{count:,} ids that differ only in their spelling were joined with another."


def split_places(raw: pd.DataFrame) -> tuple[pd.DataFrame, str]:
    """The table with a place of its own for each spot of an id that is at several, and how many such ids there are."""
    codes, ids = pd.factorize(raw[c.POI_ID])
    where = pd.DataFrame({"code": codes, "lat": raw[c.LATITUDE], "lon": raw[c.LONGITUDE]}).reset_index(drop=True)
    places = where.groupby("code")[["lat", "lon"]]
    low, high = places.min().to_numpy(), places.max().to_numpy()
    far = np.flatnonzero(distance_km(low[:, 0], low[:, 1], high[:, 0], high[:, 1]) > _BRANCH_KM)
    names = pd.Series(ids.astype(str), dtype=object).take(codes).to_numpy(copy=True)
    for code in far:
        left = where.index[where["code"] == code].to_numpy()
        while len(left):
            spots = where.loc[left, ["lat", "lon"]]
            lat, lon = spots.value_counts().index[0]
            near = distance_km(np.full(len(left), lat), np.full(len(left), lon), *spots.to_numpy().T) <= _BRANCH_KM
            names[left[near]] = f"{ids[int(code)]} ({lat:.4f}, {lon:.4f})"
            left = left[~near]
    split = raw.assign(**{c.POI_ID: pd.Series(names, index=raw.index).astype("category")})
    return split, f"{len(far):,} ids were split into places of their own, spot by spot."


def _fold(name: object, keep_case: bool = False) -> str:
    """An id without what spellings differ in."""
    letters = unicodedata.normalize("NFKC", str(name))
    letters = "".join(letter for letter in letters if not letter.isspace() and unicodedata.category(letter) != "Cf")
    letters = re.sub(r"^([+-]?)0*(\d+)(?:[.,]0+)?$", r"\1\2", letters)
    return letters if keep_case else letters.casefold()


def _alike(codes: np.ndarray, ids: Iterable[object]) -> Iterator[tuple[int, int]]:
    """Pairs of codes of ids with one folded form: the most frequent with each other one."""
    together: defaultdict[str, list[int]] = defaultdict(list)
    for code, name in enumerate(ids):
        together[_fold(name)].append(code)
    counts = np.bincount(codes)
    for group in together.values():
        kept, *others = sorted(group, key=lambda code: -counts[code])
        yield from ((kept, other) for other in others)


def _overlap(a: tuple[np.ndarray, np.ndarray], b: tuple[np.ndarray, np.ndarray], *, is_case: bool) -> bool:
    if is_case:
        return bool(a[0].min() <= b[0].max() and b[0].min() <= a[0].max())
    seconds, places = (np.concatenate(parts) for parts in zip(a, b, strict=True))
    order = np.argsort(seconds, kind="stable")
    is_close = np.diff(seconds[order]) <= _AT_ONCE_SECONDS
    is_other = np.diff((np.arange(len(seconds)) >= len(a[0]))[order]) != 0
    return bool((is_close & is_other & (np.diff(places[order]) != 0)).any())
