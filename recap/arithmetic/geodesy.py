"""Distances on the sphere."""

from typing import Final

import numpy as np

EARTH_RADIUS_KM: Final = 6371.0088
"""Mean radius R1 of the earth (IUGG), km."""


def distance_km(
    latitude: np.ndarray, longitude: np.ndarray, other_latitude: np.ndarray, other_longitude: np.ndarray
) -> np.ndarray:
    """Great-circle distances in km (haversine); arguments in degrees broadcast.

    >>> round(float(distance_km(np.array(0.0), np.array(179.5), np.array(0.0), np.array(-179.5))), 1)
    111.2
    """
    phi, other_phi = np.radians(latitude), np.radians(other_latitude)
    half_lat = (other_phi - phi) / 2
    half_lon = np.radians(np.asarray(other_longitude) - np.asarray(longitude)) / 2
    chord = np.sin(half_lat) ** 2 + np.cos(phi) * np.cos(other_phi) * np.sin(half_lon) ** 2
    return 2 * EARTH_RADIUS_KM * np.arcsin(np.sqrt(np.clip(chord, 0.0, 1.0)))


def unit_vectors(latitude: np.ndarray, longitude: np.ndarray) -> np.ndarray:
    """Points of the unit sphere, (..., 3), for positions in degrees.

    >>> unit_vectors(np.array([0.0, 90.0]), np.array([90.0, 0.0])).round(3).tolist()
    [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """
    phi, theta = np.radians(latitude), np.radians(longitude)
    return np.stack([np.cos(phi) * np.cos(theta), np.cos(phi) * np.sin(theta), np.sin(phi)], axis=-1)
