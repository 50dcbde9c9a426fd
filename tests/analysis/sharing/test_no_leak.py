"""Nothing that leaves holds a user, a rare place or a moment, in any format or table; the numbers stay exact."""

import json
import math
import re
from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd
import pytest

from analysis.explain.explanation import CaseExplanation
from analysis.geography import Camera
from analysis.long_tail.misses import describe_misses
from analysis.sharing.case_image import draw_case_image
from analysis.sharing.case_map import projection_of
from analysis.sharing.page import render_html
from analysis.sharing.places import masked_places
from analysis.sharing.share import share_cases
from analysis.sharing.shared_case import SharedPage
from analysis.sharing.tables import AS_RECORDED, PRIVACY, is_personal, share_table, to_csv
from analysis.sharing.walks import share_step
from analysis.trajectories.predictions import predict_case
from analysis.trajectories.trajectory import read_trajectory
from recap import columns as c
from recap.privacy import EXACT_NOTE, KM_PER_DEGREE, Generalisation
from tests.analysis.sharing.scanner import CITY, NEAR_KM, basemap, explained, opened, predictor, scan, secrets

CASES = range(7, 4000, 200)
_MARK = re.compile(r'<circle class="[^"]*" cx="(-?[\d.]+)" cy="(-?[\d.]+)" r="[\d.]+" stroke-width')
_DOTS = re.compile(r'<path class="dots dots" d="([^"]*)"')
_HOP = re.compile(r'<path class="hop" d="M(-?[\d.]+) (-?[\d.]+)l([^"]*)"')


def shared(cases: Sequence[CaseExplanation], **options: bool) -> SharedPage:
    return share_cases(cases, opened(), basemap=basemap(), **options)


def assert_nothing_leaks(page: SharedPage, *, picture: bool) -> None:
    files = {"page": render_html(page).encode(), "data": page.model_dump_json().encode()}
    if picture:
        files["map"] = draw_case_image(page)
    for name, payload in files.items():
        assert scan(payload, secrets()) == [], name
    assert_no_mark_is_near(files["page"].decode(), page)


def assert_no_mark_is_near(text: str, page: SharedPage) -> None:
    """Marks and lines of the SVG maps, put back on the earth, lie at places that may be shown or far from the others.

    The dots of the ground are places that may be shown, each of them.
    """
    camera = projection_of(page.places)._camera
    points = [(float(x), float(y)) for x, y in _MARK.findall(text)]
    for x, y, steps in _HOP.findall(text):
        at = (float(x), float(y))
        points.append(at)
        numbers = [float(number) for number in steps.split()]
        for dx, dy in zip(numbers[::2], numbers[1::2], strict=True):
            at = (at[0] + dx, at[1] + dy)
            points.append(at)
    dots = [(float(x), float(y)) for path in _DOTS.findall(text) for x, y in re.findall(r"M(\S+) (\S+)h0", path)]
    shown = np.array(sorted(secrets().public))
    for x, y in dots[:: max(len(dots) // 300, 1)]:
        latitude, longitude = on_earth(camera, x, y)
        assert np.abs(shown - (latitude, longitude)).max(axis=1).min() < 1e-4, ("a dot", latitude, longitude)
    for x, y in points:
        latitude, longitude = on_earth(camera, x, y)
        if min(abs(latitude - a) + abs(longitude - b) for a, b in secrets().public) < 1e-3:
            continue  # at a place that many people know, to the tenth of a pixel
        shrink = np.cos(np.radians(latitude))
        apart = KM_PER_DEGREE * np.hypot(secrets().latitude - latitude, (secrets().longitude - longitude) * shrink)
        assert apart.min() > NEAR_KM, (latitude, longitude)


def on_earth(camera: Camera, x: float, y: float) -> tuple[float, float]:
    """Latitude and longitude of a point of the map."""
    scale = 512 * 2**camera.zoom / 360
    middle = math.degrees(math.log(math.tan(math.pi / 4 + math.radians(camera.latitude) / 2)))
    latitude = math.degrees(2 * math.atan(math.exp(math.radians(middle - y / scale))) - math.pi / 2)
    return latitude, camera.longitude + x / scale


@pytest.mark.slow
def test_twenty_cases_leak_nothing() -> None:
    """The salt of names is new each time, and stands nowhere."""
    cases = [explained(case, full=case == CASES[0]) for case in CASES]
    page = shared(cases)
    assert_nothing_leaks(page, picture=False)
    assert_nothing_leaks(again := shared(cases[:1]), picture=True)
    assert any(place.is_cell for place in page.places) and any(not place.is_cell for place in page.places)
    assert len(page.ground.dots) > 100 and all((case.case, case.link) == (None, None) for case in page.cases)
    assert (page.dataset_hash, page.checkpoint_hash) == (None, None)
    assert page.cases[0].user != again.cases[0].user and "salt" not in page.model_dump_json()


def test_hidden_places_leak_nothing_and_hide_better() -> None:
    """At least k users fit each case; no place of the user has its name."""
    cases = [explained(case) for case in CASES[:3]]
    page = shared(cases, hide_places=True)
    assert_nothing_leaks(page, picture=False)
    assert page.estimate is not None and page.estimate.matching_users >= 5
    for case in page.cases:
        assert page.places[case.source].is_cell and case.truth is not None and page.places[case.truth].is_cell


def test_numbers_stay_exact() -> None:
    """Ranks, contributions, scores and gates are those of the explanation, to the last digit."""
    whole = explained(CASES[0], full=True)
    (case,) = shared([whole]).cases
    for shown, real in ((case.a, whole.a), (case.b, whole.b)):
        hidden = {"poi", "name", "category"}
        assert shown.model_dump(exclude=hidden) == real.model_dump(exclude=hidden)
    assert [place.score for place in case.best] == [entry.score for entry in whole.candidates[:5]]
    assert case.without == whole.without
    ours, theirs = ([(path.share, path.points, path.rank_without) for path in one.paths] for one in (case, whole))
    assert ours == theirs


def test_a_collection_is_one_page() -> None:
    """In its order, with its title, and with its notes as written."""
    cases, named = [explained(case) for case in CASES[:2]], {"title": "Tuesday", "notes": ["note 1", "note 2"]}
    text = render_html(share_cases(cases, opened(), **named))
    assert "<h1>Tuesday</h1>" in text and text.count("<article") == 2 and "as written" in text
    assert text.index("note 1") < text.index("note 2") and "2024-" not in text


def test_an_exact_page_says_so_and_is_found_out() -> None:
    """What was asked for exactly holds what the scanner looks for, and the sentence that it does."""
    page = shared([explained(CASES[0])], exact=True)
    text = render_html(page)
    assert EXACT_NOTE in text and json.loads(page.model_dump_json())["is_exact"] is True
    kinds = {leak.kind for leak in scan(text.encode(), secrets())}
    assert {"time: date", "time: clock", "index", "hash"} <= kinds
    link = page.cases[0].link
    assert link is not None and f"case={CASES[0]}" in link and predictor().dataset.hash[:12] in link


@pytest.mark.slow
@pytest.mark.thorough
def test_a_thousand_cases_leak_nothing() -> None:
    """Every fourth case of the city; some in full, some as pictures, some with hidden places."""
    numbers = np.linspace(0, len(predictor().cases) - 1, 1000).astype(int).tolist()
    for start in range(0, 1000, 50):
        cases = [explained(case, full=case == numbers[start]) for case in numbers[start : start + 50]]
        assert_nothing_leaks(shared(cases), picture=False)
        assert_nothing_leaks(shared(cases[:1], hide_places=start % 100 == 0), picture=True)


CASE = 700


def kept(kind: str) -> pd.DataFrame:
    key = f"{predictor().dataset.hash[:16]}-{predictor().checkpoint.hash[:24]}-test-{kind}.parquet"
    return pd.read_parquet(CITY / "records" / key)


TABLES: dict[str, Callable[[], pd.DataFrame]] = {
    "Evaluation records": lambda: kept("every_step").drop(columns=[c.TOP_POIS, c.TOP_SCORES]),
    "records with lists": lambda: kept("every_step").head(50),
    "Misses": lambda: describe_misses(opened().dataset, opened().cases, kept("ablations-and-ties")),
    "Ablations": lambda: kept("ablations-and-ties"),
    "Stops": lambda: read_trajectory(opened(), CASE).stops,
    "Past visits": lambda: pd.DataFrame([e.model_dump() for e in explained(7, full=True).visits[0].visits]),
    "Candidates": lambda: pd.json_normalize([entry.model_dump() for entry in explained(CASE).candidates]),
    "Predictions": lambda: predict_case(opened().with_model("markov"), CASE).candidates,
}
"""Tables as the view or the command hands them over."""


@pytest.mark.parametrize("name", TABLES)
def test_a_written_table_leaks_nothing(name: str) -> None:
    """No id, index of a case or rare place, and no time; the file says how it was generalised, or that it was not."""
    whole = TABLES[name]()
    shared = share_table(whole, opened())
    assert scan(to_csv(shared.head(600)), secrets()) == []
    assert not {c.CASE, c.ROW, c.TRAJECTORY, c.POSITION, "stop", "visit"} & set(shared.columns)
    assert shared[PRIVACY].str.startswith("generalised: k = 5").all() and len(shared) == len(whole)
    for column in {c.POI, c.SOURCE, c.TARGET, "middle", "first"} & set(shared.columns):
        assert not pd.api.types.is_numeric_dtype(shared[column])
    exact = share_table(whole, opened(), exact=True)
    assert (exact[PRIVACY] == AS_RECORDED).all()
    pd.testing.assert_frame_equal(exact.drop(columns=PRIVACY), whole)


def test_a_picture_of_a_step_shows_neither_the_way_nor_the_haunts() -> None:
    """One stop is left, no disc is marked as visited before, and rare places have masked points and names."""
    prediction = predict_case(opened().with_model("visit_count"), CASE)
    trajectory = read_trajectory(opened(), CASE)
    places = masked_places(opened(), Generalisation())
    alone, masked = share_step(trajectory, prediction, places.opened(opened()).labels)
    assert masked.candidates["name"].tolist() == [places.name[poi] for poi in masked.candidates[c.POI]]
    assert masked.candidates["name"].tolist() != prediction.candidates["name"].tolist()
    assert len(alone.stops) == 1 and alone.stops[c.CASE].tolist() == [CASE]
    assert prediction.candidates["revisit"].any() and not masked.candidates["revisit"].any()
    pictured, rare = places.opened(opened()), int(places.is_cell.argmax())
    assert pictured.labels[rare] == places.name[rare] != opened().labels[rare]
    assert (pictured.latitude[rare], pictured.longitude[rare]) == places.at(rare)


def test_numbers_of_the_model_stay() -> None:
    """Scores and ranks are the same numbers, in another order; a table of counts stays as it is."""
    whole = TABLES["Evaluation records"]()
    shared = share_table(whole, opened())
    for column in (c.RANK, c.SCORE, c.part_column("core")):
        assert sorted(shared[column]) == sorted(whole[column])
    assert shared[c.RANK].tolist() != whole[c.RANK].tolist()
    assert shared[c.USER].nunique() == whole[c.USER].nunique()
    counts = pd.DataFrame({"group": ["all", "tail"], "n": [10, 4], "hr20": [0.5, 0.25]})
    assert not is_personal(counts)
    pd.testing.assert_frame_equal(share_table(counts, opened()), counts)
