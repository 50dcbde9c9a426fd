"""Check-ins as dots on the world's shores, to check latitude and longitude."""

from collections.abc import Sequence

import numpy as np

from analysis.basemap.shores import shores
from analysis.figures.letters import Letters
from analysis.figures.map_ground import SCALE, SIZE, draw_disc, draw_layers, draw_plate, pixels, to_png
from analysis.figures.palette import Palette, mix
from analysis.figures.svg_draw import blank
from analysis.geography import fit_camera, unwrap_longitudes

_NAME_ROOM = 70
"""Pixels between the names of two places."""


def draw_points(
    latitude: np.ndarray, longitude: np.ndarray, palette: Palette, names: Sequence[tuple[float, float, str]] = ()
) -> tuple[bytes, bool]:
    """Draw points, and the names of some places where there is room.

    Args:
        latitude, longitude: degrees, at least one point.
        names: latitude, longitude and name, the most important first.

    Returns:
        A PNG, and whether the points are on land; if not, the two columns may be swapped.
    """
    longitude = unwrap_longitudes(longitude)
    # Without outliers, which would shrink all other points to a dot.
    (south, north), (west, east) = (np.quantile(values, [0.005, 0.995]) for values in (latitude, longitude))
    inside = (latitude >= south) & (latitude <= north) & (longitude >= west) & (longitude <= east)
    latitude, longitude = latitude[inside], longitude[inside]
    camera = fit_camera(latitude, longitude, width_px=SIZE[0], height_px=SIZE[1], padding_px=40)
    basemap = shores(latitude, longitude)
    image, draw = blank((SIZE[0] * SCALE, SIZE[1] * SCALE), palette.land)
    if basemap is not None:
        draw_layers(image, draw, basemap, camera, palette)
    fill = mix(palette.model.fill, palette.land, 0.6)
    for pixel in pixels(camera, latitude, longitude):
        draw_disc(draw, pixel, 3.5 * SCALE / 2, fill=fill, outline=palette.land, width=1)
    letters = Letters()
    taken: list[float] = []
    for lat, lon, name in names if basemap is not None else ():
        ((x, y),) = pixels(camera, np.array([lat]), unwrap_longitudes(np.array([lon])))
        is_free = all(abs(y - other) > _NAME_ROOM for other in taken)
        if is_free and 0 < x < image.width and 40 < y < image.height - 40:
            taken.append(y)
            anchor = "lm" if x < image.width / 2 else "rm"
            pixel = x + (18 if anchor == "lm" else -18), y
            draw_plate(draw, pixel, letters.fit(name), palette.ink, letters.font(26), palette, anchor=anchor)
    return to_png(image, quick=True), basemap is not None
