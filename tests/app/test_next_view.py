"""Next: one user, everyone and Try it say what the library predicts, and the link says all of it."""

import io
import json
from datetime import timedelta
from pathlib import Path

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from analysis.trajectories.everyone import last_day, predict_everyone
from analysis.trajectories.itinerary import Itinerary, rows_of_user, usual_gap
from analysis.trajectories.next_place import predict_next
from analysis.workspace import Workspace
from app.cached.next_places import as_recorded
from app.components.next.words import headline
from app.components.toolbar import exact_file
from app.settings import AppSettings
from app.sources import find_sources
from recap import columns as c
from tests.app.app_driver import calm_view, check_calm, click, open_view, press, texts, without_model


@pytest.fixture
def model(city: Workspace, city_folder: Path, city_checkpoint: Path) -> Workspace:
    """As the app opens it on this computer."""
    return Workspace.open(city_folder, city_checkpoint, shows_ids=True)


def at_last(opened: Workspace, user: int) -> Itinerary:
    return Itinerary(user, rows_of_user(opened, user)[-1])


def param(app: AppTest, name: str) -> str | None:
    value = app.query_params.get(name)
    return value[0] if isinstance(value, list) else value


def test_one_user(model: Workspace) -> None:
    """Headline, list and map of the user's last check-in; the address gets number and row."""
    app = calm_view("next", user="5")
    asked = at_last(model, 5)
    found = predict_next(model, asked)
    best = found.listed.iloc[0]
    assert app.title[0].value == headline(
        model.user_name(5), best["name"], best["probability"], new=False, changed=False
    )
    assert f"first {found.held_by} places" in texts(app) and "not come true or false yet" in texts(app)
    shown = app.dataframe[0].value
    assert shown["value"].tolist() == pytest.approx((100 * found.listed["probability"]).tolist(), abs=1e-9)
    assert json.loads(app.dataframe[0].proto.columns)["value"]["type_config"]["max_value"] == 100
    assert len(shown) == 10 and shown["reason"].notna().all()
    assert (param(app, "user"), param(app, "row"), param(app, "stops")) == ("5", str(asked.row), None)
    assert len(app.get("deck_gl_json_chart")) == 1


def test_a_moment_in_the_past_shows_what_happened_when_asked(model: Workspace) -> None:
    """Before, neither the list nor the page names the true place as such."""
    case = model.cases.iloc[3]
    asked = {"user": str(case[c.USER]), "row": str(case[c.ROW])}
    app = calm_view("next", **asked)
    assert "The user went to" not in texts(app) and not app.dataframe[0].value["name"].str.contains("◎").any()
    check_calm(app.toggle(key="happened").set_value(True).run())
    assert f"The user went to :orange[{model.labels[int(case[c.TARGET])]}]" in texts(app)
    assert app.dataframe[0].value["name"].str.contains("◎").sum() == 1


def test_go_there_adds_a_stop(model: Workspace) -> None:
    """After the user's usual gap, in the link too; a new session opens the same, and Start again undoes it."""
    app = open_view("next", user="5")
    asked = at_last(model, 5)
    best = int(predict_next(model, asked).listed[c.POI].iloc[0])
    click(app, "go-there")
    changed = asked.plus(best, usual_gap(model, asked))
    assert param(app, "stops") == changed.text
    said = app.title[0].value
    assert said.startswith(model.user_name(5)) or said.startswith("No place")
    other = calm_view("next", user="5", row=str(asked.row), stops=changed.text)
    assert other.title[0].value == said
    assert other.button(key="next-explain").disabled
    app.button(key="stop-added-1-remove").click().run()
    assert param(app, "stops") is None
    other.button(key="next-reset").click().run()
    assert param(other, "stops") is None and param(other, "row") == str(asked.row)


def test_a_stop_gets_another_time(model: Workspace) -> None:
    """The chip's clock moves it by minutes."""
    app = open_view("next", user="5")
    clock = app.time_input(key="stop-known-0-time")
    assert clock.value is not None
    later = clock.value.replace(minute=clock.value.minute + (5 if clock.value.minute < 55 else -5))
    clock.set_value(later).run()
    check_calm(app)
    assert param(app, "stops") in ("m0.5", "m0.-5")


def test_only_new_places(model: Workspace) -> None:
    """The headline says so, the list holds none that the user knows."""
    app = calm_view("next", user="5", new="true")
    found = predict_next(model, at_last(model, 5), only_new=True)
    assert not found.listed["revisit"].any()
    assert found.listed["name"].iloc[0] in app.title[0].value
    assert not app.dataframe[0].value["name"].str.contains("●").any()


def test_explain_opens_at_this_moment(model: Workspace) -> None:
    """With the user's number and row."""
    app = open_view("next", user="5")
    click(app, "next-explain")
    assert predict_next(model, at_last(model, 5)).listed["name"].iloc[0] in app.title[0].value
    assert param(app, "row") == str(at_last(model, 5).row)


@pytest.mark.parametrize(
    "params",
    [{"user": "999"}, {"user": "5", "row": "0"}, {"user": "x", "row": "-1"}, {"user": "5", "stops": "99999.1"}],
)
def test_a_bad_link_says_so(model: Workspace, params: dict[str, str]) -> None:
    app = calm_view("next", **params)
    assert app.warning and "next" in app.title[0].value


def test_try_it(city_folder: Path, counting: None) -> None:
    """Without a stop an invitation; each place that is added is a stop half an hour later."""
    app = calm_view("next", part="try", source=without_model(city_folder))
    assert app.title[0].value == "Click a place on the map to begin" and not app.dataframe
    opened = Workspace.open(city_folder).with_model("count_plus_markov")
    pois = []
    for _ in range(2):
        pois.append(opened.labels.index(app.selectbox(key="add-stop").options[1]))
        check_calm(app.selectbox(key="add-stop").set_value(pois[-1]).run())
    first, second = pois
    assert param(app, "stops") == f"{first}.0,{second}.30" and param(app, "user") is None
    found = predict_next(opened, Itinerary().plus(first, 0).plus(second, 30))
    assert found.listed["name"].iloc[0] in app.title[0].value and "A new user" in app.title[0].value
    assert app.dataframe[0].value["value"].tolist() == pytest.approx(found.listed[c.SCORE].tolist())


def test_everyone(model: Workspace) -> None:
    """Each user's first choice, and the places with most expected visits."""
    app = calm_view("next", part="everyone")
    found = predict_everyone(model)
    best = found.places.iloc[0]
    assert f"{best['name']}]: {best['expected']:.0f} of {len(found.users)}" in app.title[0].value
    shown = app.dataframe[0].value
    assert shown["first"].tolist() == [model.labels[poi] for poi in found.users["first"]]
    assert shown["probability"].tolist() == pytest.approx((100 * found.users["probability"]).tolist())
    median = 5 * int(20 * found.users["probability"].median())
    check_calm(app.slider(key="everyone-least").set_value(median).run())
    least = 100 * found.users["probability"] >= median
    assert app.dataframe[0].value["user"].tolist() == [model.user_name(user) for user in found.users.loc[least, c.USER]]


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
    source = next(found for found in find_sources(AppSettings.from_environment()) if found.has_parts)
    app = press(open_view("next", part="everyone"), "everyone-data")
    check_calm(app)
    assert "at least 5 people" in texts(app) and "whereabouts" not in texts(app)
    check_calm(app.toggle(key="everyone-exact").set_value(True).run())
    assert "predicted whereabouts" in texts(app)
    rows = pd.read_csv(io.BytesIO(exact_file(lambda: pd.concat(as_recorded(source, 0)))))
    assert set(rows["privacy"]) == {"exact: as recorded"} and {"user_id", "rank", "probability"} <= set(rows)


def test_the_map_offers_every_place(model: Workspace) -> None:
    """Each as a dot with its name, which a click makes a stop."""
    deck = json.loads(open_view("next", user="5").get("deck_gl_json_chart")[0].proto.json)
    (dots,) = [layer["data"] for layer in deck["layers"] if layer["id"] == "places"]
    assert sorted(dot["poi"] for dot in dots) == list(range(model.dataset.num_pois))
    assert {dot["tip"] for dot in dots} == set(model.labels) and all(dot["r"] > 0 for dot in dots)
