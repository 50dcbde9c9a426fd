"""Compare on a small trained city: its words and numbers are the command's, links reproduce it, cells open cases."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from analysis.compare.importing import import_predictions
from analysis.compare.words import p_value, ranks_title
from analysis.formatting import ordinal
from analysis.records.imported import find_predictions, keep_predictions
from analysis.workspace import Workspace
from app.cached.comparisons import cell_cases, side_options
from app.settings import AppSettings
from app.sources import find_sources
from recap import columns as c
from recap.checkpoint import Checkpoint
from recap.evaluation.reliability import calibration_error, reliability_curve
from tests.app.app_driver import calm_view, check_calm, open_view, press, texts
from tests.cli_runner import recap_here, recap_json_here
from tests.shell import assert_refused


def table_of(app: Any, column: str) -> pd.DataFrame:
    """The table that has a column."""
    return next(item.value for item in app.dataframe if column in item.value)


def test_counters_compare_without_a_model(counting: None) -> None:
    """A dataset alone is enough, and no seeds or parts are spoken of."""
    app = calm_view("compare", a="markov", b="visit_count")
    assert "Neither model has seeds" in texts(app)


def test_more_shows_whether_probabilities_can_be_believed(city_checkpoint: Path, city: Workspace) -> None:
    """The model's calibration error next to its curve; a counter has none."""
    app = calm_view("compare", a="markov", b=Checkpoint.load(city_checkpoint).hash[:12])
    error = calibration_error(reliability_curve(city.with_model(city_checkpoint).records()))
    assert f"(calibration error): RECAP {error:.3f}." in texts(app).replace("\\", "")
    assert "Neither side has probabilities" in texts(open_view("compare", a="markov", b="visit_count"))


@pytest.mark.parametrize("metric", ["hr1", "mrr"])
def test_the_view_shows_the_commands_numbers(
    city: Workspace, city_folder: Path, city_checkpoint: Path, metric: str
) -> None:
    """The headline, the sentences, the table of groups, and the cases that flipped."""
    label = {"hr1": "HR@1", "mrr": "MRR"}[metric]
    token = Checkpoint.load(city_checkpoint).hash[:12]
    answer = recap_json_here(
        "compare", "markov", city_checkpoint, "--data", city_folder, "--metric", metric, "--cell", "only_b"
    )
    app = calm_view("compare", a="markov", b=token, metric=label)
    shown = texts(app).replace("\\", "").replace("\u2060", "")  # what keeps names from being read as Markdown
    assert answer["headline"] in shown
    assert all(sentence in shown for sentence in answer["sentences"])
    rows = table_of(app, "Points")
    assert rows["Cases"].tolist() == [f"{row['n']:,}" for row in answer["groups"]]
    assert rows[f"{label}, Markov"].tolist() == [
        f"{100 * row['a']:.1f}" if row["n"] else "–" for row in answer["groups"]
    ]
    assert rows["p"].tolist() == [p_value(float("nan") if row["p"] is None else row["p"]) for row in answer["groups"]]
    count = next(row["only_b"] for row in answer["groups"] if row["group"] == "all")
    assert len(answer["cell"]["cases"]) == count
    if count:
        assert len(table_of(app, ranks_title("Markov", "RECAP"))) == count


def test_links_reproduce_the_choice(city: Workspace, city_checkpoint: Path) -> None:
    """A, B, metric, list and the opened case; what is not here gets a sentence and the default.

    That is the model against visit count.
    """
    params = {"a": "popularity", "b": "feature_curves", "metric": "HR@1", "open": "3"}
    app = calm_view("compare", cell="only_a", **params)
    assert "Case 3, seen" in texts(app)
    assert (app.query_params["a"], app.query_params["open"], app.query_params["cell"]) == ("popularity", "3", "only_a")
    strange = calm_view("compare", a="0123456789ab", open="99999")
    sides = {side: strange.query_params[side] for side in "ab"}
    assert sides == {"a": "visit_count", "b": Checkpoint.load(city_checkpoint).hash[:12]}
    assert [warning.value[:21] for warning in strange.warning] == ["The link's model A is", "The link's case is no"]


def test_a_row_opens_its_case_unless_the_list_has_changed(city: Workspace) -> None:
    """A click shows both sides' best places; one that was meant for the list before does nothing."""
    app = calm_view("compare", a="popularity", b="feature_curves", metric="HR@1")
    listed = comparisons_of(app)
    key = "flipped-popularity-feature_curv-1-only_b"
    app.session_state[key] = {"selection": {"rows": [], "columns": [], "cells": [[1, "Seen"]]}}
    check_calm(app.run())
    assert app.query_params["open"] == str(listed[1])
    both = table_of(app, "Feature curves")
    scored = city.with_model("feature_curves").records_with_lists().iloc[listed[1]]
    best = [city.labels[poi] for poi in scored[c.TOP_POIS][:3]]
    assert both["Feature curves"].str.removeprefix("◎ ").tolist()[:3] == best
    app = app.button(key="exchange").click().run()
    app.query_params["a"], app.query_params["b"] = "popularity", "feature_curves"  # as the browser still shows it
    other = "flipped-feature_curv-popularity-1-only_b"
    app.session_state[other] = {"selection": {"rows": [], "columns": [], "cells": [[0, "Seen"]]}}
    check_calm(app.run())
    assert (app.query_params["a"], app.query_params["open"]) == ("feature_curves", str(listed[1]))


def comparisons_of(app: Any) -> list[int]:
    """The cases that B alone finds, in the order of the list."""
    source = find_sources(AppSettings.from_environment())[0]
    options = side_options(source)
    a, b = (options[app.query_params[side]] for side in "ab")
    return [int(case) for case in cell_cases(a, b, 1, "only_b")[c.CASE]]


def test_a_cell_opens_in_walk(city: Workspace, city_checkpoint: Path, city_folder: Path) -> None:
    """Walk holds exactly the cell's cases, and says which; a comparison that is not here is said so."""
    token = Checkpoint.load(city_checkpoint).hash[:12]
    answer = recap_json_here(
        "compare", "markov", city_checkpoint, "--data", city_folder, "--cell", "both", "--metric", "hr5"
    )
    first = min(row["case"] for row in answer["cell"]["cases"])
    app = calm_view("walk", cases=f"hits:markov:{token}:5:both", case=str(first))
    assert f"{len(answer['cell']['cases']):,} of {len(city.cases):,} cases" in texts(app)
    assert any(button.label == "Both find it" for button in app.button)
    elsewhere = open_view("walk", cases="hits:markov:0123456789ab:5:both")
    assert "cannot be read" in elsewhere.warning[0].value


def test_imported_predictions_stand_on_a_side(
    city: Workspace, city_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are offered by name; a metric beyond their lists is refused in one line, a smaller K works."""
    monkeypatch.setenv("RECAP_HOME", str(tmp_path / "home"))
    scored = city.with_model("markov").score()
    ids = city.dataset.pois[c.POI_ID].astype(str).to_numpy()
    rows = [
        (case, ids[poi], score)
        for case, pois, scores in zip(scored[c.CASE], scored[c.TOP_POIS], scored[c.TOP_SCORES], strict=True)
        for poi, score in zip(pois[:6], scores[:6], strict=True)
    ]
    path = tmp_path / "theirs.csv"
    pd.DataFrame(rows, columns=[c.CASE, c.POI_ID, c.SCORE]).to_csv(path, index=False)
    answer = recap_json_here("import-predictions", path, "--data", city_folder, "--name", "theirs")
    assert answer["shortest_list"] == 6 and answer["cases"] == len(city.cases)
    app = calm_view("compare", a=answer["key"], b="visit_count", metric="HR@1")
    assert "theirs" in app.title[0].value
    refused = open_view("compare", a=answer["key"], b="visit_count")
    assert "shortest list has 6 places" in refused.error[0].value
    overview = press(open_view("overview", metric="HR@1"), "all-models")
    check_calm(overview)
    models = table_of(overview, "Model").set_index("Model")
    theirs, markov = (float(str(models.loc[name, "All"]).partition(" ")[0]) for name in ("theirs", "Markov"))
    assert theirs == pytest.approx(markov, abs=0.05)  # ties are cut elsewhere
    models = table_of(press(open_view("overview"), "all-models"), "Model")
    assert "theirs" not in models["Model"].tolist()  # HR@20 is not known
    calm_view("long_tail", model=answer["key"], metric="HR@1")
    assert_refused(
        recap_here("compare", "theirs", "markov", "--data", city_folder), "HR@20 is not known", "has 6 places"
    )
    text = recap_here("compare", "theirs", "markov", "--data", city_folder, "--metric", "mrr", "--cell", "only_b")
    assert text.returncode == 0 and "MRR is a lower bound" in " ".join(text.stdout.split())
    imported_predictions_open_in_walk_and_explain(city, answer["key"])
    again = import_predictions(path, city)
    assert keep_predictions(again[0], city.dataset.hash, "theirs", again[2]).key == answer["key"]


def imported_predictions_open_in_walk_and_explain(city: Workspace, key: str) -> None:
    """A side's button leads there; the list is theirs, and no rank beyond it, no part and no share is shown."""
    compared = calm_view("compare", a=key, b="visit_count", metric="HR@1", open="2")
    app = compared.button(key="flipped-walk").click().run()
    assert app.query_params["predictions"] == key and app.query_params["case"] == "2"
    records = {item.key: item for item in find_predictions(city.dataset.hash)}[key].read(len(city.cases))
    inside, outside = (int(np.flatnonzero(records[c.IN_LIST] == there)[0]) for there in (True, False))
    best = [city.labels[poi] for poi in records[c.TOP_POIS].iloc[outside]]
    walk = calm_view("walk", case=str(outside), predictions=key)
    assert walk.metric[0].value == "not listed" and "so its rank and score are unknown" in texts(walk)
    listed = table_of(walk, "km")
    assert listed["name"].tolist() == [*best, f"◎ {city.labels[city.cases[c.TARGET].iloc[outside]]}"]
    assert listed[["rank", "value"]].iloc[-1].tolist() == ["–", "–"]
    short = open_view("walk", predictions=key, show="Missed")
    assert "Choose at most 6: the shortest imported list has 6 places" in short.warning[0].value
    explain = calm_view("explain", case=str(inside), predictions=key)
    assert (
        explain.title[0].value.startswith("theirs ranks ")
        and ordinal(records[c.RANK].iloc[inside]) in explain.title[0].value
    )
    assert "is imported: a list of 6 of 17 places. It cannot be explained or edited." in texts(explain)
    assert explain.button(key="walk").click().run().query_params["predictions"] == key
    hidden = open_view("explain", case=str(outside), predictions=key, truth="false")
    truth = city.labels[city.cases[c.TARGET].iloc[outside]]
    assert truth not in texts(hidden) and not hidden.dataframe
    gone = open_view("walk", predictions="imported-000000000000")
    assert "are not here" in gone.warning[0].value and "predictions" not in gone.query_params
