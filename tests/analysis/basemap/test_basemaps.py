"""The shores in the package, a user's own OpenStreetMap extract, density and neighbourhoods."""

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import shapely

from analysis.basemap.density import density_areas, with_density
from analysis.basemap.document import OPENSTREETMAP, Basemap, Box, box_of, compose, read_basemap, write_basemap
from analysis.basemap.extracts import read_extract
from analysis.basemap.features import draw_features, layer_of
from analysis.basemap.neighbourhoods import neighbourhoods
from analysis.basemap.shores import _clip, land_in, shores
from analysis.basemap.stored import find_basemap, stored_path
from analysis.workspace import Workspace
from recap.errors import DataError
from recap.storage.installed import data_path
from tests.cli_runner import recap_here, recap_json_here

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
    """The user's file is found by the dataset's hash; a damaged one counts as missing, and says what is wrong."""
    latitude, longitude = new_york()
    own = compose({"road": [({"rank": 1}, shapely.LineString([(-74, 40.7), (-73.9, 40.8)]))]}, (-74, 40, -73, 41), "me")
    path = stored_path("a" * 64, make=True)
    write_basemap(own, path)
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


BOX = (10.0, 50.0, 10.4, 50.2)
COAST = [(9.9, 50.1), (10.5, 50.1)]  # eastwards: land to the north (left), sea to the south (right)
LAKE = [(10.1, 50.15), (10.12, 50.15), (10.12, 50.17), (10.1, 50.17), (10.1, 50.15)]
QUARTER = [(10.15, 50.14), (10.25, 50.14), (10.25, 50.18), (10.15, 50.18), (10.15, 50.14)]
PARK = [(10.2, 50.15), (10.22, 50.15), (10.22, 50.17), (10.2, 50.17), (10.2, 50.15)]
ROADS = {"primary": [(10.0, 50.12), (10.4, 50.12)], "residential": [(10.1, 50.12), (10.1, 50.14)]}
FAR = [(70.0, 10.0), (70.1, 10.0)]


def ways() -> list[tuple[dict[str, str], list[tuple[float, float]]]]:
    """Every object of the test city with its tags."""
    roads = [({"highway": kind}, line) for kind, line in ROADS.items()]
    shown = [({"natural": "coastline"}, COAST), ({"natural": "water"}, LAKE), ({"leisure": "park"}, PARK), *roads]
    shown.append(({"place": "neighbourhood", "name": "Old\nQuarter"}, QUARTER))
    return [*shown, ({"highway": "motorway"}, FAR), ({"building": "yes"}, PARK)]


def write_geojson(path: Path, nested: bool = False) -> Path:
    """The city as a FeatureCollection, tags flat or nested as exporters write them."""
    features = []
    for tags, points in ways():
        is_ring = points[0] == points[-1]
        kind, coordinates = ("Polygon", [points]) if is_ring else ("LineString", points)
        properties: dict[str, Any] = {"tags": tags, "id": 7} if nested else tags
        geometry = {"type": kind, "coordinates": coordinates}
        features.append({"type": "Feature", "properties": properties, "geometry": geometry})
    path.write_text(json.dumps({"type": "FeatureCollection", "features": features}))
    return path


def write_pbf(path: Path) -> Path:
    """The city as .osm.pbf."""
    osmium = pytest.importorskip("osmium", reason="osmium is not installed: pip install -e '.[osm]'")
    places = {at: number for number, at in enumerate(dict.fromkeys(at for _, points in ways() for at in points), 1)}
    with osmium.SimpleWriter(str(path)) as writer:
        for at, number in places.items():
            writer.add_node(osmium.osm.mutable.Node(id=number, location=at))
        for index, (tags, points) in enumerate(ways(), 1):
            writer.add_way(osmium.osm.mutable.Way(id=index, nodes=[places[at] for at in points], tags=tags))
    return path


def read(kind: str, folder: Path) -> Basemap:
    """The city's basemap by way of one kind of file."""
    is_pbf = kind == "pbf"
    path = write_pbf(folder / "c.osm.pbf") if is_pbf else write_geojson(folder / "c.geojson", kind == "nested")
    return draw_features(read_extract(path), BOX)


def drawn(basemap: Basemap, layer: str) -> Any:
    """All geometry of a layer."""
    features = basemap["layers"][layer]["features"]
    return shapely.union_all([shapely.from_geojson(json.dumps(feature["geometry"])) for feature in features])


@pytest.mark.parametrize("kind", ["flat", "nested", "pbf"])
def test_an_extract_becomes_layers(kind: str, tmp_path: Path) -> None:
    """Both kinds of file give the same layers: the sea is right of the coast, the far motorway is left out."""
    basemap = read(kind, tmp_path)
    assert basemap["order"] == ["district", "park", "street", "water", "shore", "road"]
    assert basemap["attribution"] == OPENSTREETMAP
    water = drawn(basemap, "water")
    assert water.area == pytest.approx(0.4 * 0.1 + 0.02 * 0.02, rel=1e-3)
    assert water.contains(shapely.Point(10.2, 50.05)) and not water.contains(shapely.Point(10.3, 50.15))
    assert drawn(basemap, "park").area == pytest.approx(0.02 * 0.02, rel=1e-3)
    assert drawn(basemap, "road").length == pytest.approx(0.4)
    assert basemap["layers"]["road"]["features"][0]["properties"] == {"rank": 1}
    assert basemap["layers"]["district"]["features"][0]["properties"] == {"name": "Old Quarter"}


def test_which_tags_are_drawn() -> None:
    """A few tags and their layers; a tunnel of the underground and a building are none."""
    assert layer_of({"highway": "trunk_link"}, is_area=False) == ("road", {"rank": 1})
    assert layer_of({"highway": "residential"}, is_area=False) == ("street", {})
    assert layer_of({"railway": "subway", "tunnel": "yes"}, is_area=False) is None
    assert layer_of({"landuse": "reservoir"}, is_area=True) == ("water", {"kind": "lake"})
    assert layer_of({"building": "yes"}, is_area=True) is None
    assert layer_of({"place": "suburb"}, is_area=True) is None, "one without a name"


BOW = '{"features": [{"properties": {"highway": "primary"}, "geometry": {"type": "Bow"}}]}'


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("city.osm", "<osm/>", "should end in .osm.pbf"),
        ("city.geojson", "{", "is not JSON"),
        ("city.geojson", "[]", "should be a GeoJSON FeatureCollection"),
        ("city.geojson", BOW, "feature 0"),
        ("city.geojson", '{"features": []}', "no shore, water, park"),
        ("city.osm.pbf", "no protocol buffer", "cannot be read as .osm.pbf"),
    ],
)
def test_what_is_refused(name: str, content: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One line says what is wrong with a file; without osmium, how to install it."""
    path = tmp_path / name
    path.write_text(content)
    if name.endswith(".pbf"):
        pytest.importorskip("osmium", reason="osmium is not installed: pip install -e '.[osm]'")
    with pytest.raises(DataError, match=said):
        draw_features(read_extract(path), BOX)
    with pytest.raises(DataError, match="there is no file"):
        read_extract(tmp_path / "missing.geojson")
    path = path.rename(tmp_path / "city.pbf")
    monkeypatch.setitem(sys.modules, "osmium", None)
    with pytest.raises(DataError, match=r'pip install "recap-mobility\[osm\]"'):
        list(read_extract(path))


def test_command(tmp_path: Path, city_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`recap basemap` writes where the app looks, or where it is asked to; another city's file is refused."""
    monkeypatch.setenv("RECAP_HOME", str(tmp_path / "home"))  # other tests see the city without it
    opened = Workspace.open(city_folder)
    west, south, east, north = box_of(opened.latitude, opened.longitude)
    road = {"type": "LineString", "coordinates": [[west, south], [east, north]]}
    extract = tmp_path / "own.geojson"
    extract.write_text(json.dumps({"features": [{"properties": {"highway": "primary"}, "geometry": road}]}))
    said = recap_json_here("basemap", extract, "--data", city_folder)
    assert said["attribution"] == OPENSTREETMAP and said["layers"]["road"] == 1
    found = find_basemap(opened.dataset.hash, None, opened.latitude, opened.longitude, synthetic=True)
    assert found is not None and found["attribution"] == OPENSTREETMAP
    Path(said["basemap"]).unlink()
    other = recap_json_here("basemap", extract, "--data", city_folder, "--attribution", "City office")
    assert read_basemap(Path(other["basemap"]))["attribution"] == "City office"
    refused = recap_here("basemap", write_geojson(tmp_path / "other.geojson"), "--data", city_folder)
    assert refused.returncode == 2 and "extract of the same city" in refused.stderr and refused.stderr.count("\n") == 1
