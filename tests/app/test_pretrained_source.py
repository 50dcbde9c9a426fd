"""Models that come along: `pretrained` for every dataset; the demo city's, with and without the time, and records."""

from dataclasses import replace
from pathlib import Path

import pytest

from analysis.records.imported import find_predictions
from app.cached.comparisons import default_pair, same_question, side_options
from app.cached.tables import other_models, rankers
from app.settings import AppSettings, variable
from app.sources import TOKEN_LENGTH, Source, find_sources, other_question
from recap.baselines import COUNTING_BASELINES
from recap.checkpoint import Checkpoint
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


@pytest.fixture
def timed(demo_city: None) -> Source:
    sources = find_sources(AppSettings.from_environment())
    assert not sources[0].given_time and sources[1].given_time, "the question without the time stays the first"
    assert other_question(sources, sources[0]) == sources[1] and other_question(sources, sources[1]) == sources[0]
    return sources[1]


def test_a_model_with_the_time_given_has_its_own_hash_and_stands_next_to_what_knows_the_time(timed: Source) -> None:
    """And in Compare next to the same model without it, to show what knowing the time is worth."""
    assert timed.checkpoint_hash == Checkpoint.load(DEMO / "checkpoint").given_time.hash
    assert timed.label.endswith(" · RECAP, time given")
    shown = rankers(timed, "hr20")
    assert not set(COUNTING_BASELINES) & set(shown) and all(ranker.reads_time for ranker in shown.values())
    assert list(other_models(timed)) == ["Visit count, time given"]
    options = side_options(timed)
    (other,) = [option for option in options.values() if not option.reads_time]
    a, own = (options[token] for token in default_pair(timed))
    assert same_question(a, own, timed) == (a, own)
    assert same_question(other, a, timed) == (other, own) and same_question(a, other, timed) == (own, other)


@pytest.mark.parametrize("view", ["overview", "walk", "explain", "long_tail", "compare", "cases", "present"])
def test_every_view_says_that_the_time_is_given(timed: Source, view: str) -> None:
    app = calm_view(view, source=timed.token)
    said = [
        texts(app),
        *(metric.label for metric in app.metric),
        *(box.format_func(box.value) for box in app.selectbox),
    ]
    assert any("time given" in text for text in said), view
    assert "Counting past visits alone" not in texts(app)
