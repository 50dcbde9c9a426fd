"""What a click does not change keeps its place in the page: a browser rebuilds whatever moved, the map above all."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from tests.app.app_driver import check_calm, open_view, point_app_at


@pytest.fixture(autouse=True)
def _city(monkeypatch: pytest.MonkeyPatch, city_folder: Path, city_checkpoint: Path) -> None:
    point_app_at(monkeypatch, city_folder, city_checkpoint)


def _elements(block: Any, path: tuple[int, ...] = ()) -> Iterator[tuple[str, tuple[int, ...]]]:
    for index, child in block.children.items():
        yield child.type, (*path, index)
        yield from _elements(child, (*path, index)) if hasattr(child, "children") else ()


def places(app: AppTest, *kinds: str) -> list[tuple[str, tuple[int, ...]]]:
    """Where in the page the elements of some kinds stand."""
    check_calm(app)
    return [(kind, path) for kind, path in _elements(app.main) if kind in kinds]


def test_filters_of_walk_leave_the_map_in_place() -> None:
    """With a filter, without, with one by cause: the map stands where it stood, and so do heading and list."""
    app = open_view("walk", case="2", k="1")
    before = places(app, "deck_gl_json_chart", "title", "dataframe", "metric")
    assert {"deck_gl_json_chart", "title", "dataframe", "metric"} == set(dict(before))
    for chosen in (["unseen"], [], ["history"], ["unseen", "tail", "missed"]):
        app.pills(key="show").set_value(chosen).run()
        assert places(app, "deck_gl_json_chart", "title", "dataframe", "metric") == before, chosen
