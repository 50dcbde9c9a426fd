"""Maps without a browser: distances, cameras, the inline ground, the deck, and the picture."""

import io
import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageColor

from analysis.explain.explanation import explain_fully
from analysis.figures.basemap import MAX_DOTS, basemap_style
from analysis.figures.explain_image import draw_explain_image
from analysis.figures.labels import place_labels
from analysis.figures.map_image import draw_walk_image
from analysis.figures.palette import DARK, LIGHT, contrast
from analysis.figures.walk_map import walk_deck
from analysis.geography import aggregate_points, fit_camera, screen_offsets, unwrap_longitudes
from analysis.long_tail.accuracy_tables import accuracy_by_count
from analysis.records.evaluation_records import evaluation_records
from analysis.records.loaded_dataset import LoadedDataset
from analysis.records.named_scorer import NamedScorer
from analysis.trajectories.predictions import predict_case
from analysis.trajectories.trajectory import fit_trajectory, read_trajectory
from recap.checkpoint import Checkpoint
from recap.data.synthetic import build_basemap
from recap.geodesy import distance_km
from tests.analysis.planted import small_predictor
from tests.shell import recap, recap_json
from tests.worlds import small_city


def test_distances() -> None:
    """A quarter of the globe is 10,008 km; the date line costs nothing; a point is no way from itself."""
    ends = distance_km(
        np.array([0.0, 0.0, 50.0]),
        np.array([0.0, 179.5, 8.0]),
        np.array([90.0, 0.0, 50.0]),
        np.array([0.0, -179.5, 8.0]),
    )
    np.testing.assert_allclose(ends, [10007.557, 111.195, 0.0], atol=0.01)


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
def test_ground_is_inline(palette: object) -> None:
    """The style fetches nothing: no address in it, every source inline, with and without a city's own layers."""
    for basemap in (None, build_basemap()):
        style = basemap_style(basemap, np.array([46.0, 46.1]), np.array([-35.0, -35.1]), palette)  # type: ignore[arg-type]
        assert "http" not in style and "glyphs" not in style
        parsed = json.loads(style)
        assert {layer["source"] for layer in parsed["layers"] if "source" in layer} <= set(parsed["sources"])
        assert len({layer["id"] for layer in parsed["layers"]}) == len(parsed["layers"])


def test_fifty_thousand_places_stay_light() -> None:
    """A large city's ground is aggregated to fewer marks than the limit."""
    rng = np.random.default_rng(2)
    style = basemap_style(None, rng.random(50_000), rng.random(50_000), LIGHT)
    features = json.loads(style)["sources"]["places"]["data"]["features"]
    assert sum(len(feature["geometry"]["coordinates"]) for feature in features) <= MAX_DOTS


def test_words_are_readable() -> None:
    """Text colours reach 4.5:1 on their page and on their chip."""
    for palette in (LIGHT, DARK):
        for hue in (palette.model, palette.truth, palette.revisits, palette.paths):
            assert contrast(hue.text, palette.page) >= 4.5 and contrast(hue.text, hue.chip) >= 4.5
        assert contrast(palette.quiet, palette.page) >= 4.5


def test_names_do_not_cover_each_other() -> None:
    """Two names at one mark take different sides; a third and less important one that finds no room is dropped."""
    here = np.zeros(6)
    placed = place_labels(["one", "two", "3", "4", "5", "6"], here, here, here + 10, obstacles=np.zeros((0, 3)), keep=2)
    assert len({(label.anchor, label.shift_y) for label in placed}) == len(placed) == 4


def test_deck_and_picture_of_a_case() -> None:
    """The deck names its layers and holds the truth only when shown; the picture is a PNG of the promised size."""
    opened = LoadedDataset.of(small_city())
    model = NamedScorer.of_baseline("visit_count", opened)
    walk, prediction = read_trajectory(opened, 0), predict_case(opened, model, 0, top=5)
    camera = fit_trajectory(opened, walk)
    for shown in (True, False):
        deck = walk_deck(opened, walk, prediction, camera=camera, map_style="data:,", palette=LIGHT, show_truth=shown)
        layers = json.loads(deck.to_json())["layers"]
        assert ("truth" in [layer["id"] for layer in layers]) == shown
        assert all("pickable" in layer for layer in layers)
    picture = draw_walk_image(opened, walk, prediction, camera=camera, palette=DARK, basemap=build_basemap())
    assert Image.open(io.BytesIO(picture)).size == (1520, 1080)


def test_picture_of_an_explanation() -> None:
    """A PNG of the promised size in both themes, with paths and both places: their colours are in it."""
    predictor = small_predictor()
    opened = LoadedDataset.of(predictor.dataset)
    explained = (explain_fully(predictor, number, counterfactuals=False) for number in range(len(predictor.cases)))
    explanation = next(e for e in explained if e.path_evidence and e.target_rank > 1)
    for palette in (LIGHT, DARK):
        picture = Image.open(io.BytesIO(draw_explain_image(explanation, opened, palette=palette)))
        assert picture.size == (1520, 1080)
        colours = {colour for _, colour in picture.getcolors(2**24) or []}
        for fill in (palette.paths.fill, palette.truth.fill, palette.model.fill):
            assert ImageColor.getrgb(fill) in colours


def test_command_line_twin(city_folder: Path, city_checkpoint: Path) -> None:
    """`recap long-tail --json` prints the numbers that the app draws; `recap cases` those that Walk filters."""
    opened, checkpoint = LoadedDataset.load(city_folder), Checkpoint.load(city_checkpoint)
    records = evaluation_records(opened, checkpoint.hash, lambda: NamedScorer.of_checkpoint(checkpoint, opened))
    said = recap_json("long-tail", city_checkpoint, "--data", city_folder, "--metric", "mrr")
    expected = accuracy_by_count(records, "transition_count", "mrr")
    assert [row["n"] for row in said["by_transition_count"]] == expected["n"].tolist()
    values = [row["value"] for row in said["by_transition_count"] if row["n"]]
    assert values == expected["value"].dropna().tolist()
    tail = recap_json("cases", city_checkpoint, "--data", city_folder, "--show", "tail")
    assert tail["cases"] == records["case"][records["transition_count"] <= 1].tolist()
    printed = recap("cases", city_checkpoint, "--data", city_folder, "--show", "tail", "--limit", 2).stdout.splitlines()
    assert "the first 2" in printed[0] and len(printed) == 3
    assert [int(line.split(":")[0]) for line in printed[1:]] == tail["cases"][:2]
    bins = recap("long-tail", city_checkpoint, "--data", city_folder).stdout
    assert "nan" not in bins and "-1" not in bins
    overview = recap_json("overview", city_checkpoint, "--data", city_folder)
    assert overview["groups"][0]["model"] == "RECAP" and overview["groups"][0]["n"] == len(records)
