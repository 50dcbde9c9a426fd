"""Check-ins as dots on the world's shores, to check latitude and longitude."""

import numpy as np
from PIL import Image, ImageDraw

from analysis.basemap.shores import shores
from analysis.figures.map_ground import SCALE, SIZE, draw_disc, draw_layers, pixels, to_png
from analysis.figures.palette import Palette, mix
from analysis.geography import fit_camera, unwrap_longitudes


def draw_points(latitude: np.ndarray, longitude: np.ndarray, palette: Palette) -> tuple[bytes, bool]:
    """Draw points.

    Args:
        latitude, longitude: degrees, at least one point.

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
    image = Image.new("RGB", (SIZE[0] * SCALE, SIZE[1] * SCALE), palette.land)
    if basemap is not None:
        draw_layers(image, basemap, camera, palette)
    draw = ImageDraw.Draw(image)
    fill = mix(palette.model.fill, palette.land, 0.6)
    for at in pixels(camera, latitude, longitude):
        draw_disc(draw, at, 3.5 * SCALE / 2, fill=fill, outline=palette.land, width=1)
    return to_png(image, quick=True), basemap is not None
