"""Compare on a small trained city: its words and numbers are the command's, links reproduce it, cells open cases."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch

from analysis.compare.model_table import FORMS
from analysis.compare.words import p_value, ranks_title
from analysis.formatting import ordinal
from analysis.records.accuracy import METRIC_LABELS, fitting_metric
from analysis.records.imported import find_predictions
from analysis.workspace import Workspace
from app.cached.comparisons import all_models_table
from app.settings import AppSettings
from app.sources import find_sources
from recap import columns as c
from recap.checkpoint import Checkpoint
from recap.data.dataset import Dataset
from recap.evaluation.metrics import calibration_error, reliability_curve
from recap.pretrained.curves_file import PretrainedCurves
from recap.training.run import train
from tests.analysis.compare.tables import first_places
from tests.app.app_driver import calm_view, check_calm, open_view, point_app_at, press, table_with, texts
from tests.cli_runner import recap_here, recap_json_here
from tests.shell import assert_refused
from tests.worlds import small_training


def token_of(checkpoint: Path) -> str:
    """The checkpoint in links."""
    return Checkpoint.load(checkpoint).hash[:12]


def test_more_shows_whether_probabilities_can_be_believed(
    city_checkpoint: Path, city: Workspace, city_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The model's calibration error next to its curve; counters have none, nor seeds, and need no model."""
    app = calm_view("compare", a="markov", b=token_of(city_checkpoint))
    error = calibration_error(reliability_curve(city.with_model(city_checkpoint).records()))
    assert f"(calibration error): RECAP {error:.3f}." in texts(app).replace("\\", "")
    point_app_at(monkeypatch, city_folder, None)
    app = calm_view("compare", a="markov", b="visit_count")
    assert "Neither side has probabilities" in texts(app) and "Neither model has seeds" in texts(app)
    key = PretrainedCurves.packaged().key(Dataset.load(city_folder).hash)
    assert "Neither model has seeds" in texts(calm_view("compare", a="markov", b=key[:12]))


@pytest.mark.parametrize("metric", ["hr1", "mrr"])
def test_the_view_shows_the_commands_numbers(
    city: Workspace, city_folder: Path, city_checkpoint: Path, metric: str
) -> None:
    """The headline, the sentences, the table of groups, and the cases that flipped."""
    label, pair = METRIC_LABELS[metric], ("markov", city_checkpoint, "--data", city_folder)
    answer = recap_json_here("compare", *pair, "--metric", metric, "--cell", "only_b")
    app = calm_view("compare", a="markov", b=token_of(city_checkpoint), metric=label)
    shown = texts(app).replace("\\", "").replace("\u2060", "")  # what keeps names from being read as Markdown
    assert answer["headline"] in shown
    assert all(sentence in shown for sentence in answer["sentences"])
    rows = table_with(app, "Points")
    assert rows["Cases"].tolist() == [f"{row['n']:,}" for row in answer["groups"]]
    shown_a = [f"{100 * row['a']:.1f}" if row["n"] else "–" for row in answer["groups"]]
    assert rows[f"{label}, Markov"].tolist() == shown_a
    assert rows["p"].tolist() == [p_value(float("nan") if row["p"] is None else row["p"]) for row in answer["groups"]]
    count = answer["groups"][0]["only_b"]
    assert len(answer["cell"]["cases"]) == count
    assert count == 0 or len(table_with(app, ranks_title("Markov", "RECAP"))) == count


def test_links_reproduce_the_choice(city: Workspace, city_checkpoint: Path) -> None:
    """A, B, metric, list and the opened case; the default is the model against visit count."""
    params = {"a": "popularity", "b": "feature_curves", "metric": "HR@1", "open": "3"}
    app = calm_view("compare", cell="only_a", **params)
    assert "Case 3, seen" in texts(app)
    assert (app.query_params["a"], app.query_params["open"], app.query_params["cell"]) == ("popularity", "3", "only_a")
    strange = calm_view("compare", a="0123456789ab", open="99999")
    sides = {side: strange.query_params[side] for side in "ab"}
    assert sides == {"a": "visit_count", "b": token_of(city_checkpoint)}


def test_a_row_opens_its_case_unless_the_list_has_changed(city: Workspace, city_folder: Path) -> None:
    """A click shows both sides' best places; one that was meant for the list before does nothing."""
    app = calm_view("compare", a="popularity", b="feature_curves", metric="HR@1")
    pair = ("popularity", "feature_curves", "--data", city_folder, "--metric", "hr1")
    listed = [row["case"] for row in recap_json_here("compare", *pair, "--cell", "only_b")["cell"]["cases"]]
    key = "flipped-popularity-feature_curv-1-only_b"
    app.session_state[key] = {"selection": {"rows": [], "columns": [], "cells": [[1, "Seen"]]}}
    check_calm(app.run())
    assert app.query_params["open"] == str(listed[1])
    both = table_with(app, "Feature curves")
    scored = city.with_model("feature_curves").records_with_lists().iloc[listed[1]]
    best = [city.labels[poi] for poi in scored[c.TOP_POIS][:3]]
    assert both["Feature curves"].str.removeprefix("◎ ").tolist()[:3] == best
    app = app.button(key="exchange").click().run()
    app.query_params["a"], app.query_params["b"] = "popularity", "feature_curves"  # as the browser still shows it
    app.session_state[key] = {"selection": {"rows": [], "columns": [], "cells": [[0, "Seen"]]}}
    check_calm(app.run())
    assert (app.query_params["a"], app.query_params["open"]) == ("feature_curves", str(listed[1]))


def test_a_cell_opens_in_walk(city: Workspace, city_checkpoint: Path, city_folder: Path) -> None:
    """Walk holds exactly the cell's cases, and says which; a comparison that is not here is said so."""
    pair = ("markov", city_checkpoint, "--data", city_folder)
    listed = recap_json_here("compare", *pair, "--cell", "both", "--metric", "hr5")["cell"]["cases"]
    first = min(row["case"] for row in listed)
    app = calm_view("walk", cases=f"hits:markov:{token_of(city_checkpoint)}:5:both", case=str(first))
    assert f"{len(listed):,} of {len(city.cases):,} cases" in texts(app)
    assert any(button.label == "Both find it" for button in app.button)


def test_imported_predictions_stand_on_a_side(city: Workspace, city_folder: Path, tmp_path: Path, home: Path) -> None:
    """They are offered by name; a metric beyond their lists is refused in one line, a smaller K works."""
    path = first_places(city, "markov", tmp_path / "theirs.csv")
    answer = recap_json_here("import-predictions", path, "--data", city_folder, "--name", "theirs")
    assert answer["shortest_list"] == 6 and answer["cases"] == len(city.cases)
    app = calm_view("compare", a=answer["key"], b="visit_count", metric="HR@1")
    assert "theirs" in app.title[0].value
    refused = open_view("compare", a=answer["key"], b="visit_count", metric="HR@20")
    assert "shortest list has 6 places" in refused.error[0].value
    overview = press(open_view("overview", metric="HR@1"), "all-models")
    assert "theirs" in table_with(overview, "Model")["Model"].tolist()
    models = table_with(press(open_view("overview", metric="HR@20"), "all-models"), "Model")
    assert "theirs" not in models["Model"].tolist()  # HR@20 is not known
    check_calm(open_view("long_tail", model=answer["key"], metric="HR@1"))
    bounds = press(open_view("long_tail", reference=answer["key"], metric="MRR"), "cohorts-table-twin")
    assert "Theirs (at least)" in "".join(table.proto.columns for table in bounds.dataframe)
    pair = ("compare", "theirs", "markov", "--data", city_folder)
    assert_refused(recap_here(*pair, "--metric", "hr20"), "HR@20 is not known", "has 6 places")
    text = recap_here(*pair, "--metric", "mrr", "--cell", "only_b", "--protocol", "trajectory_last")
    assert text.returncode == 0 and "MRR is a lower bound" in " ".join(text.stdout.split())
    assert_refused(
        recap_here(*pair, "--metric", "hr1", "--protocol", "every_next"), "theirs was imported for every_step"
    )
    imported_predictions_open_in_walk_and_explain(city, answer["key"])


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
    listed = table_with(walk, "km")
    assert listed["name"].tolist() == [*best, f"◎ {city.labels[city.cases[c.TARGET].iloc[outside]]}"]
    assert listed[["rank", "value"]].iloc[-1].tolist() == ["–", "–"]
    short = open_view("walk", predictions=key, show="Missed")
    assert "Choose at most 6: the shortest imported list has 6 places" in short.warning[0].value
    explain = calm_view("explain", case=str(inside), predictions=key)
    title = explain.title[0].value
    assert title.startswith("theirs ranks ") and ordinal(records[c.RANK].iloc[inside]) in title
    assert "is imported: a list of 6 of 17 places. It cannot be explained or edited." in texts(explain)
    assert explain.button(key="walk").click().run().query_params["predictions"] == key
    hidden = open_view("explain", case=str(outside), predictions=key, truth="false")
    truth = city.labels[city.cases[c.TARGET].iloc[outside]]
    assert truth not in texts(hidden) and not hidden.dataframe


def test_all_models_in_one_table(
    city: Workspace, city_folder: Path, city_checkpoint: Path, tmp_path: Path, home: Path
) -> None:
    """Download has the command's table, byte for byte: the checkpoint, imports, and the baselines."""
    recap_json_here("import-predictions", first_places(city, "markov", tmp_path / "csv"), "--data", city_folder)
    source, *_ = find_sources(AppSettings.from_environment())
    metric = fitting_metric(city.places_known)
    for form in FORMS:
        asked = ("compare", "--all", city_checkpoint, "--data", city_folder, "--form", form, "--intervals")
        printed = recap_here(*asked, "--against", "visit_count").stdout
        assert printed == all_models_table(source, form, intervals=True, metric=metric, against="Visit count")
    app = press(open_view("compare"), "compare-data")
    labels = [button.proto.label for button in app.get("download_button")]
    assert [label for label in labels if label in ("Markdown", "LaTeX", "CSV")] == ["Markdown", "LaTeX", "CSV"]
    named = "compare-differences-small"
    saved = [json.loads(chart.proto.config)["toImageButtonOptions"]["filename"] for chart in app.get("plotly_chart")]
    assert f"recap-{named}" in saved


def test_models_are_called_by_preset_and_then_by_folder(
    city: Workspace, city_folder: Path, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two seeds of one preset have their folders' names, also if one is trained while the other is open."""
    other, mine = tmp_path / "nyc-recap", home / "checkpoints" / "mine"
    prior = {"kind": "curves", "start": "pretrained"}
    for folder, seed in ((other, 1), (mine, 2)):
        config = small_training(preset="recap", seed=seed, model={"use_correction": False, "prior": prior})
        assert train(city.dataset, config, folder, device=torch.device("cpu")) is not None
        point_app_at(monkeypatch, city_folder, other)
        assert "Only one seed of RECAP was trained" in texts(calm_view("compare", b=token_of(other))) or seed == 2
    app = calm_view("compare", a=token_of(mine), b=token_of(other))
    assert {"RECAP (mine)", "RECAP (nyc-recap)", "RECAP, pretrained"} <= set(app.selectbox(key="pick_b").options)
    assert "RECAP (nyc-recap)" in app.title[0].value.replace("\\", "")
    assert "how far two seeds of one model differ" in texts(app)
    pair = recap_json_here("compare", mine, other, "--data", city_folder)
    assert [pair[side]["label"] for side in "ab"] == ["RECAP (mine)", "RECAP (nyc-recap)"]
