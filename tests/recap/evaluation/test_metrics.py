"""Metrics are exact expectations over the order of ties: by hand, and against every order there is."""

from itertools import permutations
from math import log2

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recap.evaluation.metrics import (
    GROUPS,
    METRICS,
    group_masks,
    hit_rate,
    metrics_by_group,
    metrics_of,
    ndcg,
    reciprocal_rank,
)


def records(better: list[int], tied: list[int], transition_count: list[int] | None = None) -> pd.DataFrame:
    better_, tied_ = np.array(better), np.array(tied)
    return pd.DataFrame(
        {
            "num_better": better_,
            "num_tied": tied_,
            "reciprocal_rank": reciprocal_rank(better_, tied_),
            "transition_count": [0] * len(better) if transition_count is None else transition_count,
        }
    )


def test_untied_targets_by_hand() -> None:
    """Ranks 1, 3 and 21: HR@1 1/3, HR@20 2/3, NDCG@20 (1 + 1/log2 4)/3, MRR (1 + 1/3 + 1/21)/3."""
    values = metrics_of(records([0, 2, 20], [1, 1, 1]))
    assert values["n"] == 3
    assert values["hr1"] == pytest.approx(1 / 3, abs=1e-15)
    assert values["hr5"] == values["hr10"] == values["hr20"] == pytest.approx(2 / 3, abs=1e-15)
    assert values["ndcg20"] == pytest.approx((1 + 1 / 2) / 3, abs=1e-15)
    assert values["mrr"] == pytest.approx((1 + 1 / 3 + 1 / 21) / 3, abs=1e-15)


def test_a_tie_across_the_cut_counts_in_part() -> None:
    """One POI above, four tied: ranks 2, 3, 4, 5, each with chance 1/4."""
    better, tied = np.array([1]), np.array([4])
    assert hit_rate(better, tied, 1).tolist() == [0.0]
    assert hit_rate(better, tied, 3).tolist() == [0.5]
    assert ndcg(better, tied, 3)[0] == pytest.approx((1 / log2(3) + 1 / log2(4)) / 4)
    assert reciprocal_rank(better, tied)[0] == pytest.approx((1 / 2 + 1 / 3 + 1 / 4 + 1 / 5) / 4)


@given(st.integers(0, 4), st.integers(1, 5), st.integers(0, 3), st.sampled_from([1, 2, 3, 5]))
def test_equals_the_average_over_every_order_of_ties(better: int, tied: int, worse: int, k: int) -> None:
    """Put the tied POIs into every order, rank the target, average: the same numbers."""
    ranks = [
        1 + [*range(better), *(better + place for place in order), *range(worse)].index(better)
        for order in permutations(range(tied))
    ]
    arrays = np.array([better]), np.array([tied])
    assert hit_rate(*arrays, k)[0] == pytest.approx(np.mean([rank <= k for rank in ranks]))
    assert ndcg(*arrays, k)[0] == pytest.approx(np.mean([(rank <= k) / log2(1 + rank) for rank in ranks]))
    assert reciprocal_rank(*arrays)[0] == pytest.approx(np.mean([1 / rank for rank in ranks]))


def test_a_catalogue_of_equals_is_chance() -> None:
    """5,000 POIs with one score: HR@20 is 20 in 5,000, MRR the mean of 1/1 ... 1/5000."""
    values = metrics_of(records([0], [5000]))
    assert values["hr20"] == pytest.approx(20 / 5000)
    assert values["mrr"] == pytest.approx(sum(1 / rank for rank in range(1, 5001)) / 5000)


def test_groups_by_hand() -> None:
    """m_sd of 0, 1, 2, 7: two head cases, two tail cases, one of them unseen."""
    groups = metrics_by_group(records([0, 4, 0, 9], [1, 1, 1, 1], [0, 1, 2, 7]))
    assert tuple(groups) == GROUPS
    assert [groups[name]["n"] for name in GROUPS] == [4, 2, 2, 1]
    assert groups["tail"]["hr1"] == 0.5
    assert groups["unseen"]["hr1"] == 1.0
    assert groups["head"]["mrr"] == pytest.approx((1 + 1 / 10) / 2)


def test_an_empty_group_has_no_value() -> None:
    """No head case: n is 0 and every metric is None, not 0 and not NaN."""
    groups = metrics_by_group(records([0], [1], [0]))
    assert groups["head"] == {"n": 0, **dict.fromkeys(METRICS)}


@given(
    st.lists(st.tuples(st.integers(0, 30), st.integers(1, 6), st.integers(0, 3)), min_size=1, max_size=20),
)
def test_head_and_tail_add_up_to_all(cases: list[tuple[int, int, int]]) -> None:
    """Weighted by their numbers of cases, head and tail give the value over all; unseen lies within tail."""
    better, tied, count = (list(column) for column in zip(*cases, strict=True))
    table = records(better, tied, count)
    masks = group_masks(table["transition_count"])
    assert ((masks["head"] ^ masks["tail"]) & masks["all"]).all()
    assert (~masks["unseen"] | masks["tail"]).all()
    groups = metrics_by_group(table)
    for metric in METRICS:
        total = sum((groups[name][metric] or 0.0) * (groups[name]["n"] or 0) for name in ("head", "tail"))
        assert total / len(table) == pytest.approx(groups["all"][metric])
