"""Map extents on a sphere; longitudes are unwrapped at the date line."""

import math
from typing import NamedTuple

import numpy as np

from recap.arithmetic.geodesy import EARTH_RADIUS_KM

TILE_PX = 512
MAX_MERCATOR_LATITUDE = 85.0


class Camera(NamedTuple):
    """A map's view: degrees and a web-mercator zoom level."""

    latitude: float
    longitude: float
    zoom: float


def unwrap_longitudes(longitude: np.ndarray) -> np.ndarray:
    """Longitudes without a jump at the date line; the seam is the widest empty stretch.

    >>> unwrap_longitudes(np.array([179.0, -179.0])).tolist()
    [179.0, 181.0]
    >>> unwrap_longitudes(np.array([-74.0, -73.5])).tolist()
    [-74.0, -73.5]
    """
    if len(longitude) < 2:
        return longitude
    ordered = np.unique(longitude)
    gaps = np.diff(ordered)
    around = 360.0 - (ordered[-1] - ordered[0])
    if len(gaps) == 0 or gaps.max() <= around:
        return longitude
    seam = ordered[int(gaps.argmax())]
    return np.where(longitude <= seam, longitude + 360.0, longitude)


def fit_camera(
    latitude: np.ndarray,
    longitude: np.ndarray,
    *,
    width_px: int = 720,
    height_px: int = 520,
    padding_px: int = 60,
    max_zoom: float = 15.0,
) -> Camera:
    """The camera that shows all points with a margin.

    Args:
        latitude, longitude: degrees, longitudes unwrapped; at least one point.
        padding_px: margin on every side.
        max_zoom: also the zoom of a single point.
    """
    y = _mercator_y(latitude)
    west, east, south, north = (float(value) for value in (min(longitude), max(longitude), y.min(), y.max()))
    span_x, span_y = (east - west) / 360.0, (north - south) / 360.0
    fits = [
        math.log2((size - 2 * padding_px) / (TILE_PX * span))
        for size, span in ((width_px, span_x), (height_px, span_y))
        if span > 0
    ]
    zoom = min([max_zoom, *fits])
    middle = math.degrees(2 * math.atan(math.exp(math.radians((south + north) / 2))) - math.pi / 2)
    return Camera(middle, (west + east) / 2, max(zoom, 0.0))


def screen_offsets(camera: Camera, latitude: np.ndarray, longitude: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Pixels right of and below the camera's middle."""
    scale = TILE_PX * 2**camera.zoom / 360.0
    middle = _mercator_y(np.array([camera.latitude]))[0]
    return (np.asarray(longitude) - camera.longitude) * scale, (middle - _mercator_y(latitude)) * scale


def from_screen(camera: Camera, x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Latitude and longitude of pixels right of and below the camera's middle.

    >>> latitude, longitude = from_screen(Camera(40.0, -74.0, 12.0), np.zeros(1), np.zeros(1))
    >>> round(float(latitude[0]), 6), float(longitude[0])
    (40.0, -74.0)
    """
    scale = TILE_PX * 2**camera.zoom / 360.0
    up = np.radians(_mercator_y(np.array([camera.latitude]))[0] - np.asarray(y) / scale)
    return np.degrees(2 * np.arctan(np.exp(up)) - np.pi / 2), camera.longitude + np.asarray(x) / scale


def metres_per_pixel(camera: Camera) -> float:
    """Ground length of one pixel in the camera's middle.

    >>> round(metres_per_pixel(Camera(0.0, 0.0, 0.0)))
    78184
    """
    around = 2 * math.pi * 1000 * EARTH_RADIUS_KM * math.cos(math.radians(camera.latitude))
    return around / (TILE_PX * 2**camera.zoom)


def aggregate_points(
    latitude: np.ndarray, longitude: np.ndarray, limit: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Latitude, longitude and number of points per mark, for at most ``limit`` marks.

    More points are merged in square grid cells; a mark is then the mean point of its cell.
    """
    if len(latitude) <= limit:
        return latitude, longitude, np.ones(len(latitude), dtype=np.int64)
    cells = max(int(math.sqrt(limit)), 1)
    column = _cell(longitude, cells)
    row = _cell(latitude, cells)
    key, inverse, count = np.unique(row * cells + column, return_inverse=True, return_counts=True)
    mean = [np.bincount(inverse, weights=values, minlength=len(key)) / count for values in (latitude, longitude)]
    return mean[0], mean[1], count


def _cell(values: np.ndarray, cells: int) -> np.ndarray:
    low, span = values.min(), np.ptp(values)
    if span == 0:
        return np.zeros(len(values), dtype=np.int64)
    return np.minimum(((values - low) / span * cells).astype(np.int64), cells - 1)


def _mercator_y(latitude: np.ndarray) -> np.ndarray:
    """Web-mercator y in degrees."""
    clipped = np.radians(np.clip(latitude, -MAX_MERCATOR_LATITUDE, MAX_MERCATOR_LATITUDE))
    return np.degrees(np.log(np.tan(np.pi / 4 + clipped / 2)))
