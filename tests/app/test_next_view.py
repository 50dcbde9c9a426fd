"""Next: one user, everyone and Try it say what the library predicts, and the link says all of it."""

import io
import json
from datetime import timedelta
from pathlib import Path

import pandas as pd
import pytest

from analysis.explain.explain_case import explain_case
from analysis.trajectories.everyone import everyone_as_recorded, last_day, predict_everyone
from analysis.trajectories.predictions import CasePrediction, predict_case
from analysis.workspace import Workspace
from app.components.next.words import headline
from app.components.toolbar import exact_file
from recap import columns as c
from recap.history.moments import Moment, find_moment
from recap.history.one_user import median_gap
from recap.machine.printable import shortened
from tests.app.app_driver import address, calm_view, check_calm, click, fields, open_view, press, texts, without_model


@pytest.fixture
def last(model: Workspace) -> Moment:
    """User 5 at the last check-in."""
    return Moment(5, find_moment(model.dataset, 5).row)


def first(found: CasePrediction) -> str:
    return str(found.candidates["name"].iloc[0])


def test_one_user(model: Workspace, last: Moment) -> None:
    """Headline, list, map with a dot for every place, and address of the last check-in; then only new places."""
    app = calm_view("next", user="5")
    found = predict_case(model, last)
    assert app.title[0].value == headline(model.user_name(5), found, changed=False)
    assert f"first {found.held_by} places" in texts(app) and "not come true or false yet" in texts(app)
    shown = app.dataframe[0].value
    assert shown["value"].tolist() == pytest.approx((100 * found.candidates["probability"]).tolist(), abs=1e-9)
    assert json.loads(app.dataframe[0].proto.columns)["value"]["type_config"]["max_value"] == 100
    assert len(shown) == 10 and shown["reason"].notna().all()
    assert address(app) == fields(last)
    (deck,) = app.get("deck_gl_json_chart")
    (dots,) = [layer["data"] for layer in json.loads(deck.proto.json)["layers"] if layer["id"] == "places"]
    assert sorted(dot["poi"] for dot in dots) == list(range(model.dataset.num_pois))
    assert {dot["tip"] for dot in dots} == set(model.labels) and all(dot["r"] > 0 for dot in dots)
    app = check_calm(app.toggle(key="new").set_value(True).run())
    assert first(predict_case(model, last, only_new=True)) in app.title[0].value and "90 %" not in texts(app)
    assert not app.dataframe[0].value["name"].str.contains("●").any()


def test_a_moment_in_the_past_shows_what_happened_when_asked(model: Workspace) -> None:
    """Before, neither the list nor the page names the true place as such."""
    case = model.cases.iloc[3]
    app = calm_view("next", user="5")
    for key, name in (("next-user", c.USER), ("next-row", c.ROW)):
        check_calm(app.selectbox(key=key).set_value(int(case[name])).run())
    assert address(app) == {"user": str(case[c.USER]), "row": str(case[c.ROW])}
    assert "The user went to" not in texts(app) and not app.dataframe[0].value["name"].str.contains("◎").any()
    check_calm(app.toggle(key="happened").set_value(True).run())
    assert f"The user went to :orange[{model.labels[int(case[c.TARGET])]}]" in texts(app)
    assert app.dataframe[0].value["name"].str.contains("◎").sum() == 1


def test_go_there_adds_a_stop_and_explain_follows(model: Workspace, last: Moment) -> None:
    """After the user's usual gap, in the link, for Explain too; Start again undoes it, a chip's clock moves a stop."""
    app = open_view("next", user="5")
    found = predict_case(model, last, counts_now=True)
    best, held = int(found.candidates[c.POI].iloc[0]), press(app, "next-held").dataframe[-1].value
    assert found.held_by == len(held) > 10 and f"first {len(held)} places hold" in texts(app)
    click(app, "go-there")
    changed = last.plus(best, median_gap(model.checkins, last) or 0)
    assert address(app) == fields(changed)
    said = app.title[0].value
    other = calm_view("next", **fields(changed))
    assert other.title[0].value == said
    click(other, "next-explain")
    explained = explain_case(model.predictor, changed)
    assert address(other) == fields(changed) and explained.target_name in other.title[0].value
    assert "1st of" in other.title[0].value and explained.moment == changed
    app.button(key="stop-added-1-remove").click().run()
    assert address(app) == fields(last)
    app.button(key="go-there").click().run()
    app.button(key="next-reset").click().run()
    assert address(app) == fields(last)
    clock = app.time_input(key="stop-known-0-time")
    assert clock.value is not None
    by = 5 if clock.value.minute < 55 else -5
    check_calm(clock.set_value(clock.value.replace(minute=clock.value.minute + by)).run())
    assert address(app)["stops"] == f"m0.{by}"


def test_try_it(city_folder: Path, counting: None) -> None:
    """Without a stop an invitation; each place that is added is a stop half an hour later."""
    app = calm_view("next", part="try", source=without_model(city_folder))
    assert app.title[0].value == "Click a place on the map to begin" and not app.dataframe
    opened = Workspace.open(city_folder).with_model("count_plus_markov")
    names = app.selectbox(key="add-stop").options[1:3]
    for name in names:
        check_calm(app.selectbox(key="add-stop").set_value(name).run())
    asked = Moment().plus(opened.labels.index(names[0]), 0).plus(opened.labels.index(names[1]), 30)
    assert address(app) == fields(asked)
    found = predict_case(opened, asked)
    assert first(found) in app.title[0].value and "A new user" in app.title[0].value
    assert app.dataframe[0].value["value"].tolist() == pytest.approx(found.candidates[c.SCORE].tolist())


def test_everyone(model: Workspace) -> None:
    """Each user's first choice, and the places with most expected visits."""
    app = calm_view("next", part="everyone")
    found = predict_everyone(model)
    best = found.places.iloc[0]
    assert f"{best['name']}]: {best['expected']:.0f} of {len(found.users)}" in app.title[0].value
    shown = app.dataframe[0].value
    assert shown["first"].tolist() == [shortened(model.labels[poi], 21) for poi in found.users["first"]]
    assert shown["probability"].tolist() == pytest.approx((100 * found.users["probability"]).tolist())
    last = found.users[c.POI].iloc[0]
    check_calm(app.text_input(key="everyone-place").set_value(model.labels[last].upper()).run())
    fits = (found.users[[c.POI, "first"]] == last).any(axis=1)
    assert app.dataframe[0].value["user"].tolist() == [model.user_name(user) for user in found.users.loc[fits, c.USER]]
    assert 0 < fits.sum() < len(fits)


def test_everyone_in_the_past(model: Workspace) -> None:
    """Expected against counted, as of a day that the link counts back from the last."""
    app = calm_view("next", part="everyone", days="5")
    found = predict_everyone(model, last_day(model) - timedelta(days=5))
    expected, counted = found.calibration()
    assert f"{found.followed} of {len(found.users)} users checked in later" in texts(app)
    assert f"{expected:.0f} of these visits and got {counted}" in texts(app)
    assert app.date_input(key="as-of-day").value == last_day(model) - timedelta(days=5)


def test_files_hold_places_of_five_people_unless_as_recorded(model: Workspace) -> None:
    """By default no row is about a person; as recorded, the rows of `recap predict`, marked as exact."""
    app = press(open_view("next", part="everyone"), "everyone-data")
    assert "at least 5 people" in texts(app) and "whereabouts" not in texts(app)
    check_calm(app.toggle(key="everyone-exact").set_value(True).run())
    assert "predicted whereabouts" in texts(app)
    rows = pd.read_csv(io.BytesIO(exact_file(lambda: pd.concat(everyone_as_recorded(model)))))
    assert set(rows["privacy"]) == {"exact: as recorded"} and {"user_id", "rank", "probability"} <= set(rows)
