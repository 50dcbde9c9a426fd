"""The map of Long tail."""

from pathlib import Path

import pytest

from tests.app.app_driver import check_calm, open_view, point_app_at


@pytest.fixture(autouse=True)
def _app(monkeypatch: pytest.MonkeyPatch, city_folder: Path, city_checkpoint: Path) -> None:
    point_app_at(monkeypatch, city_folder, city_checkpoint)


def test_long_tail_has_the_map_of_misses() -> None:
    """Where misses happen, once its tab is opened."""
    app = open_view("long_tail", tab="Where it misses")
    check_calm(app)
    headings = [header.value for header in app.header]
    assert "Where misses happen" in headings
