"""Minimal sets against brute force, how many there are, bounds that say so, sentences, and refusals."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.explain.addend_sets import count_sets
from analysis.explain.edited_case import EditedCase, build_edited_case
from analysis.explain.edits import parse_edits
from analysis.explain.evidence_items import EvidenceItem, evidence_items, without
from analysis.explain.minimal_sets import EvidenceSet, describe_set, minimal_sets
from recap.errors import CaseError
from recap.evaluation.ranks import rank_of
from recap.evidence.config import EvidenceConfig
from recap.predictor import Predictor
from tests.analysis.planted import small_predictor

LARGEST = 4
HALVES = st.integers(-6, 6).map(lambda n: n / 2)


@given(
    margins=st.lists(st.lists(HALVES, min_size=2, max_size=2), min_size=1, max_size=3),
    sizes=st.lists(st.lists(st.integers(0, 2), min_size=2, max_size=2), min_size=3, max_size=3),
    addends=st.lists(HALVES, max_size=5),
    tied=st.booleans(),
    drop=st.booleans(),
)
def test_addends_equal_brute_force(
    margins: list[list[float]], sizes: list[list[int]], addends: list[float], tied: bool, drop: bool
) -> None:
    """Every subset of every choice tried: the same smallest size and number, with ties and negative addends."""
    margin, size = np.array(margins), np.array(sizes[: len(margins)])
    ordered = np.array(sorted(addends, reverse=True))
    found = count_sets(margin, np.full(margin.shape, tied), size, ordered, drop=drop)
    working = []
    for m, r in np.ndindex(margin.shape):
        for number in range(len(ordered) + 1):
            for chosen in combinations(range(len(ordered)), number):
                moved = float(ordered[list(chosen)].sum())
                left = margin[m, r] - moved if drop else margin[m, r] + moved
                if (left < 0 or (left == 0 and tied)) == drop:
                    working.append(int(size[m, r]) + number)
    assert (found is None) == (not working)
    if found is not None:
        assert (found.size, found.number) == (min(working), working.count(min(working)))


def ranks_without(edited_case: EditedCase, candidate: int, sets: list[frozenset[int]]) -> list[float]:
    """By forward passes, one for each set of items taken away."""
    items = evidence_items(edited_case, candidate)
    variants = [without(edited_case, candidate, [items[i] for i in sorted(chosen)]) for chosen in sets]
    return [rank_of(total_P, candidate) for total_P in edited_case.predictor.score_counterfactuals(variants)]


def check_against_brute_force(edited_case: EditedCase, candidate: int, k: int, largest: int) -> set[tuple[str, int]]:
    """Every set up to a size taken away, and kept: sizes and numbers are the smallest; returns what was found."""
    items = evidence_items(edited_case, candidate)
    everything = frozenset(range(len(items)))
    sizes = range(min(largest, len(items)) + 1)
    sets = [frozenset(chosen) for size in sizes for chosen in combinations(range(len(items)), size)]
    drops = [rank > k for rank in ranks_without(edited_case, candidate, sets)]
    keeps = [rank <= k for rank in ranks_without(edited_case, candidate, [everything - chosen for chosen in sets])]
    told: set[tuple[str, int]] = set()
    for found, works in zip(minimal_sets(edited_case, candidate, k), (drops, keeps), strict=True):
        smallest = [len(chosen) for chosen, hit in zip(sets, works, strict=True) if hit]
        assert found.is_exact and found.num_items == len(items)
        if not smallest:
            assert found.items is None or len(found.items) > max(sizes)
            continue
        assert found.items is not None and len(found.items) == found.at_least == min(smallest)
        assert found.num_sets == smallest.count(min(smallest))
        chosen = frozenset(items.index(item) for item in found.items)
        gone = chosen if found.kind == "necessary" else everything - chosen
        assert found.rank == ranks_without(edited_case, candidate, [gone])[0]
        told.add((found.kind, min(smallest)))
    return told


def predictors() -> list[Predictor]:
    """The paper's RECAP and one with evidence, with few check-ins in the window so that brute force ends."""
    return [small_predictor(suffix_length=2), small_predictor(suffix_length=2, evidence=EvidenceConfig())]


@pytest.mark.parametrize("k", [1, 4])
def test_sets_equal_brute_force(k: int) -> None:
    """Both models, a few cases, the first place and one at K; sets of several sizes occur."""
    told = set()
    for predictor in predictors():
        for number in (0, 7):
            edited_case = build_edited_case(predictor, number)
            for place in {0, k - 1}:
                candidate = int(edited_case.total_P.topk(k).indices[place])
                told |= check_against_brute_force(edited_case, candidate, k, LARGEST)
    assert {kind for kind, _ in told} == {"necessary", "sufficient"} and len({size for _, size in told}) >= 3


@pytest.mark.slow
@pytest.mark.thorough
def test_sets_equal_brute_force_over_a_hundred_cases() -> None:
    """Every set up to size 4 of a hundred cases of both models and several K; none is missed, none too large."""
    told, cases = set(), 0
    for predictor in predictors():
        for number in range(0, len(predictor.cases), 2):
            edited_case = build_edited_case(predictor, number)
            for k in (1, 2, 3, 5, 8):
                candidate = int(edited_case.total_P.topk(k).indices[k - 1])
                told |= check_against_brute_force(edited_case, candidate, k, LARGEST)
                cases += 1
    assert cases >= 100 and {size for _, size in told} >= {1, 2, 3, 4}


def test_sets_of_an_edited_case() -> None:
    """What edits switched off or changed stays so in every pass: the base is the edited case, not the case."""
    for predictor in predictors():
        for text in ("off:correction", "off:count;hour:3", "off:prior"):
            edited_case = build_edited_case(predictor, 5, parse_edits(text))
            check_against_brute_force(edited_case, int(edited_case.total_P.argmax()), 2, 2)


def test_beyond_the_limit_it_is_a_bound_or_exact(monkeypatch: pytest.MonkeyPatch) -> None:
    """A window of more items than are enumerated: sizes up to 1 are tried; what is larger than 2 is called a bound."""
    monkeypatch.setattr("analysis.explain.minimal_sets.MAX_ENCODER_ITEMS", 2)
    monkeypatch.setattr("analysis.explain.minimal_sets._MAX_MASKS", 8)
    bounds = 0
    for predictor in predictors():
        for number in range(0, len(predictor.cases), 3):
            edited_case = build_edited_case(predictor, number)
            first = int(edited_case.total_P.argmax())
            for found in minimal_sets(edited_case, first, 3):
                monkeypatch.undo()
                (exact,) = [other for other in minimal_sets(edited_case, first, 3) if other.kind == found.kind]
                monkeypatch.setattr("analysis.explain.minimal_sets.MAX_ENCODER_ITEMS", 2)
                monkeypatch.setattr("analysis.explain.minimal_sets._MAX_MASKS", 8)
                bounds += not found.is_exact
                if found.is_exact:
                    assert (found.items is None) == (exact.items is None) and found.at_least == exact.at_least
                elif exact.items is not None:
                    assert found.at_least <= len(exact.items)
                    assert found.items is None or len(found.items) >= len(exact.items)
    assert bounds, "no case needed a bound, and nothing was tested"


ITEM = EvidenceItem(kind="evidence", key=3, label="Distance")
TOKEN = EvidenceItem(kind="checkin", key=2, label="Cafe, 1 back", visit=4, poi=9)
FOUND = EvidenceSet(
    kind="necessary", items=[ITEM, TOKEN], rank=23.0, is_exact=True, at_least=2, num_sets=1, num_items=9, k=20
)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (
            {},
            "Taking away Distance; the token of Cafe, 1 back drops it from the top 20 (then rank 23). "
            "No other set of 2 pieces does, and no smaller one.",
        ),
        (
            {"num_sets": 3},
            "Taking away Distance; the token of Cafe, 1 back drops it from the top 20 (then rank 23). "
            "So do 2 other sets of 2 pieces, and no smaller one.",
        ),
        (
            {"kind": "sufficient", "items": [ITEM], "rank": 7.0, "at_least": 1, "num_sets": 2, "k": 1},
            "Keeping only Distance keeps it in first place (then rank 7). "
            "So does 1 other set of 1 piece, and no smaller one.",
        ),
        (
            {"is_exact": False, "num_sets": None},
            "Taking away Distance; the token of Cafe, 1 back drops it from the top 20 (then rank 23). "
            "A bound: at least 2 of 9 pieces are needed.",
        ),
        (
            {"kind": "sufficient", "items": [], "rank": 4.0, "at_least": 0},
            "With every piece of evidence taken away it would still be in the top 20, at rank 4.",
        ),
        (
            {"items": None, "rank": None, "num_sets": None, "at_least": 10},
            "Whatever is taken away, it stays in the top 20: no choice of the 9 pieces moves it out.",
        ),
    ],
)
def test_sentences(change: dict[str, object], sentence: str) -> None:
    """Every kind of answer reads as English, the empty and the impossible one too."""
    assert describe_set(FOUND.model_copy(update=change)) == sentence


def test_refuses_what_is_not_in_the_top() -> None:
    """There is nothing to drop from the top K for a place that is not in it."""
    edited_case = build_edited_case(small_predictor(), 3)
    last = int(edited_case.total_P.argmin())
    assert rank_of(edited_case.total_P, last) > 1
    with pytest.raises(CaseError, match="not within the top 1"):
        minimal_sets(edited_case, last, 1)
