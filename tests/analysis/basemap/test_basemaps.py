"""The shores in the package, stored maps, density and neighbourhoods."""

import json
from typing import Any

import numpy as np
import pytest
import shapely

from analysis.basemap.density import density_areas, with_density
from analysis.basemap.document import OPENSTREETMAP, Basemap, Box, box_of, read_basemap
from analysis.basemap.neighbourhoods import neighbourhoods
from analysis.basemap.shores import _clip, land_in, shores
from analysis.basemap.stored import find_basemap, stored_path
from recap.errors import DataError
from recap.storage.user_folder import data_path

KM_PER_DEGREE = np.array([111.32 * np.cos(np.radians(40.75)), 110.57])
"""Of longitude and of latitude at Manhattan."""
TRUE_SHORE = {
    "Battery Park": (40.7003, -74.0170),
    "Hudson at 79th Street": (40.7855, -73.9855),
    "East River at the United Nations": (40.7489, -73.9665),
    "Harlem River at 155th Street": (40.8300, -73.9340),
    "Inwood, the northern tip": (40.8770, -73.9260),
}
"""Read off a map, good to about 200 m."""


def new_york() -> tuple[np.ndarray, np.ndarray]:
    """Four hundred places on a grid over Manhattan and Brooklyn."""
    latitude, longitude = np.meshgrid(np.linspace(40.60, 40.85, 20), np.linspace(-74.0, -73.85, 20))
    return latitude.ravel(), longitude.ravel()


def shore_km(basemap: Basemap) -> shapely.Geometry:
    """All shore lines in kilometres east and north of (0, 0)."""
    lines = [shapely.from_geojson(json.dumps(f["geometry"])) for f in basemap["layers"]["shore"]["features"]]
    return shapely.transform(shapely.union_all(lines), lambda points: points * KM_PER_DEGREE)


@pytest.mark.parametrize("name", TRUE_SHORE)
def test_manhattan_has_its_shore(name: str) -> None:
    """A drawn boundary lies within a kilometre of the true shore, and the map says whose it is."""
    basemap = shores(*new_york())
    assert basemap is not None and basemap["attribution"] == OPENSTREETMAP
    latitude, longitude = TRUE_SHORE[name]
    assert shore_km(basemap).distance(shapely.Point(np.array([longitude, latitude]) * KM_PER_DEGREE)) < 1.0


@pytest.mark.parametrize(
    ("latitude", "longitude", "is_land"),
    [
        (40.7831, -73.9712, True),  # Central Park's edge
        (40.6892, -74.0445, True),  # Liberty Island
        (40.7608, -74.0080, False),  # in the Hudson
        (40.5000, -73.8000, False),  # the open sea
        (35.6812, 139.7671, True),  # Tokyo Station
        (35.4500, 139.7800, False),  # Tokyo Bay
        (-18.1416, 178.4419, True),  # Suva
        (41.1190, 29.0750, False),  # the Bosporus
        (41.8800, -87.7000, True),  # Chicago: no shore far and wide
    ],
)
def test_land_and_water(latitude: float, longitude: float, is_land: bool) -> None:
    """Known points around the world lie where they should."""
    land = land_in((longitude - 0.3, latitude - 0.3, longitude + 0.3, latitude + 0.3))
    assert bool(shapely.contains_xy(land, longitude, latitude)) is is_land


def test_file_is_small_and_says_its_licence() -> None:
    """At most 3 MB in the package, with origin and licence inside."""
    import pyarrow.parquet as pq

    path = data_path("analysis.basemap", "shores.parquet")
    assert path.stat().st_size <= 3_000_000
    said = pq.read_schema(path).metadata
    assert b"Open Database License" in said[b"licence"] and b"roaring-landmask" in said[b"source"]


def test_a_city_across_the_date_line() -> None:
    """Fiji's islands lie on both sides of 180 degrees; one map shows both."""
    land = land_in((178.0, -18.5, 181.0, -16.0))
    assert all(land.intersects(shapely.box(west, -18.5, west + 0.9, -16.0)) for west in (179.0, 180.1))


def test_no_shore_where_no_city_lies() -> None:
    """Invented coordinates at sea, a synthetic city and no places at all have none."""
    latitude, longitude = new_york()
    assert shores(latitude, longitude + 30) is None
    assert shores(latitude[:0], longitude[:0]) is None
    assert find_basemap("0" * 64, None, latitude[:40], longitude[:40], synthetic=True) is None


@pytest.mark.parametrize(
    ("ring", "expected"),
    [
        ([(0, 0), (4, 0), (4, 4), (0, 4)], 4.0),  # the box lies inside
        ([(2, 2), (6, 2), (6, 6), (2, 6)], 1.0),  # a corner reaches in
        ([(5, 5), (6, 5), (6, 6)], 0.0),
        ([(0, 1.5), (9, 1.5), (9, 2.5), (0, 2.5)], 2.0),  # a stripe
    ],
)
def test_rings_are_cut_at_the_box(ring: list[tuple[float, float]], expected: float) -> None:
    """The area of a ring within the box from (1, 1) to (3, 3)."""
    cut = _clip(np.array(ring, dtype=float), (1.0, 1.0, 3.0, 3.0))
    assert (shapely.Polygon(cut).area if len(cut) > 2 else 0.0) == pytest.approx(expected)


def test_box_ignores_one_stray_place() -> None:
    """A single place on another continent does not widen the map; the margin is the city's own width."""
    latitude, longitude = new_york()
    box: Box = box_of(np.append(latitude, 0.0), np.append(longitude, 0.0))
    assert box == pytest.approx((-74.25, 40.35, -73.6, 41.1), abs=0.02)


def test_density_is_of_places_alone() -> None:
    """Nested areas around the crowd, none in an empty corner; a ground with streets of its own needs none."""
    rng = np.random.default_rng(3)
    latitude = np.append(40.7 + 0.005 * rng.standard_normal(900), rng.uniform(40.6, 40.8, 100))
    longitude = np.append(-74.0 + 0.005 * rng.standard_normal(900), rng.uniform(-74.1, -73.9, 100))
    outer, middle, inner = [area for _, area in density_areas(latitude, longitude, box_of(latitude, longitude))]
    assert outer.area > middle.area > inner.area > 0
    assert inner.contains(shapely.Point(-74.0, 40.7)) and not outer.contains(shapely.Point(-73.85, 40.85))
    streets = {"order": ["street"], "layers": {"street": {"type": "FeatureCollection", "features": []}}}
    assert with_density(streets, latitude, longitude) is streets
    ground = with_density(None, latitude, longitude)
    assert ground is not None and ground["order"] == ["density"]


def test_own_basemap_comes_first() -> None:
    """A file of an earlier version is found by the dataset's hash; a damaged one counts as missing and says why."""
    latitude, longitude = new_york()
    own = json.loads(_road({"type": "LineString", "coordinates": [[-74, 40.7], [-73.9, 40.8]]})) | {"attribution": "me"}
    path = stored_path("a" * 64)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(own))
    found = find_basemap("a" * 64, None, latitude, longitude, synthetic=False)
    assert found is not None and found["attribution"] == "me" and "road" in found["layers"]
    for damaged, problem in (
        (_road({"type": "LineString"}), "a feature of layer road has no coordinates"),
        (_road({"coordinates": [[0, 0], [1, 1]]}), "a feature of layer road has no kind of geometry"),
        ('{"order": [[1]], "layers": {}}', "`order` should name its layers"),
        ("[" * 100_000, "levels deep"),
        ('{"a":' * 900 + "0" + "}" * 900, "levels deep"),
    ):
        path.write_text(damaged)
        with pytest.raises(DataError, match=problem):
            read_basemap(path)
        found = find_basemap("a" * 64, None, latitude, longitude, synthetic=False)
        assert found is not None and found["attribution"] == OPENSTREETMAP


def _road(geometry: dict[str, Any]) -> str:
    """A basemap of one road."""
    return json.dumps({"order": ["road"], "layers": {"road": {"features": [{"properties": {}, "geometry": geometry}]}}})


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
