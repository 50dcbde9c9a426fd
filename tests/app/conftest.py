"""The app on the small city; and once what a server does once, but `AppTest` for every page: half of a page's time."""

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from unittest.mock import patch

import pytest
from streamlit.components.v2 import manifest_scanner
from streamlit.testing.v1 import app_test

from analysis.workspace import Workspace
from app.settings import AppSettings
from app.sources import Source, find_sources
from recap.asking.predictor import Predictor
from tests.app.app_driver import point_app_at
from tests.learn_worlds import DEMO


@pytest.fixture(scope="session", autouse=True)
def _as_one_server() -> Iterator[None]:
    """Installed packages are searched for components once, each script is compiled once."""
    with (
        patch.object(manifest_scanner, "scan_component_manifests", cache(manifest_scanner.scan_component_manifests)),
        patch.object(app_test, "ScriptCache", cache(app_test.ScriptCache)),
    ):
        yield


@pytest.fixture
def counting(monkeypatch: pytest.MonkeyPatch, city_folder: Path) -> None:
    """The app pointed at the small city without a model: counting past visits predicts."""
    point_app_at(monkeypatch, city_folder, None)


@pytest.fixture
def demo_city(monkeypatch: pytest.MonkeyPatch) -> None:
    """The app pointed at the bundled city and its checkpoint."""
    point_app_at(monkeypatch, DEMO / "dataset", DEMO / "checkpoint")


@pytest.fixture
def city(monkeypatch: pytest.MonkeyPatch, city_folder: Path, city_checkpoint: Path) -> Workspace:
    """The app pointed at the small city and its checkpoint."""
    point_app_at(monkeypatch, city_folder, city_checkpoint)
    return Workspace.open(city_folder)


@pytest.fixture
def model(city: Workspace, city_folder: Path, city_checkpoint: Path) -> Workspace:
    """The same with its checkpoint, as the app opens it on this computer."""
    return Workspace.open(city_folder, city_checkpoint, shows_ids=True)


@pytest.fixture
def predictor(city: Workspace, city_folder: Path, city_checkpoint: Path) -> Predictor:
    """The app pointed at the small city and its checkpoint, which is read here too."""
    return Workspace.open(city_folder, city_checkpoint).predictor


@pytest.fixture
def source(monkeypatch: pytest.MonkeyPatch, city_folder: Path, city_checkpoint: Path, tmp_path: Path) -> Source:
    """The app on the small city and its checkpoint, with an empty library of its own; what it offers."""
    monkeypatch.setenv("RECAP_HOME", str(tmp_path))
    point_app_at(monkeypatch, city_folder, city_checkpoint, read_only=False)
    only, *_ = find_sources(AppSettings.from_environment())  # then `pretrained`
    return only
