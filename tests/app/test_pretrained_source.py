"""Models that come along: `pretrained` for every dataset, and the demo city's checkpoints and published records."""

from dataclasses import replace
from pathlib import Path

import pytest

from analysis.records.imported import find_predictions
from app.settings import AppSettings, variable
from app.sources import TOKEN_LENGTH, find_sources
from recap.data.dataset import Dataset
from recap.pretrained.curves_file import PretrainedCurves
from tests.app.app_driver import calm_view, follow, point_app_at, texts
from tests.learn_worlds import DEMO


@pytest.fixture
def token(monkeypatch: pytest.MonkeyPatch, city_folder: Path) -> str:
    point_app_at(monkeypatch, city_folder, None)
    return PretrainedCurves.packaged().key(Dataset.load(city_folder).hash)[:TOKEN_LENGTH]


def test_every_dataset_lists_it(token: str) -> None:
    """Before no model at all, with the same token as the hash in its links."""
    sources = find_sources(AppSettings.from_environment())
    listed = [source for source in sources if source.model == "pretrained"]
    assert {source.dataset_hash for source in listed} == {source.dataset_hash for source in sources}
    mine, timed = (source for source in listed if source.dataset_hash == sources[0].dataset_hash)
    assert mine.token == token and timed.given_time and sources[1] == timed
    assert mine.label.endswith("· RECAP, pretrained") and mine.has_parts and mine.checkpoint_folder is None
    assert sources[0] == mine and "no model yet" in sources[2].label


def test_named_on_the_command_line_it_opens_first(token: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The name wins over a folder of that name, also where no dataset is named; a path is a folder."""
    for data in (AppSettings.from_environment().data, None):
        settings = replace(AppSettings.from_environment(), data=data, pretrained=True)
        for name, value in settings.to_environment().items():
            monkeypatch.setenv(name, value)
        assert AppSettings.from_environment().pretrained
        sources = find_sources(AppSettings.from_environment())
        assert not sources or sources[0].model == "pretrained"
    folder = replace(AppSettings(), checkpoint=Path("./pretrained")).to_environment()[variable("checkpoint")]
    assert folder == str(Path("pretrained").absolute())


@pytest.mark.parametrize("view", ["overview", "walk", "explain", "long_tail", "compare", "cases", "present"])
def test_every_view_opens(token: str, view: str) -> None:
    """Calm; Explain says what the pretrained model ranks."""
    app = calm_view(view, source=token)
    if view == "explain":
        assert app.title[0].value.startswith("Pretrained RECAP ranks")
    if view == "overview":
        assert app.title[0].value.count("retrained RECAP finds") == 1


def test_curves_name_the_cities(token: str) -> None:
    """The model's page says where its curves were learned."""
    app = calm_view("explain", source=token, half="model")
    assert "learned in New York (Foursquare), " in texts(app).replace("\\", "")


def test_published_models_of_the_demo_city(home: Path, demo_city: None) -> None:
    """RECAP against LoTNext in Compare (Figures 1 and 7 among its charts) and in Long tail, a case of it in Walk."""
    shipped = {item.name: item.key for item in find_predictions(Dataset.load(DEMO / "dataset").hash)}
    name = "LoTNext, trained here"
    key = shipped[name]
    compared = calm_view("compare", a=key)
    assert "LoTNext" in compared.title[0].value and "imported" not in compared.title[0].value
    long_tail = calm_view("long_tail", reference=key)
    assert long_tail.selectbox(key="pick_reference").value == key and name in texts(long_tail)
    long_tail.selectbox(key="pick_reference").set_value("nearest").run()
    follow(long_tail, "compare", {})
    assert long_tail.selectbox(key="pick_a").value == "nearest", "Compare opens on the pair chosen last"
    walk = calm_view("walk", case="3", predictions=key)
    assert "LoTNext, as published: trained on this city" in texts(walk)
