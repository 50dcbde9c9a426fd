"""Every link names its source and the hashes of its files; a page says which of them are not what is open.

A link that cannot be read, or names what is not here, gets a sentence, and the view is there all the same.
"""

from datetime import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import streamlit
from hypothesis import assume, given
from hypothesis import strategies as st

from analysis.link_hashes import compare_hashes, link_hashes
from analysis.workspace import Workspace
from app import state
from app.settings import AppSettings, variable
from app.sources import Source, find_sources, what_is_new
from recap import columns as c
from recap.data.dataset import Dataset, read_names
from recap.data.preparation import prepare_dataset
from recap.storage.artifacts import CHECKPOINT_MANIFEST
from recap.storage.atomic import replace_json
from recap.storage.json_text import read_object
from recap.vocabulary import place_keys
from tests.app.app_driver import (
    address,
    calm_view,
    check_calm,
    click,
    follow,
    open_view,
    point_app_at,
    table_with,
    texts,
)
from tests.checkins import LENIENT, raw_table, small_dataset
from tests.cli_runner import recap_here
from tests.learn_worlds import DEMO
from tests.shell import assert_refused
from tests.untrained import write_untrained_checkpoint
from tests.worlds import habit_rows

NOBODYS = "0123456789ab"


def hashes(source: Source) -> dict[str, str]:
    return {"source": source.token, **link_hashes(source.dataset_hash, source.checkpoint_hash)}


@pytest.mark.parametrize("view", ["overview", "walk"])
def test_the_address_names_source_and_hashes(source: Source, view: str) -> None:
    """Also where there is one source only; and such an address says nothing of differences."""
    app = calm_view(view)
    assert address(app, "source", "dataset", "checkpoint") == hashes(source)
    again = open_view(view, case="3", **hashes(source))
    assert not again.warning and "does not say which" not in texts(again)
    if view == "walk":  # links inside the app carry them too
        click(app, "explain")
        assert address(app, "source", "dataset", "checkpoint") == hashes(source)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        (("checkpoint",), "This link was made with checkpoint 0123456789ab, but"),
        (("dataset", "checkpoint"), "and with checkpoint 0123456789ab, but"),
    ],
)
def test_the_page_says_which_of_them_differs(source: Source, changed: tuple[str, ...], said: str) -> None:
    """One sentence names what differs and only that; it stays while the visitor looks around."""
    link = hashes(source) | dict.fromkeys(changed, NOBODYS)
    app = calm_view("walk", case="3", **link)
    (warning,) = app.warning
    assert said in warning.value and "Its numbers differ" in warning.value
    assert all((f"{name} {NOBODYS}" in warning.value) == (name in changed) for name in ("dataset", "checkpoint"))
    app.button(key="next").click().run()
    assert said in app.warning[0].value or said in texts(app)


@pytest.mark.parametrize("given", [True, False])
def test_a_dataset_prepared_again_names_the_checkpoint_it_lost(
    given: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, city_checkpoint: Path, home: Path
) -> None:
    """One line, the command's too, for a checkpoint that was given or is the user's own; none for other datasets."""
    again, other = tmp_path / "again", tmp_path / "other"
    small_dataset([(user, f"new {poi}", hour) for user, poi, hour in habit_rows(num_users=5)]).save(again)
    elsewhere = raw_table([(user, f"other {poi}", hour) for user, poi, hour in habit_rows(num_users=6)])
    prepare_dataset(elsewhere, LENIENT, name="other", source_format="test").save(other)
    own = tmp_path / "home" / "checkpoints" / "mine"
    own.parent.mkdir(parents=True)
    own.symlink_to(city_checkpoint)
    point_app_at(monkeypatch, again, city_checkpoint if given else None)
    line = "was trained on dataset 'small'"
    assert_refused(recap_here("evaluate", city_checkpoint, "--data", again), line, "which was prepared again since")
    app = calm_view("walk")
    (said,) = (warning.value.replace("\\", "") for warning in app.warning)
    assert line in said and "which was prepared again since" in said and "train on this dataset" in said
    point_app_at(monkeypatch, other, city_checkpoint if given else None)
    assert [("not on" in warning.value) for warning in open_view("walk").warning] == [True] * given


def test_a_checkpoint_is_offered_for_later_checkins(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, city_folder: Path, city_checkpoint: Path, home: Path
) -> None:
    """The app lists it with both datasets, each with its own token, and the page says what is new to it."""
    later = tmp_path / "home" / "datasets" / "later"
    later.parent.mkdir(parents=True)
    small_dataset([*habit_rows(), ("adam", "zoo", 5.0), ("adam", "new", 9.0)]).save(later)
    point_app_at(monkeypatch, city_folder, city_checkpoint)
    found = find_sources(AppSettings.from_environment())
    own, other = (source for source in found if source.checkpoint_folder is not None)  # not `pretrained`
    assert own.checkpoint_hash == other.checkpoint_hash and own.token != other.token and not own.is_elsewhere
    assert ", trained on " in other.label and ", trained on " not in own.label
    assert own.dataset_folder == city_folder and other.dataset_folder == later
    app = calm_view("walk", source=other.token)
    assert "1 of 9 users, 1 of 18 places" in texts(app) and not app.warning


def test_every_folder_is_read_once_and_not_for_every_pair(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, home: Path
) -> None:
    """Five datasets of one city, whose checkpoints open with each other's, and a sixth elsewhere with the same ids; a
    published model needs the same users and places, and no file is read again to see that it lacks one.
    """
    read: list[Path] = []

    def watched(folder: Path) -> Dataset:
        read.append(folder)
        return read_names(folder)

    monkeypatch.setattr("app.sources.read_names", watched)
    point_app_at(monkeypatch, None, None)
    for number in range(6):
        raw = raw_table([*habit_rows(num_users=5), ("eve", f"new {number}", 9.0)])
        raw[c.LATITUDE] -= 60.0 * (number == 5)
        dataset = prepare_dataset(raw, LENIENT, name="small", source_format="test")
        dataset.save(tmp_path / "home" / "datasets" / f"{number}")
        write_untrained_checkpoint(dataset, tmp_path / "home" / "checkpoints" / f"{number}")
        manifest = tmp_path / "home" / "checkpoints" / f"{number}" / CHECKPOINT_MANIFEST
        if number == 4:
            replace_json(manifest, read_object(manifest) | {"model": "lotnext"})
    for _ in range(2):
        found = [source for source in find_sources(AppSettings.from_environment()) if source.checkpoint_folder]
        elsewhere = [source for source in found if source.is_elsewhere]
        assert len(found) == 4 * 5 + 2 and len(elsewhere) == 4 * 4
    assert len(read) == 6
    assert "1 of 18 places" in what_is_new(elsewhere[0])


@given(st.floats(-89, 89), st.floats(-180, 180), st.floats(0, 360))
def test_a_place_within_a_kilometre_has_the_same_key(latitude: float, longitude: float, bearing: float) -> None:
    """At any latitude up to 84 degrees, also over the date line; another id has another key."""
    north, east = np.cos(np.radians(bearing)), np.sin(np.radians(bearing))
    near = (latitude + 0.0089 * north, longitude + 0.0089 * east / np.cos(np.radians(latitude)))
    assume(abs(near[0]) < 84 and abs(latitude) < 84)
    one, other = (
        pd.DataFrame({c.POI_ID: ["zoo"], c.LATITUDE: [at[0]], c.LONGITUDE: [at[1]]})
        for at in ((latitude, longitude), near)
    )
    assert len(np.intersect1d(place_keys(one), place_keys(other, around=True))) == 1
    assert not np.intersect1d(place_keys(one), place_keys(other.assign(poi_id="park"), around=True)).size


def test_a_link_that_says_nothing_is_called_so(source: Source) -> None:
    """An earlier link opens its case, and the page says that nobody knows of what; the first page says nothing."""
    app = calm_view("explain", case="3")
    assert not app.warning and app.selectbox(key="explained_case").value == 3
    assert "does not say which dataset and checkpoint it was made with" in texts(app)
    assert source.label in texts(app).replace("\\", "")
    assert "does not say which" not in texts(open_view("explain"))


def test_a_link_opens_its_model_among_several(monkeypatch: pytest.MonkeyPatch) -> None:
    """By the checkpoint's hash alone, and by the token of earlier links."""
    point_app_at(monkeypatch, None, None, bundles=DEMO.parent)
    first, second = find_sources(AppSettings.from_environment())[:2]
    assert first.checkpoint_hash and second.checkpoint_hash
    for link in ({"checkpoint": second.checkpoint_hash[:12]}, {"source": second.token}, hashes(second)):
        app = calm_view("walk", case="3", **link)
        assert app.query_params["source"] in (second.token, [second.token]) and not app.warning
    other = open_view("walk", case="3", checkpoint=NOBODYS, dataset=second.dataset_hash[:12])
    assert "checkpoint 0123456789ab" in other.warning[0].value and "dataset" not in other.warning[0].value.split(".")[0]


def test_comparing_hashes() -> None:
    """Beginnings fit; less than six digits fit nothing; what is not named is unknown, not equal."""
    whole = "abcdef0123456789"
    assert compare_hashes(link_hashes(whole, whole), whole, whole) == ((), "")
    result = compare_hashes({"dataset": "abcdef"}, whole, whole)
    assert result == ((), "this link does not say which checkpoint it was made with")
    assert compare_hashes({"dataset": "abcde"}, whole, None).differing == ("dataset",)
    assert compare_hashes({"checkpoint": whole}, whole, None).sentence.endswith("but no checkpoint is open")
    assert compare_hashes({"dataset": "<b>x</b>"}, whole, None).sentence.startswith(
        "this link was made with dataset bxb, but"
    )


def test_the_chosen_place_is_in_the_link(source: Source) -> None:
    """A link with a place tells that place's score in parts; of another case it is forgotten; a bad one is none."""
    plain = open_view("walk", case="3", **hashes(source))
    shown = table_with(plain, "value")
    listed = [str(name).removeprefix("◎ ") for name in shown["name"]]
    opened = Workspace.open(source.dataset_folder)
    place = opened.labels.index(listed[4])
    app = calm_view("walk", case="3", place=str(place), **hashes(source))
    assert f"{listed[4]}: " in texts(app).replace("\\", "") and app.query_params["place"] == str(place)
    button = "next" if not app.button(key="next").disabled else "back"
    app.button(key=button).click().run()
    assert "place" not in app.query_params
    for bad in ("-1", "99999", "x"):
        calm_view("walk", case="3", place=bad, **hashes(source))


def test_a_key_pressed_while_the_page_is_drawn_counts(source: Source) -> None:
    """Two steps in a row, the second sent with the first one's old address, are two steps."""
    opened = Workspace.open(source.dataset_folder)
    runs = opened.cases.groupby("trajectory")["case"].apply(list)
    first, second, third = next(cases for cases in runs if len(cases) >= 3)[:3]
    app = open_view("walk", case=str(first))
    app.button(key="next").click().run()
    assert app.query_params["case"] == str(second)
    app.query_params["case"] = str(first)
    app.button(key="next").click().run()
    assert app.query_params["case"] == str(third)


def test_back_and_forward_bring_what_was_shown(source: Source) -> None:
    """Everything as it was, also what the address does not name; a button's link changes only what it names."""
    first = {**open_view("walk", case="1", k="5").query_params}
    app = open_view("walk", case="2", truth="false", show="Never seen", metric="MRR")
    app.toggle(key="paths").set_value(False).run()
    second = {**app.query_params}
    click(app, "explain")
    assert not app.toggle(key="truth").value and address(app) == {"case": "2"}
    for fields, case, is_default in ((first, "1", True), (second, "2", False), (first, "1", True)):
        follow(app, "walk", fields)
        assert app.selectbox(key="k").value == (5 if is_default else 20) and address(app)["case"] == case
        assert app.toggle(key="truth").value == app.toggle(key="paths").value == is_default
        assert app.session_state["show"] == ([] if is_default else ["unseen"])
        assert {**app.query_params} == fields
        app.switch_page("views/explain.py").run()


def test_a_click_that_comes_late_moves_nothing_else(source: Source) -> None:
    """The button, pressed once more, counts; what a click brings of the page before does not; a new choice does."""
    app = open_view("walk", case="2")
    app.button(key="back").click().run()
    assert app.query_params["case"] in ("1", ["1"])
    app.query_params["case"] = "2"
    app.button(key="back").click()
    app.select_slider(key="step").set_value(2)
    app.number_input(key="typed_case").set_value(2)
    check_calm(app.toggle(key="paths").set_value(False).run())
    assert app.session_state["case"] == 0 and app.select_slider(key="step").value == 0
    assert app.query_params["case"] in ("0", ["0"])
    assert not app.toggle(key="paths").value
    app.select_slider(key="step").set_value(2).run()
    assert app.session_state["case"] == 2 and app.query_params["case"] in ("2", ["2"])


def test_an_edit_undone_is_not_made_again_by_a_late_click(source: Source) -> None:
    """The clock's slider still shows the edit when the click after Undo is sent."""
    app = open_view("explain", case="3")
    before = app.slider(key="edit_time").value
    assert isinstance(before, time)
    after = before.replace(hour=(before.hour + 5) % 24)
    app.slider(key="edit_time").set_value(after).run()
    edits = app.query_params["edits"]
    next(button for button in app.button if button.label == "Undo").click().run()
    assert "edits" not in app.query_params and app.slider(key="edit_time").value == before
    app.query_params["edits"] = edits
    check_calm(app.slider(key="edit_time").set_value(after).run())
    assert "edits" not in app.query_params and app.slider(key="edit_time").value == before


def test_a_filter_counts_though_a_click_ends_its_run(source: Source, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run that is ended before it has moved to a case that passes leaves that to the next one."""
    app = open_view("walk", case="2")
    ended: list[int] = []
    choose = state.set_case

    def end_once(case: int) -> None:
        if case != app.session_state["case"] and not ended:
            ended.append(case)
            streamlit.rerun()
        choose(case)

    monkeypatch.setattr(state, "set_case", end_once)
    check_calm(app.button_group(key="show").set_value(["unseen"]).run())
    assert ended == [app.session_state["case"]] != [2] and "does not pass the filters" not in texts(app)


def test_own_users_have_their_own_ids_on_this_computer(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """In Walk, the search and a file as recorded; numbers where others can open the app, and in a masked file."""
    dataset = prepare_dataset(raw_table(habit_rows()), LENIENT, name="mine", source_format="csv")
    dataset.save(tmp_path / "mine")
    point_app_at(monkeypatch, tmp_path / "mine", None)
    user = int(Workspace.of(dataset).cases["user"].iloc[0])
    own = str(dataset.users["user_id"].iloc[user])
    box = open_view("walk").selectbox(key="user")
    assert f"User {own}" in box.options
    shown = calm_view("cases", search=own)
    assert f"User {own}" in texts(shown)
    monkeypatch.setenv(variable("address"), "192.0.2.1")
    assert f"User {own}" not in open_view("walk").selectbox(key="user").options


GONE = "Mon 1 Jan, 99 stops"


@pytest.mark.parametrize(
    ("view", "key"),
    [
        ("walk", c.USER),
        ("walk", c.TRAJECTORY),
        ("walk", "picked_source"),
        ("compare", "pick_a"),
        ("long_tail", "pick_model"),
    ],
)
def test_a_label_that_is_no_longer_offered(source: Source, view: str, key: str) -> None:
    app = open_view(view)
    before, address, box = app.selectbox(key=key).value, dict(app.query_params), app.selectbox(key=key)
    box.options.extend((GONE, "earlier choice"))
    app = check_calm(box.set_value(GONE).run())
    assert app.selectbox(key=key).value == before and dict(app.query_params) == address


LINKS: tuple[tuple[str, dict[str, str], str], ...] = (
    *(("walk", {"case": case}, "There is no case") for case in ("99999999", "<script>", "²")),
    *(("walk", {"cases": cases}, "cannot be read") for cases in ("step:x:y", f"hits:markov:{NOBODYS}:5:both")),
    ("walk", {"predictions": "imported-000000000000"}, "are not here"),
    ("overview", {"source": NOBODYS}, "another model or dataset"),
    ("long_tail", {"model": "<b>none</b>"}, "link's model is not here"),
    ("compare", {"a": NOBODYS}, "link's model A is"),
    ("compare", {"open": "99999"}, "link's case is no"),
    *(("cases", {name: "nobody"}, " link") for name in ("list", "collection")),
    ("explain", {"case": "3", "edits": "edge:1-2:-1"}, "cannot be negative"),
    ("explain", {"case": "3", "edits": "remove:9999"}, "there is no visit 9999"),
    ("explain", {"case": "3", "edits": "nonsense"}, "unknown edit"),
    ("explain", {"case": "3", "against": "99999"}, "not in this dataset"),
    ("explain", {"case": "3", "about": "-1"}, "first place is not in this dataset"),
    ("explain", {"case": "99999"}, "There is no case"),
    ("explain", {"case": "3", "source": NOBODYS}, "made with another model or dataset"),
    *(
        ("explain", {"user": "2", "row": row}, "not one of its user's")
        for row in ("0", "-1", "x", "99999999", "1" * 30)
    ),
    ("explain", {"user": "2", "stops": "nonsense"}, "not one of its user's"),
    *(("next", {"user": "5"} | more, "do not fit") for more in ({"user": "999"}, {"row": "0"}, {"stops": "99999.1"})),
    ("next", {"user": "x", "row": "-1"}, "do not fit"),
    ("next", {"part": "everyone", "without": "x.99999"}, "not in this data, so all are open"),
)


@pytest.mark.parametrize(("view", "params", "said"), LINKS)
def test_a_bad_link_gets_a_sentence(source: Source, view: str, params: dict[str, str], said: str) -> None:
    """It stays when the page is drawn again, as for a phone. No markup; without such a case, the one without a link."""
    app = check_calm(calm_view(view, **params).run())
    assert said in " ".join(warning.value for warning in app.warning).replace("\\", "") and app.title[0].value
    assert "<script>" not in texts(app) and "<b>" not in texts(app)
    if view == "walk" and "case" in params:
        assert app.session_state["case"] == open_view("walk").session_state["case"]
    assert "predictions" not in app.query_params
    assert "row" not in params or view == "next" or set(app.query_params).isdisjoint({"user", "row", "stops"})
