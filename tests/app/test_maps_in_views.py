"""Walk's whole walk, and the map of Long tail."""

import json
from pathlib import Path

import pytest

from tests.app.app_driver import check_calm, open_view, point_app_at


@pytest.fixture(autouse=True)
def _app(monkeypatch: pytest.MonkeyPatch, city_folder: Path, city_checkpoint: Path) -> None:
    point_app_at(monkeypatch, city_folder, city_checkpoint)


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


def test_long_tail_has_the_map_of_misses() -> None:
    """Where misses happen, once its tab is opened."""
    app = open_view("long_tail", tab="Where it misses")
    check_calm(app)
    headings = [header.value for header in app.header]
    assert "Where misses happen" in headings
