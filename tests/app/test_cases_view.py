"""The view Cases: recipes and their counts, notes, tags, collections and their order, search, what cannot be read."""

from datetime import UTC, datetime
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from analysis.cases.library import Library, Stored
from analysis.cases.saved_case import Collection
from analysis.cases.search import search_cases
from analysis.cases.words import LABELS, RecipeName
from analysis.workspace import Workspace
from app.cached import tables
from app.cached.tables import cases_of_any_model
from app.components.cases.card_grid import CardEntry
from app.components.cases.case_choice import Listed
from app.settings import AppSettings, variable
from app.sources import Source, find_sources
from recap import columns as c
from recap.machine.printable import markdown_text
from tests.app.app_driver import calm_view, check_calm, open_view, pills, point_app_at, texts, without_model
from tests.learn_worlds import DEMO


@pytest.fixture
def demo(source: Source, monkeypatch: pytest.MonkeyPatch) -> Source:
    """The app on the bundled city: the small one has fewer places than the list is long, so nothing is missed."""
    point_app_at(monkeypatch, None, None, read_only=False, bundles=DEMO.parent)
    return find_sources(AppSettings.from_environment())[0]


def field(app: AppTest, kind: str, start: str) -> object:
    """A widget whose key begins so."""
    return next(widget for widget in app.get(kind) if str(widget.key).startswith(start))


def lists(app: AppTest) -> list[str]:
    """The labels of the lists to choose from."""
    return [option.content for option in pills(app, "list_pills").proto.options]


def save(app: AppTest, note: str = "", tags: str = "") -> AppTest:
    """Save the chosen case with what is written about it."""
    field(app, "text_area", "note-").set_value(note)  # type: ignore[attr-defined]
    field(app, "text_input", "tags-").set_value(tags)  # type: ignore[attr-defined]
    check_calm(app.button(key="save_case").click().run())
    return app


def test_every_recipe_shows_its_count_and_its_cases(demo: Source) -> None:
    """A pill for each with the count of its headline; it opens on clear first choices that were missed, if any are."""
    app = calm_view("cases")
    recipes = tables.recipes(demo)
    assert lists(app) == [*(f"{LABELS[name]} {found.count:,}" for name, found in recipes.items()), "Saved 0"]
    assert app.query_params["list"] == "wrong"
    for name, found in list(recipes.items())[::4]:
        app = calm_view("cases", list=name)
        assert app.title[0].value == markdown_text(found.headline) and f"{found.count:,} of " in found.headline
        keys = [str(button.key) for button in app.button if str(button.key).startswith("choose-")]
        assert keys == [f"choose-{case}" for case in found.cases[:6]]


def test_search_finds_cases_nobody_saved(source: Source) -> None:
    """By number, user and place; the link carries it, and a pill ends it."""
    opened = Workspace.open(source.dataset_folder)
    app = calm_view("cases", search="3")
    assert any(button.key == "choose-3" for button in app.button)
    user = int(opened.cases[c.USER].iloc[0])
    app = app.text_input(key="search_cases").set_value(f"user {user}").run()
    assert f"{(opened.cases[c.USER] == user).sum():,} of" in app.title[0].value
    assert app.query_params["search"] == f"user {user}"
    place = opened.labels[int(opened.cases[c.TARGET].iloc[0])]
    app = app.text_input(key="search_cases").set_value(place.upper()).run()
    assert " 0 of" not in app.title[0].value and any(button.key == "choose-0" for button in app.button)
    check_calm(app.text_input(key="search_cases").set_value("nowhere at all").run())
    assert app.title[0].value.startswith("No case matches")
    app = pills(app, "list_pills").set_value("nothing").run()
    assert "and other models miss the same" in app.title[0].value and "search" not in app.query_params


def test_a_late_click_lists_nothing_of_an_earlier_choice(source: Source) -> None:
    """A pill that was pressed before the page had drawn the next list leaves that list alone."""
    app = open_view("cases", list="popular")
    app = pills(app, "list_pills").set_value("nothing").run()
    app.query_params["list"] = "popular"  # as the browser still shows it
    app = check_calm(pills(app, "list_pills").set_value("flipped").run())
    assert app.query_params["list"] == "nothing" and "and other models miss the same" in app.title[0].value
    app = app.text_input(key="search_cases").set_value("user 0").run()
    app.query_params.pop("search")
    app = pills(app, "list_pills").set_value("popular").run()
    assert app.query_params["search"] == "user 0" and "match" in app.title[0].value


def test_a_case_is_saved_found_and_changed(source: Source) -> None:
    """Note and tags go to disk, the search finds them, and a change writes over the version that was read."""
    app = save(open_view("cases", search="user 0"), "Ask the *room*", "start here, two hops")
    (stored,) = Library.of_user().read().cases.values()
    assert stored.value.link.case == 0
    assert (stored.value.note, stored.value.tags) == ("Ask the *room*", ("start here", "two hops"))
    assert (stored.value.link.dataset, stored.value.link.checkpoint) == (source.dataset_hash, source.checkpoint_hash)
    app = save(app, "Better", "start here")
    app = open_view("cases", list="saved")
    assert "1 saved case" in app.title[0].value
    assert app.text_area[0].value == "Better"
    app = app.text_input(key="search_cases").set_value("START").run()
    assert app.title[0].value.startswith("1 of") and "start here" in texts(app)


def test_a_second_window_is_warned(source: Source) -> None:
    """What another window wrote stays, and the page says so."""
    app = save(open_view("cases", search="user 0"), "first")
    (stored,) = Library.of_user().read().cases.values()
    field(app, "text_area", "note-").set_value("mine")  # type: ignore[attr-defined]
    Library.of_user().change(stored, stored.value.model_copy(update={"note": "theirs"}))
    app = app.button(key="save_case").click().run()
    assert "another window" in app.warning[0].value
    assert [entry.value.note for entry in Library.of_user().read().cases.values()] == ["theirs"]


def test_a_collection_is_made_ordered_and_taken_apart(source: Source) -> None:
    """Cases go into a collection, move, leave; the collection goes and the cases stay."""
    Library.of_user().add(Collection(title="Tuesday", changed=datetime.now(UTC)))
    found = search_cases(cases_of_any_model(source), "user 0")
    app = save(open_view("cases", search="user 0"))
    app = field(app, "selectbox", "add_to-").set_value("Tuesday").run()  # type: ignore[attr-defined]
    assert "In Tuesday" in texts(app) and [toast.value for toast in app.toast] == ["Added to Tuesday."]
    app = open_view("cases", search="user 0")
    app = app.button(key=f"choose-{found[1]}").click().run()
    app = save(app)
    app = check_calm(field(app, "selectbox", "add_to-").set_value("Tuesday").run())  # type: ignore[attr-defined]

    def order() -> list[int]:
        shelf = Library.of_user().read()
        (stored,) = shelf.collections.values()
        return [entry.value.link.case for entry in shelf.in_order(stored.value)]

    assert order() == [int(found[0]), int(found[1])]
    (collection,) = Library.of_user().read().collections
    app = calm_view("cases", collection=collection)
    assert "Tuesday" in app.title[0].value and "2 saved cases" in app.title[0].value
    assert texts(app).count("In Tuesday") == 3, "on both cards and next to them"
    (later,) = [button for button in app.button if str(button.key).startswith("later-") and not button.disabled]
    app = later.click().run()
    assert order() == [int(found[1]), int(found[0])]
    (first, _) = [button for button in app.button if str(button.key).startswith("leave-")]
    app = first.click().run()
    assert order() == [int(found[0])]
    check_calm(app.button(key="remove_collection").click().run())
    shelf = Library.of_user().read()
    assert not shelf.collections and len(shelf.cases) == 2


def test_a_collection_is_shared_whole_of_other_lists_the_first_ten() -> None:
    entries, tuesday = [CardEntry(case) for case in range(12)], Collection(title="Tuesday", changed=datetime.now(UTC))
    assert Listed("", "", "", entries, collection=Stored("tuesday", tuesday, "")).shared == entries
    assert Listed("", "", "", entries).shared == entries[:10]


def test_what_is_exported_is_what_is_saved(source: Source) -> None:
    """Also while a recipe is shown: never "Export 0" next to "Saved 1"; a file that cannot be read is named."""
    save(open_view("cases", search="user 0"))
    app = open_view("cases", list="popular")
    label = app.get("download_button")[0].proto.label
    assert label == "Export 1 saved case" and "Saved 1" in lists(app)
    (Library.of_user().folder / "broken.json").write_text("{")
    app = calm_view("cases", list="saved")
    assert "broken" in texts(app) and "1 saved case" in app.title[0].value


def test_a_read_only_app_only_shows(source: Source, monkeypatch: pytest.MonkeyPatch) -> None:
    """No button, and the server refuses where one is pressed all the same."""
    app = open_view("cases", search="user 0")
    monkeypatch.setenv(variable("read_only"), "1")
    shown = calm_view("cases", search="user 0")
    assert not [button for button in shown.button if button.key == "save_case"]
    app = app.button(key="save_case").click().run()
    assert not Library.of_user().read().cases
    assert "read" in texts(app)


def test_a_baseline_has_recipes_and_nothing_to_present(home: Path, city_folder: Path, counting: None) -> None:
    """What rests on ablations or probabilities says so in one line, and the way to Present is not there."""
    reasons: dict[RecipeName, str] = {"past_visits": "were not run", "wrong": "no probabilities"}
    for name, reason in reasons.items():
        app = calm_view("cases", list=name, source=without_model(city_folder))
        assert reason in texts(app) and f"{LABELS[name]} –" in [
            o.content for o in pills(app, "list_pills").proto.options
        ]
    assert not [button for button in app.button if button.key == "present"]


def test_the_docs_have_the_counts_of_the_demo_city(monkeypatch: pytest.MonkeyPatch) -> None:
    point_app_at(monkeypatch, None, None, bundles=DEMO.parent)
    counts = [
        option.content.rpartition(" ")[2] for option in pills(open_view("cases"), "list_pills").proto.options[:-1]
    ]
    listed = f"they find {', '.join(counts[:-1])} and {counts[-1]} cases"
    assert listed in (Path(__file__).parents[2] / "docs" / "cases.md").read_text(encoding="utf-8")
