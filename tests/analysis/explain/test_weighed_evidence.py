"""Explanations where h_t and the step weigh the evidence: the same exact addends, and weights that edits move."""

from dataclasses import replace
from functools import cache

import pytest
from recap.evidence.config import EvidenceConfig, HabitsConfig, SurroundingsConfig, WeighingConfig

from analysis.explain.clues import MOST_TERMS, clues, points_of
from analysis.explain.edited_case import build_edited_case
from analysis.explain.evidence_items import evidence_items, without
from analysis.explain.explanation import explain_fully
from analysis.explain.net_rows import net_rows
from analysis.explain.score_parts import decompose_scores
from recap.predictor import Predictor
from tests.analysis.planted import small_predictor

CASES = range(0, 24, 6)


@cache
def predictor() -> Predictor:
    evidence = EvidenceConfig(sessions=True, surroundings=SurroundingsConfig(), weighing=WeighingConfig())
    return small_predictor(evidence=evidence, core_scope="nowhere")


def test_rows_add_up_and_terms_can_be_taken_away() -> None:
    """Terms are the evidence, parts are the total, and each term left out takes exactly its number."""
    for number in CASES:
        edited_case = build_edited_case(predictor(), number)
        (entry,) = decompose_scores(edited_case, [edited_case.target])
        assert abs(entry.residual) < 1e-9
        assert entry.core == 0.0
        items = [item for item in evidence_items(edited_case, edited_case.target) if item.kind == "evidence"]
        variants = [without(edited_case, edited_case.target, item) for item in items]
        totals = predictor().score_counterfactuals(variants)
        for total_P, term in zip(totals, entry.evidence_terms.values(), strict=True):
            assert float(total_P[edited_case.target]) == pytest.approx(entry.total - term, abs=1e-9)


@cache
def rich_predictor() -> Predictor:
    surroundings = SurroundingsConfig(own_category=True, known_too=True)
    evidence = EvidenceConfig(
        sessions=True, habits=HabitsConfig(hours=True), surroundings=surroundings, weighing=WeighingConfig(network=3)
    )
    return small_predictor(evidence=evidence, core_scope="nowhere")


def test_many_terms_are_a_handful_of_clues() -> None:
    """More terms than anyone reads are told by row; a row left out takes what its terms add up to."""
    handfuls = 0
    for number in CASES:
        edited_case = build_edited_case(rich_predictor(), number)
        poi = edited_case.source
        (entry,) = decompose_scores(edited_case, [poi])
        assert abs(entry.residual) < 1e-9
        items = [item for item in evidence_items(edited_case, poi) if item.kind == "evidence"]
        handfuls += len(entry.evidence_terms) > MOST_TERMS and 4 <= len(items) <= 8
        variants = [without(edited_case, poi, item) for item in items]
        totals = rich_predictor().score_counterfactuals(variants)
        found = clues(entry.evidence_terms)
        assert [item.label for item in items] == list(found)
        for total_P, clue in zip(totals, found.values(), strict=True):
            expected = entry.total - points_of(entry.evidence_terms, clue)
            assert float(total_P[poi]) == pytest.approx(expected, abs=1e-9)
    assert handfuls == len(CASES)


def test_a_network_has_the_row_of_the_core() -> None:
    """What the network says of the clues stands in the row of the network."""
    edited_case = build_edited_case(rich_predictor(), 0)
    (entry,) = decompose_scores(edited_case, [edited_case.source])
    assert net_rows(entry)["core"] == entry.evidence_terms["together"] != 0


def test_the_graph_token_moves_the_evidence() -> None:
    """Without the token h_t is another, and so are the weights of the clues."""
    edited_case = build_edited_case(predictor(), 0)
    whole = edited_case.evidence_terms(edited_case.target)
    without = replace(edited_case, variant=replace(edited_case.variant, off=frozenset({"graph_token"})))
    changed = without.evidence_terms(edited_case.target)
    assert whole.keys() == changed.keys()
    assert max(abs(whole[name] - changed[name]) for name in whole) > 1e-6


def test_a_whole_explanation_holds() -> None:
    """What a page needs of a case is there, and its contrast adds up."""
    for explained in (explain_fully(predictor(), 0), explain_fully(rich_predictor(), 0)):
        assert abs(explained.contrast.residual) < 1e-9
