"""A user's own OpenStreetMap extract, GeoJSON or .osm.pbf written here: a bay, a lake, a park and two roads."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest
import shapely

from analysis.basemap.document import OPENSTREETMAP, Basemap
from analysis.basemap.extracts import read_extract
from analysis.basemap.features import draw_features, layer_of
from recap.errors import DataError
from tests.cli_runner import recap_here, recap_json_here

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
    from analysis.basemap.document import box_of, read_basemap
    from analysis.basemap.stored import find_basemap
    from analysis.workspace import Workspace

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
