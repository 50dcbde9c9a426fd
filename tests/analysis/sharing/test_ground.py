"""What lies under a shared map: an invented city whole, of a real one its water alone and coarsely."""

from dataclasses import replace
from typing import Any

from analysis.sharing.ground import shareable_layers
from analysis.sharing.page import render_html
from analysis.sharing.share import share_cases
from analysis.workspace import Workspace
from recap.privacy import Generalisation
from tests.analysis.sharing.demo import basemap, explained, opened, secrets
from tests.analysis.sharing.scanner import scan

RULE = Generalisation(cell_degrees=0.08)
"""A grid of .08 / 8 = .01 degrees."""


def layer(*polygons: list[tuple[float, float]]) -> dict[str, Any]:
    features = [{"type": "Feature", "geometry": {"type": "Polygon", "coordinates": [ring]}} for ring in polygons]
    return {"type": "FeatureCollection", "features": features}


def city() -> dict[str, Any]:
    bay = [(0.0, 0.0), (0.052, 0.001), (0.1, 0.0), (0.1, 0.1), (0.0, 0.1), (0.0, 0.0)]  # its south side has a bump
    pond = [(0.2, 0.2), (0.202, 0.2), (0.202, 0.202), (0.2, 0.2)]
    layers = {"park": layer(pond), "street": layer(bay), "water": layer(bay, pond)}
    return {"order": ["park", "street", "water"], "layers": layers, "attribution": "© Somebody"}


def test_water_alone_on_a_grid() -> None:
    """Park and street are gone, the bump of .001 and the pond of .002 are finer than the grid of .01."""
    layers = shareable_layers(city(), RULE, invented=False, hides_places=False)
    assert layers is not None and layers["order"] == ["water"] and layers["attribution"] == "© Somebody"
    (bay,) = layers["layers"]["water"]["features"]
    (ring,) = bay["geometry"]["coordinates"]
    assert {(round(x, 6), round(y, 6)) for x, y in ring} == {(0, 0), (0.1, 0), (0.1, 0.1), (0, 0.1)}


def test_nothing_where_only_cells_are_shown() -> None:
    """Hidden places have no shore; exact files and invented cities have everything."""
    assert shareable_layers(city(), RULE, invented=False, hides_places=True) is None
    whole = city()
    assert shareable_layers(whole, None, invented=False, hides_places=False) is whole
    assert shareable_layers(whole, RULE, invented=True, hides_places=True) is whole


def test_a_page_of_a_real_city_shows_its_water_and_leaks_nothing() -> None:
    """The bundled city, taken for a real one: water and whose data it is, no street, and the scanner finds nothing."""
    manifest = opened().dataset.manifest.model_copy(update={"synthetic": False})
    real = Workspace(replace(opened().dataset, manifest=manifest), opened().graph)
    ground = basemap() | {"attribution": "© Somebody"}
    text = render_html(share_cases([explained(700)], real, basemap=ground))
    assert 'class="fill water"' in text and 'class="line street"' not in text and "Maps: © Somebody." in text
    assert scan(text.encode(), secrets()) == []
