"""A scale bar of round length at the lower left of a map."""

import math
from dataclasses import dataclass

import numpy as np

from analysis.geography import Camera, from_screen, metres_per_pixel

LONGEST_PX = 110.0
INSET_PX = 16.0


@dataclass(frozen=True)
class ScaleBar:
    """A bar from ``x[0]`` to ``x[1]`` at ``y``, pixels from the map's middle; ``ends`` are longitude and latitude."""

    text: str
    x: tuple[float, float]
    y: float
    ends: list[list[float]]


def scale_bar(camera: Camera, half_size: tuple[float, float]) -> ScaleBar:
    """The longest of 1, 2 or 5 times a power of ten metres that fits.

    >>> bar = scale_bar(Camera(40.7, -74.0, 12.0), (360.0, 270.0))
    >>> bar.text, round(bar.x[1] - bar.x[0])
    ('1 km', 69)
    """
    pixel = metres_per_pixel(camera)
    power = 10 ** math.floor(math.log10(LONGEST_PX * pixel))
    metres = max(factor * power for factor in (1, 2, 5) if factor * power <= LONGEST_PX * pixel)
    left, y = INSET_PX - half_size[0], half_size[1] - INSET_PX
    across = left, left + metres / pixel
    latitude, longitude = from_screen(camera, np.array(across), np.array([y, y]))
    ends = [[round(float(lon), 6), round(float(lat), 6)] for lon, lat in zip(longitude, latitude, strict=True)]
    return ScaleBar(f"{metres / 1000:g} km" if metres >= 1000 else f"{metres:g} m", across, y, ends)
