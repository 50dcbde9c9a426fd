"""The neighbourhood of each place, if a basemap has any."""

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
import shapely

from recap.machine.printable import one_line, shortened

_LONGEST = 40


def neighbourhoods(basemap: Mapping[str, Any] | None, latitude: np.ndarray, longitude: np.ndarray) -> list[str]:
    """Name of the smallest district around each place; empty if there is none.

    The basemap's layer ``district`` has areas with a ``name``; degrees have unwrapped longitudes.
    """
    layer = {} if basemap is None else basemap["layers"].get("district", {})
    named = [feature for feature in layer.get("features", []) if str(feature["properties"].get("name") or "").strip()]
    names = [""] * len(latitude)
    if not named:
        return names
    areas = [shapely.make_valid(shapely.from_geojson(json.dumps(feature["geometry"]))) for feature in named]
    points = shapely.points(longitude, latitude)
    place, area = shapely.STRtree(areas).query(points, predicate="within")
    for pair in np.argsort(-shapely.area(areas)[area], kind="stable"):  # the smallest last: its name stays
        names[place[pair]] = shortened(one_line(str(named[area[pair]]["properties"]["name"])), _LONGEST)
    return names
