"""Walk's times of day and its whole walk, a place's steps from a link, and the two maps of Long tail."""

import json
from pathlib import Path

import pytest

from analysis.records.loaded_dataset import LoadedDataset
from analysis.trajectories.day_parts import cases_at_time
from tests.app.app_driver import check_calm, open_view, point_app_at, texts


@pytest.fixture(autouse=True)
def _app(monkeypatch: pytest.MonkeyPatch, city_folder: Path, city_checkpoint: Path) -> None:
    point_app_at(monkeypatch, city_folder, city_checkpoint)


def test_walk_at_times_of_day(city_folder: Path) -> None:
    """A part of the day leaves the cases that start in it, and its chip takes it away again."""
    opened = LoadedDataset.load(city_folder)
    total = len(opened.cases)
    part = next(p for p in ("morning", "evening", "midday") if 0 < len(cases_at_time(opened, [p])) < total)
    app = open_view("walk", case="0")
    app.pills(key="day_part").set_value([part]).run()
    check_calm(app)
    assert f"{len(cases_at_time(opened, [part])):,} of {total:,} cases" in texts(app)
    app.button(key="clear-times").click().run()
    check_calm(app)
    assert f"{total:,} of {total:,} cases" in texts(app)


def test_whole_walk_is_a_button() -> None:
    """It opens the map no closer than before, and leads back."""
    app = open_view("walk", case="3")
    near = zoom(app)
    app.button(key="fit").click().run()
    check_calm(app)
    assert zoom(app) <= near and app.button(key="fit").label == "Next places"
    app.button(key="fit").click().run()
    assert zoom(app) == near


def zoom(app: object) -> float:
    """The zoom at which the page's map opens."""
    chart = app.get("deck_gl_json_chart")[0]  # type: ignore[attr-defined]
    return float(json.loads(chart.proto.json)["initialViewState"]["zoom"])


def test_a_place_in_the_link(city_folder: Path) -> None:
    """``cases=poi:2`` shows the steps from and to that place, by its name; an unknown number fits no case."""
    opened = LoadedDataset.load(city_folder)
    number = int(((opened.cases["source"] == 2) | (opened.cases["target"] == 2)).sum())
    app = open_view("walk", cases="poi:2")
    check_calm(app)
    assert f"{number:,} of {len(opened.cases):,} cases" in texts(app)
    assert any(opened.labels[2] in button.label for button in app.button)
    app = open_view("walk", cases="poi:99999999")
    check_calm(app)
    assert "No case passes" in texts(app)


def test_long_tail_has_both_maps() -> None:
    """The places on a plane, by both projections, and where misses happen."""
    app = open_view("long_tail", projection="t-SNE")
    check_calm(app)
    headings = [header.value for header in app.header]
    assert "Where misses happen" in headings and "How the model arranges the places" in headings
