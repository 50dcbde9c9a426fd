"""Detect the time zone and swapped latitude and longitude."""

from collections import Counter
from typing import Final
from zoneinfo import available_timezones

import numpy as np
import pandas as pd

LONGITUDE_ZONE: Final = "longitude"
"""`--timezone longitude`: the whole-hour zone of 15 degrees around a check-in, for files that span the world."""

RADIANS: Final = "If they are radians, multiply them by 180/π."
_CONTRADICTS_MINUTES: Final = 60
_AT_SEA_MINUTES: Final = 180
_BORDER: Final = 0.2
"""Degrees."""
_SPOTS: Final = 20_000
_POINTS: Final = 500
_SHARE: Final = 0.9
_UNINHABITED: Final = ("Etc/", "Antarctica/")


def zone_minutes(latitude: np.ndarray, longitude: np.ndarray, seconds: np.ndarray, minutes: np.ndarray) -> np.ndarray:
    """Offsets (local minus UTC) of the zones at UTC ``seconds`` where ``minutes`` contradict them by an hour, at sea by
    three, else ``minutes``. Near a border either side's will do; of more than 20,000 spots a part is looked at.
    """
    expected = _at_places(latitude, longitude, seconds, minutes)
    odd = np.flatnonzero(expected != minutes)
    for north, east in ((_BORDER, 0), (-_BORDER, 0), (0, _BORDER), (0, -_BORDER)) if len(odd) else ():
        moved = (latitude[odd] + north).clip(-90, 90), (longitude[odd] + east).clip(-180, 180)
        fits = _at_places(*moved, seconds[odd], minutes[odd]) == minutes[odd]
        expected[odd[fits]] = minutes[odd[fits]]
    return expected


def _at_places(latitude: np.ndarray, longitude: np.ndarray, seconds: np.ndarray, minutes: np.ndarray) -> np.ndarray:
    from tzfpy import get_tz

    spots, spot = np.unique(np.round(latitude, 2) + 1j * np.round(longitude, 2), return_inverse=True)
    every = max(1, -(-len(spots) // _SPOTS))
    names = np.array([get_tz(point.imag, point.real) if not row % every else "" for row, point in enumerate(spots)])
    expected = minutes.astype(np.int64, copy=True)
    for name in set(names.tolist()) & available_timezones():
        rows = np.flatnonzero((names == name)[spot])
        utc = pd.to_datetime(seconds[rows], unit="s")
        there = (utc.tz_localize("UTC").tz_convert(name).tz_localize(None) - utc).total_seconds().to_numpy() // 60
        allowed = _AT_SEA_MINUTES if name.startswith("Etc/") else _CONTRADICTS_MINUTES
        expected[rows] = np.where(np.abs(there - minutes[rows]) >= allowed, there, minutes[rows])
    return expected


def are_in_gulf(latitude: np.ndarray, longitude: np.ndarray) -> bool:
    """Whether nearly all points, zeros left out, are in the range of radians: as degrees, there is no land in it."""
    points = np.setdiff1d(latitude + 1j * longitude, [0])
    inside = (np.abs(points.real) <= np.pi / 2) & (np.abs(points.imag) <= np.pi)
    return len(points) > 1 and bool(inside.mean() >= _SHARE)


def look_swapped(latitude: np.ndarray, longitude: np.ndarray) -> bool:
    """Whether points in degrees are on inhabited land only with swapped coordinates."""
    return _on_land(longitude, latitude) >= _SHARE and _on_land(latitude, longitude) < 0.5


def propose_zone(latitude: np.ndarray, longitude: np.ndarray) -> str:
    """The IANA zone of nine in ten points, looked up offline; else `longitude`."""
    zones = _zones(latitude, longitude)
    zone, count = max(zones.items(), key=lambda item: item[1], default=("", 0))
    return zone if count >= _SHARE * zones.total() and zone in available_timezones() else LONGITUDE_ZONE


def _zones(latitude: np.ndarray, longitude: np.ndarray) -> Counter[str]:
    """Zones of at most 500 of the possible points, evenly chosen; `Etc/…` at sea."""
    from tzfpy import get_tz  # a map of 6 MB

    known = np.flatnonzero((np.abs(latitude) <= 90) & (np.abs(longitude) <= 180))
    rows = known[:: max(1, -(-len(known) // _POINTS))]
    return Counter(get_tz(float(longitude[row]), float(latitude[row])) for row in rows)


def _on_land(latitude: np.ndarray, longitude: np.ndarray) -> float:
    """Share of points on inhabited land; impossible points count as outside."""
    zones = _zones(latitude, longitude)
    land = sum(count for zone, count in zones.items() if zone and not zone.startswith(_UNINHABITED))
    inside = (np.abs(latitude) <= 90) & (np.abs(longitude) <= 180)
    return float(inside.mean()) * land / max(zones.total(), 1) if len(inside) else 0.0
