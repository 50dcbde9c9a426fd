"""Every view on a small trained city: complete, empty, filtered, and opened from good and bad links."""

import json
from pathlib import Path

import pandas as pd
import pytest

from analysis.explain.explanation import explain_case
from analysis.explain.sentences import part_words
from analysis.formatting import ordinal, points, signed, signed_points
from analysis.long_tail.accuracy_tables import accuracy_by_count
from analysis.records.ablations import GROUP_NAMES, describe_ablations
from analysis.records.case_selection import CaseSelection
from analysis.trajectories.predictions import predict_case
from analysis.workspace import Workspace
from app.components.walk.words import badges
from recap.checkpoint import Checkpoint
from tests.app.app_driver import check_calm, open_view, point_app_at, texts

VIEWS = ("overview", "walk", "long_tail")


@pytest.fixture
def city(monkeypatch: pytest.MonkeyPatch, city_folder: Path, city_checkpoint: Path) -> Workspace:
    """The app pointed at the small city and its checkpoint."""
    point_app_at(monkeypatch, city_folder, city_checkpoint)
    return Workspace.open(city_folder)


@pytest.mark.parametrize("view", VIEWS)
def test_nothing_to_open(monkeypatch: pytest.MonkeyPatch, view: str) -> None:
    """Without any dataset the app says how to make one."""
    point_app_at(monkeypatch, None, None)
    app = open_view(view)
    check_calm(app)
    assert app.title[0].value == "Nothing to open yet"
    assert "recap prepare" in app.code[0].value


@pytest.mark.parametrize("view", VIEWS)
def test_views_without_a_model(monkeypatch: pytest.MonkeyPatch, city_folder: Path, view: str) -> None:
    """A dataset alone is enough: a counting baseline predicts, and no probability is made up."""
    point_app_at(monkeypatch, city_folder, None)
    app = open_view(view, case="3")
    check_calm(app)
    if view == "walk":
        opened = Workspace.open(city_folder)
        counted = predict_case(opened.with_model("count_plus_markov"), 3).candidates
        table = app.dataframe[0]
        assert table.value["value"].tolist() == pytest.approx(counted["score"].tolist(), abs=1e-12)
        assert json.loads(table.proto.columns)["value"]["label"] == "Score"
    if view == "overview":
        assert "recap train" in texts(app)


def test_overview_shows_the_finding_and_its_numbers(city: Workspace) -> None:
    """The heading is the finding; every case is counted; cards lead to cases."""
    app = open_view("overview")
    check_calm(app)
    assert app.title[0].value.startswith("RECAP finds")
    assert f"{len(city.cases):,} test cases" in texts(app)
    charts = [json.loads(chart.proto.spec) for chart in app.get("plotly_chart")]
    panels = [spec for spec in charts if any("the best" in note["text"] for note in spec["layout"]["annotations"])]
    labels = [note["text"] for spec in panels for note in spec["layout"]["annotations"]]
    assert any(f"n = {len(city.cases):,}" in label for label in labels)
    groups = next(table.value for table in app.dataframe if "lead_lower" in table.value)
    mine = groups.dropna(subset="lead").set_index("group").loc[["all", "head", "tail"]]
    leads = [label for label in labels if "the best" in label]
    for label, (_, lead) in zip(leads, mine.iterrows(), strict=True):
        assert label.startswith(signed(lead["lead"]))
        assert label.endswith(f"[{signed(lead['lead_lower'])}, {signed(lead['lead_upper'])}]")


def test_overview_metric_in_the_link(city: Workspace) -> None:
    """?metric=MRR opens the view in MRR; a bad value falls back."""
    assert "MRR" in open_view("overview", metric="MRR").title[0].value
    assert "20 guesses" in open_view("overview", metric="bliss").title[0].value


def test_walk_shows_what_the_library_predicts(city: Workspace, city_checkpoint: Path) -> None:
    """Ranks and probabilities in the list are the library's, to the last digit."""
    app = open_view("walk", case="3")
    check_calm(app)
    model = city.with_model(city_checkpoint)
    expected = predict_case(model, 3)
    shown = app.dataframe[0].value
    assert shown["value"].tolist() == pytest.approx((100 * expected.candidates["probability"]).tolist(), abs=1e-9)
    assert shown["name"].str.contains("◎").sum() == 1
    assert len(app.get("deck_gl_json_chart")) == 1


def test_walk_map_needs_no_network(city: Workspace) -> None:
    """The ground is the app's own file, and a step sends its address alone."""
    app = open_view("walk", case="0")
    deck = app.get("deck_gl_json_chart")[0].proto.json
    ground = json.loads(deck)["mapStyle"]
    assert ground.startswith("/") and ground.endswith(".json")
    assert "//" not in deck
    app.button(key="next").click().run()
    second = app.get("deck_gl_json_chart")[0].proto.json
    assert json.loads(second)["mapStyle"] == ground
    assert deck != second and "MultiPoint" not in deck + second


def test_walk_says_which_feature_groups_changed_the_rank(city: Workspace, city_checkpoint: Path) -> None:
    """Ranks without a group are those of its ablation, contributions those of Explain; a hidden truth has no ranks."""
    predictor = city.with_model(city_checkpoint).predictor
    ablations = describe_ablations(predictor, city.cases)
    case = int((ablations["without_past_visits"] - ablations["rank"]).idxmax())
    app = open_view("walk", case=str(case))
    check_calm(app)
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


def test_walk_draws_what_the_model_reads(monkeypatch: pytest.MonkeyPatch, city_folder: Path) -> None:
    """A counter reads no two-hop paths: neither lines, nor a legend of them, nor a toggle."""
    app = open_view("walk", case="3")
    assert app.get("deck_gl_json_chart") and [toggle.label for toggle in app.toggle][:2] == ["Truth", "Paths"]
    assert "Two-hop path" in texts(app)
    point_app_at(monkeypatch, city_folder, None)
    app = open_view("walk", case="3")
    check_calm(app)
    layers = [layer["id"] for layer in json.loads(app.get("deck_gl_json_chart")[0].proto.json)["layers"]]
    assert "paths" not in layers and "Two-hop path" not in texts(app) and "Visited before" in texts(app)
    assert "Paths" not in [toggle.label for toggle in app.toggle]


def test_play_goes_on_from_the_present_stop(city: Workspace) -> None:
    """To the next stop, from a trajectory's last one to the next case that passes, and it ends with the cases."""
    trajectory = city.cases["trajectory"]
    last = int(city.cases["case"][trajectory == trajectory.iloc[0]].iloc[-1])
    app = open_view("walk", case=str(last - 1))
    app.button(key="play").click().run()
    seen = [app.session_state["case"]]
    for _ in range(2):
        app.session_state["stepped_at"] -= 2  # as if its time had come
        app.run()
        seen.append(app.session_state["case"])
    check_calm(app)
    assert seen == [last - 1, last, last + 1] and app.session_state["playing"]
    app = open_view("walk", case=str(len(city.cases) - 1))
    assert app.button(key="play").disabled


def test_walk_steps_along_the_trajectory(city: Workspace) -> None:
    """Next and Back move one case within the trajectory and the camera stays where it is."""
    trajectory = city.cases["trajectory"]
    first = int(city.cases["case"][trajectory == trajectory.value_counts().index[0]].iloc[0])
    app = open_view("walk", case=str(first))
    before = json.loads(app.get("deck_gl_json_chart")[0].proto.json)["initialViewState"]
    app.button(key="next").click().run()
    check_calm(app)
    assert app.session_state["case"] == first + 1
    assert json.loads(app.get("deck_gl_json_chart")[0].proto.json)["initialViewState"] == before
    app.button(key="back").click().run()
    assert app.session_state["case"] == first
    assert app.button(key="back").disabled


def test_walk_filters(city: Workspace) -> None:
    """A filter shows how many cases pass and moves to one of them; with filters that fit none no case is shown."""
    app = open_view("walk", case="0")
    app.pills(key="show").set_value(["unseen"]).run()
    check_calm(app)
    unseen = city.cases["case"][city.cases["transition_count"] == 0]
    assert f"{len(unseen):,} of {len(city.cases):,} cases" in texts(app)
    assert app.session_state["case"] in unseen.tolist()
    app.text_input(key="find").set_value("no such place").run()
    check_calm(app)
    assert app.title[0].value == "No case passes these filters." and not app.get("deck_gl_json_chart")
    app.text_input(key="find").set_value("").run()
    assert app.session_state["case"] in unseen.tolist() and app.get("deck_gl_json_chart")


def test_walk_filter_in_the_link(city: Workspace) -> None:
    """A link carries the filters and the case, and shows both; without a case it opens one that passes."""
    unseen = city.cases["case"][city.cases["transition_count"] == 0].tolist()
    for params, cases in (({"case": str(unseen[-1])}, unseen[-1:]), ({}, unseen)):
        app = open_view("walk", show="Never seen", **params)
        check_calm(app)
        assert app.session_state["case"] in cases
        assert f"{len(unseen):,} of {len(city.cases):,} cases" in texts(app)
        assert "does not pass" not in texts(app)


def test_walk_from_a_bar(city: Workspace) -> None:
    """A link with a bar's cases shows them, names them, and lets them go."""
    inside = city.cases["case"][city.cases["transition_count"] == 0]
    app = open_view("walk", cases="step:0:0", case=str(inside.iloc[0]))
    check_calm(app)
    assert f"{len(inside):,} of {len(city.cases):,} cases" in texts(app)
    chip = next(button for button in app.button if button.label == "Step seen 0 times")
    chip.click().run()
    assert f"{len(city.cases):,} of {len(city.cases):,} cases" in texts(app)


@pytest.mark.parametrize("case", ["99999999", "<script>", "²"])
def test_walk_bad_case(city: Workspace, case: str) -> None:
    """A link to a case that is not there gets a sentence and the case that opens without one."""
    app = open_view("walk", case=case)
    check_calm(app)
    assert "There is no case" in app.warning[0].value
    assert "<script>" not in texts(app)
    assert app.session_state["case"] == open_view("walk").session_state["case"]


def test_bad_selection_and_foreign_source(city: Workspace) -> None:
    """An unreadable choice of cases, and a link from another checkpoint: a banner each, never a wrong picture."""
    assert "cannot be read" in open_view("walk", cases="step:x:y").warning[0].value
    app = open_view("overview", source="0123456789ab")
    check_calm(app)
    assert "another model or dataset" in app.warning[0].value


def test_truth_can_be_hidden(city: Workspace) -> None:
    """With the truth hidden neither heading, nor list, nor map gives it away."""
    app = open_view("walk", case="0")
    app.toggle(key="truth").set_value(False).run()
    check_calm(app)
    assert app.title[0].value.endswith(":orange[?]")
    assert not app.dataframe[0].value["name"].str.contains("◎").any()
    layers = [layer["id"] for layer in json.loads(app.get("deck_gl_json_chart")[0].proto.json)["layers"]]
    assert "truth" not in layers and "candidates" in layers


def test_long_tail_bars_are_the_tables(city: Workspace, city_checkpoint: Path) -> None:
    """Bar heights and n are those of the command-line twin's function."""
    app = open_view("long_tail")
    check_calm(app)
    checkpoint = Checkpoint.load(city_checkpoint)
    records = city.with_model(checkpoint.folder).records_with_lists()
    expected = accuracy_by_count(records, "transition_count", "hr20")
    bars = json.loads(app.get("plotly_chart")[0].proto.spec)["data"][0]
    assert [entry[0] for entry in bars["customdata"]] == ["transition_count"] * 11
    shown = bars["y"] if isinstance(bars["y"], list) else None
    if shown is not None:
        assert shown == pytest.approx(expected["value"].fillna(0).tolist())


@pytest.mark.parametrize(
    "params",
    [{"metric": "MRR", "eta": "0", "model": "Markov"}, {"eta": "99"}],
)
def test_long_tail_links(city: Workspace, params: dict[str, str]) -> None:
    """Good links open the choice, bad ones fall back; nothing crashes."""
    check_calm(open_view("long_tail", **params))


@pytest.mark.parametrize(("key", "row", "link"), [("bars-By step", 0, "step:0:0"), ("bars-By place", 1, "place:10:19")])
def test_a_row_of_the_table_leads_where_its_bar_does(city: Workspace, key: str, row: int, link: str) -> None:
    """The table behind the bars, for the keyboard: a ticked row opens Walk with the cases of its bin."""
    app = open_view("long_tail")
    app.session_state[key] = {"selection": {"rows": [row], "columns": [], "cells": []}}
    app.run()
    check_calm(app)
    inside = city.cases["case"][CaseSelection.parse(link).mask(city.cases)]
    assert app.query_params["cases"] == link
    assert f"{len(inside):,} of {len(city.cases):,} cases" in texts(app)


def test_a_row_of_the_cohorts_leads_where_its_cell_does(city: Workspace) -> None:
    """The same for the cohorts."""
    app = open_view("long_tail")
    cohorts = next(table.value for table in app.dataframe if "within_two_hops" in table.value.columns)
    row = int(cohorts["n"].to_numpy().argmax())
    app.session_state["cohorts-Cohorts"] = {"selection": {"rows": [row], "columns": [], "cells": []}}
    app.run()
    check_calm(app)
    history, hops = (int(cohorts[name].iloc[row]) for name in ("in_history", "within_two_hops"))
    assert app.query_params["cases"] == f"cohort:{history}:{hops}:1"
    assert f"{cohorts['n'].iloc[row]:,} of {len(city.cases):,} cases" in texts(app)


def test_bar_leads_to_its_cases(city: Workspace) -> None:
    """A clicked bar opens Walk with the bin's cases."""
    app = open_view("long_tail")
    app.session_state["bars-transition_count"] = {
        "selection": {
            "points": [{"customdata": ["transition_count", 0, 0]}],
            "point_indices": [],
            "box": [],
            "lasso": [],
        }
    }
    app.run()
    check_calm(app)
    inside = city.cases["case"][city.cases["transition_count"] == 0]
    assert app.session_state["case"] == inside.iloc[0]
    assert f"{len(inside):,} of {len(city.cases):,} cases" in texts(app)


def test_walk_is_there_before_all_cases_are_ranked(city: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without filters no other case is scored: title, map and list of one trajectory need no records."""

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("all test cases were asked for")

    monkeypatch.setattr(Workspace, "records", refuse)
    app = open_view("walk", case="2")
    check_calm(app)
    assert "→" in app.title[0].value and len(app.dataframe) >= 1
    assert app.get("deck_gl_json_chart")
