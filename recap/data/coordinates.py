"""Whether latitude and longitude of check-ins are swapped, judged by their clocks and their time zone's place."""

import zoneinfo
from contextlib import suppress
from importlib import resources
from pathlib import Path
from typing import Final

import numpy as np

from recap.geodesy import distance_km

MAX_ZONE_HOURS: Final = 4.5
"""Local clocks differ from the sun's by less, even in western China and Spain in summer."""

_FAR_KM: Final = 2_000.0
"""A city of a zone lies nearer to the zone's main city, but for Russia's and China's far ends, which lie no nearer
turned round."""


def hours_off_the_sun(offset_minutes: np.ndarray, longitude: np.ndarray) -> np.ndarray:
    """Hours between local clock and sun time, in [0, 12]."""
    return np.abs((offset_minutes / 60 - longitude / 15 + 12) % 24 - 12)


def look_swapped(
    latitude: np.ndarray, longitude: np.ndarray, offset_minutes: np.ndarray, zone: str | None = None
) -> bool:
    """Whether most check-ins, in degrees, make sense only with latitude and longitude turned round.

    Args:
        offset_minutes: local minus UTC; all zero tells nothing, since UTC is also written where no zone is known.
        zone: the IANA zone named for all of them; its main city then tells more than its clock.
    """
    if len(latitude) == 0 or not _is_inhabited(longitude):
        return False
    if not _is_inhabited(latitude):
        return True
    off = hours_off_the_sun(offset_minutes, longitude) > MAX_ZONE_HOURS
    if np.any(offset_minutes) and off.mean() > 0.5:
        return bool((hours_off_the_sun(offset_minutes[off], latitude[off]) <= MAX_ZONE_HOURS).mean() > 0.9)
    city = zone_city(zone) if zone else None
    if city is None:
        return False
    here, there = np.median(latitude), np.median(longitude)
    at = np.array(city)
    given, turned = (float(distance_km(one, two, at[0], at[1])) for one, two in ((here, there), (there, here)))
    return given > _FAR_KM and turned < given / 4


def _is_inhabited(latitude: np.ndarray) -> bool:
    """People check in between Ushuaia and Utqiagvik."""
    return bool(((latitude > -56) & (latitude < 72)).mean() > 0.5)


def zone_city(zone: str) -> tuple[float, float] | None:
    """Latitude and longitude in degrees of an IANA zone's main city; None where the time zone files tell none."""
    for line in _zone_table().splitlines():
        fields = line.split("\t")
        if len(fields) > 2 and fields[2] == zone:
            at = max(fields[1].rfind("+"), fields[1].rfind("-"))
            return _degrees(fields[1][:at]), _degrees(fields[1][at:])
    return None


def _zone_table() -> str:
    """``zone.tab`` of the machine or of the tzdata package; empty where there is none."""
    for folder in zoneinfo.TZPATH:
        with suppress(OSError):
            return (Path(folder) / "zone.tab").read_text(encoding="utf-8")
    with suppress(ModuleNotFoundError, OSError):
        return resources.files("tzdata").joinpath("zoneinfo", "zone.tab").read_text(encoding="utf-8")
    return ""


def _degrees(text: str) -> float:
    """``+404251`` and ``-0740023`` (ISO 6709: degrees, minutes, perhaps seconds) as degrees."""
    sign, digits = (-1 if text[0] == "-" else 1), text[1:]
    width = 2 if len(digits) in (4, 6) else 3
    parts = [digits[:width], digits[width : width + 2], digits[width + 2 :]]
    return sign * sum(int(part or 0) / 60**power for power, part in enumerate(parts))
