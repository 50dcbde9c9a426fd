"""Maps without a browser: cameras, the inline ground, the deck, and the picture."""

import io
import json
from dataclasses import replace
from functools import partial
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from PIL import Image, ImageColor, ImageDraw
from scipy import sparse

from analysis.explain.explain_case import explain_case
from analysis.figures.basemap import MAX_DOTS, basemap_style, frequent_ways, has_streets
from analysis.figures.deck_layers import DOT, discs, lines, texts
from analysis.figures.deck_layers import deck as deck_of
from analysis.figures.explain_map import draw_explain_image
from analysis.figures.labels import Label, label_box, place_labels
from analysis.figures.landmarks import LANDMARK_USERS, landmarks, with_landmarks
from analysis.figures.map_ground import MapGround, draw_part
from analysis.figures.map_image import draw_map_image
from analysis.figures.palette import DARK, LIGHT, Palette, mix, rgb
from analysis.figures.table_rows import rows
from analysis.figures.walk_map import places_deck, walk_deck
from analysis.figures.walk_marks import WalkMarks, walk_marks
from analysis.geography import Camera, aggregate_points, fit_camera, screen_offsets, unwrap_longitudes
from analysis.trajectories.cameras import fit_prediction
from analysis.trajectories.predictions import predict_case
from analysis.trajectories.trajectory import read_trajectory
from analysis.workspace import Workspace
from benchmarks.demo_city.basemap import build_basemap
from recap import columns as c
from tests.analysis.planted import small_predictor
from tests.worlds import small_city


def test_date_line_city_is_one_city() -> None:
    """Longitudes on both sides of the line become neighbours; a city elsewhere stays as it is."""
    assert np.ptp(unwrap_longitudes(np.array([179.9, -179.9, 179.8, -179.7]))) == pytest.approx(0.5)
    plain = np.array([-74.0, -73.9])
    assert unwrap_longitudes(plain) is plain


def test_camera_shows_every_point() -> None:
    """All points lie inside the window with its margin; a single point gets the closest look."""
    rng = np.random.default_rng(0)
    latitude, longitude = 46 + rng.random(50) / 5, 7 + rng.random(50) / 3
    camera = fit_camera(latitude, longitude, width_px=720, height_px=520, padding_px=60)
    x, y = screen_offsets(camera, latitude, longitude)
    assert np.abs(x).max() <= 300.01 and np.abs(y).max() <= 200.01
    assert max(np.abs(x).max() / 300, np.abs(y).max() / 200) == pytest.approx(1)
    assert fit_camera(latitude[:1], longitude[:1]).zoom == 15


def test_aggregation_keeps_every_point() -> None:
    """Above the limit points gather in cells whose numbers add up; below it nothing changes."""
    rng = np.random.default_rng(1)
    latitude, longitude = rng.random(5000), rng.random(5000)
    lat, _, count = aggregate_points(latitude, longitude, 400)
    assert len(lat) <= 400 and count.sum() == 5000
    assert aggregate_points(latitude, longitude, 5000)[0] is latitude
    assert aggregate_points(np.ones(500), np.ones(500), 100)[2].tolist() == [500]


@pytest.mark.parametrize("palette", [LIGHT, DARK])
def test_ground_is_inline_and_tiles_lie_over_it(palette: Palette) -> None:
    """The style fetches nothing: no address in it, every source inline, with and without a city's own layers.

    Tiles are asked for by an option alone, and cover what is there without them but for the places' dots.
    """
    latitude, longitude = np.array([46.0, 46.1]), np.array([-35.0, -35.1])
    for basemap in (None, build_basemap()):
        style = basemap_style(basemap, latitude, longitude, palette)
        assert "http" not in style and "glyphs" not in style
        parsed = json.loads(style)
        assert {layer["source"] for layer in parsed["layers"] if "source" in layer} <= set(parsed["sources"])
        assert len({layer["id"] for layer in parsed["layers"]}) == len(parsed["layers"])
    style = json.loads(basemap_style(build_basemap(), latitude, longitude, palette, tiles=True))
    names = [layer["id"] for layer in style["layers"]]
    assert names[-2:] == ["tiles", "places"] and "water" in names
    (address,) = style["sources"]["tiles"]["tiles"]
    assert address.startswith(f"https://basemaps.cartocdn.com/{palette.theme}_all/")


def test_fifty_thousand_places_stay_light() -> None:
    """A large city's ground is aggregated to fewer marks than the limit."""
    rng = np.random.default_rng(2)
    style = basemap_style(None, rng.random(50_000), rng.random(50_000), LIGHT)
    features = json.loads(style)["sources"]["places"]["data"]["features"]
    assert sum(len(feature["geometry"]["coordinates"]) for feature in features) <= MAX_DOTS


def test_names_cover_nothing() -> None:
    """Names at one mark take different sides; one without a free place near its mark is left out."""
    here = np.zeros(6)
    mark = np.array([[0.0, 0.0, 8.0]])
    placed = place_labels(["one", "two", "3", "4", "5", "6"], here, here, here + 9, obstacles=mark)
    boxes = [label_box(label, 0.0, 0.0) for label in placed]
    assert len(placed) == 6 and not any(meet(a, b) for a, b in combinations(boxes, 2))
    wall = np.array([[x, y, 12.0] for x in range(-200, 201, 20) for y in range(-100, 101, 20)])
    assert place_labels(["no room"], here[:1], here[:1], here[:1] + 9, obstacles=wall) == []


def test_a_name_is_cut_off_in_no_window() -> None:
    """At the right rim of a narrow map a name goes to the left; where it fits nowhere, it is shortened."""
    rim, zero = np.array([90.0]), np.zeros(1)
    place = partial(place_labels, obstacles=np.empty((0, 3)), half_size=(300.0, 100.0))
    wide = place(["Rosewarne's"], rim, zero, zero + 9)
    assert [label.anchor for label in wide] == ["start"]  # to the right: 90 + 14 + 90 is within 300
    narrow = place(["Rosewarne's"], rim, zero, zero + 9, narrowest=(100.0, 100.0))
    assert [(label.anchor, label.text) for label in narrow] == [("end", "Rosewarne's")]
    name = "Quennell Underwriters of Saltmere"  # 30 characters take 226 pixels, 18 take 140
    (short,) = place([name], zero, zero, zero + 9, narrowest=(75.0, 100.0))
    assert (short.text, short.anchor) == ("Quennell Underwri…", "middle")


def meet(box: tuple[float, ...], other: tuple[float, ...]) -> bool:
    """Whether two boxes (left, top, right, bottom) overlap."""
    return box[0] < other[2] and other[0] < box[2] and box[1] < other[3] and other[1] < box[3]


def crowded_marks(*, show_truth: bool, places_km: float = 0.05) -> tuple[Workspace, WalkMarks]:
    """The small city with all its places on one street corner, and a case of it."""
    opened = Workspace.of(small_city())
    spot = np.linspace(0, places_km / 111, opened.dataset.num_pois)
    close = Workspace.of(small_city())
    vars(close).update(latitude=40.7 + spot, longitude=-74.0 + spot[::-1])  # in place of its cached properties
    model = opened.with_model("visit_count")
    walk, prediction = read_trajectory(opened, 3), predict_case(model, 3, top=10)
    camera = fit_prediction(close, prediction, show_truth=show_truth)
    return close, walk_marks(close, walk, prediction, camera=camera, show_truth=show_truth)


@pytest.mark.parametrize("show_truth", [True, False])
def test_every_place_is_drawn_where_it_is(show_truth: bool) -> None:
    """Also on a crowded corner that is looked at from afar: a disc's middle is its place. What lies under a better disc
    has no number of its own, the tip above names it, and names cover no disc."""
    close, marks = crowded_marks(show_truth=show_truth)
    poi = marks.discs[c.POI].tolist() + [int(close.case(3)[c.TARGET])] * len(marks.ring)
    drawn = np.array([*marks.discs["at"], *marks.ring["at"]])
    np.testing.assert_allclose(drawn, np.column_stack([close.longitude[poi], close.latitude[poi]]), atol=1e-6)
    on_screen = pd.concat([marks.discs, marks.ring])[["x", "y"]].to_numpy().T
    np.testing.assert_allclose(screen_offsets(marks.camera, drawn[:, 1], drawn[:, 0]), on_screen, atol=1)
    assert len(marks.ring) == show_truth
    assert 0 < marks.discs["covered"].sum() < len(marks.discs) == 10
    above = [*marks.source["tip"], *marks.discs.loc[~marks.discs["covered"], "tip"]]
    for name in marks.discs["name"]:
        assert any(name in tip for tip in above)
    assert len(marks.names) > 0
    for name in rows(marks.names):
        label = Label(0, name["text"], name["shift"][0], name["shift"][1], name["anchor"])
        box = label_box(label, name["x"], name["y"])
        for x, y, r in marks.round_marks:
            assert np.hypot(x - np.clip(x, box[0], box[2]), y - np.clip(y, box[1], box[3])) >= r


def test_camera_fits_what_comes_next() -> None:
    """Source, shown truth and those of the first five that are not far off are on screen; a hidden truth moves none."""
    opened = Workspace.of(small_city())
    model = opened.with_model("popularity")
    for number in range(0, len(opened.cases), 9):
        prediction = predict_case(model, number, top=8)
        first = prediction.candidates.head(5)
        near = first[c.POI][first["distance_km"] <= max(first["distance_km"].median(), 0.5)]
        shown = [int(prediction.case[c.SOURCE]), *near, int(prediction.case[c.TARGET])]
        camera = fit_prediction(opened, prediction, show_truth=True)
        x, y = screen_offsets(camera, opened.latitude[shown], opened.longitude[shown])
        assert np.abs(x).max() <= 275.01 and np.abs(y).max() <= 270.01
        other = replace(prediction, case=prediction.case.where(prediction.case.index != c.TARGET, 0))
        hidden = [fit_prediction(opened, case, show_truth=False) for case in (prediction, other)]
        assert hidden[0] == hidden[1]


def test_a_far_prediction_does_not_shrink_what_is_near() -> None:
    """Four places within 300 m and one 20 km away: the map shows streets, and the far one is off its edge."""
    opened = Workspace.of(small_city())
    prediction = predict_case(opened.with_model("visit_count"), 3, top=5)
    latitude = np.full(opened.dataset.num_pois, 40.7)
    latitude[prediction.candidates[c.POI].iloc[4]] += 20 / 111
    latitude[int(prediction.case[c.TARGET])] = latitude[int(prediction.case[c.SOURCE])] = 40.7
    vars(opened).update(latitude=latitude)
    distances = [0.1, 0.2, 0.3, 0.3, 20.0] + [0.1] * (len(prediction.candidates) - 5)
    far = prediction.candidates.assign(distance_km=distances)
    assert fit_prediction(opened, replace(prediction, candidates=far), show_truth=True).zoom > 12


def test_deck_and_picture_of_a_case() -> None:
    """The deck names its layers and holds the truth only when shown; the picture is a PNG of the promised size."""
    opened = Workspace.of(small_city())
    model = opened.with_model("visit_count")
    walk, prediction = read_trajectory(opened, 0), predict_case(model, 0, top=5)
    for shown in (True, False):
        camera = fit_prediction(opened, prediction, show_truth=shown)
        marks = walk_marks(opened, walk, prediction, camera=camera, show_truth=shown)
        layers = json.loads(walk_deck(marks, map_style="data:,", palette=LIGHT).to_json())["layers"]
        assert ("truth" in [layer["id"] for layer in layers]) == shown
        assert all("pickable" in layer for layer in layers)
        assert next(layer for layer in layers if layer["id"] == "chosen")["data"] == []
        truth = int(prediction.case[c.TARGET])
        for disc in rows(marks.discs):
            deck = json.loads(walk_deck(marks, map_style="data:,", palette=LIGHT, chosen=disc["poi"]).to_json())
            (ring,) = next(layer for layer in deck["layers"] if layer["id"] == "chosen")["data"]
            assert ring["at"] == disc["at"] and ring["r"] == disc["r"] + (9 if shown and disc["poi"] == truth else 4)
        drawn = walk_deck(marks, map_style="", palette=DARK)
        colours = colours_of(draw_map_image(drawn, MapGround(opened, build_basemap()), palette=DARK))
        assert (ImageColor.getrgb(DARK.truth.fill) in colours) == shown
        assert ImageColor.getrgb(mix(DARK.model.fill, DARK.land, 225 / 255)) in colours


def colours_of(picture: bytes) -> set[object]:
    """The colours of a picture that has the promised size."""
    image = Image.open(io.BytesIO(picture))
    assert image.size == (1520, 1080)
    return {colour for _, colour in image.getcolors(2**24) or []}


def test_a_picture_has_a_decks_marks_where_they_are() -> None:
    """A disc in the middle, a line to its right, a dot above it: two pixels of the picture for one of the browser."""
    opened = Workspace.of(small_city())
    camera = Camera(float(opened.latitude[0]), float(opened.longitude[0]) + 1.0, 15.0)  # far from every place
    here, right = ([camera.longitude + step, camera.latitude] for step in (0.0, 0.01))
    mark = pd.DataFrame({"at": [here], "r": [9.0], "to": [right], "text": [DOT], "shift": [[0, -50]]})
    layers = [
        lines("line", mark, "at", "to", colour=rgb(LIGHT.ink), width=3),
        discs("disc", mark, fill=rgb(LIGHT.model.fill), line=rgb(LIGHT.land), line_px=1.0),
        texts("dot", mark, "text", rgb(LIGHT.paths.fill), size=20, shift=True),
    ]
    drawn = draw_map_image(deck_of(layers, camera, "data:,"), MapGround(opened), palette=LIGHT)
    image = Image.open(io.BytesIO(drawn))
    seen = {(760, 540): LIGHT.model.fill, (800, 540): LIGHT.ink, (760, 440): LIGHT.paths.fill, (720, 540): LIGHT.land}
    assert {at: image.getpixel(at) for at in seen} == {at: ImageColor.getrgb(colour) for at, colour in seen.items()}


def test_a_hole_shows_what_lies_below() -> None:
    """A park under a lake with an island: the park's colour on the island."""
    image = Image.new("RGB", (90, 90))
    square = [[(at, at), (90 - at, at), (90 - at, 90 - at), (at, 90 - at)] for at in (0.0, 30.0)]
    for name, part, colour in (("park", square[:1], "#00FF00"), ("water", square, "#0000FF")):
        draw_part(image, ImageDraw.Draw(image), name, part, colour)
    assert image.getpixel((10, 10)) == (0, 0, 255) and image.getpixel((45, 45)) == (0, 255, 0)


def test_picture_of_an_explanation() -> None:
    """A PNG of the promised size in both themes, with paths and both places: their colours are in it."""
    predictor = small_predictor()
    opened = Workspace.of(predictor.dataset)
    explained = (explain_case(predictor, number, counterfactuals=False) for number in range(len(predictor.cases)))
    explanation = next(e for e in explained if e.paths and e.target_rank > 1)
    for palette in (LIGHT, DARK):
        colours = colours_of(draw_explain_image(explanation, MapGround(opened), palette=palette))
        for fill in (palette.paths.fill, palette.truth.fill, palette.model.fill):
            assert ImageColor.getrgb(fill) in colours


def test_a_city_without_streets_shows_its_frequent_transitions() -> None:
    """Taken twice or more between places at most 2 km apart; not where the basemap has streets or tiles are shown."""
    latitude, longitude = np.array([46.0, 46.01, 46.0, 47.0]), np.array([-35.0, -35.0, -35.02, -35.0])
    counts = sparse.csr_array(([5, 2, 1, 9], ([0, 1, 2, 0], [1, 2, 0, 3])), shape=(4, 4))
    ways = frequent_ways(counts, latitude, longitude)
    assert ways.tolist() == [[0, 1], [1, 2]]
    style = json.loads(basemap_style(None, latitude, longitude, LIGHT, ways=ways))
    first = style["sources"]["ways"]["data"]["features"][-1]
    assert first["properties"] == {"quarter": 0}, "the most frequent ones are on top"
    assert first["geometry"]["coordinates"] == [[[-35.0, 46.0], [-35.0, 46.01]]]
    assert "--online-map" in style["sources"]["ways"]["attribution"]
    assert "ways" not in json.loads(basemap_style(None, latitude, longitude, LIGHT, ways=ways, tiles=True))["sources"]
    assert has_streets(build_basemap()) and not has_streets(None)


def test_a_city_without_streets_names_places_that_many_know() -> None:
    """By name or else category, most users first, from five users on; no name touches a mark or another name."""
    opened = Workspace.of(small_city())
    named = landmarks(opened)
    train = opened.dataset.checkins[opened.dataset.checkins[c.SPLIT] == c.TRAIN]
    users = train.groupby(c.POI)[c.USER].nunique().sort_values(ascending=False, kind="stable")
    assert len(named) == (users >= LANDMARK_USERS).sum() > 0
    assert named["text"].iloc[0] in set(opened.dataset.pois[c.POI_NAME]) | set(opened.dataset.pois[c.CATEGORY])
    latitude, longitude = np.array([46.0, 46.0, 46.0]), np.array([-35.0, -34.9999, -34.98])
    places = pd.DataFrame({"text": ["Harbour", "Inn", "Mill"], c.LATITUDE: latitude, c.LONGITUDE: longitude})
    ends = np.array([45.97, 46.03]), np.array([-35.03, -34.95])
    deck = places_deck(*ends, map_style="data:,", palette=LIGHT)
    bottom = json.loads(with_landmarks(deck, places, LIGHT).to_json())["layers"][0]
    assert [row["text"] for row in bottom["data"]] == ["Harbour", "Mill"], "the inn is in the harbour's way"
    disc = discs("mark", pd.DataFrame({"at": [[-35.0, 46.0]], "r": [9]}), fill=None, line=[0, 0, 0], line_px=1.0)
    deck = places_deck(*ends, map_style="data:,", palette=LIGHT)
    deck.layers.append(disc)
    bottom = json.loads(with_landmarks(deck, places, LIGHT).to_json())["layers"][0]
    assert [row["text"] for row in bottom["data"]] == ["Mill"]
