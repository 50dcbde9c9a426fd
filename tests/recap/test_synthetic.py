"""The demo city: the same anywhere, plausible on the map, and close to real check-ins."""

import ast
import hashlib
import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from shapely.geometry import GeometryCollection, shape

import recap.synthetic
from benchmarks.demo_city.basemap import build_basemap
from recap import columns as c
from recap.data.cleaning import data_preset
from recap.data.dataset import Dataset
from recap.data.preparation import prepare_dataset
from recap.errors import ConfigError
from recap.history.graph import TransitionGraph
from recap.synthetic import PINNED_SEED, build_demo_city
from recap.synthetic.people import DAYS
from recap.synthetic.venues import build_venues
from tests.learn_worlds import DEMO

SMALL = 40
SMALL_HASH = "72c9fd2f36f93835c7f511472ba6e71c81b096f7a42a3409796ddd5bd64758d8"
PINNED_HASH = "170c92f0d86a87d036898c9eb5e30fe7cc9eeec334ba0d3d8d87de0d35ed3d9d"
GRAPH_HASH = "4823d42e0bc0acc2bbd9b880e68e092454073efcf97991f4f6438156c99bbce9"


def hash_checkins(checkins: pd.DataFrame) -> str:
    """SHA-256 over every value in row and column order; floats as written with 5 decimals."""
    digest = hashlib.sha256()
    for row in checkins.itertuples(index=False):
        digest.update("\t".join(f"{v:.5f}" if isinstance(v, float) else str(v) for v in row).encode() + b"\n")
    return digest.hexdigest()


@pytest.mark.slow
def test_a_small_city_has_its_recorded_content() -> None:
    """The hash recorded here is the one every machine must reach."""
    one, other = (hash_checkins(build_demo_city(seed=seed, people=SMALL)) for seed in (7, 8))
    assert one == SMALL_HASH != other


def test_no_float_decides() -> None:
    """The generator's modules hold no float literal, no true division and no floating-point function."""
    folder = Path(recap.synthetic.__file__).parent
    floating = {"exp", "log", "log1p", "pow", "sqrt", "sin", "cos", "float64", "astype", "float"}
    for file in folder.glob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            assert not (isinstance(node, ast.Constant) and isinstance(node.value, float)), file
            name = node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
            if file.name != "city.py":  # where finished integers become degrees and a table
                assert not (isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div)), f"{file}:{node.lineno}"
                assert name not in floating, f"{file}: {name}"


@pytest.mark.parametrize("people", [1, 2, 3, SMALL])
def test_the_table_has_the_raw_columns_sorted_by_time(people: int) -> None:
    """It is what any reader returns, with names, in time order, UTC to the second; even one person leaves a table."""
    city = build_demo_city(seed=3, people=people)
    assert list(city.columns) == [*c.RAW_COLUMNS, c.POI_NAME] and city[c.USER_ID].nunique() <= people
    assert str(city[c.TIME].dtype) == "datetime64[s, UTC]" and city[c.TIME].is_monotonic_increasing
    assert not city.isna().any().any() and set(city[c.TZ_OFFSET_MINUTES]) == {0, 60}
    local = city[c.TIME].dt.tz_localize(None) + pd.to_timedelta(city[c.TZ_OFFSET_MINUTES], unit="min")
    assert local.min() >= pd.Timestamp("2024-01-08")
    assert local.max() < pd.Timestamp("2024-01-08") + pd.Timedelta(days=DAYS + 1)
    assert len(city) > 25 * people


@pytest.mark.parametrize(
    ("bad", "part"),
    [
        *(({"seed": seed}, "seed must be a whole number from 0 to 4294967295") for seed in (-1, 2**32, 1.5, True)),
        *(({"people": people}, "1 to 3000 people") for people in (0, 3001, 12.0)),
    ],
)
def test_what_is_no_whole_number_in_range_is_refused(bad: dict[str, Any], part: str) -> None:
    """The message names what was expected; one person is a city, none is not."""
    with pytest.raises(ConfigError, match=part):
        build_demo_city(**{"seed": 7, "people": SMALL, **bad})


def test_names_are_plain_short_and_of_no_known_brand() -> None:
    """No markup, no Markdown, nothing that must be escaped; a list of brands that a careless word could hit."""
    brands = {"starbucks", "costa", "mcdonald", "subway", "tesco", "lidl", "aldi", "ikea", "hilton", "marriott", "ibis"}
    brands |= {"nero", "pret", "greggs", "boots", "primark", "zara", "nike", "apple", "google", "amazon", "deloitte"}
    for venue in build_venues(seed=11, people=550):
        assert 3 <= len(venue.name) <= 60
        assert not set(venue.name) & set('<>[]{}*_`#|\\"~^$\n\t')
        assert venue.name.isprintable()
        assert not brands & set(venue.name.lower().replace("'s", "").split()), venue.name


def test_the_basemap_is_small_plain_geojson() -> None:
    """Under 300 KB, rings closed, layers drawable in their order, in the open Atlantic; the bundled one."""
    basemap = build_basemap()
    text = json.dumps(basemap, separators=(",", ":"))
    assert len(text) < 300_000 and json.loads((DEMO / "basemap.json").read_text()) == json.loads(text)
    assert basemap["order"] == list(basemap["layers"])
    assert {"water", "park", "district", "road", "street", "bridge", "label"} <= set(basemap["layers"])
    for collection in basemap["layers"].values():
        assert collection["type"] == "FeatureCollection" and collection["features"]
        drawn = [feature["geometry"] for feature in collection["features"]]
        west, south, east, north = GeometryCollection([shape(one) for one in drawn]).bounds
        assert -18 < west < east < -14 and 45 < south < north < 47
        rings = [ring for one in drawn if one["type"] == "Polygon" for ring in one["coordinates"]]
        assert all(ring[0] == ring[-1] and len(ring) >= 4 for ring in rings)


@pytest.mark.slow
def test_the_bundled_city_is_the_recorded_one() -> None:
    """Its content hash, and the dataset made of it."""
    city = build_demo_city(PINNED_SEED)
    assert hash_checkins(city) == PINNED_HASH
    prepared = prepare_dataset(city, data_preset("default"), name="demo", source_format="synthetic")
    assert prepared.hash == Dataset.load(DEMO / "dataset").hash


def test_the_bundled_graph_is_the_recorded_one() -> None:
    """Counts and shares of every training transition, to the last bit."""
    adjacency = TransitionGraph.from_dataset(Dataset.load(DEMO / "dataset")).adjacency
    adjacency.sort_indices()
    parts = (adjacency.indptr.astype("<i8"), adjacency.indices.astype("<i8"), adjacency.data.astype("<f8"))
    assert hashlib.sha256(b"".join(part.tobytes() for part in parts)).hexdigest() == GRAPH_HASH
