"""Minimal evidence sets: the fewest items whose removal drops a place from the top K, and the fewest that keep it.

Exact for every case. Encoder items (check-ins' tokens, the user's, the graph's) are enumerated, and so are the at most
16 choices of revisit terms. For each choice all other places stand still, so the candidate is in the top K where its
own sum is above a bar (`analysis.explain.encoder_passes`). What is left are addends of that sum: taking the j largest
away lowers it as far as any j can, and keeping the j largest raises it as far as any j can. So the smallest j is found
by a sort, and the smallest set is the best over all choices.

Shape suffixes: M choices of encoder items, R choices of revisit terms, A addends.
"""

from itertools import combinations
from typing import Final, Literal

import numpy as np
from pydantic import Field

from analysis.explain.addend_sets import SetCount, count_sets
from analysis.explain.clues import clues, points_of
from analysis.explain.edited_case import EditedCase
from analysis.explain.encoder_passes import EncoderPasses, encoder_passes
from analysis.explain.evidence_items import EvidenceItem, evidence_items, without
from analysis.explain.score_parts import prior_terms
from analysis.formatting import rank_number
from recap.config import Config
from recap.errors import CaseError
from recap.evaluation.ranks import rank_of
from recap.model.interventions import REVISIT_TERMS

Kind = Literal["necessary", "sufficient"]
MAX_ENCODER_ITEMS: Final = 12
"""Up to so many encoder items every choice is tried (4,096 passes); of more, the smallest choices, as many as that."""
_MAX_MASKS: Final = 4096
_ENCODER_KINDS: Final = ("checkin", "user", "graph_token")
_ROUNDING: Final = 1e-9


class EvidenceSet(Config):
    """A minimal set, or, where the encoder's window is too long to try every choice, a bound on its size.

    ``is_exact`` False: ``items`` works, and so an answer has at most this size; at least ``at_least`` items are needed.
    """

    kind: Kind
    items: list[EvidenceItem] | None = Field(description="None where no set of items has the effect.")
    rank: float | None = Field(description="The candidate's rank with (sufficient: with only) this set changed.")
    is_exact: bool
    at_least: int = Field(description="No smaller set has the effect.")
    num_sets: int | None = Field(None, description="How many sets of this size have it; None for a bound or no set.")
    num_items: int
    k: int


def describe_set(found: EvidenceSet) -> str:
    """One sentence about a minimal set; a bound says that it is one."""
    top = f"the top {found.k:,}" if found.k > 1 else "first place"
    if found.items is None:
        if found.num_items == 0:
            return f"There is no piece of evidence to take away, so it stays in {top}."
        found_none = "no choice" if found.is_exact else "no choice that was tried"
        return f"Whatever is taken away, it stays in {top}: {found_none} of the {found.num_items} pieces moves it out."
    assert found.rank is not None  # only a search that found no set has none
    if not found.items:
        return f"With every piece of evidence taken away it would still be in {top}, at rank {rank_number(found.rank)}."
    listed = "; ".join(item.set_label for item in found.items)
    lead = "Taking away" if found.kind == "necessary" else "Keeping only"
    verb = "drops it from" if found.kind == "necessary" else "keeps it in"
    return f"{lead} {listed} {verb} {top} (then rank {rank_number(found.rank)}). {_how_many(found)}"


def _how_many(found: EvidenceSet) -> str:
    assert found.items is not None
    size = len(found.items)
    pieces = "1 piece" if size == 1 else f"{size} pieces"
    if not found.is_exact:
        return f"A bound: at least {found.at_least} of {found.num_items} pieces are needed."
    others = (found.num_sets or 1) - 1
    if others == 0:
        return f"No other set of {pieces} does, and no smaller one."
    return f"So {'does 1 other set' if others == 1 else f'do {others:,} other sets'} of {pieces}, and no smaller one."


def minimal_sets(edited_case: EditedCase, candidate: int, k: int = 20) -> list[EvidenceSet]:
    """The smallest necessary and the smallest sufficient set for ``candidate`` within the top ``k``.

    Of several of one size the one that moves the score furthest past the bar is named. It is checked by a forward pass
    of its own.

    Raises:
        CaseError: the candidate is not in the top K as it stands, or h_t weighs the clues, whose points then change
            with every token that is taken away.
    """
    if edited_case.predictor.weighs_clues:
        raise CaseError("the state weighs this model's clues, so that no sum over clues tells what a set does")
    rank = rank_of(edited_case.total_P, candidate)
    if rank > k:
        raise CaseError(f"POI {candidate} stands at rank {rank:g}, not within the top {k}: there is nothing to drop")
    items = evidence_items(edited_case, candidate)
    choices = _Choices(edited_case, candidate, items, k)
    return [choices.smallest("necessary"), choices.smallest("sufficient")]


class _Choices:
    """All choices of encoder items and revisit terms of one case, each with its bar and the candidate's sum."""

    def __init__(self, edited_case: EditedCase, candidate: int, items: list[EvidenceItem], k: int) -> None:
        self.edited_case, self.candidate, self.items, self.k = edited_case, candidate, items, k
        self.encoder = [i for i, item in enumerate(items) if item.kind in _ENCODER_KINDS]
        self.revisit = [i for i, item in enumerate(items) if item.kind in REVISIT_TERMS]
        addends = edited_case.evidence_terms(candidate)
        evidence = [i for i, item in enumerate(items) if item.kind == "evidence"]
        value = {i: points_of(addends, clue) for i, clue in zip(evidence, clues(addends).values(), strict=True)}
        self.addends = sorted(evidence, key=lambda i: -value[i])
        self.addend_A = np.array([value[i] for i in self.addends])
        self._passes: dict[frozenset[int], int] = {}
        self._passed: EncoderPasses | None = None
        self.terms = [frozenset(c) for size in range(len(self.revisit) + 1) for c in combinations(self.revisit, size)]

    def smallest(self, kind: Kind) -> EvidenceSet:
        """The smallest set of one kind, its rank and how many there are."""
        chosen_M, is_whole = _by_size(self.encoder)
        everything = frozenset(self.encoder)
        removed_M = chosen_M if kind == "necessary" else [everything - chosen for chosen in chosen_M]
        margin_MR, tied_MR = self._margins(kind, self._passes_of(removed_M))
        terms = len(self.revisit)
        size_M = np.array([len(chosen) for chosen in chosen_M])
        size_R = np.array([len(gone) if kind == "necessary" else terms - len(gone) for gone in self.terms])
        found = count_sets(margin_MR, tied_MR, size_M[:, None] + size_R, self.addend_A, drop=kind == "necessary")
        tried = len(self.items) if is_whole else int(size_M.max())
        if found is None:
            return self._none(kind, is_exact=is_whole, at_least=tried + 1)
        m, r, addends = found.choice
        own = self.terms[r] if kind == "necessary" else frozenset(self.revisit) - self.terms[r]
        chosen = sorted(chosen_M[m] | own | {self.addends[a] for a in addends})
        is_exact = found.size <= tried + 1
        return EvidenceSet(
            kind=kind,
            items=[self.items[i] for i in chosen],
            rank=self._checked(kind, chosen, found),
            is_exact=is_exact,
            at_least=found.size if is_exact else tried + 1,
            num_sets=found.number if is_exact and (is_whole or found.size <= tried) else None,
            num_items=len(self.items),
            k=self.k,
        )

    def _passes_of(self, removed_M: list[frozenset[int]]) -> EncoderPasses:
        """Passes without each choice of encoder items; where all choices are tried, both kinds share them."""
        if self._passed is None or any(removed not in self._passes for removed in removed_M):
            masks = [frozenset(self.items[i].key for i in removed) for removed in removed_M]
            self._passes = {removed: at for at, removed in enumerate(removed_M)}
            self._passed = encoder_passes(self.edited_case, self.candidate, masks, self.k)
        at_M = [self._passes[removed] for removed in removed_M]
        return EncoderPasses(*(values[at_M] for values in vars(self._passed).values()))

    def _margins(self, kind: Kind, passes: EncoderPasses) -> tuple[np.ndarray, np.ndarray]:
        """The candidate's sum less the bar for each choice, all addends in it or (sufficient) none: (M, R)."""
        case = self.edited_case
        raw = dict(zip(REVISIT_TERMS[:3], prior_terms(case, self.candidate), strict=True))
        calibration = case.predictor.model.calibration
        scale = 0.0 if calibration is None or not case.is_active("correction") else float(calibration.scale)
        prior_R, factor_R = [], []
        for gone in self.terms:
            kinds = {self.items[i].kind for i in gone}
            left = sum(value for name, value in raw.items() if name not in kinds)
            prior = min(max(left, 0.0), case.config.prior.max_prior)
            prior_R.append(prior)
            factor_R.append(0.0 if "correction" in kinds else scale * prior)
        own_MR = passes.core_M[:, None] + np.array(prior_R) + passes.gate_M[:, None] * np.array(factor_R)
        if kind == "necessary":
            own_MR = own_MR + self.addend_A.sum()
        return own_MR - passes.bar_M[:, None], np.broadcast_to(passes.tied_drops_M[:, None], own_MR.shape)

    def _checked(self, kind: Kind, chosen: list[int], found: SetCount) -> float:
        """The rank with the set changed, by a forward pass of its own."""
        gone = set(chosen) if kind == "necessary" else set(range(len(self.items))) - set(chosen)
        variant = without(self.edited_case, self.candidate, [self.items[i] for i in sorted(gone)])
        (total_P,) = self.edited_case.predictor.score_counterfactuals([variant])
        rank = rank_of(total_P, self.candidate)
        assert (rank > self.k) == (kind == "necessary") or abs(found.margin) < _ROUNDING, "a reported set must hold"
        return rank

    def _none(self, kind: Kind, *, is_exact: bool, at_least: int) -> EvidenceSet:
        return EvidenceSet(
            kind=kind, items=None, rank=None, is_exact=is_exact, at_least=at_least, num_items=len(self.items), k=self.k
        )


def _by_size(items: list[int]) -> tuple[list[frozenset[int]], bool]:
    """Every subset, or, of too many items, those of the smallest sizes; and whether these are all."""
    chosen: list[frozenset[int]] = []
    for size in range(len(items) + 1):
        level = [frozenset(combination) for combination in combinations(items, size)]
        if len(items) > MAX_ENCODER_ITEMS and len(chosen) + len(level) > _MAX_MASKS:
            return chosen, False
        chosen += level
    return chosen, True
