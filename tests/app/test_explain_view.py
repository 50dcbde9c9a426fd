"""The Explain view: the library's numbers, edits and their undo, links good and bad, hostile names."""

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from analysis.cases.library import Library
from analysis.cases.saved_case import SavedCase
from analysis.explain.explanation import CaseExplanation, explain_case
from analysis.explain.robustness import describe_checks
from analysis.formatting import ordinal, points, signed, signed_points
from analysis.long_tail.misses import count_misses, describe_misses, label_misses
from analysis.records.ablations import describe_ablations
from analysis.records.kept_seeds import seed_key
from app.components.explain.candidate_pair import find_place
from app.settings import READ_ONLY_VARIABLE, AppSettings
from app.sources import find_sources
from recap import columns as c
from recap.evaluation.records import write_records
from recap.predictor import Predictor
from tests.app.app_driver import check_calm, open_view, point_app_at, texts
from tests.app.test_hostile_data import change_names, hostile_dataset
from tests.untrained import write_untrained_checkpoint
from tests.worlds import habit_rows


@pytest.fixture
def predictor(monkeypatch: pytest.MonkeyPatch, city_folder: Path, city_checkpoint: Path) -> Predictor:
    """The app pointed at the small city and its checkpoint."""
    point_app_at(monkeypatch, city_folder, city_checkpoint)
    return Predictor.load(city_checkpoint, city_folder)


def expected(predictor: Predictor, case: int, edits: str = "") -> CaseExplanation:
    from analysis.explain.edits import parse_edits

    return explain_case(predictor, case, edits=parse_edits(edits))


def chart_texts(app: AppTest) -> list[str]:
    """Names and numbers of the chart of contributions."""
    chart = json.loads(app.get("plotly_chart")[0].proto.spec)
    return [note["text"] for note in chart["layout"]["annotations"]]


def choose_tab(app: AppTest, name: str) -> AppTest:
    """Open one of the parts below the score."""
    group = next(group for group in app.button_group if group.key == "explain-tab")
    return group.set_value(name).run()


def library_cases(predictor: Predictor) -> list[SavedCase]:
    return [stored.value for stored in Library.of_user().read().of(predictor.dataset.hash, predictor.checkpoint.hash)]


def note_of(app: AppTest) -> Any:
    return next(field for field in app.text_input if str(field.key).startswith("case_note"))


def described_misses(predictor: Predictor) -> pd.DataFrame:
    return describe_misses(predictor.dataset, predictor.cases, describe_ablations(predictor, predictor.cases))


def test_shows_what_the_library_explains(predictor: Predictor) -> None:
    """Heading, chart and tables are the library's numbers."""
    app = open_view("explain", case="3")
    check_calm(app)
    told = expected(predictor, 3)
    assert f"{ordinal(told.target_rank)} of {told.num_places:,}" in app.title[0].value
    shown = chart_texts(app)
    for entry in (told.a, told.b):
        assert f"<b>{points(entry.score)}</b>" in shown
        assert {signed_points(value) for value in entry.groups.values()} <= set(shown)
    app = choose_tab(app, "Past visits")
    check_calm(app)
    listed = [frame.value for frame in app.dataframe if "When" in frame.value.columns]
    visits = [visit for place in told.visits for visit in place.visits[::-1] if visit.rank_without is not None]
    assert [len(frame) for frame in listed] == ([len(visits)] if visits else [])


def test_any_two_places_can_be_compared(predictor: Predictor) -> None:
    """A link names both; heading and chart are the library's for these two, and the address keeps them."""
    usual = expected(predictor, 3)
    first, second = [entry.poi for entry in usual.candidates if entry.poi not in (usual.target, usual.runner_up)][:2]
    asked = explain_case(predictor, 3, about=first, against=second)
    app = open_view("explain", case="3", about=str(first), against=str(second))
    check_calm(app)
    assert f"{ordinal(asked.target_rank)} of {asked.num_places:,}" in app.title[0].value
    assert "The user went to" in app.title[0].value
    for entry in (asked.a, asked.b):
        assert f"<b>{points(entry.score)}</b>" in chart_texts(app)
    assert (app.query_params["about"], app.query_params["against"]) == (str(first), str(second))


def test_both_places_are_chosen_freely(predictor: Predictor) -> None:
    """From the list or by a typed name; what was not touched stays; a name that nobody bears gets a sentence."""
    usual = expected(predictor, 3)
    other = next(entry.poi for entry in usual.candidates if entry.poi not in (usual.target, usual.runner_up))
    app = open_view("explain", case="3")
    app = app.selectbox(key="pair_about").set_value(other).run()
    check_calm(app)
    assert (app.query_params["about"], app.query_params["against"]) == (str(other), str(usual.runner_up))
    name = predictor.dataset.poi_labels[usual.target]
    found = find_place(find_sources(AppSettings.from_environment())[0], 3, f" {name.upper()} ", other)
    assert found is not None and predictor.dataset.poi_labels[found] == name
    assert find_place(find_sources(AppSettings.from_environment())[0], 3, "no such place", other) is None
    app = app.selectbox(key="pair_about").set_value(usual.target).run()
    assert "about" not in app.query_params and not app.warning


def test_a_case_is_saved_with_its_note(predictor: Predictor, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Save writes a link and a note."""
    monkeypatch.setenv("RECAP_HOME", str(tmp_path))
    monkeypatch.setenv(READ_ONLY_VARIABLE, "")
    usual = expected(predictor, 3)
    app = open_view("explain", case="3", edits="off:past_visits", about=str(usual.runner_up))
    note_of(app).set_value("looks *odd*")
    app.button(key="save").click().run()
    check_calm(app)
    (saved,) = library_cases(predictor)
    assert (saved.link.case, saved.link.about, saved.link.edits) == (3, usual.runner_up, "off:past_visits")
    assert saved.note == "looks *odd*"


def test_a_read_only_app_saves_nothing(predictor: Predictor, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No button, and the server refuses where one is pressed all the same."""
    monkeypatch.setenv("RECAP_HOME", str(tmp_path))
    app = open_view("explain", case="3")
    assert not [button for button in app.button if button.key == "save"]
    monkeypatch.setenv(READ_ONLY_VARIABLE, "")
    app = open_view("explain", case="3")
    monkeypatch.setenv(READ_ONLY_VARIABLE, "1")
    app.button(key="save").click().run()
    assert library_cases(predictor) == [] and "read-only" in app.warning[0].value.replace("\\", "")


def test_edits_change_the_answer_and_undo_restores_it(predictor: Predictor) -> None:
    """A part switched off in the link, undone, redone, reset; the address follows."""
    explanation = expected(predictor, 3, "off:past_visits")
    app = open_view("explain", case="3", edits="off:past_visits")
    check_calm(app)
    assert f"→ {ordinal(explanation.target_rank)}" in app.metric[0].value
    before = ordinal(expected(predictor, 3).target_rank)
    buttons = {button.label: button for button in app.button}
    app = buttons["Undo"].click().run()
    assert app.metric[0].value == before and "edits" not in app.query_params
    app = next(button for button in app.button if button.label == "Redo").click().run()
    assert app.query_params["edits"] == "off:past_visits"
    app = next(button for button in app.button if button.label == "Reset").click().run()
    assert "edits" not in app.query_params
    check_calm(app)


def test_the_hour_slider_is_an_edit(predictor: Predictor) -> None:
    """Moving the slider adds an edit that the library understands."""
    app = open_view("explain", case="3")
    value = app.slider[0].value
    assert isinstance(value, int)
    hour = (value + 7) % 24
    app = app.slider[0].set_value(hour).run()
    check_calm(app)
    assert app.query_params["edits"] == f"hour:{hour:02d}:00"
    explanation = expected(predictor, 3, f"hour:{hour}")
    assert f"→ {ordinal(explanation.target_rank)}" in app.metric[0].value


def test_apply_takes_the_form_as_it_is_at_the_click(predictor: Predictor) -> None:
    """A kind chosen, or a number typed, just before the click counts: no edit of a form that is gone."""
    app = open_view("explain", case="3")
    next(group for group in app.button_group if group.key == "edit_kind").set_value("edge")
    app = app.button(key="edit_apply").click().run()
    kind, step, count = app.query_params["edits"].split(":")
    assert kind == "edge"
    app.number_input(key="edit_count").set_value(int(count) + 2)
    app = app.button(key="edit_apply").click().run()
    check_calm(app)
    assert app.query_params["edits"].endswith(f"edge:{step}:{int(count) + 2}")


def test_smallest_edit_is_found_and_applied_when_asked(predictor: Predictor) -> None:
    """Nothing before the button is pressed; then the edit of the library, which can be applied."""
    app = open_view("explain", case="3")
    assert "edits:" not in texts(app)
    app = app.button(key="search").click().run()
    check_calm(app)
    found = explain_case(predictor, 3, search=True)
    assert f"{found.tried} " in texts(app)
    if found.flip is not None:
        app = app.button(key="apply_smallest").click().run()
        check_calm(app)
        assert app.query_params["edits"] == found.flip.text


def test_stability_is_the_librarys_table(predictor: Predictor, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The robustness checks with two kept seeds, and their finding."""
    monkeypatch.setenv("RECAP_HOME", str(tmp_path))
    st.cache_resource.clear()  # kept seeds are looked up again only after a while
    table = describe_ablations(predictor, predictor.cases)
    for seed in (1, 2):
        key = seed_key(predictor.dataset.hash, predictor.checkpoint.hash, seed)
        write_records(table, key.cached(), key.metadata)
    told = explain_case(predictor, 3, counterfactuals=False, checks=True, seeds={1: table, 2: table})
    assert told.checks
    app = choose_tab(open_view("explain", case="3"), "Is it stable?")
    check_calm(app)
    shown = next(frame.value for frame in app.dataframe if "Permutation test" in frame.value.columns)
    assert shown.to_numpy().tolist() == [list(check.cells.values()) for check in told.checks]
    assert describe_checks(told.checks) in texts(app)


@pytest.mark.parametrize(
    ("params", "part"),
    [
        ({"edits": "edge:1-2:-1"}, "cannot be negative"),
        ({"edits": "remove:9999"}, "there is no visit 9999"),
        ({"edits": "nonsense"}, "unknown edit"),
        ({"against": "99999"}, "not in this dataset"),
        ({"about": "99999"}, "first place is not in this dataset"),
        ({"about": "-1"}, "first place is not in this dataset"),
        ({"case": "99999"}, "There is no case"),
        ({"source": "0123456789ab"}, "made with another model or dataset"),
    ],
)
def test_bad_links_get_a_sentence(predictor: Predictor, params: dict[str, str], part: str) -> None:
    """A warning, and the case as it was."""
    assert predictor
    app = open_view("explain", **({"case": "3"} | params))
    check_calm(app)
    warnings = " ".join(warning.value for warning in app.warning).replace("\\", "")
    assert part in warnings and app.title[0].value


def test_without_a_model_it_says_what_to_do(monkeypatch: pytest.MonkeyPatch, city_folder: Path) -> None:
    """A dataset alone cannot be explained."""
    point_app_at(monkeypatch, city_folder, None)
    app = open_view("explain")
    check_calm(app)
    assert "recap train" in app.code[0].value
    point_app_at(monkeypatch, None, None)
    assert open_view("explain").title[0].value == "Nothing to open yet"


def test_hostile_names_stay_text(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Names that look like markup, links or images are shown as they are."""
    dataset = hostile_dataset(change_names, habit_rows())
    dataset.save(tmp_path / "data")
    point_app_at(monkeypatch, tmp_path / "data", write_untrained_checkpoint(dataset, tmp_path / "checkpoint"))
    app = open_view("explain", case="1")
    check_calm(app)
    assert dataset.pois[c.CATEGORY].str.contains("script").any()
    for text in texts(app).splitlines():
        assert "](" not in text.replace("\\]\\(", "").replace(":orange[", "").replace(":blue[", "") or "\\" in text
        assert "<script" not in text.replace("\\<script", "")


@pytest.mark.parametrize("name", ["checkpoint", "paper"])
def test_both_bundled_models_open(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Every part below the score; curves where the model has them; a group left out by a link."""
    bundle = Path(__file__).parents[2] / "checkpoints" / "demo-city"
    point_app_at(monkeypatch, bundle / "dataset", bundle / name)
    predictor = Predictor.load(bundle / name, bundle / "dataset")
    app = open_view("explain", case="2417")
    check_calm(app)
    told = expected(predictor, 2417)
    table = next(frame.value for frame in app.dataframe if "Through" in frame.value.columns)
    assert table["Through"].tolist() == [path.name for path in told.paths]
    if name == "checkpoint":
        assert table["Points"].tolist() == [signed(path.points or 0.0) for path in told.paths]
    shown = next(frame.value for frame in app.dataframe if "Feature" in frame.value.columns)
    assert len(shown) == sum(bool(told.a.terms[term] or told.b.terms[term]) for term in told.a.terms)
    group = next(group for group in app.button_group if group.key == "explain-tab")
    assert ("Curves" in group.options) == (name == "checkpoint")
    for tab in ("Past visits", "Map", "Is it stable?", *(["Curves"] if name == "checkpoint" else [])):
        app = choose_tab(app, tab)
        check_calm(app)
    off = expected(predictor, 2417, "off:past_visits")
    assert f"<b>{points(off.a.score)}</b>" in chart_texts(open_view("explain", case="2417", edits="off:past_visits"))


def test_kinds_of_misses_in_long_tail(predictor: Predictor) -> None:
    """Long tail's counts sum to the misses."""
    described = described_misses(predictor)
    app = open_view("long_tail", tab="Where it misses")
    check_calm(app)
    table = next(table.value for table in app.dataframe if "Kind" in table.value.columns)
    expected_counts = count_misses(label_misses(described, 20))
    assert table["Cases"].tolist() == expected_counts["n"][expected_counts["n"] > 0].tolist()
