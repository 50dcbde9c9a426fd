"""The Explain view: the library's numbers, edits and their undo, links good and bad, hostile names."""

import json
from datetime import time
from pathlib import Path

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from analysis.cases.library import Library
from analysis.cases.saved_case import SavedCase
from analysis.explain.edited_case import build_edited_case
from analysis.explain.edits import parse_edits
from analysis.explain.explain_case import explain_case
from analysis.explain.explanation import CaseExplanation
from analysis.explain.model_flow import describe_flow
from analysis.explain.model_words import WORTH_TAB
from analysis.explain.robustness import describe_checks
from analysis.formatting import ordinal, points, signed, signed_points
from analysis.long_tail.misses import count_misses, describe_misses, label_misses
from analysis.records.ablations import describe_ablations
from analysis.records.kept_seeds import seed_key
from analysis.trajectories.case_names import case_name, cases_of_user, find_case
from analysis.workspace import Workspace
from app.components.explain.candidate_pair import search_place
from app.components.explain.contributions import every_feature
from app.settings import AppSettings, variable
from app.sources import find_sources
from recap import columns as c
from recap.asking.predictor import Predictor
from recap.evaluation.records import write_records
from recap.features.catalogue import PATHS
from tests.app.app_driver import calm_view, check_calm, click, open_view, pills, point_app_at, table_with, texts
from tests.learn_worlds import DEMO
from tests.pictures import words_in


def expected(predictor: Predictor, case: int, edits: str = "") -> CaseExplanation:
    return explain_case(predictor, case, edits=parse_edits(edits))


def chart_texts(app: AppTest) -> list[str]:
    """Names and numbers of the page's first chart."""
    found = [component for component in app.get("bidi_component") if component.key != "theme-watch"]
    pictures = [component for component in found if component.proto.json]
    if pictures:
        return words_in(json.loads(pictures[0].proto.json))
    return [note["text"] for note in json.loads(app.get("plotly_chart")[0].proto.spec)["layout"]["annotations"]]


def open_tab(app: AppTest, name: str) -> AppTest:
    """Open one of the parts below the score."""
    app.session_state["explain-tab"], app.session_state["tab_chosen"] = name, True
    check_calm(app.run())
    return app


def library_cases(predictor: Predictor) -> list[SavedCase]:
    return [stored.value for stored in Library.of_user().read().of(predictor.dataset.hash, predictor.checkpoint.hash)]


def test_the_page_is_what_the_library_explains(demo_city: None) -> None:
    """Opened once: heading, chart, paths, visits, curves, stability and the other half, on the first case."""
    predictor = Workspace.open(DEMO / "dataset", DEMO / "checkpoint").predictor
    app = calm_view("explain")
    case = int(app.session_state["case"])
    answer = expected(predictor, case)
    assert answer.transition_count == 0 and answer.target_rank == 1 and answer.is_known and answer.paths
    assert f"1st of {answer.num_places:,}, and that is where the user went" in app.title[0].value
    shown = chart_texts(app)
    for entry in (answer.a, answer.b):
        assert points(entry.score) in shown
        assert {signed_points(value) for value in entry.groups.values()} <= set(shown)
    features = every_feature(answer)
    assert len(features) == sum(bool(answer.a.terms[term] or answer.b.terms[term]) for term in answer.a.terms)
    paths = table_with(app, "Through")
    assert paths["Through"].tolist() == [*(path.name for path in answer.paths), "All paths"]
    assert paths["Points"].tolist() == [
        *(signed(path.points or 0.0, 2) for path in answer.paths),
        signed(answer.a.groups[PATHS], 2),
    ]
    (without,) = (entry.rank for entry in answer.without if entry.name == PATHS)
    assert paths["Rank without it"].iloc[-1].endswith(ordinal(without)) and f"rank {ordinal(without)}" in texts(app)
    assert not app.get("deck_gl_json_chart"), "no map before its tab is opened"
    open_tab(app, "Past visits")
    visits = [visit for place in answer.visits for visit in place.visits[::-1] if visit.rank_without is not None]
    assert table_with(app, "When")["Points"].tolist() == [signed_points(visit.points or 0.0) for visit in visits]
    open_tab(app, "Curves")
    open_tab(app, "Map")
    assert len(app.get("deck_gl_json_chart")) == 1
    open_tab(app, "Is it stable?")


def test_the_papers_model_has_its_own_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Core, prior with its three terms, correction and gate; the token's ablation stands for the paths."""
    point_app_at(monkeypatch, DEMO / "dataset", DEMO / "paper")
    answer = expected(Workspace.open(DEMO / "dataset", DEMO / "paper").predictor, 312)
    app = calm_view("explain", case="312")
    features = every_feature(answer)
    assert {"Visits before", "Last visit", "Recent window", "Correction"} <= set(features["Feature"])
    assert "The gate scales the correction" in texts(app)
    (token,) = (entry.rank for entry in answer.without if entry.name == "graph_token")
    paths = table_with(app, "Through")
    assert paths["Through"].iloc[-1] == "Graph token" and paths["Rank without it"].iloc[-1] == ordinal(token)
    assert "Graph token" in pills(app, "edit_parts").options
    for tab in ("Past visits", "Curves", "Map", "Is it stable?"):
        open_tab(app, tab)


def test_two_places_are_compared(predictor: Predictor) -> None:
    """A link names both; another runner-up is picked, by name too; and back to the truth."""
    usual = expected(predictor, 3)
    first, second = [entry.poi for entry in usual.candidates if entry.poi not in (usual.target, usual.runner_up)][:2]
    asked = explain_case(predictor, 3, about=first, against=second)
    app = calm_view("explain", case="3", about=str(first), against=str(second))
    assert f"{ordinal(asked.target_rank)} of {asked.num_places:,}" in app.title[0].value
    assert "The user went to" in app.title[0].value
    for entry in (asked.a, asked.b):
        assert points(entry.score) in chart_texts(app)
    app.button(key="explain-truth").click().run()
    assert "about" not in app.query_params
    check_calm(app.selectbox(key="pair_against").set_value(second).run())
    assert app.query_params["against"] == str(second) and not app.warning
    source, *_ = find_sources(AppSettings.from_environment())
    name = predictor.dataset.poi_labels[usual.target]
    found = search_place(source, predictor.moment(3), f" {name.upper()} ", first)
    assert found is not None and predictor.dataset.poi_labels[found] == name
    assert search_place(source, predictor.moment(3), "no such place", first) is None


def test_another_case_is_one_step_or_one_name_away(predictor: Predictor) -> None:
    """The buttons, the list of the user's cases, and a number or a user that is typed."""
    app = open_view("explain", case="3")
    app.button(key="case-after").click().run()
    assert app.query_params["case"] == "4"
    app.button(key="case-before").click().run()
    check_calm(app.selectbox(key="explained_case").set_value(5).run())
    assert app.query_params["case"] == "5"
    opened = Workspace.of(predictor.dataset, shows_ids=True)
    assert app.selectbox(key="explained_case").options == [case_name(opened, k) for k in cases_of_user(opened, 5, 60)]
    user = int(opened.cases[c.USER].iloc[-1])
    first = int((opened.cases[c.USER] == user).to_numpy().argmax())
    typed = {"7": 7, "case 1,0": 10, "Case 3 · User 001": 3, f"user {user:03d}": first, "99999": None, "?": None}
    assert {text: find_case(opened, text) for text in typed} == typed
    assert cases_of_user(opened, first, 2) == [first, first + 1]


def test_a_case_is_saved_with_its_note(predictor: Predictor, monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
    """Save writes a link and a note; a read-only app writes nothing, and refuses where the button is still there."""
    assert not [button for button in open_view("explain", case="3").button if button.key == "save"]
    monkeypatch.setenv(variable("read_only"), "")
    usual = expected(predictor, 3)
    app = open_view("explain", case="3", edits="off:past_visits", about=str(usual.runner_up))
    next(field for field in app.text_input if str(field.key).startswith("case_note")).set_value("looks *odd*")
    click(app, "save")
    (saved,) = library_cases(predictor)
    assert (saved.link.case, saved.link.about, saved.link.edits) == (3, usual.runner_up, "off:past_visits")
    assert saved.note == "looks *odd*"
    other = open_view("explain", case="4")
    monkeypatch.setenv(variable("read_only"), "1")
    other.button(key="save").click().run()
    assert len(library_cases(predictor)) == 1 and "read-only" in other.warning[0].value.replace("\\", "")


def test_every_control_of_what_if_is_an_edit(predictor: Predictor) -> None:
    """A part, a visit and the time: the rank is the library's; undone, all is as before."""
    usual = expected(predictor, 3)
    app = calm_view("explain", case="3", edits="off:past_visits")
    ranks = f"{ordinal(usual.target_rank)} → {ordinal(expected(predictor, 3, 'off:past_visits').target_rank)}"
    assert app.metric[0].value == ranks and pills(app, "edit_parts").value == ["past visits"]
    app.button[[button.label for button in app.button].index("Undo")].click().run()
    assert "edits" not in app.query_params and app.metric[0].value == ordinal(usual.target_rank)
    before = app.slider(key="edit_time").value
    assert isinstance(before, time)
    app.slider(key="edit_time").set_value(before.replace(hour=(before.hour + 7) % 24)).run()
    hour = f"hour:{(before.hour + 7) % 24:02d}:{before.minute:02d}"
    assert app.query_params["edits"] == hour
    app.slider(key="edit_time").set_value(before).run()
    assert "edits" not in app.query_params, "its own time is no edit"
    assert next(option for option in pills(app, "edit_visits").proto.options).content
    every = sum(len(place.visits) for place in usual.visits)
    assert (str(pills(app, "edit_visits").options[-1]).endswith("more…")) == (every > 3)
    number = max(visit.visit for place in usual.visits for visit in place.visits if visit.points is not None)
    app = calm_view("explain", case="3", edits=f"{hour};remove:{number}")
    both = expected(predictor, 3, f"{hour};remove:{number}")
    assert app.metric[0].value.endswith(ordinal(both.target_rank)) and number in pills(app, "edit_visits").value
    assert both.headline.text.split(",")[0] in app.title[0].value
    click(app, "reset")
    assert "edits" not in app.query_params


def test_smallest_edit_is_found_and_applied_when_asked(predictor: Predictor) -> None:
    """Nothing before the button is pressed; then the edit of the library, which can be applied."""
    app = open_view("explain", case="3")
    assert "changes swap" not in texts(app)
    click(app, "search")
    found = explain_case(predictor, 3, search=True)
    assert f"{found.tried} " in texts(app)
    if found.flip is not None:
        click(app, "apply_smallest")
        assert app.query_params["edits"] == found.flip.text


def test_stability_is_the_librarys_table(predictor: Predictor, home: Path) -> None:
    """The robustness checks with two kept seeds, and their finding."""
    st.cache_resource.clear()  # kept seeds are looked up again only after a while
    table = describe_ablations(predictor, predictor.cases)
    for seed in (1, 2):
        key = seed_key(predictor.dataset.hash, predictor.checkpoint.hash, seed)
        write_records(table, key.cached(), key.metadata)
    answer = explain_case(predictor, 3, counterfactuals=False, checks=True, seeds={1: table, 2: table})
    assert answer.checks
    app = open_tab(open_view("explain", case="3"), "Is it stable?")
    shown = app.table[0].value.reset_index()
    assert shown.to_numpy().tolist() == [list(check.cells.values()) for check in answer.checks]
    assert describe_checks(answer.checks) in texts(app)


@pytest.mark.parametrize("name", ["checkpoint", "paper"])
def test_the_model_is_drawn_with_the_case_flowing_through_it(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """The library's numbers in every box, the equation of the one that is open, and what parts are worth."""
    point_app_at(monkeypatch, DEMO / "dataset", DEMO / name)
    flow = describe_flow(build_edited_case(Workspace.open(DEMO / "dataset", DEMO / name).predictor, 2417))
    app = calm_view("explain", case="2417", half="model" if name == "paper" else "The model")  # the second is older
    assert app.query_params["half"] == "model"
    assert app.title[0].value.startswith("Habit decides between places a user knows; ")
    shown = chart_texts(app)
    assert {f"<b>Score {points(flow.places[0].score)}</b>", f"<b>{ordinal(flow.places[0].rank)}</b>"} <= set(shown)
    for part in flow.parts:
        assert f"<b>{part.title}</b>" in shown
        if part.adds is not None:
            assert any(all(signed_points(added) in text for added in part.adds) for text in shown)
        check_calm(app.selectbox(key="model-part").select(part.name).run())
        assert flow.explain(part.name).equation in [element.value.strip("$\n") for element in app.latex]
    app = check_calm(pills(app, "model-tab").set_value(WORTH_TAB).run())
    assert "3,438 test cases lead to known places" in texts(app)


def test_kinds_of_misses_in_long_tail(predictor: Predictor, city_folder: Path, city_checkpoint: Path) -> None:
    """Long tail's counts sum to the misses; and there is their map."""
    Workspace.open(city_folder, city_checkpoint).ablations()  # kept, so that the page only reads them
    described = describe_misses(predictor.dataset, predictor.cases, describe_ablations(predictor, predictor.cases))
    app = calm_view("long_tail", tab="misses", metric="HR@20")
    table = table_with(app, "Kind")
    assert "Where misses happen" in [header.value for header in app.header]
    expected_counts = count_misses(label_misses(described, 20))
    assert table["Cases"].tolist() == expected_counts["n"][expected_counts["n"] > 0].tolist()
