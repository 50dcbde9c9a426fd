"""Minimal evidence sets: the fewest items whose removal drops a place from the top K, and the fewest that keep it."""

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations, islice
from typing import Final, Literal

from pydantic import Field

from analysis.explain.edited_case import EditedCase
from analysis.explain.effects import rank_and_probability
from analysis.explain.evidence_items import EvidenceItem, evidence_items, without
from recap.config import Config
from recap.errors import CaseError
from recap.evaluation.ranks import rank_of

MAX_EXACT_ITEMS: Final = 12
"""Up to so many items every subset may be tried (4,096); beyond, sizes 1 and 2 are, and the rest is a bound."""
_BOUNDED_SIZE: Final = 2
_SETS_PER_PASS: Final = 256

Ranks = Callable[[Sequence[frozenset[int]]], list[float]]
"""Ranks of the candidate with each set of item indices taken away."""


class EvidenceSet(Config):
    """A minimal set, or a bound on its size.

    ``is_exact`` False: ``items`` works, and so an answer has at most this size; at least ``at_least`` items are needed.
    """

    kind: Literal["necessary", "sufficient"]
    items: list[EvidenceItem] | None = Field(description="None where no set of items has the effect.")
    rank: float | None = Field(description="The candidate's rank with (sufficient: with only) this set changed.")
    is_exact: bool
    at_least: int = Field(description="Every smaller set was tried and fails.")
    num_items: int
    k: int


def describe_set(found: EvidenceSet) -> str:
    """One sentence about a minimal set; a bound says that it is one."""
    items = found.items
    if items is None:
        what = "no set of evidence" + ("" if found.is_exact else " found")
    elif not items:
        what = f"nothing at all (then rank {found.rank:g})"
    else:
        what = f"{'; '.join(item.label for item in items)} (then rank {found.rank:g})"
    bound = "" if found.is_exact else f", a bound: at least {found.at_least} of {found.num_items} items are needed"
    verb = "drops it from" if found.kind == "necessary" else "keeps it in"
    lead = "Taking away" if found.kind == "necessary" else "Keeping only"
    return f"{lead} {what} {verb} the top {found.k}{bound}."


def minimal_sets(edited_case: EditedCase, candidate: int, k: int = 20) -> list[EvidenceSet]:
    """The smallest necessary and the smallest sufficient set for ``candidate`` within the top ``k``.

    Each reported set is checked by one more forward pass of its own.

    Raises:
        CaseError: the candidate is not in the top K as it stands.
    """
    rank = rank_of(edited_case.total_P, candidate)
    if rank > k:
        raise CaseError(f"POI {candidate} stands at rank {rank:g}, not within the top {k}: there is nothing to drop")
    items = evidence_items(edited_case, candidate)

    def ranks(removed: Sequence[frozenset[int]]) -> list[float]:
        variants = [without(edited_case, candidate, [items[i] for i in chosen]) for chosen in removed]
        return rank_and_probability(edited_case.predictor.score_counterfactuals(variants), candidate)[2].tolist()

    return [
        _describe("necessary", smallest_set(len(items), lambda sets: [r > k for r in ranks(sets)]), items, ranks, k),
        _describe(
            "sufficient",
            smallest_set(len(items), lambda sets: [r <= k for r in ranks([_rest(s, len(items)) for s in sets])]),
            items,
            ranks,
            k,
        ),
    ]


def smallest_set(
    num_items: int, works: Callable[[Sequence[frozenset[int]]], list[bool]], max_exact: int = MAX_EXACT_ITEMS
) -> tuple[frozenset[int] | None, bool, int]:
    """The smallest set of item indices for which ``works`` is true, by size and then in item order.

    Up to ``max_exact`` items every size is tried. Beyond, sizes up to 2 are; a larger set is then shrunk greedily from
    the full one and is only a bound.

    Returns:
        (set or None, whether it is exact, size that is certainly needed).
    """
    exact = num_items <= max_exact
    for size in range(num_items + 1 if exact else _BOUNDED_SIZE + 1):
        for chunk in _chunks(combinations(range(num_items), size)):
            for chosen, hit in zip(chunk, works(chunk), strict=True):
                if hit:
                    return chosen, True, size
    if exact:
        return None, True, num_items + 1
    chosen = frozenset(range(num_items))
    if not works([chosen])[0]:
        return None, False, _BOUNDED_SIZE + 1
    while True:
        smaller = [chosen - {index} for index in sorted(chosen)]
        hits = [candidate for candidate, hit in zip(smaller, works(smaller), strict=True) if hit]
        if not hits:
            return chosen, False, _BOUNDED_SIZE + 1
        chosen = hits[0]


def _chunks(sets: Iterator[tuple[int, ...]]) -> Iterator[list[frozenset[int]]]:
    while chunk := [frozenset(chosen) for chosen in islice(sets, _SETS_PER_PASS)]:
        yield chunk


def _rest(chosen: frozenset[int], num_items: int) -> frozenset[int]:
    return frozenset(range(num_items)) - chosen


def _describe(
    kind: Literal["necessary", "sufficient"],
    found: tuple[frozenset[int] | None, bool, int],
    items: list[EvidenceItem],
    ranks: Ranks,
    k: int,
) -> EvidenceSet:
    chosen, is_exact, at_least = found
    rank = None
    if chosen is not None:
        (rank,) = ranks([chosen if kind == "necessary" else _rest(chosen, len(items))])
        assert (rank > k) == (kind == "necessary"), "a reported set must hold in a pass of its own"
    return EvidenceSet(
        kind=kind,
        items=None if chosen is None else [items[i] for i in sorted(chosen)],
        rank=rank,
        is_exact=is_exact,
        at_least=at_least,
        num_items=len(items),
        k=k,
    )
