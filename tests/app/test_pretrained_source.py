"""`pretrained` is in the app's list of models for every dataset and opens in every view, without a folder."""

from dataclasses import replace
from pathlib import Path

import pytest

from app.settings import CHECKPOINT_VARIABLE, AppSettings
from app.sources import TOKEN_LENGTH, find_sources
from recap.data.dataset import Dataset
from recap.model.pretrained_curves import pretrained_key
from tests.app.app_driver import calm_view, point_app_at, texts


@pytest.fixture
def token(monkeypatch: pytest.MonkeyPatch, city_folder: Path) -> str:
    point_app_at(monkeypatch, city_folder, None)
    return pretrained_key(Dataset.load(city_folder).hash)[:TOKEN_LENGTH]


def test_every_dataset_lists_it(token: str) -> None:
    """Before no model at all, with the same token as the hash in its links."""
    sources = find_sources(AppSettings.from_environment())
    listed = [source for source in sources if source.model == "pretrained"]
    assert {source.dataset_hash for source in listed} == {source.dataset_hash for source in sources}
    mine = next(source for source in listed if source.token == token)
    assert mine.label.endswith("· RECAP, pretrained") and mine.has_parts and mine.checkpoint_folder is None
    assert sources[0] == mine and "no model yet" in sources[1].label


def test_named_on_the_command_line_it_opens_first(token: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The name wins over a folder of that name, also where no dataset is named; a path is a folder."""
    for data in (AppSettings.from_environment().data, None):
        settings = replace(AppSettings.from_environment(), data=data, pretrained=True)
        for name, value in settings.to_environment().items():
            monkeypatch.setenv(name, value)
        assert AppSettings.from_environment().pretrained
        sources = find_sources(AppSettings.from_environment())
        assert not sources or sources[0].model == "pretrained"
    folder = replace(AppSettings(), checkpoint=Path("./pretrained")).to_environment()[CHECKPOINT_VARIABLE]
    assert folder == str(Path("pretrained").absolute())


@pytest.mark.parametrize("view", ["overview", "walk", "explain", "long_tail", "compare", "cases", "present"])
def test_every_view_opens(token: str, view: str) -> None:
    """Calm; Explain says what the pretrained model ranks."""
    app = calm_view(view, source=token)
    if view == "explain":
        assert app.title[0].value.startswith("Pretrained RECAP ranks")
    if view == "overview":
        assert "RECAP, pretrained finds" in texts(app) or "RECAP, pretrained" in texts(app)


def test_curves_name_the_cities(token: str) -> None:
    """The model's page says where its curves were learned."""
    app = calm_view("explain", source=token, half="model")
    assert "learned in New York (Foursquare), " in texts(app).replace("\\", "")
