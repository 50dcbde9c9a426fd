"""Causes in the views: filters and cards say "found by" only where an ablation shows it."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import streamlit as st

from analysis.records.ablations import describe_ablations
from analysis.records.case_filters import CAUSES, filter_cases
from analysis.records.causes import ablations_key, found_by
from analysis.workspace import Workspace
from recap.asking.predictor import Predictor
from recap.evaluation.records import write_records
from tests.app.app_driver import calm_view, click, never, texts, without_model


@pytest.fixture(autouse=True)
def _own_cache(home: Path) -> None:
    st.cache_resource.clear()  # ablations that another test has made are not known here


def ablations_of(predictor: Predictor) -> pd.DataFrame:
    """Made again, kept nowhere."""
    return describe_ablations(predictor, predictor.cases)


@pytest.mark.parametrize(("name", "label"), [("hops", "Needs two hops"), ("history", "Needs past visits")])
def test_walk_finds_by_ablation(predictor: Predictor, name: str, label: str) -> None:
    """With a checkpoint a filter counts the cases that the ablation loses, whether chosen by hand or by a link."""
    ablations = ablations_of(predictor)
    k = next(k for k in (1, 5, 10, 20) if found_by(ablations, CAUSES[name], k).any())
    found = np.flatnonzero(found_by(ablations, CAUSES[name], k))
    app = calm_view("walk", show=label, k=str(k))
    assert f"{len(found):,} of {len(ablations):,} cases" in texts(app)
    assert app.session_state["case"] == found[0] and app.query_params["show"] == label


def test_walk_of_a_baseline_says_what_coincides(city_folder: Path, counting: None) -> None:
    """A counting baseline has no ablations: the filter is called by what it is, and counts that."""
    opened = Workspace.open(city_folder)

    def records(name: str) -> pd.DataFrame:
        return opened.with_model(name).records_with_lists()

    found = filter_cases(records("count_plus_markov"), records("markov"), ["history"], k=5)
    app = calm_view("walk", show="Found, known place", k="5", source=without_model(city_folder))
    assert f"{len(found):,} of {len(opened.cases):,} cases" in texts(app)
    options = [option.content for option in app.pills(key="show").proto.options]
    assert "Found, within two hops" in options and "Needs two hops" not in options


def test_walk_waits_for_ablations_only_where_a_filter_needs_them(
    predictor: Predictor, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No ablation is made without a filter, nor for the filters that need none."""
    monkeypatch.setattr("analysis.workspace.workspace.table_in_pieces", never)
    calm_view("walk", case="2")
    calm_view("walk", show="Never seen")


def test_cards_of_overview_are_causes(predictor: Predictor) -> None:
    """Without a kept table a few cases are ablated; with one the cards show its ranks, or say that none is lost."""
    app = calm_view("overview")
    assert "is lost without" not in texts(app)
    ablations = ablations_of(predictor)
    number = int(np.flatnonzero(ablations["rank"] <= 20)[0])
    for name in ("past_visits", "graph_token"):
        ablations[f"without_{name}"] = ablations["rank"]
    ablations.loc[number, "without_past_visits"] = 41.0
    key = ablations_key(predictor.dataset.hash, predictor.checkpoint.hash)
    write_records(ablations, key.cached(), key.metadata)
    st.cache_resource.clear()
    app = calm_view("overview")
    assert "Needs past visits" in texts(app) and "Needs two-hop paths" not in texts(app)
    assert "41st" in [metric.value for metric in app.metric]
    assert "No case in the top 20 is lost without two-hop paths." in texts(app)
    app.button(key="open-past_visits").click().run()
    assert app.query_params["case"] == str(number)


def test_ablations_run_from_long_tail(predictor: Predictor, monkeypatch: pytest.MonkeyPatch) -> None:
    """The tab asks for them; once they were run it shows what each part is worth."""
    monkeypatch.setenv("RECAP_APP_READ_ONLY", "")
    app = calm_view("long_tail", tab="What each part is worth")  # as older links name it
    assert app.query_params["tab"] == "worth"
    assert "Not measured yet" in texts(app)
    click(app, "run-ablations")
    assert "Not measured yet" not in texts(app)
