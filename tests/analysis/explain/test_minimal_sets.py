"""Minimal sets against brute force, bounds that say so, and refusals."""

from collections.abc import Callable, Sequence
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.explain.edited_case import build_edited_case
from analysis.explain.effects import rank_and_probability
from analysis.explain.evidence_items import evidence_items, without
from analysis.explain.minimal_sets import minimal_sets, smallest_set
from recap.errors import CaseError
from recap.evaluation.ranks import rank_of
from tests.analysis.planted import small_predictor


def counting(works: set[frozenset[int]]) -> Callable[[Sequence[frozenset[int]]], list[bool]]:
    return lambda sets: [chosen in works for chosen in sets]


@given(st.tuples(st.integers(0, 6), st.sets(st.frozensets(st.integers(0, 5)))))
def test_the_smallest_set_is_that_of_brute_force(drawn: tuple[int, set[frozenset[int]]]) -> None:
    """Any family of working sets: the found one works and none smaller does."""
    num_items, works = drawn
    works = {chosen for chosen in works if all(index < num_items for index in chosen)}
    found, exact, at_least = smallest_set(num_items, counting(works))
    assert exact
    sizes = sorted(len(chosen) for chosen in works)
    assert (found is None) == (not works)
    if found is not None:
        assert found in works and len(found) == sizes[0] == at_least


def test_beyond_the_limit_it_is_a_bound() -> None:
    """Fifteen items of which items 1, 4, 7 and 9 are all needed: found greedily, at least 3, and marked a bound."""
    needed = frozenset({1, 4, 7, 9})

    def works(sets: Sequence[frozenset[int]]) -> list[bool]:
        return [needed <= chosen for chosen in sets]

    assert smallest_set(15, works) == (needed, False, 3)
    assert smallest_set(15, lambda sets: [False for _ in sets]) == (None, False, 3)
    assert smallest_set(15, lambda sets: [3 in chosen for chosen in sets]) == (frozenset({3}), True, 1)
    assert smallest_set(12, works) == (needed, True, 4)


@pytest.mark.parametrize("k", [1, 3])
def test_sets_of_a_model_equal_brute_force(k: int) -> None:
    """Every subset of every case's items scored alone: the reported sizes are the smallest, and ranks are true."""
    predictor = small_predictor(suffix_length=2)
    for number in range(4):
        edited_case = build_edited_case(predictor, number)
        candidate = int(edited_case.total_P.argmax())
        items = evidence_items(edited_case, candidate)
        sizes_of = range(len(items) + 1)
        subsets = [frozenset(chosen) for size in sizes_of for chosen in combinations(range(len(items)), size)]
        variants = [without(edited_case, candidate, [items[i] for i in chosen]) for chosen in subsets]
        standings = rank_and_probability(predictor.score_counterfactuals(variants), candidate)[2].tolist()
        ranks = dict(zip(subsets, standings, strict=True))
        everything = frozenset(range(len(items)))
        dropping = [len(chosen) for chosen, rank in ranks.items() if rank > k]
        keeping = [len(everything - chosen) for chosen, rank in ranks.items() if rank <= k]
        necessary, sufficient = minimal_sets(edited_case, candidate, k)
        for found, sizes in ((necessary, dropping), (sufficient, keeping)):
            assert found.is_exact and found.num_items == len(items)
            assert (found.items is None) == (not sizes)
            if found.items is not None:
                assert len(found.items) == min(sizes)
                chosen = frozenset(items.index(item) for item in found.items)
                assert found.rank == ranks[chosen if found.kind == "necessary" else everything - chosen]


def test_refuses_what_is_not_in_the_top() -> None:
    """There is nothing to drop from the top K for a place that is not in it."""
    edited_case = build_edited_case(small_predictor(), 3)
    last = int(edited_case.total_P.argmin())
    assert rank_of(edited_case.total_P, last) > 1
    with pytest.raises(CaseError, match="not within the top 1"):
        minimal_sets(edited_case, last, 1)
