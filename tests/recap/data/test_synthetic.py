"""The demo city: the same anywhere, plausible on the map, and close to real check-ins."""

import ast
import hashlib
import json
from functools import lru_cache
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import recap.data.synthetic
from recap import columns as c
from recap.data.dataset import Dataset
from recap.data.preparation import prepare_dataset
from recap.data.synthetic import PINNED_SEED, build_basemap, build_demo_city, hash_checkins, places
from recap.data.synthetic.basemap import to_degrees
from recap.data.synthetic.categories import BUSY, CATEGORIES, CATEGORY_INDEX, KINDS
from recap.data.synthetic.draws import Draws
from recap.data.synthetic.gravity import Gravity
from recap.data.synthetic.layout import build_layout
from recap.data.synthetic.people import DAYS, build_people
from recap.data.synthetic.record import check_in
from recap.data.synthetic.routes import Routes
from recap.data.synthetic.shapes import inside
from recap.data.synthetic.stops import Stop
from recap.data.synthetic.venues import Venue, build_venues
from recap.data.synthetic.walk import City, Walker
from recap.errors import ConfigError
from recap.graph import TransitionGraph
from recap.presets import data_preset

BUNDLE = Path(__file__).parents[3] / "checkpoints" / "demo-city"
SMALL = 40
SMALL_HASH = "72c9fd2f36f93835c7f511472ba6e71c81b096f7a42a3409796ddd5bd64758d8"
PINNED_HASH = "170c92f0d86a87d036898c9eb5e30fe7cc9eeec334ba0d3d8d87de0d35ed3d9d"
DRAWN = [781, 743, 923, 66, 377, 581, 362, 609]
DRAWN_LARGE = [233617291117788, 212889938553066]
GRAPH_HASH = "4823d42e0bc0acc2bbd9b880e68e092454073efcf97991f4f6438156c99bbce9"
BASEMAP_HASH = "da3a101e3009dfbc2125945298670eba6872fb9d4e909190a74770fd27ac0c63"


@lru_cache
def small_city() -> pd.DataFrame:
    return build_demo_city(seed=7, people=SMALL)


@lru_cache
def small_venues() -> list[Venue]:
    return build_venues(seed=7, people=SMALL)


@lru_cache
def small_walks() -> list[tuple[int, list[Stop]]]:
    """(home, all visits) of each person of the small city, checked in or not."""
    city = City(small_venues())
    routes = Routes(city.category)
    walks = []
    for number, person in enumerate(build_people(small_venues(), 7, SMALL)):
        stops = Walker(person, city, routes, Draws(7, 3, number)).live()
        routes.add(check_in(person, city, stops, Draws(7, 4, number)))
        walks.append((person.home, stops))
    return walks


def hash_json(value: object) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()


# The same anywhere


def test_a_small_city_has_its_recorded_content() -> None:
    """The hash recorded here is the one every machine must reach."""
    assert hash_checkins(small_city()) == SMALL_HASH


def test_the_basemap_has_its_recorded_content() -> None:
    """The map is a constant: no seed and no machine changes it."""
    assert hash_json(build_basemap()) == BASEMAP_HASH


def test_two_builds_are_equal_and_another_seed_differs() -> None:
    """Nothing but the arguments matters, not numpy's global generator either."""
    np.random.seed(1)  # noqa: NPY002 - the point is that the global generator is not used
    again = build_demo_city(seed=7, people=SMALL)
    pd.testing.assert_frame_equal(again, small_city())
    assert hash_checkins(build_demo_city(seed=8, people=SMALL)) != hash_checkins(again)


def test_draws_are_the_recorded_numbers() -> None:
    """A change in numpy's raw stream or in the scaling would show here first."""
    draws = Draws(1, 2)
    assert [draws.below(1000) for _ in range(8)] == DRAWN
    assert [Draws(1, 3).below(10**15), Draws(2, 2).below(10**15)] == DRAWN_LARGE


def test_weighted_draws_never_take_a_zero_weight_and_follow_the_weights() -> None:
    """Weights 0, 1, 3: the first never, the last three times as often as the second."""
    draws = Draws(5)
    picked = [draws.pick([0, 1, 3]) for _ in range(4000)]
    assert set(picked) == {1, 2}
    assert picked.count(2) / picked.count(1) == pytest.approx(3, rel=0.15)


def test_no_float_decides() -> None:
    """The generator's modules hold no float literal, no true division and no floating-point function."""
    folder = Path(recap.data.synthetic.__file__).parent
    floating = {"exp", "log", "log1p", "pow", "sqrt", "sin", "cos", "float64", "astype", "float"}
    for file in folder.glob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            assert not (isinstance(node, ast.Constant) and isinstance(node.value, float)), file
            name = node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
            if file.name not in ("basemap.py", "city.py"):  # where finished integers become degrees and a table
                assert not (isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div)), f"{file}:{node.lineno}"
                assert name not in floating, f"{file}: {name}"


def test_gravity_is_whole_numbers() -> None:
    """(distance + softening) ** -power of 10**12, in steps of 100 m: 10**12 // 8**3 at 500 m with softening 3."""
    gravity = Gravity(softening=3, power=3)
    assert gravity.by_distance[5] == 10**12 // 8**3
    where = np.array([[0, 0], [300, 400], [90_000, 0]])
    assert gravity.of_all(where, (0, 0)).tolist() == [10**12 // 27, 10**12 // 8**3, 10**12 // 603**3]


# The table


def test_the_table_has_the_raw_columns_sorted_by_time() -> None:
    """It is what any reader returns, with names, in time order, UTC to the second."""
    city = small_city()
    assert list(city.columns) == [*c.RAW_COLUMNS, c.POI_NAME]
    assert str(city[c.TIME].dtype) == "datetime64[s, UTC]"
    assert city[c.TIME].is_monotonic_increasing
    assert not city.isna().any().any()
    local = city[c.TIME].dt.tz_localize(None) + pd.to_timedelta(city[c.TZ_OFFSET_MINUTES], unit="min")
    assert local.min() >= pd.Timestamp("2024-01-08")
    assert local.max() < pd.Timestamp("2024-01-08") + pd.Timedelta(days=DAYS + 1)
    assert set(city[c.TZ_OFFSET_MINUTES]) == {0, 60}
    assert len(city) > 1000


def test_a_venue_has_one_name_one_category_and_one_place() -> None:
    """Coordinates carry five decimals, so a round trip through text keeps them."""
    city = small_city()
    for column in (c.POI_NAME, c.CATEGORY_ID, c.CATEGORY, c.LATITUDE, c.LONGITUDE):
        assert city[[c.POI_ID, column]].drop_duplicates()[c.POI_ID].is_unique
    for column in (c.LATITUDE, c.LONGITUDE):
        assert (city[column] == city[column].map(lambda value: float(f"{value:.5f}"))).all()


@pytest.mark.parametrize("seed", [-1, 2**32, 1.5, "7", True, None])
def test_a_seed_that_is_no_whole_number_in_range_is_refused(seed: object) -> None:
    """The message names what was expected and what came."""
    with pytest.raises(ConfigError, match="seed must be a whole number from 0 to 4294967295"):
        build_demo_city(seed=seed, people=SMALL)  # type: ignore[arg-type]


@pytest.mark.parametrize("people", [0, -3, 3001, 12.0, "many", False])
def test_a_number_of_people_out_of_range_is_refused(people: object) -> None:
    """One person is a city, none is not."""
    with pytest.raises(ConfigError, match="1 to 3000 people"):
        build_demo_city(seed=7, people=people)  # type: ignore[arg-type]


@pytest.mark.parametrize("people", [1, 2, 3])
def test_the_smallest_cities_work(people: int) -> None:
    """Even one person leaves a valid table."""
    city = build_demo_city(seed=3, people=people)
    assert city[c.USER_ID].nunique() <= people
    assert list(city.columns) == [*c.RAW_COLUMNS, c.POI_NAME]


# Venues and map


def test_no_venue_lies_in_water() -> None:
    """Neither sea, river nor lake, hubs and parks included."""
    where = np.array([venue.at for venue in build_venues(seed=11, people=550)])
    assert not build_layout().in_water(where).any()


def test_only_parks_lie_in_parks() -> None:
    """Shops keep out of the green, parks keep inside it."""
    venues = build_venues(seed=11, people=550)
    green = build_layout().in_park(np.array([venue.at for venue in venues]))
    parks = np.array([venue.category == CATEGORY_INDEX["Park"] for venue in venues])
    hubs = np.array([CATEGORIES[venue.category].group == "hub" for venue in venues])
    beaches = np.array([venue.category == CATEGORY_INDEX["Beach"] for venue in venues])
    assert green[parks].all()
    assert not green[~parks & ~hubs & ~beaches].any()


def test_no_two_venues_share_a_name_or_a_place() -> None:
    """Names tell venues apart, on the map and in tables."""
    venues = build_venues(seed=11, people=550)
    assert len({venue.name for venue in venues}) == len(venues)
    assert len({venue.at for venue in venues}) == len(venues)


def test_names_are_plain_short_and_of_no_known_brand() -> None:
    """No markup, no Markdown, nothing that must be escaped; a list of brands that a careless word could hit."""
    brands = {"starbucks", "costa", "mcdonald", "subway", "tesco", "lidl", "aldi", "ikea", "hilton", "marriott", "ibis"}
    brands |= {"nero", "pret", "greggs", "boots", "primark", "zara", "nike", "apple", "google", "amazon", "deloitte"}
    for venue in build_venues(seed=11, people=550):
        assert 3 <= len(venue.name) <= 60
        assert not set(venue.name) & set('<>[]{}*_`#|\\"~^$\n\t')
        assert venue.name.isprintable()
        assert not brands & set(venue.name.lower().replace("'s", "").split()), venue.name


def test_every_category_can_be_placed_and_is_open_at_some_hour() -> None:
    """The tables of categories are complete."""
    for index, category in enumerate(CATEGORIES):
        assert len(category.where) == len(KINDS)
        for weekend in (0, 1):
            assert any(BUSY[weekend][hour][index] for hour in range(24))
    assert len({category.name for category in CATEGORIES}) == len(CATEGORIES)


def test_the_basemap_is_small_plain_geojson() -> None:
    """Under 300 KB, every ring closed, every layer drawable in the given order, everything in the open Atlantic."""
    basemap = build_basemap()
    assert len(json.dumps(basemap, separators=(",", ":"))) < 300_000
    assert basemap["order"] == list(basemap["layers"])
    assert {"water", "park", "district", "road", "street", "bridge", "label"} <= set(basemap["layers"])
    for collection in basemap["layers"].values():
        assert collection["type"] == "FeatureCollection"
        assert collection["features"]
        for feature in collection["features"]:
            assert feature["type"] == "Feature"
            geometry = feature["geometry"]
            if geometry["type"] == "Polygon":
                assert all(ring[0] == ring[-1] and len(ring) >= 4 for ring in geometry["coordinates"])
            for longitude, latitude in positions(geometry["coordinates"]):
                assert -18 < longitude < -14
                assert 45 < latitude < 47


def positions(coordinates: list) -> list[tuple[float, float]]:
    """All positions of a geometry, however deep."""
    if coordinates and isinstance(coordinates[0], float):
        return [(coordinates[0], coordinates[1])]
    return [position for part in coordinates for position in positions(part)]


def test_every_bridge_crosses_the_river_from_bank_to_bank() -> None:
    """Its ends are dry, its middle is over water, and each road or railway that should have one has one."""
    bridges = build_basemap()["layers"]["bridge"]["features"]
    assert {bridge["properties"]["name"] for bridge in bridges} == set(places.BRIDGES.values())
    river = [to_degrees(point) for point in build_layout().river]
    scale = 100_000
    outline = [(round(x * scale), round(y * scale)) for x, y in river]
    for bridge in bridges:
        line = np.array([[round(x * scale), round(y * scale)] for x, y in bridge["geometry"]["coordinates"]])
        wet = inside(line, outline)
        assert not wet[0]
        assert not wet[-1]
        assert inside((line[:1] + line[-1:]) // 2, outline)[0]


def test_roads_reach_every_district_and_labels_stand_where_they_belong() -> None:
    """Each district's heart but the island's is within 1.2 km of a main road; names of districts stand on land."""
    layout = build_layout()
    roads = np.array([point for line in places.ROADS.values() for point in dense(line)])
    for district in places.DISTRICTS:
        if district.kind != "village":
            away = np.abs(roads - np.array(district.heart)).max(axis=1).min()
            assert away < 1_200, district.name
    assert not layout.in_water(np.array([district.label for district in places.DISTRICTS])).any()
    assert all(inside(np.array([d.label]), d.outline)[0] for d in places.DISTRICTS)
    assert layout.in_water(np.array([at for _, at in places.WATER_LABELS])).all()


def dense(line: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The line with twenty points to a stretch."""
    return [
        (ax + (bx - ax) * part // 20, ay + (by - ay) * part // 20)
        for (ax, ay), (bx, by) in pairwise(line)
        for part in range(20)
    ]


# Behaviour


def test_stops_follow_each_other_in_time_and_never_repeat_at_once() -> None:
    """A person is at one place at a time and moves between two stops of a day."""
    for _, stops in small_walks():
        minutes = [stop.minute for stop in stops]
        assert all(a < b for a, b in pairwise(minutes))


def test_nobody_enters_a_closed_venue() -> None:
    """A venue sought out is open at that hour; workplaces and homes have their own hours."""
    venues = small_venues()
    for home, stops in small_walks():
        for stop in stops:
            category = CATEGORIES[venues[stop.venue].category]
            if stop.venue != home and category.group not in ("work", "campus", "hub", "hotel"):
                weekend, hour = stop.minute // 1440 % 7 >= 5, stop.minute // 60 % 24
                if stop.minute % 1440 >= 240:  # after midnight the evening before decides which hours hold
                    assert BUSY[weekend][hour][venues[stop.venue].category], (category.name, weekend, hour)


def test_exploration_slows_down_and_returns_dominate() -> None:
    """Song et al.: the number of places grows ever more slowly, and most visits are returns."""
    first, second, visits = 0, 0, 0
    for _, stops in small_walks():
        half = len(stops) // 2
        early = {stop.venue for stop in stops[:half]}
        first += len(early)
        second += len({stop.venue for stop in stops[half:]} - early)
        visits += len(stops)
    assert second < first / 2
    assert first + second < visits / 5


def test_choices_are_local() -> None:
    """Steep gravity: half of the moves of a day are shorter than 5 km in a city 40 km wide, even with few venues."""
    at = [venue.at for venue in small_venues()]
    moves = [
        abs(at[a.venue][0] - at[b.venue][0]) + abs(at[a.venue][1] - at[b.venue][1])
        for _, stops in small_walks()
        for a, b in pairwise(stops)
        if a.minute // 1440 == b.minute // 1440
    ]
    assert np.median(moves) < 5_000


def test_a_shared_route_leads_where_others_went_on_from_the_middle() -> None:
    """0 -> 1 -> 2: from 0 the only grocery two steps on is 2; nothing from 2, no bar, and no step over a day apart.

    A repeated check-in leads nowhere, and a step taken three times is drawn three times as often as one taken once.
    """
    kinds = ["Café", "Bakery", "Grocery", "Market"]
    routes = Routes([CATEGORY_INDEX[kind] for kind in kinds])
    routes.add([Stop(0, 0), Stop(60, 1), Stop(90, 1), Stop(120, 2), Stop(1560, 3)])
    draws = Draws(9)
    assert routes.follow(0, "grocery", draws) == 2
    assert routes.follow(0, "night", draws) is None
    assert routes.follow(1, "grocery", draws) is None
    assert routes.follow(2, "grocery", draws) is None
    for _ in range(2):
        routes.add([Stop(0, 1), Stop(60, 2)])
    routes.add([Stop(0, 1), Stop(60, 3)])
    taken = [routes.follow(0, "grocery", draws) for _ in range(4000)]
    assert taken.count(2) / taken.count(3) == pytest.approx(3, rel=0.15)


def test_who_seeks_something_new_follows_shared_routes() -> None:
    """With routes that lead from anywhere to one restaurant, most people have been there; without routes few."""
    city, people = City(small_venues()), build_people(small_venues(), 7, SMALL)
    dinner = CATEGORY_INDEX["Restaurant"]
    famous = city.category.index(dinner)
    been = []
    for known in (False, True):
        routes = Routes(city.category)
        for venue in range(len(city.category)) if known else ():
            routes.add([Stop(0, venue), Stop(60, city.airport), Stop(120, famous)])
        walks = [Walker(person, city, routes, Draws(7, 3, number)).live() for number, person in enumerate(people)]
        been.append(sum(any(stop.venue == famous for stop in stops) for stops in walks))
    assert been[1] > 2 * been[0]


def test_cafes_peak_in_the_morning_and_bars_at_night() -> None:
    """Opening patterns show in the check-ins."""
    city = small_city()
    local_hour = (city[c.TIME].dt.tz_localize(None) + pd.to_timedelta(city[c.TZ_OFFSET_MINUTES], unit="min")).dt.hour
    cafes = local_hour[city[c.CATEGORY] == "Café"]
    bars = local_hour[city[c.CATEGORY] == "Bar"]
    assert (cafes < 12).mean() > 0.5
    assert ((bars >= 17) | (bars < 4)).mean() > 0.9


# The bundled city


@pytest.mark.slow
def test_the_bundled_city_is_the_recorded_one() -> None:
    """Its content hash, and the dataset and basemap made of it."""
    city = build_demo_city(PINNED_SEED)
    assert hash_checkins(city) == PINNED_HASH
    prepared = prepare_dataset(city, data_preset("default"), name="demo", source_format="synthetic")
    assert prepared.hash == Dataset.load(BUNDLE / "dataset").hash
    assert json.loads((BUNDLE / "basemap.json").read_text()) == json.loads(json.dumps(build_basemap()))


def test_the_bundled_graph_is_the_recorded_one() -> None:
    """Counts and shares of every training transition, to the last bit."""
    adjacency = TransitionGraph.from_dataset(Dataset.load(BUNDLE / "dataset")).adjacency
    adjacency.sort_indices()
    parts = (adjacency.indptr.astype("<i8"), adjacency.indices.astype("<i8"), adjacency.data.astype("<f8"))
    assert hashlib.sha256(b"".join(part.tobytes() for part in parts)).hexdigest() == GRAPH_HASH
