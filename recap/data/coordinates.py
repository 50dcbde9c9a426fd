"""Whether latitude and longitude of check-ins are swapped, judged by their clocks."""

from typing import Final

import numpy as np

MAX_ZONE_HOURS: Final = 4.5
"""Local clocks differ from the sun's by less, even in western China and Spain in summer."""


def hours_off_the_sun(offset_minutes: np.ndarray, longitude: np.ndarray) -> np.ndarray:
    """Hours between local clock and sun time, in [0, 12]."""
    return np.abs((offset_minutes / 60 - longitude / 15 + 12) % 24 - 12)


def look_swapped(latitude: np.ndarray, longitude: np.ndarray, offset_minutes: np.ndarray) -> bool:
    """Whether most check-ins, in degrees, make sense only with latitude and longitude turned round.

    Args:
        offset_minutes: local minus UTC; all zero tells nothing, since UTC is also written where no zone is known.
    """
    if len(latitude) == 0 or not _is_inhabited(longitude):
        return False
    if not _is_inhabited(latitude):
        return True
    off = hours_off_the_sun(offset_minutes, longitude) > MAX_ZONE_HOURS
    if not np.any(offset_minutes) or off.mean() <= 0.5:
        return False
    return bool((hours_off_the_sun(offset_minutes[off], latitude[off]) <= MAX_ZONE_HOURS).mean() > 0.9)


def _is_inhabited(latitude: np.ndarray) -> bool:
    """People check in between Ushuaia and Utqiagvik."""
    return bool(((latitude > -56) & (latitude < 72)).mean() > 0.5)
