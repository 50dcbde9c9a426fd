"""The view Present: screens by keys, a collection in its order, the limits last, and refusals in a sentence."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from analysis.cases.library import Library
from analysis.cases.saved_case import Collection, SavedCase
from analysis.explain.links import CaseLink
from app.cached import explanations
from app.settings import AppSettings
from app.sources import Source, find_sources
from tests.app.app_driver import check_calm, open_view, point_app_at, texts


@pytest.fixture
def source(monkeypatch: pytest.MonkeyPatch, city_folder: Path, city_checkpoint: Path, tmp_path: Path) -> Source:
    """The app on the small city, with an empty library of its own."""
    monkeypatch.setenv("RECAP_HOME", str(tmp_path))
    point_app_at(monkeypatch, city_folder, city_checkpoint)
    return find_sources(AppSettings.from_environment())[0]


def plain(text: str) -> str:
    return text.replace("\\", "")


def test_screens_follow_the_keys(source: Source) -> None:
    """Next walks through the four screens and the limits, Back returns; each says what the library tells."""
    story = explanations.story(source, 3)
    app = open_view("present", case="3")
    shown = [*story.screens.values()]
    for at, screen in enumerate(shown):
        check_calm(app)
        assert [metric.value for metric in app.metric] == [number.value for number in screen.numbers]
        assert app.button(key="present_back").disabled == (at == 0)
        app = app.button(key="present_next").click().run()
    check_calm(app)
    assert "cannot show" in app.title[0].value and app.button(key="present_next").disabled
    assert "Decide nothing about a person" in texts(app)
    app = app.button(key="present_back").click().run()
    assert app.query_params["step"] == "change"


def test_two_quick_presses_are_two_screens(source: Source) -> None:
    """The second is sent with the address and the marked step of the first screen, as the browser still shows them."""
    app = open_view("present", case="3")
    app = app.button(key="present_next").click().run()
    app.query_params["at"], app.query_params["step"] = "1", "where"
    app.button_group(key="present_step").set_value("where")
    app = app.button(key="present_next").click().run()
    check_calm(app)
    assert app.query_params["step"] == list(explanations.story(source, 3).screens)[2]
    app.query_params["at"], app.query_params["step"] = "1", "where"
    app = app.run()
    assert app.query_params["step"] == list(explanations.story(source, 3).screens)[2]
    again = open_view("present", case="3")
    assert again.query_params["step"] == "where"


def test_a_collection_in_its_order_with_its_edits(source: Source) -> None:
    """The second case of the collection is the one put first in time; its edit is what is changed."""
    library, names = Library.of_user(), []
    for case, edits in ((5, ""), (3, "weekday:sun")):
        link = CaseLink(checkpoint=source.checkpoint_hash or "", dataset=source.dataset_hash, case=case, edits=edits)
        names.append(library.add(SavedCase(link=link, title="x", saved=datetime.now(UTC))).name)
    made = Collection(title="Tuesday", cases=tuple(names[::-1]), changed=datetime.now(UTC))
    kept = library.add(made)
    app = open_view("present", collection=kept.name, step="change")
    check_calm(app)
    assert "On a Sunday" in plain(app.title[0].value)
    assert app.button(key="present_next").label == "Next case"
    app = app.button(key="present_next").click().run()
    assert (app.query_params["at"], app.query_params["step"]) == ("2", "where")
    check_calm(app)


def test_a_step_is_chosen_by_name(source: Source) -> None:
    """The address follows, so that a screen can be linked."""
    app = open_view("present", case="3", step="why")
    assert app.query_params["step"] == "why"
    titles = [plain(piece.text) for piece in explanations.story(source, 3).screens["why"].title]
    assert all(title.strip() in plain(app.title[0].value) for title in titles)


@pytest.mark.parametrize(
    "params",
    [{"collection": "x"}, {"saved": "x"}, {"recipe": "bliss"}, {"all": "1"}, {"case": "3", "edits": "hour:99"}],
)
def test_what_cannot_be_presented_says_so(source: Source, params: dict[str, str]) -> None:
    """One sentence and the way back; nothing crashes."""
    app = open_view("present", **params)
    assert not app.exception
    assert "Nothing to present" in app.title[0].value and app.button(key="present_end")


def test_a_baseline_is_not_presented(monkeypatch: pytest.MonkeyPatch, city_folder: Path) -> None:
    """It has nothing to take away."""
    point_app_at(monkeypatch, city_folder, None)
    app = open_view("present", case="3")
    check_calm(app)
    assert "No model" in app.title[0].value
