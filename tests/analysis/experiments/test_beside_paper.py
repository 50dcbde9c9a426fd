"""The paper's twelve columns beside ours: numbers from a small table, and nothing where no interval was measured."""

import numpy as np
import pandas as pd
import pytest

from analysis.experiments.beside_paper import twelve_columns
from analysis.experiments.results import ArmResult, ExperimentResult
from analysis.experiments.spreads import spreads
from recap import columns as c


def records() -> pd.DataFrame:
    """Two users with two cases each: head hits at once, tail targets stand at 1 and 4."""
    better = np.array([0, 0, 0, 3])
    return pd.DataFrame(
        {
            c.USER: [0, 0, 1, 1],
            c.TRANSITION_COUNT: [5, 1, 5, 0],
            c.NUM_BETTER: better,
            c.NUM_TIED: 1,
            c.RECIPROCAL_RANK: 1.0 / (1 + better),
        }
    )


def test_spreads_by_hand() -> None:
    """HR@1 is 1 for user 0 and 1/2 for user 1: draws of two users give 1/2, 3/4 or 1. Tail: 1 and 0."""
    found = spreads(records())
    assert found["all"]["hr1"] == pytest.approx({"low": 0.5, "high": 1.0})
    assert found["tail"]["hr1"] == {"low": 0.0, "high": 1.0}
    assert found["head"]["mrr"] == {"low": 1.0, "high": 1.0}


def result(values: dict[str, object]) -> ExperimentResult:
    arm = ArmResult(
        arm="one",
        label="One",
        seed=1,
        digest="x",
        values=values,
        paper={"trajectory_last.all.hr1": 0.5, "trajectory_last.tail.mrr": 0.25},
    )
    return ExperimentResult(
        experiment="e",
        title="E",
        question="?",
        dataset_name="d",
        dataset_hash="0",
        synthetic=True,
        seeds=(1,),
        columns=(),
        arms=(arm,),
        finished=True,
        command="",
        date="",
        hardware="",
        versions={"torch": ""},
    )


def test_twelve_columns_by_hand() -> None:
    """The paper's .5 of 958 cases is .5 -+ 1.96 x .5 / sqrt(958) = .0317; MRR .25 of 645 has our deviation, here .3."""
    metric = {"hr1": 0.75, "hr20": 1.0, "ndcg20": 0.9, "mrr": 0.8125, "n": 4}
    spread = {name: {"low": 0.5, "high": 1.0} for name in ("hr1", "hr20", "ndcg20", "mrr")}
    deviation = dict.fromkeys(spread, 0.3)
    groups = ("all", "head", "tail")
    intervals = {"spread": dict.fromkeys(groups, spread), "deviation": dict.fromkeys(groups, deviation)}
    rows = twelve_columns(result({"trajectory_last": dict.fromkeys(groups, metric)} | intervals))
    assert [row.column for row in rows[:5]] == ["HR@1", "HR@20", "NDCG@20", "MRR", "head HR@1"]
    assert rows[0] == ("One", "HR@1", ".7500 [.5000, 1.0000], n = 4", ".5000 [.4683, .5317], n = 958")
    assert rows[1].paper == "not printed"
    assert rows[11].paper == ".2500 [.2268, .2732], n = 645"
    assert len(rows) == 12
    assert twelve_columns(result({"trajectory_last": dict.fromkeys(groups, metric)})) == []
