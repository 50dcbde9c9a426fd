"""Which map layers a shared file may show: of a real city only its water, coarser than the cells that places become."""

from collections.abc import Mapping
from typing import Any, Final

import shapely
from shapely.geometry import mapping, shape

from recap.privacy import Generalisation

SHOWN: Final = ("water", "shore")
PART_OF_A_CELL: Final = 8
"""The shore keeps to within a cell's side divided by this: 280 m for cells of 2 km."""


def told_layers(
    basemap: Mapping[str, Any] | None, rule: Generalisation | None, *, invented: bool, hides_places: bool
) -> Mapping[str, Any] | None:
    """The layers that a file may show.

    A shore tells where on Earth a map lies, and so do the names of places that many people visit. Where a file tells
    the user's own places as cells only, nothing else on it may say where these cells are: there is no shore then.

    Args:
        rule: how places are told; None for a file that tells everything as recorded.
        invented: whether the city is, which has no place on Earth.
        hides_places: whether the user's own places are told as cells too.
    """
    if basemap is None or rule is None or invented:
        return basemap
    if hides_places:
        return None
    layers = {name: basemap["layers"][name] for name in SHOWN if name in basemap["layers"]}
    coarse = {name: _coarsened(layer, rule.cell_degrees / PART_OF_A_CELL) for name, layer in layers.items()}
    return {**basemap, "layers": coarse, "order": [name for name in basemap["order"] if name in coarse]}


def _coarsened(layer: Mapping[str, Any], step: float) -> dict[str, Any]:
    """Every geometry on a grid of this step, degrees, without what is smaller than a grid square."""
    whole = [shapely.set_precision(shape(feature["geometry"]).simplify(step), step) for feature in layer["features"]]
    kept = [geometry for geometry in whole if not geometry.is_empty]
    return {"features": [{"type": "Feature", "properties": {}, "geometry": mapping(geometry)} for geometry in kept]}
