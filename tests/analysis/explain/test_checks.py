"""What an explanation says was checked: the kept table's ranks, the stamps, the same in every rendering."""

import pytest

from analysis.explain.edits import parse_edits
from analysis.explain.explanation import explain_fully
from analysis.explain.stamps import exact_share
from analysis.records.removals import describe_removals
from analysis.records.score_rows import SOURCES
from analysis.report.text import describe_fully
from analysis.sharing.page import render_notebook
from recap.evidence.config import EvidenceConfig
from tests.analysis.planted import small_predictor


@pytest.mark.parametrize("kind", ["paper", "evidence"])
def test_a_case_says_what_the_table_says(kind: str) -> None:
    """Ranks without each source equal the table over all cases; stamps, people and share stand beside them."""
    predictor = small_predictor(**({} if kind == "paper" else {"evidence": EvidenceConfig()}))
    table = describe_removals(predictor, predictor.cases)
    for number in (0, 9):
        told = explain_fully(predictor, number, counterfactuals=False, checks=True)
        assert told.checks is not None and told.checks.without is not None
        for source in SOURCES:
            kept = table[f"without_{source}"][number]
            assert told.checks.without[source] == (None if kept != kept else kept)
        assert len(told.checks.path_people) == len(told.paths)
        assert told.checks.exact_share == exact_share(told.contrast.a, told.contrast.b)
        lines = "\n".join(describe_fully(told))
        for stamp in told.checks.stamps:
            assert f"{stamp.label}" in lines and ", ".join(stamp.words) in lines
            assert stamp.words[0] in render_notebook(told)


def test_an_edited_case_has_no_kept_ranks() -> None:
    """Removal ranks tell of the case as it was; stamps of an edited case say that seeds were not measured."""
    predictor = small_predictor()
    edited = explain_fully(predictor, 4, counterfactuals=False, checks=True, edits=parse_edits("hour:5"))
    assert edited.checks is not None and edited.checks.without is None
    assert all(stamp.seeds is None for stamp in edited.checks.stamps)
    assert explain_fully(predictor, 4, counterfactuals=False).checks is None
