"""Detect the time zone and swapped latitude and longitude."""

from collections import Counter
from typing import Final
from zoneinfo import available_timezones

import numpy as np

LONGITUDE_ZONE: Final = "longitude"
"""`--timezone longitude`: the whole-hour zone of 15 degrees around a check-in, for files that span the world."""

MAX_ZONE_HOURS: Final = 4.5
"""Largest difference of local and solar time, even in western China and Spain in summer."""

_POINTS: Final = 500
_SHARE: Final = 0.9
_UNINHABITED: Final = ("Etc/", "Antarctica/")


def hours_off_the_sun(offset_minutes: np.ndarray, longitude: np.ndarray) -> np.ndarray:
    """Hours between local and solar time, in [0, 12]."""
    return np.abs((offset_minutes / 60 - longitude / 15 + 12) % 24 - 12)


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
