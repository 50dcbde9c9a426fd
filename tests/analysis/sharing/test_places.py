"""Which places are shown as cells, how many people fit what a case shows, and what lies under a shared map."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.sharing.cells import NEAR_KM, Cells
from analysis.sharing.ground import shareable_layers
from analysis.sharing.page import render_html
from analysis.sharing.places import MaskedPlaces
from analysis.sharing.reidentification import Crowd, SharedPoint
from analysis.sharing.share import share_cases
from analysis.sharing.traces import Traces, traces_of
from analysis.workspace import Workspace
from recap import columns as c
from recap.data.dataset import Dataset
from recap.privacy import KM_PER_DEGREE, Generalisation, users_per_group
from tests.analysis.sharing.scanner import basemap, explained, opened, scan, secrets
from tests.checkins import split_dataset

RULE = Generalisation(salt="pepper", min_users=2, cell_degrees=0.02, hours=4)
STATION, BAKERY, SHED, FARM = range(4)


def village() -> Dataset:
    """Three people: all at the station, two at the bakery, one each at the shed and at the farm, next to each other."""
    walks = [
        (0, [(STATION, 0), (BAKERY, 0), (SHED, 0), (STATION, 2)]),
        (1, [(STATION, 0), (BAKERY, 0), (FARM, 0), (STATION, 2)]),
        (2, [(STATION, 0), (STATION, 0), (STATION, 2)]),
    ]
    dataset = split_dataset(walks, 4)
    dataset.pois[c.POI_NAME] = ["Station", "Bakery", "Shed", "Farm"]
    dataset.pois[c.CATEGORY] = ["Stop", "Food", "Barn", "Barn"]
    dataset.pois[c.LATITUDE] = [40.005, 40.005, 40.011, 40.013]
    dataset.pois[c.LONGITUDE] = [-74.005, -74.015, -74.011, -74.013]
    return dataset


def masked(k: int = 2, hide: frozenset[int] = frozenset()) -> MaskedPlaces:
    return MaskedPlaces.generalised(Workspace.of(village()), RULE.model_copy(update={"min_users": k}), hide)


def test_places_of_fewer_than_k_people_are_cells() -> None:
    """Station (3 people) and bakery (2) keep their names; shed and farm, one person each, become one cell of barns."""
    places = masked()
    assert [places.name[poi] for poi in range(4)] == ["Station", "Bakery", "Barn in cell A1", "Barn in cell A1"]
    assert places.is_cell.tolist() == [False, False, True, True]
    assert places.point[SHED] == places.point[FARM] and len({*places.point.tolist()}) == 3
    assert places.bounds(SHED) == pytest.approx((40.0, -74.02, 40.02, -74.0)) and places.bounds(STATION) is None
    # With k = 3 the bakery is a cell too; only one person each makes no category of three, so none is shown.
    more = masked(3)
    assert {more.name[poi] for poi in (BAKERY, SHED, FARM)} == {"a place"}  # two people at all of them: no cell
    assert more.at(BAKERY) is None and more.at(STATION) == (40.005, -74.005)
    # The station, hidden, may be any of the four places of its cell.
    hidden = masked(hide=frozenset({STATION}))
    assert hidden.name[STATION] == "a place in cell A1" and hidden.alike(STATION).all()
    assert hidden.alike(BAKERY).tolist() == [False, True, False, False]


def test_a_larger_cell_where_few_people_are() -> None:
    """Two people 5 km apart: no cell of 2 km holds both, one of 9 km does."""
    traces = Traces(np.array([0, 1]), np.array([0, 1]), np.array([0, 0]), num_users=2, num_pois=2)
    cells = Cells.assign(np.array([40.001, 40.045]), np.array([-74.001, -74.001]), traces, np.ones(2, bool), RULE)
    assert cells.level.tolist() == [2, 2] and cells.label(0) == "A1 of 9 km"


@given(st.lists(st.tuples(st.floats(40.0, 40.0199), st.floats(-74.0199, -74.0001)), min_size=2, max_size=40))
def test_a_cells_point_is_none_of_its_places(at: list[tuple[float, float]]) -> None:
    """No point is shown within 100 m of a place that it stands for."""
    latitude, longitude = (np.array(values) for values in zip(*at, strict=True))
    people = np.arange(len(at))
    traces = Traces(people, people, np.zeros(len(at)), num_users=len(at), num_pois=len(at))
    point = Cells.assign(latitude, longitude, traces, np.ones(len(at), bool), RULE).point(0)
    if point is not None:
        d_lon = (longitude - point[1]) * np.cos(np.radians(40.01))
        assert KM_PER_DEGREE * np.hypot(latitude - point[0], d_lon).min() > NEAR_KM


def test_who_fits_what_is_shown() -> None:
    """All three were at the station, two also at the bakery; one was there at that hour exactly."""
    dataset = village()
    traces, exact = traces_of(dataset), MaskedPlaces.exact(Workspace.of(dataset))
    crowd = Crowd(traces, exact, traces.part_of_week(4))
    assert crowd.fitting([SharedPoint(STATION)]) == 3
    assert crowd.fitting([SharedPoint(STATION), SharedPoint(BAKERY)]) == 2
    assert crowd.fitting_as_recorded([SharedPoint(STATION, row=0), SharedPoint(BAKERY)]) == 1
    masked_crowd = Crowd(traces, masked(), traces.part_of_week(4))
    assert crowd.fitting([SharedPoint(SHED)]) == 1 and masked_crowd.fitting([SharedPoint(SHED)]) == 2


def test_unicity_by_hand() -> None:
    """Users 0 and 1 share both their points, user 2 has two of their own: one of three is unique given two points."""
    user, poi = np.array([0, 0, 1, 1, 2, 2]), np.array([0, 1, 0, 1, 0, 2])
    traces = Traces(user, poi, np.zeros(6, np.int64), num_users=3, num_pois=3)
    crowd = Crowd(traces, MaskedPlaces.named(dict.fromkeys(range(3), "a place")), np.zeros(6, np.int64))
    assert crowd.unicity(2) == (pytest.approx(1 / 3), 3) and crowd.unicity(3) == (None, 0)


PEPPER = Generalisation(salt="pepper")
GRID = Generalisation(cell_degrees=0.08)
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
    """Park and street are gone, the bump of .001 and the pond of .002 are finer than the grid of .01.

    Hidden places have no shore; exact files and invented cities have everything.
    """
    layers = shareable_layers(city(), GRID, invented=False, hides_places=False)
    assert layers is not None and layers["order"] == ["water"] and layers["attribution"] == "© Somebody"
    (bay,) = layers["layers"]["water"]["features"]
    (ring,) = bay["geometry"]["coordinates"]
    assert {(round(x, 6), round(y, 6)) for x, y in ring} == {(0, 0), (0.1, 0), (0.1, 0.1), (0, 0.1)}
    whole = city()
    assert shareable_layers(whole, GRID, invented=False, hides_places=True) is None
    assert shareable_layers(whole, None, invented=False, hides_places=False) is whole
    assert shareable_layers(whole, GRID, invented=True, hides_places=True) is whole


def test_a_page_of_a_real_city_shows_its_water_and_leaks_nothing() -> None:
    """The bundled city, taken for a real one: water and whose data it is, no street, and the scanner finds nothing."""
    manifest = opened().dataset.manifest.model_copy(update={"synthetic": False})
    real = Workspace(replace(opened().dataset, manifest=manifest), opened().graph)
    ground = basemap() | {"attribution": "© Somebody"}
    text = render_html(share_cases([explained(700)], real, basemap=ground))
    invented = render_html(share_cases([explained(700)], opened()))
    assert "recognise" in text and "recognise" not in invented and "users are invented" in invented
    assert 'class="fill water"' in text and 'class="line street"' not in text and "Maps: © Somebody." in text
    assert scan(text.encode(), secrets()) == []


def test_pseudonyms_depend_on_the_salt_alone() -> None:
    """The same person keeps a name within a file and has another in the next one."""
    assert PEPPER.pseudonym(7) == PEPPER.pseudonym("7") != PEPPER.pseudonym(8)
    assert PEPPER.pseudonym(7) != Generalisation().pseudonym(7)


def test_no_two_people_share_a_name() -> None:
    """Whole cities keep apart; with six characters the first pair came among some three thousand."""
    numbers = range(60_000)
    assert len({PEPPER.pseudonym(number) for number in numbers}) == len(numbers)


def test_a_part_of_the_week_has_no_date() -> None:
    assert PEPPER.part_of_week(1, 18.9) == "Tuesday, 16 to 20 h" and PEPPER.part_of_week(None, 0.0) == "0 to 4 h"


def test_cells_and_people() -> None:
    """A cell's middle is at most half a side away; place 0 has two people, place 1 one."""
    degrees = np.linspace(-90, 90, 500)
    assert np.abs(PEPPER.cell(degrees) - degrees).max() <= 0.01 + 1e-6
    assert users_per_group(np.array([0, 1, 0, 0]), np.array([0, 0, 1, 1]), 2).tolist() == [2, 1]
