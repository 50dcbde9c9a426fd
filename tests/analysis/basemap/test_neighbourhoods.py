"""In which neighbourhood a place lies."""

from typing import Any

import numpy as np

from analysis.basemap.neighbourhoods import neighbourhoods


def square(name: object, west: float, size: float) -> dict[str, object]:
    """A district from a point on, upwards and to the right."""
    ring = [[west, 0.0], [west + size, 0.0], [west + size, size], [west, size], [west, 0.0]]
    return {"type": "Feature", "properties": {"name": name}, "geometry": {"type": "Polygon", "coordinates": [ring]}}


def test_the_smallest_district_around_a_place_names_it() -> None:
    """Outside all there is no name, nor where the map has none; a hostile name is one line."""
    features = [square("Borough", 0.0, 10.0), square("Old\nTown", 0.0, 2.0), square(None, 20.0, 2.0)]
    basemap = {"layers": {"district": {"features": features}}}
    latitude, longitude = np.array([1.0, 5.0, 1.0, 50.0]), np.array([1.0, 5.0, 21.0, 50.0])
    assert neighbourhoods(basemap, latitude, longitude) == ["Old Town", "Borough", "", ""]
    nothing: dict[str, Any] = {"layers": {}}
    for without in (None, nothing):
        assert neighbourhoods(without, latitude, longitude) == [""] * 4
