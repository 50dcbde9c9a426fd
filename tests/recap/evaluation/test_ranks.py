"""Ranks: what stands above a target, what ties with it, and what must not be ranked at all."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from recap.errors import ScoreError
from recap.evaluation.ranks import check_scores, rank_of, rank_targets, rank_totals, top_pois
from recap.scores import Scores

# POI              0    1    2    3    4
TOTAL = [[5.0, 3.0, 3.0, 1.0, 3.0]]
POPULARITY = torch.tensor([1.0, 9.0, 2.0, 7.0, 2.0])


def scores(total: list[list[float]], tie_break: torch.Tensor | None = None) -> Scores:
    return Scores({"all": torch.tensor(total, dtype=torch.float64)}, tie_break_P=tie_break)


def ranked(total: list[list[float]], target: int, tie_break: torch.Tensor | None = None) -> tuple[int, int]:
    ranks = rank_targets(scores(total, tie_break), torch.tensor([target]))
    return int(ranks.num_better_B), int(ranks.num_tied_B)


def test_ties_without_a_tie_break_stay_open() -> None:
    """POIs 1, 2 and 4 share the score 3; one POI is above them, one below."""
    assert ranked(TOTAL, 0) == (0, 1)
    assert [ranked(TOTAL, poi) for poi in (1, 2, 4)] == [(1, 3)] * 3
    assert ranked(TOTAL, 3) == (4, 1)


def test_the_mean_rank_is_the_middle_of_the_tied_places() -> None:
    """POIs 1, 2 and 4 share ranks 2, 3 and 4; whether asked of one case or of a batch."""
    total_BP = torch.tensor(TOTAL)
    assert [rank_of(total_BP[0], poi) for poi in range(5)] == [1.0, 3.0, 3.0, 5.0, 3.0]
    assert rank_totals(total_BP.repeat(2, 1), torch.tensor([3, 1])).mean_B.tolist() == [5.0, 3.0]
    # With 1 before 2 and 4, those two share ranks 3 and 4.
    assert rank_targets(scores(TOTAL, POPULARITY), torch.tensor([2])).mean_B.tolist() == [3.5]


def test_popularity_orders_equal_scores_and_nothing_else() -> None:
    """Of 1, 2, 4 the popular POI 1 comes first; 2 and 4 are equally popular and stay tied. 3 stays last."""
    assert ranked(TOTAL, 1, POPULARITY) == (1, 1)
    assert ranked(TOTAL, 2, POPULARITY) == ranked(TOTAL, 4, POPULARITY) == (2, 2)
    assert ranked(TOTAL, 3, POPULARITY) == (4, 1)
    assert ranked(TOTAL, 0, POPULARITY) == (0, 1)


def test_a_tiny_difference_is_no_tie() -> None:
    """A score above by one part in 10^15 outweighs any popularity."""
    close = [[1.0, 1.0 + 2.0**-52]]
    assert ranked(close, 1, torch.tensor([9.0, 0.0])) == (0, 1)
    assert ranked(close, 0, torch.tensor([9.0, 0.0])) == (1, 1)


def test_infinite_scores_can_be_ranked() -> None:
    """Minus infinity is a way to say never: last, tied among its kind."""
    never = float("-inf")
    assert ranked([[never, 0.0, never]], 0) == (1, 2)


def test_top_list_follows_score_then_popularity_then_index() -> None:
    """5; then the 3s by popularity: 1 (9), then 2 and 4 (2 each) by index; then 1."""
    poi_BK, value_BK = top_pois(scores(TOTAL, POPULARITY), 20)
    assert poi_BK.tolist() == [[0, 1, 2, 4, 3]]
    assert value_BK.tolist() == [[5.0, 3.0, 3.0, 3.0, 1.0]]
    assert top_pois(scores(TOTAL, POPULARITY), 2)[0].tolist() == [[0, 1]]


def test_nan_is_refused_with_the_scorer_and_the_number_of_cases() -> None:
    """Two of three cases hold a NaN: no rank, one line that says so."""
    nan = float("nan")
    with pytest.raises(ScoreError, match=r"'broken' returned NaN for 2 of 3 cases"):
        check_scores(torch.tensor([[0.0, nan], [1.0, 2.0], [nan, nan]]), "broken")
    check_scores(torch.tensor([[0.0, 1.0]]), "sound")


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
