"""Accuracy at another share of head cases."""

import math

import numpy as np
import pandas as pd
import pytest

from analysis.experiments.reweighting import PAPER_HEAD_SHARE, reweight


def cases(ranks: list[float], counts: list[int], users: list[int]) -> pd.DataFrame:
    """Records without ties."""
    return pd.DataFrame(
        {
            "user": users,
            "rank": ranks,
            "num_better": [int(rank) - 1 for rank in ranks],
            "num_tied": 1,
            "reciprocal_rank": [1 / rank for rank in ranks],
            "transition_count": counts,
        }
    )


def test_mixes_the_groups_by_the_given_share() -> None:
    """Head cases (seen twice and more) are hit in 3 of 4, tail cases in 1 of 2: .25 x .75 + .75 x .5 = .5625."""
    records = cases([1, 1, 1, 9, 1, 9], [2, 5, 7, 2, 0, 1], [0, 1, 2, 3, 4, 5])
    assert reweight(records, "hr1", head_share=0.25)["value"] == pytest.approx(0.5625)
    assert reweight(records, "hr1", head_share=1.0)["value"] == pytest.approx(0.75)
    assert pytest.approx(0.3267, abs=5e-5) == PAPER_HEAD_SHARE


def test_its_own_share_changes_nothing_and_the_interval_holds_the_value() -> None:
    """At the records' own head share the value is the plain mean; few users make the interval wide."""
    rng = np.random.default_rng(0)
    records = cases(
        rng.integers(1, 4, 300).astype(float).tolist(),
        rng.integers(0, 5, 300).tolist(),
        rng.integers(0, 30, 300).tolist(),
    )
    own = float((records["transition_count"] > 1).mean())
    measured = reweight(records, "mrr", head_share=own)
    assert measured["value"] == pytest.approx(records["reciprocal_rank"].mean())
    assert measured["low"] < measured["value"] < measured["high"]


def test_an_empty_group_has_no_value() -> None:
    """Without tail cases nothing is known of them, and nothing is made up."""
    assert math.isnan(reweight(cases([1.0, 2.0], [3, 4], [0, 1]), "hr1")["value"])
