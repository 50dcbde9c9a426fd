"""Experiments with rivals: arms that train, arms that are not run, arms that wait for predictions from elsewhere."""

from pathlib import Path
from typing import Any

import pytest
import torch

from analysis.experiments.results import measure_records, value_at
from analysis.experiments.running import run_experiment
from analysis.experiments.spec import check_spec, load_spec
from analysis.experiments.tables import markdown
from analysis.records.imported import keep_predictions
from recap import columns as c
from recap.baselines.building import build_baseline
from recap.errors import ConfigError
from recap.evaluation.evaluate import evaluate
from recap.evaluation.metrics import metrics_by_group
from recap.graph import TransitionGraph
from recap.rivals.config import RivalConfig
from recap.training_config import TrainConfig
from tests.recap.rivals.variants import SMALL
from tests.worlds import small_city

SPEC: dict[str, Any] = {
    "name": "three-arms",
    "title": "Three arms",
    "question": "Who is there?",
    "preset": "flashback",
    "epochs": 1,
    "seeds": [1, 2],
    "columns": [
        {"key": "every_step.all.hr1", "label": "HR@1"},
        {"key": "cost.parameters", "label": "learned numbers", "digits": 0},
    ],
    "compare": [["mine", "later"]],
    "arms": [
        {"name": "mine", "label": "Flashback", "seeds": 1, "changes": [f"dim={SMALL['flashback']['dim']}"]},
        {"name": "later", "label": "GETNext", "preset": "getnext", "not_run": "about 5 h"},
        {"name": "theirs", "label": "LLM4POI", "imported": "LLM4POI"},
    ],
}


def test_rows_that_are_there_and_rows_that_are_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One seed of two is trained; the second arm says what it would take, the third what it needs, until it has it."""
    monkeypatch.setenv("RECAP_HOME", str(tmp_path / "home"))
    city, cpu = small_city(), torch.device("cpu")
    spec = check_spec(SPEC)

    def run() -> str:
        result = run_experiment(spec, city, tmp_path / "out", device=cpu, command="x", log=lambda _: None)
        assert result.finished and [arm.arm for arm in result.arms] == ["mine", "later", "theirs"]
        assert result.comparisons == ()
        trained = result.arms[0].values
        # Two tables of 6 numbers a row for 17 places and 8 users, 6 x 6 twice and two biases of 6 in the recurrent
        # network, its start, and 2 x 6 + 1 numbers for each place's output.
        assert value_at(trained, "cost.parameters") == 6 * (17 + 8) + 2 * 36 + 2 * 6 + 6 + 17 * 13
        return markdown(result)

    text = run()
    assert "| GETNext (not run, about 5 h) | – | – |" in text
    assert "| LLM4POI (needs their output: `recap import-predictions` as LLM4POI) | – | – |" in text
    graph = TransitionGraph.from_dataset(city)
    records = evaluate(build_baseline("markov", city, graph), city, graph).records
    listed = records.assign(**{c.LISTED: city.num_pois, c.IN_LIST: True})
    keep_predictions(listed, city.hash, "LLM4POI", "a" * 64)
    hr1 = metrics_by_group(records)["all"]["hr1"]
    assert f"| LLM4POI | {hr1:.4f} | – |".replace(" 0.", " .") in run()


def test_short_lists_say_no_more_than_they_hold() -> None:
    """Imported lists of five places tell HR@1 and HR@5, and nothing of HR@10, HR@20 or NDCG@20."""
    city, graph = small_city(), TransitionGraph.from_dataset(small_city())
    records = evaluate(build_baseline("markov", city, graph), city, graph).records
    records[c.LISTED], records[c.IN_LIST] = 5, records[c.RANK] <= 5
    values = measure_records(records, city)
    for protocol in ("every_step", "trajectory_last"):
        found = values[protocol]["all"]
        assert found["hr1"] is not None and found["hr5"] is not None
        assert (found["hr10"], found["hr20"], found["ndcg20"]) == (None, None, None)
    assert set(values["reweighted"]) == set(values["deviation"]["all"]) == {"hr1", "hr5", "mrr"}


def test_the_targets_time_has_a_table_of_its_own() -> None:
    """No arm of `rivals` is given it, every trained one of the other is."""

    def given(config: TrainConfig | RivalConfig) -> bool:
        if isinstance(config, TrainConfig):
            return config.model.use_future_time
        return bool(config.options.get("target_time"))

    for name, wanted in (("rivals", False), ("rivals-target-time", True)):
        spec = load_spec(name)
        assert {given(spec.train_config(arm, 1)) for arm in spec.arms if arm.trains} == {wanted}


def test_arms_that_contradict_themselves_are_refused() -> None:
    """A baseline is not left out for its time, and nothing is two things."""
    for arm in ({"baseline": "markov", "not_run": "1 h"}, {"baseline": "markov", "imported": "X"}):
        with pytest.raises(ConfigError, match="a baseline has no"):
            check_spec(SPEC | {"arms": [{"name": "a", "label": "A", **arm}], "compare": []})
