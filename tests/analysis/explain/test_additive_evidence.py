"""Explanations of a model with additive evidence: exact addends, items that can be taken away, words that are true."""

from dataclasses import replace
from functools import cache

import pytest
from recap.evidence.config import EvidenceConfig

from analysis.explain.edited_case import build_edited_case
from analysis.explain.edits import parse_edits
from analysis.explain.evidence_items import evidence_items, without
from analysis.explain.explanation import FullExplanation, explain_fully
from analysis.explain.paths import two_hop_paths
from analysis.explain.score_parts import decompose_scores
from analysis.formatting import signed_points
from analysis.sharing.page import render_notebook
from recap.predictor import Predictor
from tests.analysis.planted import small_predictor
from tests.analysis.sentence_reader import check

CASES = range(0, 24, 3)


@cache
def predictor() -> Predictor:
    return small_predictor(evidence=EvidenceConfig())


@cache
def explained(number: int) -> FullExplanation:
    return explain_fully(predictor(), number)


def test_contrast_splits_the_evidence_too() -> None:
    """The margin is the sum of the differences of all parts, evidence among them."""
    for number in CASES:
        split = explained(number).contrast
        assert split.margin == pytest.approx(sum(split.parts.values()) + split.residual, abs=1e-9)
        assert split.parts["evidence"] == pytest.approx(split.a.evidence - split.b.evidence)
        assert abs(split.residual) < 1e-9
    assert any(abs(explained(number).contrast.parts["evidence"]) > 0.1 for number in CASES)


def test_paths_are_exact_addends() -> None:
    """A path's addend is what the score loses when the walk is cut, and all addends are the two-hop term."""
    checked = 0
    for number in CASES:
        edited_case = build_edited_case(predictor(), number)
        for poi in range(predictor().dataset.num_pois):
            addends = edited_case.walk_addends(poi)
            assert addends is not None
            term = edited_case.evidence_terms(poi).get("others_two_hop", 0.0)
            assert term == pytest.approx(sum(addends.values()), abs=1e-12)
        for path in two_hop_paths(edited_case, edited_case.target):
            cut = replace(
                edited_case.variant, cuts=((path.middle, edited_case.target),), off=frozenset({"graph_token"})
            )
            whole = replace(edited_case.variant, off=frozenset({"graph_token"}))
            before, after = (
                float(total_P[edited_case.target]) for total_P in predictor().score_counterfactuals([whole, cut])
            )
            assert before - after == pytest.approx(path.addend, abs=1e-9)
            checked += path.addend != 0
    assert checked > 5


def test_taking_a_term_away_takes_its_number() -> None:
    """Each evidence item left out changes the candidate's total by exactly its term."""
    for number in CASES:
        edited_case = build_edited_case(predictor(), number)
        items = [item for item in evidence_items(edited_case, edited_case.target) if item.kind == "evidence"]
        (entry,) = decompose_scores(edited_case, [edited_case.target])
        assert len(items) == len(entry.evidence_terms) >= 3
        totals = predictor().score_counterfactuals([without(edited_case, edited_case.target, item) for item in items])
        for total_P, term in zip(totals, entry.evidence_terms.values(), strict=True):
            assert float(total_P[edited_case.target]) == pytest.approx(entry.total - term, abs=1e-9)


def test_evidence_off() -> None:
    """Switched off by an edit it is 0 everywhere, told as inactive, and nothing mentions it."""
    off = explain_fully(predictor(), 3, edits=parse_edits("off:evidence"))
    assert "evidence" in off.inactive and "evidence" in off.inactive_terms
    assert all(entry.evidence == 0 and not entry.evidence_terms for entry in off.candidates)
    assert "vidence" not in " ".join(sentence.text for sentence in off.sentences)
    before, after = explained(3), off
    assert before.contrast.a.total - after.contrast.a.total == pytest.approx(before.contrast.a.evidence, abs=1e-9)


def test_sentences_are_true() -> None:
    """Read back, every number of the sentences holds."""
    assert all(check(explained(number)) >= 2 for number in CASES)


def test_the_report_shows_the_evidence() -> None:
    """The ledger has its row, every path its addend with its sign; a model without evidence has neither."""
    number = next(number for number in CASES if any(path.addend for path in explained(number).paths))
    page, without = render_notebook(explained(number)), render_notebook(explain_fully(small_predictor(), number))
    assert "<td>Evidence" in page and "<td>Evidence" not in without
    head = '<th class="n">Addend</th>'
    assert head in page and head not in without
    table = page[page.index(head) :]
    for path in explained(number).paths:
        assert f'<td class="n">{signed_points(path.addend or 0.0)}</td>' in table


def test_json_speaks_of_evidence_only_where_there_is_some() -> None:
    """The paper's model keeps the promised keys."""
    with_it = explained(3).model_dump(mode="json")
    without_it = explain_fully(small_predictor(), 3).model_dump(mode="json")
    assert "evidence_terms" in with_it["candidates"][0]
    assert "evidence" not in without_it["candidates"][0] and "evidence_terms" not in without_it["candidates"][0]
