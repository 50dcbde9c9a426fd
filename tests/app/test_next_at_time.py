"""Next and Everyone at a given time."""

import itertools
import json
from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from typing import Any

import pytest

from analysis.formatting import day
from analysis.trajectories.everyone import Everyone, last_day, predict_everyone
from analysis.trajectories.trajectory import read_trajectory
from analysis.workspace import Workspace
from app.cached import explanations
from app.cached.maps import walk_image
from app.components.next import asked_time, words
from app.settings import AppSettings
from app.sources import find_sources
from recap.asking.prediction import ASSUMED
from recap.history.asked_times import link_time, local_text
from recap.machine.printable import markdown_text
from tests.app.app_driver import address, calm_view, check_calm, follow, pills, point_app_at, table_with, texts


@pytest.fixture
def token(demo_city: None) -> str:
    return find_sources(AppSettings.from_environment())[1].token


def test_one_user_at_a_time(token: str) -> None:
    """The clock begins where pauses usually end; a moved day is in the link and the headline; Go there takes it."""
    app = calm_view("next", source=token, user="407")
    begun = link_time(address(app)["at"])
    assert begun is not None and begun % 900 == 0 and "half of the time" in texts(app)
    assert app.title[0].value.startswith("On ") and "most likely be at" in app.title[0].value
    whenever = calm_view("next", user="407")
    name = whenever.title[0].value.partition(":blue[")[2].partition("]")[0]
    share = whenever.dataframe[0].value["value"].iloc[0]
    assert f"Whenever it comes, it would be {name} ({share:.0f} %)." in texts(app)
    later = local_text(begun - begun % 86400 + 86400 + 18 * 3600)
    app = calm_view("next", source=token, user="407", row=address(app)["row"], at=later)
    assert address(app)["at"] == later and " at 18:00 " in app.title[0].value
    app = check_calm(app.button(key="go-there").click().run())
    assert "stops" in address(app) and address(app)["at"] >= later


def test_after_the_last_check_in_explain_begins_as_next_does(token: str) -> None:
    """Without a time, or with one that is past; Walk ends with the last case."""
    asked = address(calm_view("next", source=token, user="407"))
    link = {name: asked[name] for name in ("user", "row")}
    app = calm_view("explain", source=token, **link)
    assert address(app) == asked and "not known yet" in app.title[0].value
    assert address(calm_view("explain", source=token, at="2001-01-01T00:00", **link))["at"] > "2024"
    assert address(calm_view("walk", source=token, **link)).keys() == {"case"}


@pytest.mark.parametrize("view", ["next", "next everyone", "explain", "walk"])
def test_a_model_that_does_not_read_the_time_says_so(view: str, token: str) -> None:
    """One line, and the page as without the time; none where the model reads it or none is named; "bliss" is none."""
    row = {"user": "407", "row": "49628"} if "everyone" not in view else {"part": "everyone"}
    app, plain = (calm_view(view.split()[0], **row, **at) for at in ({"at": "2024-11-04T18:00"}, {}))
    assert [line.value for line in app.warning] == ["The link's time is left out: this model does not read it."]
    assert not plain.warning and address(app) == address(plain) and app.title[0].value == plain.title[0].value
    for at, said in (("2024-11-04T18:00", []), ("bliss", ["The link's time cannot be read, so another one is shown."])):
        timed = calm_view(view.split()[0], source=token, at=at, **row)
        assert [line.value for line in timed.warning] == said


def test_files_say_the_time(token: str) -> None:
    """A row of the list, and the picture of Walk; masked unless exact."""
    source = find_sources(AppSettings.from_environment())[1]
    opened = explanations.ready(source)
    listed, walked = explanations.predict(source, opened.moment(5)), read_trajectory(opened, 5)
    given = opened.dataset.local_time.iloc[int(opened.cases["row"][5]) + 1]
    assert set(listed.candidates["time_given"]) == {given}
    silent = replace(listed, candidates=listed.candidates.drop(columns="time_given"))
    shown: dict[str, Any] = {"show_truth": True, "show_paths": False}
    manners = itertools.product((listed, silent), (True, False))
    drawn = [walk_image(source, walked, one, "light", **shown, exact=exact) for one, exact in manners]
    assert len(set(drawn)) == 4


def test_everyone_at_a_time(token: str) -> None:
    """Users there, never visits; users not seen for long are left out, with their number."""
    app = calm_view("next", source=token, part="everyone", at="2024-11-04T18:00")
    title = app.title[0].value
    assert "if all check in then" in title and "users there" in title and "visits" not in title
    assert "not seen in the last 30 days" in texts(app)


def test_the_headline_of_an_unlikely_time_and_of_a_later_week(token: str) -> None:
    """Below a tenth no place is said to be most likely; a week or more ahead the date is said; nothing came true."""
    begun = link_time(address(calm_view("next", source=token, user="407"))["at"])
    assert begun is not None
    later = begun - begun % 86400 + 20 * 86400 + 3 * 3600
    app = calm_view("next", source=token, user="407", at=local_text(later))
    title, best = app.title[0].value, app.dataframe[0].value["value"].iloc[0]
    when = f"{day(datetime.fromtimestamp(later, UTC))} at 03:00"
    assert (f"On {when} " in title) if best >= 10 else (f"No place is likely for User 407 on {when}: " in title)
    assert "not come true" not in texts(app) and "adds a stop at the time given" in texts(app)


def test_a_click_on_the_day_that_is_on_changes_nothing(token: str) -> None:
    app = calm_view("next", source=token, user="407")
    asked = address(app)["at"]
    check_calm(pills(app, "at-day").set_value(None).run())
    assert address(app)["at"] == asked


def test_places_of_few_users_stay_unnamed(city_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the table and on the map; counted are users whose next check-in is within half an hour."""
    point_app_at(monkeypatch, city_folder, None)
    opened = Workspace.open(city_folder).with_model("pretrained", given_time=True)
    when = datetime.combine(last_day(opened) - timedelta(days=5), time(18, 0))
    found = predict_everyone(opened, when.date() - timedelta(days=1), when)
    token = next(s.token for s in find_sources(AppSettings.from_environment()) if s.given_time)
    app = calm_view("next", source=token, part="everyone", days="6", at=f"{when:%Y-%m-%dT%H:%M}")
    best, named = found.places.iloc[0], found.places["people"] >= 5
    assert f"{best['name']}] leads: {best['expected']:.1f} users there" in app.title[0].value
    (deck,) = app.get("deck_gl_json_chart")
    layers = {layer["id"]: layer["data"] for layer in json.loads(deck.proto.json)["layers"] if "id" in layer}
    tips = {disc["tip"].partition(": ")[0] for disc in layers["expected"]}
    assert "A place of few users" in tips and tips - {"A place of few users"} <= set(found.places["name"][named])
    check_calm(pills(app, "everyone-places").set_value("table").run())
    table = table_with(app, "expected")
    assert table["name"][named].tolist() == found.places["name"][named].tolist() and not named.all()
    assert set(table["name"][~named]) == {"A place of few users"}
    assert table["expected"].tolist() == pytest.approx(found.places["expected"].tolist())


@pytest.mark.parametrize("at", [None, "2024-11-04T18:00"])
def test_a_place_is_closed(at: str | None, token: str) -> None:
    """Headline and table say where its number goes, the link says which; opened again, the place opens again."""
    when = {} if at is None else {"source": token, "at": at}
    app = calm_view("next", part="everyone", **when)
    opened = app.title[0].value
    name = app.multiselect(key="everyone-without").options[0]
    check_calm(app.multiselect(key="everyone-without").set_value([name]).run())
    table, said = table_with(app, "change"), app.title[0].value
    assert table["name"][0] == name and table["expected"][0] == 0 and abs(table["change"].sum()) < 1e-9
    assert table["change"].tolist() == pytest.approx((table["expected"] - table["expected_before"]).tolist())
    assert f"Without {markdown_text(name)}, its {table['expected_before'][0]:.1f} " in said
    assert ("users at" in said) == (at is not None)
    assert f"{markdown_text(table['name'][1])}] gains most, {table['change'][1]:.2f}" in said and ASSUMED in texts(app)
    again = calm_view("next", part="everyone", **when, **address(app, "without"))
    assert again.title[0].value == said
    check_calm(again.multiselect(key="everyone-without").set_value([]).run())
    assert again.title[0].value == opened and not address(again, "without")


def test_the_browsers_back_restores_the_time(token: str) -> None:
    """Also to an address without a time, which is the default's."""
    app = calm_view("next", source=token, part="everyone")
    begun, said = address(app)["at"], app.title[0].value
    app.slider(key="at-clock").set_value(time(18, 30)).run()
    assert address(app)["at"] == f"{begun[:10]}T18:30" and app.title[0].value != said
    app.switch_page("views/walk.py").run()
    follow(app, "next", {"source": token, "part": "everyone"})
    assert address(app)["at"] == begun and app.title[0].value == said


def test_choices_end_with_their_dataset(token: str, city_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another dataset begins at its own time, with every place open."""
    app = calm_view("next", source=token, part="everyone", at="2024-11-04T18:00", without="3")
    point_app_at(monkeypatch, city_folder, None)
    other = next(s.token for s in find_sources(AppSettings.from_environment()) if s.given_time)
    app.session_state["source"] = other
    check_calm(app.run())
    day_after = last_day(Workspace.open(city_folder)) + timedelta(days=1)
    assert address(app, "at", "without", "source") == {"at": f"{day_after}T12:00", "source": other}


def test_play_moves_by_half_hours_to_the_end_of_the_day(token: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """From there, Play begins the day again; the address gets the last time only."""
    monkeypatch.setattr(asked_time, "monotonic", itertools.count(0, 10).__next__)
    app = calm_view("next", source=token, part="everyone", at="2024-11-04T22:10")
    shown, headline = [], words.everyone

    def noted(found: Everyone, last: date, at: datetime) -> tuple[str, str]:
        shown.append(f"{at:%H:%M}")
        return headline(found, last, at)

    monkeypatch.setattr(words, "everyone", noted)
    check_calm(app.toggle(key="everyone-play").set_value(True).run())
    assert shown == ["22:10", "22:30", "23:00", "23:30"]
    assert address(app)["at"] == "2024-11-04T23:30" and not app.toggle(key="everyone-play").value
    monkeypatch.setattr(asked_time, "monotonic", lambda: 0.0)
    check_calm(app.toggle(key="everyone-play").set_value(True).run())
    assert "At Mon 00:00" in app.title[0].value and address(app)["at"] == "2024-11-04T23:30"
