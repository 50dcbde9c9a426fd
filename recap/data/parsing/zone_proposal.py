"""The time zone that coordinates lie in, looked up offline."""

from collections import Counter
from typing import Final
from zoneinfo import ZoneInfo

import numpy as np

from recap.data.parsing.options import LONGITUDE_ZONE

_POINTS: Final = 500
_SHARE: Final = 0.9
_UNINHABITED: Final = ("Etc/", "Antarctica/")


def zones_at(latitude: np.ndarray, longitude: np.ndarray) -> Counter[str]:
    """IANA zones of at most 500 of the points (degrees), evenly chosen, with how many lie in each; `Etc/…` at sea."""
    from tzfpy import get_tz  # loads a map of 6 MB

    known = np.flatnonzero((np.abs(latitude) <= 90) & (np.abs(longitude) <= 180))
    rows = known[:: max(1, -(-len(known) // _POINTS))]
    return Counter(get_tz(float(longitude[row]), float(latitude[row])) for row in rows)


def share_on_land(latitude: np.ndarray, longitude: np.ndarray) -> float:
    """Share of points, impossible ones among them, that lie on inhabited land."""
    inside = (np.abs(latitude) <= 90) & (np.abs(longitude) <= 180)
    zones = zones_at(latitude, longitude)
    land = sum(count for zone, count in zones.items() if zone and not zone.startswith(_UNINHABITED))
    return float(inside.mean()) * land / max(zones.total(), 1) if len(inside) else 0.0


def propose_zone(latitude: np.ndarray, longitude: np.ndarray) -> str:
    """The zone of nine in ten points; `longitude` where they spread over more."""
    zones = zones_at(latitude, longitude)
    zone, count = zones.most_common(1)[0] if zones else ("", 0)
    try:
        return ZoneInfo(zone).key if count >= _SHARE * zones.total() else LONGITUDE_ZONE
    except (KeyError, ValueError, OSError):
        return LONGITUDE_ZONE
