"""The score parts of a case: every score an exact sum, every path a count, held against arithmetic done apart."""

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from recap.evidence.config import EvidenceConfig

from analysis.explain.score_parts import explain_case
from analysis.explain.types import CaseExplanation
from recap.errors import CaseError
from recap.model.config import Stage
from recap.predictor import Predictor
from tests.analysis.planted import predictor_with
from tests.cli_runner import recap_here, recap_json_here
from tests.recap.model.reference_model import ByHand
from tests.worlds import shake, small_city

# One prior that clips at both bounds, one cap that binds, parts off, other readings.
VARIANTS: dict[str, dict[str, Any]] = {
    "whole": {},
    "clipped": {"prior": {"max_prior": 1.0, "recency_weight": -2.0}},
    "two candidates": {"max_candidates": 2},
    "w/o count": {"prior": {"use_count": False}},
    "w/o Graph": {"use_graph": False},
    "w/o History": {"use_history": False},
    "within the trajectory": {"within_trajectory": True, "state": "mean"},
    "evidence": {"evidence": EvidenceConfig().model_dump()},
    "evidence, core for new places": {"evidence": EvidenceConfig().model_dump(), "core_scope": "unvisited"},
}


@cache
def predictor_of(variant: str) -> Predictor:
    return predictor_with(small_city(), shake, **VARIANTS[variant])


@pytest.fixture(params=VARIANTS)
def predictor(request: pytest.FixtureRequest) -> Predictor:
    return predictor_of(request.param)


def test_every_candidate_is_an_exact_sum(predictor: Predictor) -> None:
    """prior = count + recency + window - clip_loss; residual = total - all parts, below 1e-9."""
    for number in range(0, len(predictor.cases), 2):
        for entry in explain_case(predictor, number).candidates:
            assert entry.prior == pytest.approx(entry.count + entry.recency + entry.window - entry.clip_loss, abs=1e-12)
            assert entry.residual == entry.total - (entry.core + entry.prior + entry.correction + entry.evidence)
            assert abs(entry.residual) < 1e-9
            assert entry.is_clipped is (entry.clip_loss != 0)
            if entry.gate is None:
                assert entry.correction == 0.0
            else:
                assert -1 <= entry.gate <= 1


def test_the_clip_takes_and_gives() -> None:
    """With b_max = 1 and a negative recency weight some sums are cut to 1 and some lifted to 0; both are told."""
    predictor = predictor_of("clipped")
    entries = [e for number in range(24) for e in explain_case(predictor, number, top=17).candidates]
    assert {entry.prior for entry in entries if entry.clip_loss > 0} == {1.0}
    assert {entry.prior for entry in entries if entry.clip_loss < 0} == {0.0}


def test_every_part_equals_the_equations(predictor: Predictor) -> None:
    """Core, prior terms, gate, correction and total of every POI, computed by hand, case by case."""
    by_hand = ByHand(predictor.model, predictor.dataset)
    for number in (0, 3, 11, 23):
        explanation = explain_case(predictor, number, top=17)
        row = int(predictor.case(number)["row"])
        expected, visits = by_hand.scores(row), by_hand.visits(row)
        assert sorted(entry.poi for entry in explanation.candidates) == list(range(17))
        for entry in explanation.candidates:
            parts = {name: float(values[entry.poi]) for name, values in expected.items()}
            assert entry.core == pytest.approx(parts["core"], abs=1e-10)
            assert entry.prior == pytest.approx(parts["prior"], abs=1e-10)
            assert entry.correction == pytest.approx(parts["correction"], abs=1e-10)
            assert entry.total == pytest.approx(parts["total"], abs=1e-10)
            if entry.poi not in visits or not predictor.model.config.use_history:
                assert (entry.count, entry.recency, entry.window, entry.gate) == (0, 0, 0, None)
                continue
            scale = float(by_hand.weights["prior.scale"])
            statistics = by_hand.statistics(row, visits[entry.poi])
            for name, value in zip(("count", "recency", "window"), statistics, strict=True):
                weight = float(by_hand.weights.get(f"prior.{name}_weight", 0.0))
                assert getattr(entry, name) == pytest.approx(scale * weight * value, abs=1e-12)


def test_ranks_and_probabilities_are_those_of_the_whole_catalogue(predictor: Predictor) -> None:
    """Softmax over all POIs, not over the listed ones; ranks as the evaluation gives them."""
    for number in (1, 8, 20):
        explanation = explain_case(predictor, number, top=17)
        totals = np.array([entry.total for entry in explanation.candidates])
        powers = np.exp(totals - totals.max())
        np.testing.assert_allclose(
            [entry.probability for entry in explanation.candidates], powers / powers.sum(), rtol=1e-10
        )
        assert [entry.rank for entry in explanation.candidates] == list(range(1, 18))
        short = explain_case(predictor, number, top=3)
        assert short.candidates[:3] == explanation.candidates[:3]


def test_the_target_is_always_among_the_candidates(predictor: Predictor) -> None:
    """Even with a list of one, and its rank is the case's rank."""
    for number in range(len(predictor.cases)):
        explanation = explain_case(predictor, number, top=1)
        assert 1 <= len(explanation.candidates) <= 2
        (mine,) = [entry for entry in explanation.candidates if entry.poi == explanation.target]
        assert mine.rank == explanation.target_rank
        assert explanation.candidates[0].rank == 1


def test_further_places_can_be_listed() -> None:
    """Asked-for POIs come in rank order too; an unknown one is refused."""
    predictor = predictor_of("whole")
    explanation = explain_case(predictor, 0, top=1, extra=(4, 9))
    assert {4, 9} <= {entry.poi for entry in explanation.candidates}
    assert [e.rank for e in explanation.candidates] == sorted(e.rank for e in explanation.candidates)
    with pytest.raises(CaseError, match="no POI 17; this dataset has POIs 0 to 16"):
        explain_case(predictor, 0, extra=(17,))


def test_paths_are_counts_of_training_transitions() -> None:
    """Each path's counts and probabilities from a dense table; products add up to (A^2)_sy and shares to 1."""
    predictor = predictor_of("whole")
    counts = predictor.graph.counts.toarray()
    adjacency = ByHand(predictor.model, predictor.dataset).adjacency
    with_paths = 0
    for number in range(len(predictor.cases)):
        explanation = explain_case(predictor, number, top=1)
        s, d = explanation.source, explanation.target
        middles = [m for m in range(17) if counts[s, m] and counts[m, d]]
        assert sorted(path.middle for path in explanation.paths) == middles
        for path in explanation.paths:
            assert (path.count_in, path.count_out) == (counts[s, path.middle], counts[path.middle, d])
            assert path.p_in == pytest.approx(adjacency[s, path.middle], abs=1e-15)
            assert path.p_out == pytest.approx(adjacency[path.middle, d], abs=1e-15)
            assert path.product == pytest.approx(path.p_in * path.p_out, abs=1e-15)
        total = sum(path.product for path in explanation.paths)
        assert explanation.a2_source_target == pytest.approx(total, abs=1e-12)
        assert explanation.a2_source_target == pytest.approx((adjacency @ adjacency)[s, d], abs=1e-12)
        assert explanation.two_step_walk is bool(middles)
        assert explanation.transition_count == counts[s, d]
        assert explanation.within_two_hops is bool(middles or counts[s, d])
        if middles:
            assert sum(path.share for path in explanation.paths) == pytest.approx(1, abs=1e-12)
            assert [p.product for p in explanation.paths] == sorted(
                (p.product for p in explanation.paths), reverse=True
            )
            with_paths += 1
    assert 0 < with_paths < len(predictor.cases)


def test_history_is_told_truly() -> None:
    """in_history says whether the target was visited before the source, and then it has a count."""
    predictor = predictor_of("whole")
    by_hand = ByHand(predictor.model, predictor.dataset)
    answers = set()
    for number in range(len(predictor.cases)):
        explanation = explain_case(predictor, number, top=1)
        visited = explanation.target in by_hand.visits(int(predictor.case(number)["row"]))
        assert explanation.in_history is visited
        answers.add(visited)
    assert answers == {True, False}


@pytest.mark.parametrize(
    ("stage", "inactive"),
    [
        (Stage(graph_weight=0.0), ["graph_token"]),
        (Stage(correction=False), ["correction"]),
        (Stage(prior=False, correction=False), ["prior", "correction"]),
        (Stage(graph_weight=0.3), []),
    ],
    ids=str,
)
def test_parts_that_sleep_are_named_and_zero(stage: Stage, inactive: list[str]) -> None:
    """A checkpoint of an early epoch: its inactive parts are zero everywhere, the sums still hold."""
    whole = predictor_of("whole")
    manifest = whole.checkpoint.manifest
    best = manifest.best.model_copy(update={"stage": stage})
    early = type(whole.checkpoint)(
        whole.checkpoint.folder, manifest.model_copy(update={"best": best}), whole.checkpoint.hash
    )
    predictor = Predictor(early, whole.dataset, whole.model)
    by_hand = ByHand(predictor.model, predictor.dataset)
    arguments: dict[str, Any] = {
        "graph_weight": stage.graph_weight,
        "prior": stage.prior,
        "correction": stage.correction,
    }
    for number in (2, 9):
        explanation = explain_case(predictor, number)
        assert explanation.inactive == inactive
        expected = by_hand.scores(int(predictor.case(number)["row"]), **arguments)
        for entry in explanation.candidates:
            assert abs(entry.residual) < 1e-9
            assert entry.total == pytest.approx(float(expected["total"][entry.poi]), abs=1e-10)
            if "correction" in inactive:
                assert entry.correction == 0.0 and entry.gate is None
            if "prior" in inactive:
                assert (entry.count, entry.recency, entry.window, entry.clip_loss, entry.prior) == (0, 0, 0, 0, 0)


CONTRACT = {
    *("case", "user", "source", "target", "target_rank", "transition_count", "in_history", "within_two_hops"),
    *("two_step_walk", "inactive", "candidates", "paths", "a2_source_target"),
}
CANDIDATE = {
    *("poi", "name", "category", "rank", "probability", "core", "count", "recency", "window", "clip_loss", "prior"),
    *("gate", "correction", "total", "residual"),
}
PATH = {"middle", "count_in", "count_out", "p_in", "p_out", "product", "share"}
BEYOND = {"source_name", "target_name", "dataset_hash", "checkpoint_hash"}
"""Names for people, and hashes that tie an explanation to what it explains."""


def test_the_command_prints_the_promised_keys(city_checkpoint: Path, city_folder: Path) -> None:
    """One case is an object, several are a list in the order asked for; nothing else is on stdout."""
    explain = ("explain", city_checkpoint, "--data", city_folder, "--case")
    one, several = recap_json_here(*explain, 5), recap_json_here(*explain, "7,5")
    assert isinstance(one, dict) and isinstance(several, list)
    assert [item["case"] for item in several] == [7, 5] and several[1] == one
    for item in several:
        assert item.keys() == CONTRACT | BEYOND
        assert item["target"] in [entry["poi"] for entry in item["candidates"]]
        assert all(entry.keys() == CANDIDATE for entry in item["candidates"])
        assert all(path.keys() == PATH | {"name"} for path in item["paths"])
        assert item["inactive"] == [] and len(item["candidates"]) in (10, 11)
    assert CaseExplanation.parse(one).case == 5


def test_the_command_explains_to_people(city_checkpoint: Path, city_folder: Path) -> None:
    """A table with the target marked, and the paths below it; no JSON."""
    result = recap_here("explain", city_checkpoint, "--data", city_folder, "--case", 5, "--top", 3)
    assert result.returncode == 0 and "◎" in result.stdout and "Case 5" in result.stdout
    assert "wo-hop path" in result.stdout
