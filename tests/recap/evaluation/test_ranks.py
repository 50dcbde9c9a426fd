"""Ranks and metrics are exact under ties: by hand, and against every order there is."""

from itertools import permutations
from math import log2

import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from recap.evaluation.metrics import (
    CASE_GROUPS,
    METRICS,
    group_masks,
    hit_rate,
    metrics_by_group,
    metrics_of,
    ndcg,
    reciprocal_rank,
)
from recap.evaluation.ranks import rank_of, rank_targets, top_pois
from recap.scores import Scores

# POI              0    1    2    3    4
TOTAL = [[5.0, 3.0, 3.0, 1.0, 3.0]]
POPULARITY = torch.tensor([1.0, 9.0, 2.0, 7.0, 2.0])


def scores(total: list[list[float]], tie_break: torch.Tensor | None = None) -> Scores:
    return Scores({"all": torch.tensor(total, dtype=torch.float64)}, tie_break_P=tie_break)


def ranked(total: list[list[float]], target: int, tie_break: torch.Tensor | None = None) -> tuple[int, int]:
    ranks = rank_targets(torch.tensor(total, dtype=torch.float64), torch.tensor([target]), tie_break)
    return int(ranks.num_better_B), int(ranks.num_tied_B)


NEVER = float("-inf")
CLOSE = [[1.0, 1.0 + 2.0**-52]]


@pytest.mark.parametrize(
    ("total", "tie_break", "expected"),
    [
        # POIs 1, 2 and 4 share the score 3; one POI is above them, one below.
        (TOTAL, None, [(0, 1), (1, 3), (1, 3), (4, 1), (1, 3)]),
        # Of these the popular POI 1 comes first; 2 and 4 are equally popular and stay tied. 3 stays last.
        (TOTAL, POPULARITY, [(0, 1), (1, 1), (2, 2), (4, 1), (2, 2)]),
        # A score above by one part in 10^15 outweighs any popularity.
        (CLOSE, torch.tensor([9.0, 0.0]), [(1, 1), (0, 1)]),
        # Minus infinity is a way to say never: last, tied among its kind.
        ([[NEVER, 0.0, NEVER]], None, [(1, 2), (0, 1), (1, 2)]),
    ],
)
def test_above_and_tied_by_hand(
    total: list[list[float]], tie_break: torch.Tensor | None, expected: list[tuple[int, int]]
) -> None:
    """Popularity orders equal scores and nothing else; without one they stay tied."""
    assert [ranked(total, poi, tie_break) for poi in range(len(expected))] == expected


def test_the_mean_rank_is_the_middle_of_the_tied_places() -> None:
    """POIs 1, 2 and 4 share ranks 2, 3 and 4; whether asked of one case or of a batch."""
    total_BP = torch.tensor(TOTAL)
    assert [rank_of(total_BP[0], poi) for poi in range(5)] == [1.0, 3.0, 3.0, 5.0, 3.0]
    assert rank_targets(total_BP.repeat(2, 1), torch.tensor([3, 1])).mean_B.tolist() == [5.0, 3.0]
    # With 1 before 2 and 4, those two share ranks 3 and 4.
    assert rank_targets(total_BP, torch.tensor([2]), POPULARITY).mean_B.tolist() == [3.5]


@st.composite
def tables(draw: st.DrawFn) -> tuple[list[float], list[float], int]:
    """Scores and popularity of a few POIs, full of ties, and a target."""
    size = draw(st.integers(1, 7))
    few = st.lists(st.sampled_from([0.0, 1.0, 2.0]), min_size=size, max_size=size)
    return draw(few), draw(few), draw(st.integers(0, size - 1))


@given(tables())
def test_equals_plain_comparison(table: tuple[list[float], list[float], int]) -> None:
    """Counting pairs (score, popularity) that are greater or equal gives the same numbers."""
    total, popularity, target = table
    pairs = list(zip(total, popularity, strict=True))
    better, tied = ranked([total], target, torch.tensor(popularity))
    assert better == sum(pair > pairs[target] for pair in pairs)
    assert tied == sum(pair == pairs[target] for pair in pairs)


@given(tables(), st.integers(1, 9))
def test_a_short_list_is_the_head_of_all(table: tuple[list[float], list[float], int], length: int) -> None:
    """Of any length, the list is the beginning of all POIs sorted by (score, popularity, index)."""
    total, popularity, _ = table
    order = sorted(range(len(total)), key=lambda poi: (-total[poi], -popularity[poi], poi))[:length]
    poi_BK, value_BK = top_pois(scores([total, total], torch.tensor(popularity)), length)
    assert poi_BK.tolist() == [order, order]
    assert value_BK.tolist() == [[total[poi] for poi in order]] * 2


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
    """m_sd of 0, 1, 2, 7: two head cases, two tail cases, one of them unseen; without head cases it has no value, which
    is not 0 and not NaN.
    """
    groups = metrics_by_group(records([0, 4, 0, 9], [1, 1, 1, 1], [0, 1, 2, 7]))
    assert {name: groups[name]["n"] for name in groups} == dict(zip(CASE_GROUPS, [4, 2, 2, 1], strict=True))
    assert (groups["tail"]["hr1"], groups["unseen"]["hr1"]) == (0.5, 1.0)
    assert groups["head"]["mrr"] == pytest.approx((1 + 1 / 10) / 2)
    assert metrics_by_group(records([0], [1], [0]))["head"] == {"n": 0, **dict.fromkeys(METRICS)}


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(1, 6), st.integers(0, 3)), min_size=1, max_size=20))
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
