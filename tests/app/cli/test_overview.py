"""`recap overview` and `recap compare`: models next to the best of all counters, the nearest place among them."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import streamlit as st

from analysis.compare.side import side_of
from analysis.records.kept_seeds import seed_key
from analysis.workspace import Workspace
from recap import columns as c
from recap.baselines import COUNTING_BASELINES, FEATURE_CURVES
from recap.data.dataset import Dataset
from recap.data.preparation import prepare_dataset
from recap.evaluation.records import write_records
from recap.history.graph import TransitionGraph
from recap.training.baselines import build_baseline
from tests.app.app_driver import check_calm, open_view, point_app_at, press
from tests.checkins import LENIENT, raw_table
from tests.cli_runner import recap_here, recap_json_here
from tests.learn_worlds import DEMO

PLACES = [f"p{number:02}" for number in range(60)]


def street() -> pd.DataFrame:
    """Places in a row, a kilometre apart. In training people jump about at random, and see each place once; in the
    test they walk along the row."""
    rows, splits = [], []
    for user in range(4):
        jumps = np.random.default_rng(user).permutation(60)
        walk = [*jumps, *range(0, 3), *range(60)]
        rows += [(f"u{user}", PLACES[place], float(hour)) for hour, place in enumerate(walk)]
        splits += [c.TRAIN] * 60 + [c.VAL] * 3 + [c.TEST] * 60
    raw = raw_table(rows)
    raw[c.LATITUDE], raw[c.LONGITUDE] = 40 + 0.01 * raw[c.POI_ID].cat.codes, -74.0
    return raw.assign(**{c.SPLIT: np.array(splits, np.int8)})


@pytest.mark.parametrize("command", ["overview", "long-tail", "stats"])
def test_tables_for_people_have_words(command: str, city_folder: Path, city_checkpoint: Path, home: Path) -> None:
    """No name of the code, no True or False; a yes is a yes. JSON keeps the names."""
    words = (command, city_folder) if command == "stats" else (command, city_checkpoint, "--data", city_folder)
    words = (*words, "--full") if command == "long-tail" else words
    shown = recap_here(*words).stdout
    assert not re.search("_|True|False|hr20", shown.replace(str(city_folder), ""))
    assert ("yes" in shown) == (command == "long-tail")
    names = {"overview": "groups", "long-tail": "by_cohort", "stats": "case_tail_share"}
    assert names[command] in recap_json_here(*words)


def test_the_nearest_place_is_the_baseline_where_it_finds_most(tmp_path: Path, home: Path) -> None:
    """Every next place is one of the two nearest, and nothing else says so: counters stand near 20 of 60."""
    prepare_dataset(street(), LENIENT, name="street", source_format="test").save(tmp_path / "data")
    words = ("overview", "--data", tmp_path / "data", "popularity")
    answer = recap_json_here(*words)
    groups = [row for row in answer["groups"] if row["group"] == "all"]
    assert len(groups) == len(COUNTING_BASELINES)
    found = {row["model"]: row["value"] for row in groups}
    assert found.pop("Nearest") == 1.0 and max(found.values()) < 0.6, found
    mine = next(row for row in groups if row["model"] == "Popularity")
    assert mine["baseline"] == "Nearest" and mine["lead_upper"] < 0
    assert answer["headline"].endswith("Ranking by distance finds more: 100 of 100.")
    assert answer["headline"] in recap_here(*words).stdout


def test_feature_curves_are_compared_once_they_were_fitted(
    home: Path, city_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once fitted, as `recap train` leaves it, command and page rank it; a read-only server does not."""
    words = ("overview", "--data", city_folder, "markov")
    dataset = Dataset.load(city_folder)

    def shown(*, read_only: bool) -> pd.DataFrame:
        point_app_at(monkeypatch, city_folder, None, read_only=read_only)
        st.cache_resource.clear()
        table: pd.DataFrame = check_calm(press(open_view("overview"), "all-models")).dataframe[0].value
        return table.set_index("Model")

    for is_fitted in (False, True):
        if is_fitted:
            build_baseline(FEATURE_CURVES, dataset, TransitionGraph.from_dataset(dataset))
        page, answer = shown(read_only=False), pd.DataFrame(recap_json_here(*words)["groups"])
        for models in (page.index, answer["model"]):
            assert ("Feature curves" in set(models)) == is_fitted
        rows = answer[answer["group"] == "tail_known"].set_index("model")
        texts = [f"{row.value:.3f} [{row.lower:.3f}, {row.upper:.3f}]" for row in rows.itertuples()]
        assert page["Rare, place known"][rows.index].tolist() == texts
    monkeypatch.setenv("RECAP_HOME", str(home.parent / "other"))
    build_baseline(FEATURE_CURVES, dataset, TransitionGraph.from_dataset(dataset))
    assert "Feature curves" not in shown(read_only=True).index


def test_the_demo_city_against_visit_count(home: Path) -> None:
    """The checkpoint's own numbers with five guesses, as a user knows 32 places; four more seeds are the spread."""
    answer = recap_json_here("compare", "visit_count", DEMO / "checkpoint", "--data", DEMO / "dataset")
    assert [answer[side]["seeds"] for side in "ab"] == [1, 5]
    assert answer["headline"].startswith("RECAP beats visit count on rare transitions (+")
    every = next(row for row in answer["groups"] if row["group"] == "all")
    value = Workspace.open(DEMO / "dataset", DEMO / "checkpoint").records()[c.RANK].le(5).mean()
    assert every["b"] == pytest.approx(value, abs=1e-3) and every["verdict"] == "b"


def test_a_seed_whose_checkpoint_is_given_counts_once(city_folder: Path, city_checkpoint: Path, home: Path) -> None:
    """Ranks kept of the checkpoint's own seed add nothing, those of another one table."""
    model = Workspace.open(city_folder, city_checkpoint)
    assert model.checkpoint is not None
    own = model.checkpoint.manifest.train.seed
    for seeds, others in (([own], 0), ([own, own + 1], 1)):
        for seed in seeds:
            key = seed_key(model.dataset.hash, model.key, seed)
            write_records(model.records(), key.cached(), key.metadata)
        assert len(side_of(model).replicates) == others
    assert len(side_of(model, [model]).replicates) == 2
