"""Contributions are the score, ranks without something are computed anew, a cut is a shorter sum, a flip turns."""

import json
from typing import Any

import pytest
import torch

from analysis.explain.edited_case import EditedCase, apply_edit, build_edited_case
from analysis.explain.edits import CutPath, RemoveVisit, SwitchOff
from analysis.explain.explanation import CaseExplanation, explain_case
from recap.baselines.counting import CountPlusMarkov
from recap.counterfactuals import GRAPH_TOKEN
from recap.evaluation.ranks import rank_of
from recap.features.catalogue import PATHS
from recap.model.curve_prior import TWO_HOP
from tests.analysis.planted import small_predictor
from tests.worlds import CURVES

MODELS: dict[str, dict[str, Any]] = {
    "paper": {},
    "recap": {**CURVES, "core_scope": "unvisited", "use_correction": False},
}
CASES = (0, 3, 9)


@pytest.mark.parametrize("name", MODELS)
def test_contributions_and_ranks(name: str) -> None:
    """Terms and groups sum to the score of the batched evaluation; each rank without is that of the edited case."""
    predictor = small_predictor(**MODELS[name])
    for number in CASES:
        told, plain = explain_case(predictor, number), build_edited_case(predictor, number)
        for entry in told.candidates:
            assert entry.score == float(plain.total_P[entry.poi]) and entry.rank == rank_of(plain.total_P, entry.poi)
            assert sum(entry.terms.values()) == pytest.approx(entry.score, abs=1e-9)
            assert sum(entry.groups.values()) == pytest.approx(entry.score, abs=1e-9)

        def rank(edit: Any, plain: EditedCase = plain) -> float:
            return rank_of(apply_edit(plain, edit).total_P, plain.target)

        assert {part.name for part in told.without} == {*told.groups, GRAPH_TOKEN}
        assert all(part.rank == rank(SwitchOff(name=part.name)) for part in told.without)
        assert all(p.rank_without == rank(CutPath(middle=p.middle, destination=told.target)) for p in told.paths)
        visits = [visit for place in told.visits for visit in place.visits if visit.rank_without is not None]
        assert all(visit.rank_without == rank(RemoveVisit(visit=visit.visit)) for visit in visits)
        assert CaseExplanation.parse(json.loads(told.model_dump_json())) == told


def test_a_cut_path_leaves_the_curve_of_the_rest() -> None:
    """A path of product p is shown f(x) p / x; without it the model scores f(x - p)."""
    predictor, checked = small_predictor(**MODELS["recap"]), 0
    assert predictor.model.curves is not None
    curves = predictor.model.curves.curves
    for number in range(len(predictor.cases)):
        plain = build_edited_case(predictor, number)
        told = explain_case(predictor, number, counterfactuals=False)
        whole = sum(path.product for path in told.paths)

        def points(x: float) -> float:
            return float(curves(torch.tensor([[x]], dtype=torch.float64), slice(TWO_HOP, TWO_HOP + 1)))

        for path in told.paths:
            assert path.points == pytest.approx(points(whole) * path.product / whole, abs=1e-9)
            left = apply_edit(plain, CutPath(middle=path.middle, destination=told.target))
            lost = float(plain.total_P[told.target] - left.total_P[told.target])
            in_curve = float(
                (plain.contributions([told.target]) - left.contributions([told.target]))[0, plain.groups[PATHS]].sum()
            )
            assert in_curve == pytest.approx(points(whole) - points(whole - path.product), abs=1e-9)
            if told.a.groups["core"] == 0.0:  # the graph token reads paths too
                assert lost == pytest.approx(in_curve, abs=1e-9)
            checked += 1
    assert checked > 10


@pytest.mark.parametrize("name", MODELS)
def test_the_smallest_edit_turns_two_places_round(name: str) -> None:
    """Applied, it gives the lead that is told."""
    predictor, found = small_predictor(**MODELS[name]), 0
    for number in CASES:
        told = explain_case(predictor, number, counterfactuals=False, search=True)
        if told.flip is not None:
            after = explain_case(predictor, number, against=told.rival, edits=(told.flip.edit,), counterfactuals=False)
            assert after.lead == pytest.approx(told.flip.lead) and after.lead * told.lead <= 0
            found += 1
    assert found


def test_a_counting_baseline_sums_to_its_score() -> None:
    """Any scorer with terms is explained alike."""
    predictor = small_predictor()
    baseline = CountPlusMarkov(predictor.dataset, predictor.graph)
    batch = predictor.batch(predictor.cases["row"].tolist())
    total_BP = baseline.score(batch).total
    for poi in range(predictor.dataset.num_pois):
        value_BT = baseline.contributions(batch, torch.full((len(batch),), poi))
        assert torch.allclose(value_BT.sum(1), total_BP[:, poi].double(), rtol=0, atol=1e-9)
