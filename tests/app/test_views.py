"""Every view on a small trained city: complete, empty, filtered, and opened from good and bad links."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from analysis.explain.explain_case import explain_case
from analysis.formatting import ordinal, points, share, signed_points
from analysis.long_tail.accuracy_tables import accuracy_by_cohort, accuracy_by_count
from analysis.long_tail.overview_headlines import PANEL_TITLES
from analysis.records.ablations import GROUP_NAMES, describe_ablations, part_words
from analysis.records.accuracy import fitting_metric, metric_values
from analysis.records.case_selection import CaseSelection
from analysis.trajectories.predictions import predict_case
from analysis.workspace import Workspace
from app.components.walk.case_choice import trajectory_names
from app.components.walk.words import badges
from recap import columns as c
from recap.baselines.counting import VisitCount
from recap.evaluation.scoring import evaluate
from tests.app.app_driver import (
    calm_view,
    check_calm,
    click,
    never,
    open_view,
    point_app_at,
    press,
    table_with,
    texts,
    without_model,
)
from tests.pictures import picks_in, words_in

VIEWS = ("overview", "walk", "long_tail")


@pytest.mark.parametrize("view", [*VIEWS, "explain", "compare"])
def test_nothing_to_open(monkeypatch: pytest.MonkeyPatch, view: str) -> None:
    """Without any dataset the app says how to make one."""
    point_app_at(monkeypatch, None, None)
    app = calm_view(view)
    assert app.title[0].value == "Nothing to open yet"
    assert "recap prepare" in app.code[0].value


@pytest.mark.parametrize("view", VIEWS)
def test_views_without_a_model(city_folder: Path, view: str, counting: None) -> None:
    """A dataset alone is enough: a counting baseline predicts, and no probability is made up."""
    app = calm_view(view, case="3", source=without_model(city_folder))
    if view == "walk":
        opened = Workspace.open(city_folder)
        counted = predict_case(opened.with_model("count_plus_markov"), 3).candidates
        table = next(item for item in app.dataframe if "value" in item.value)
        assert table.value["value"].tolist() == pytest.approx(counted["score"].tolist(), abs=1e-12)
        assert json.loads(table.proto.columns)["value"]["label"] == "Score"


def test_overview_shows_the_finding_and_its_numbers(city: Workspace, city_checkpoint: Path) -> None:
    """Headline, picture and table say the same of the same cases; two charts and no table before it is asked for."""
    app, metric = calm_view("overview"), fitting_metric(city.places_known)
    assert metric != "hr20" and app.session_state["pick_metric"] == metric
    assert re.match("With (one guess|five guesses), RECAP finds", app.title[0].value)
    assert f"A user knows {city.places_known} " in texts(app)
    assert f"{len(city.cases):,} test cases" in texts(app)
    assert len(app.get("plotly_chart")) == 2 and not app.dataframe
    app = press(app, "all-models")
    models = app.dataframe[0].value.set_index("Model")
    records = city.with_model(city_checkpoint).records()
    titles = {"all": "All", **PANEL_TITLES}
    values = {group: float(str(models.loc["RECAP", title]).partition(" ")[0]) for group, title in titles.items()}
    assert str(models.loc["RECAP", "All"]).startswith(f"{metric_values(records, metric).mean():.3f} [")
    following = app.dataframe[1].value.set_index("Model")
    found = evaluate(VisitCount(city.dataset), city.dataset, city.graph, protocol="every_next").metrics
    assert str(following.loc["Visit count", "Every next check-in"]).startswith(f"{found['all'][metric]:.3f} [")
    assert str(following.loc["Visit count", "Within 24 hours"]).startswith(f"{found['gap_up_to_24h'][metric]:.3f} [")
    assert f"{found['gap_over_24h']['n']} later" in texts(app)
    charts = [json.loads(chart.proto.spec) for chart in app.get("plotly_chart")]
    shown = [note["text"] for chart in charts for note in chart["layout"]["annotations"]]
    assert all(any(share(values[group]) in text for text in shown) for group in ("tail_known", "tail_new", "head"))
    of_them, whole = map(int, re.findall(r"finds (\d+) of (\d+) rare", app.title[0].value)[0])
    assert of_them == round(whole * values["tail_known"])


def test_a_dataset_without_a_model_leads_to_training(city_folder: Path, counting: None) -> None:
    """Also where `pretrained` is used, which opens first; the way on goes to Runs."""
    assert "No model is trained on this dataset yet" in texts(open_view("overview"))
    app = calm_view("overview", source=without_model(city_folder))
    assert "ounting visits and transitions finds" in app.title[0].value
    assert "No model is trained on this dataset yet" in texts(app) and "Needs" not in texts(app)
    for page in (app, calm_view("explain", source=without_model(city_folder))):
        assert "train" in click(page, "train").title[0].value.lower()


@pytest.mark.parametrize(("view", "button"), [("walk", "explain"), ("cases", "open_in_explain")])
def test_a_case_opens_as_a_prediction(city: Workspace, view: str, button: str) -> None:
    """Also for someone who looked at the model last."""
    app = open_view("explain", half="model")
    assert "What adds up to the score" not in texts(app)
    app.query_params["search"] = "user 0"  # so that Cases has a chosen case
    app.switch_page(f"views/{view}.py").run()
    click(app, button)
    assert "What adds up to the score" in texts(app)


def test_the_metric_stays_when_the_view_changes(city: Workspace) -> None:
    """?metric=MRR opens the view in MRR, and the next view too; a bad value falls back."""
    app = open_view("overview", metric="MRR")
    assert "reaches MRR" in app.title[0].value
    check_calm(app.switch_page("views/long_tail.py").run())
    assert "reaches MRR" in texts(app) and app.query_params["metric"] in ("MRR", ["MRR"])
    assert "finds" in open_view("overview", metric="bliss").title[0].value


def test_walk_says_which_feature_groups_changed_the_rank(city: Workspace, city_checkpoint: Path) -> None:
    """Ranks without a group are those of its ablation, contributions those of Explain; a hidden truth has no ranks."""
    predictor = city.with_model(city_checkpoint).predictor
    ablations = describe_ablations(predictor, city.cases)
    case = int((ablations["without_past_visits"] - ablations["rank"]).to_numpy().argmax())
    app = calm_view("walk", case=str(case))
    assert f":violet-badge[Without past visits: {ordinal(ablations['without_past_visits'][case])}]" in texts(app)
    assert texts(app).count("-badge[Without") == len(badges(ablations["rank"][case], _without(ablations, case)))
    groups = explain_case(predictor, case, counterfactuals=False).a.groups
    line = next(each.value for each in app.markdown if ": score " in each.value).replace("\\", "")
    for group, value in groups.items():
        if points(value) != "0.00":
            assert f"{part_words(group)} {signed_points(value)}" in line
    app.toggle(key="truth").set_value(False).run()
    assert "-badge[" not in texts(app)


def _without(ablations: pd.DataFrame, case: int) -> dict[str, float]:
    return {name: ablations[f"without_{name}"][case] for name in (*GROUP_NAMES, "graph_token")}


def test_walk_shows_what_the_model_predicts_and_draws_what_it_reads(
    city: Workspace, monkeypatch: pytest.MonkeyPatch, city_folder: Path, city_checkpoint: Path
) -> None:
    """Probabilities are the library's. A counter reads no two-hop paths: no lines, no legend of them, no toggle."""
    app, shares = (
        calm_view("walk", case="3"),
        predict_case(city.with_model(city_checkpoint), 3).candidates["probability"],
    )
    shown = table_with(app, "value")
    assert shown["value"].tolist() == pytest.approx((100 * shares).tolist(), abs=1e-9)
    assert shown["name"].str.contains("◎").sum() == 1
    assert len(app.get("deck_gl_json_chart")) == 1
    assert [toggle.label for toggle in app.toggle][:2] == ["Truth", "Paths"]
    assert "Two-hop path" in texts(app)
    point_app_at(monkeypatch, city_folder, None)
    app = calm_view("walk", case="3", source=without_model(city_folder))
    layers = [layer["id"] for layer in json.loads(app.get("deck_gl_json_chart")[0].proto.json)["layers"]]
    assert "paths" not in layers and "Two-hop path" not in texts(app) and "Visited before" in texts(app)
    assert "Paths" not in [toggle.label for toggle in app.toggle]


def test_play_goes_on_from_the_present_stop(city: Workspace) -> None:
    """To the next stop, to the user's last check-in, to the next case that passes; it ends with the last check-in."""
    trajectory = city.cases["trajectory"]
    last = int(city.cases["case"][trajectory == trajectory.iloc[0]].iloc[-1])
    app = open_view("walk", case=str(last - 1))
    app.button(key="play").click().run()
    seen = [app.session_state["case"]]
    rows = []
    for _ in range(3):
        app.session_state["stepped_at"] -= 2  # as if its time had come
        app.run()
        seen.append(app.session_state["case"])
        rows.append("row" in app.query_params)
    check_calm(app)
    assert seen == [last - 1, last, last, last + 1] and app.session_state["playing"]
    assert rows == [False, True, False]
    app = open_view("walk", case=str(len(city.cases) - 1))
    app.button(key="next").click().run()
    assert app.button(key="play").disabled


def test_walk_steps_along_the_trajectory(city: Workspace) -> None:
    """Next and Back move one case within the trajectory; the camera stays, and a step sends the ground's address."""
    trajectory = city.cases["trajectory"]
    first = int(city.cases["case"][trajectory == trajectory.value_counts().index[0]].iloc[0])
    app = open_view("walk", case=str(first))
    before = app.get("deck_gl_json_chart")[0].proto.json
    click(app, "next")
    assert app.session_state["case"] == first + 1
    after = app.get("deck_gl_json_chart")[0].proto.json
    decks = [json.loads(deck) for deck in (before, after)]
    assert before != after and "//" not in before + after and "MultiPoint" not in before + after
    assert all(decks[0][name] == decks[1][name] for name in ("initialViewState", "mapStyle"))
    assert re.fullmatch(r"/.*\.json", decks[0]["mapStyle"])
    app.button(key="back").click().run()
    assert app.session_state["case"] == first
    assert app.button(key="back").disabled


def test_walk_filters(city: Workspace) -> None:
    """A filter shows how many cases pass and moves to one of them; with filters that fit none no case is shown."""
    app = open_view("walk", case="0")
    check_calm(app.pills(key="show").set_value(["unseen"]).run())
    unseen = city.cases["case"][city.cases["transition_count"] == 0]
    assert f"{len(unseen):,} of {len(city.cases):,} cases" in texts(app)
    assert app.session_state["case"] in unseen.tolist()
    check_calm(app.text_input(key="find").set_value("no such place").run())
    assert app.title[0].value == "No case passes these filters." and not app.get("deck_gl_json_chart")
    app.text_input(key="find").set_value("").run()
    assert app.session_state["case"] in unseen.tolist() and app.get("deck_gl_json_chart")


def test_walk_filter_in_the_link(city: Workspace) -> None:
    """A link carries filters, a bar and the case, and shows them; without a case it opens one that passes."""
    unseen = city.cases["case"][city.cases["transition_count"] == 0].tolist()
    for params, cases in (({"case": str(unseen[-1])}, unseen[-1:]), ({}, unseen)):
        app = calm_view("walk", show="Never seen", **params)
        assert app.session_state["case"] in cases
        assert f"{len(unseen):,} of {len(city.cases):,} cases" in texts(app)
        assert "does not pass" not in texts(app)
    app = calm_view("walk", cases="step:0:0", case=str(unseen[0]))
    assert f"{len(unseen):,} of {len(city.cases):,} cases" in texts(app)
    next(button for button in app.button if button.label == "Transition never seen").click().run()
    assert f"{len(city.cases):,} cases of" in texts(app)


def test_long_tail_bars_are_the_tables(city: Workspace, city_checkpoint: Path) -> None:
    """Bar heights and n are those of the command-line twin's function, in Overview's metric, next to visit count."""
    app, metric = calm_view("long_tail"), fitting_metric(city.places_known)
    records, counter = city.with_model(city_checkpoint).records(), city.with_model("visit_count").records()
    expected = accuracy_by_count(records, "transition_count", metric, reference=counter)
    table = press(app, "transition_count-table-twin").dataframe[0]
    pd.testing.assert_frame_equal(table.value, expected, check_dtype=False)
    labels = {name: column["label"] for name, column in json.loads(table.proto.columns).items() if "label" in column}
    assert list(table.proto.column_order) == list(labels) and labels["bin"] == "Seen in training"
    assert (labels["value"], labels["reference"]) == ("RECAP", "Visit count")
    drawn = words_in(json.loads(app.get("bidi_component")[0].proto.json))
    cohorts = accuracy_by_cohort(records, metric, reference=counter)
    assert all(any(f"{n:,} cases" in text for text in drawn) for n in cohorts["n"])


def test_no_tab_is_computed_before_it_is_opened(city: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two charts and the list; hops, parts, kinds and the map wait for their tab."""
    for name in ("hops", "lift", "worth", "miss_labels", "cells_of_misses"):
        monkeypatch.setattr(f"app.cached.tables.{name}", never)
    app = calm_view("long_tail")
    pictures = [component for component in app.get("bidi_component") if component.key != "theme-watch"]
    assert len(pictures) == 2 and len(app.dataframe) == 1
    assert not app.get("plotly_chart") and not app.get("deck_gl_json_chart")


def cases_of(city: Workspace, link: str) -> list[int]:
    return city.cases["case"][CaseSelection.parse(link).mask(city.cases)].tolist()


@pytest.mark.parametrize(
    ("picture", "by", "link"),
    [(1, "transition", "step:0:0"), (1, "place", "place:10:19"), (0, "place", "cohort:1:0:1")],
)
def test_a_bar_or_cell_lists_its_cases(city: Workspace, picture: int, by: str, link: str) -> None:
    """A mark brings the link that lists its cases (a browser test clicks one); the chip takes the filter away."""
    app = calm_view("long_tail", by=by, cases=link)
    assert link in picks_in(json.loads(app.get("bidi_component")[picture].proto.json))
    assert sorted(app.dataframe[0].value["case"]) == cases_of(city, link) and app.query_params["cases"] == link
    assert app.button(key="selected").label == CaseSelection.parse(link).label
    click(app, "selected")
    assert len(app.dataframe[0].value) == len(city.cases) and "cases" not in app.query_params


def test_a_cell_s_cases_follow_the_threshold(city: Workspace) -> None:
    """A link's other choices are open too; one out of range falls back."""
    app = open_view("long_tail", cases="cohort:1:1:1", eta="99", model="markov", metric="MRR")
    assert app.selectbox(key="pick_model").value == "markov" and not app.warning
    check_calm(app.slider(key="pick_eta").set_value(0).run())
    inside = cases_of(city, "cohort:1:1:0")
    assert sorted(app.dataframe[0].value["case"]) == inside
    assert app.query_params["cases"] == "cohort:1:1:0" and 0 < len(inside) < len(city.cases)


@pytest.mark.parametrize(
    ("table", "part", "row", "link"),
    [("transition_count", "Bins", 0, "step:0:0"), ("cohorts", "Cells", 2, "cohort:1:0:1")],
)
def test_a_row_of_a_chart_s_table_does_what_its_mark_does(
    city: Workspace, table: str, part: str, row: int, link: str
) -> None:
    """For the keyboard: a ticked row of the table behind a chart lists the same cases."""
    app = open_view("long_tail")
    app.session_state[f"{table}-table-twin"] = True
    app.session_state[f"{table}-table-{part}"] = {"selection": {"rows": [row], "columns": [], "cells": []}}
    check_calm(app.run())
    assert app.query_params["cases"] == link
    assert sorted(app.dataframe[-1].value["case"]) == cases_of(city, link)


def test_walk_is_there_before_all_cases_are_ranked(city: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without filters no other case is scored: title, map and list of one trajectory need no records."""
    monkeypatch.setattr(Workspace, "records", never)
    app = calm_view("walk", case="2")
    assert "→" in app.title[0].value and len(app.dataframe) >= 1
    assert app.get("deck_gl_json_chart")


def _elements(block: Any, path: tuple[int, ...] = ()) -> Iterator[tuple[str, tuple[int, ...]]]:
    for index, child in block.children.items():
        yield child.type, (*path, index)
        yield from _elements(child, (*path, index)) if hasattr(child, "children") else ()


def places(app: AppTest, *kinds: str) -> list[tuple[str, tuple[int, ...]]]:
    """Where in the page the elements of some kinds stand."""
    check_calm(app)
    return [(kind, path) for kind, path in _elements(app.main) if kind in kinds]


def test_filters_of_walk_leave_the_map_in_place(city: Workspace) -> None:
    """With a filter, without, with one by cause: what moves is built again by the browser, so map and list stay."""
    app = open_view("walk", case="2", k="1")
    kinds = ("deck_gl_json_chart", "title", "dataframe", "metric")
    before = places(app, *kinds)
    assert {*kinds} == set(dict(before))
    for chosen in (["unseen"], [], ["history"], ["unseen", "tail", "missed"]):
        app.pills(key="show").set_value(chosen).run()
        assert places(app, *kinds) == before, chosen


def test_trajectories_of_one_day_and_length_have_different_names() -> None:
    start = pd.to_datetime(["2012-10-04 08:00", "2012-10-04 19:30", "2012-10-05 08:00"])
    table = pd.DataFrame({c.TRAJECTORY: [3, 4, 5], "start": start, "stops": [2, 2, 2]})
    assert list(trajectory_names(table).values()) == [
        "Thu 4 Oct 2012, 08:00, 2 stops",
        "Thu 4 Oct 2012, 19:30, 2 stops",
        "Fri 5 Oct, 2 stops",
    ]
