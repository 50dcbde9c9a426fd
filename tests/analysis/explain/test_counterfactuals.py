"""Counterfactuals by laws: switches equal stages, masks equal shorter inputs, cuts equal changed matrices."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from recap.evidence.config import EvidenceConfig

from analysis.explain import paths
from analysis.explain.contrast import contrast
from analysis.explain.edited_case import apply_edit, build_edited_case
from analysis.explain.edits import RemoveVisit, SetEdge, parse_edits
from analysis.explain.effects import effects, rank_without_two_hops, two_hops_off
from analysis.explain.evidence_items import evidence_items, without
from analysis.explain.explanation import explain_fully
from analysis.explain.leave_one_out import Removals, leave_one_out
from analysis.explain.paths import PathCuts, cut_variants, path_evidence, two_hop_paths
from analysis.explain.score_parts import explain_case
from recap.counterfactuals import History
from recap.errors import CaseError
from recap.evaluation import standings
from recap.evaluation.ranks import rank_of
from recap.evaluation.standings import Standings
from recap.model.config import PriorConfig
from recap.model.interventions import Interventions
from recap.model.recap import RecapScorer
from tests.analysis.planted import small_predictor
from tests.analysis.sentence_reader import check


def test_parts_off_equal_other_stages() -> None:
    """Each component off in a variant scores as a stage without it does in the batched evaluation."""
    predictor = small_predictor()
    changes: dict[str, dict[str, Any]] = {
        "graph_token": {"graph_weight": 0.0},
        "prior": {"prior": False},
        "correction": {"correction": False},
    }
    for number in range(8):
        edited_case = build_edited_case(predictor, number)
        for part, update in changes.items():
            stage = predictor.stage.model_copy(update=update)
            expected = RecapScorer(predictor.model, stage).score(predictor.batch([edited_case.row])).total[0]
            (total_P,) = predictor.score_counterfactuals([replace(edited_case.variant, off=frozenset({part}))])  # type: ignore[arg-type]
            assert torch.allclose(total_P, expected, rtol=0, atol=1e-12)


def test_one_batch_equals_single_passes() -> None:
    """Variants of several cases side by side score as each alone."""
    predictor = small_predictor()
    situations = [build_edited_case(predictor, number) for number in range(5)]
    variants = [without(s, s.target, item) for s in situations for item in evidence_items(s, s.target, with_paths=True)]
    together = predictor.score_counterfactuals(variants)
    for index, variant in enumerate(variants):
        assert torch.allclose(predictor.score_counterfactuals([variant])[0], together[index], rtol=0, atol=1e-12)


@pytest.mark.parametrize("parts", [{}, {"evidence": EvidenceConfig(), "core_scope": "unvisited"}])
def test_effects_are_those_of_whole_rows_of_totals(parts: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """All that an explanation takes away, in blocks of seven places and each copy once: the same ranks, all to 1e-9."""
    monkeypatch.setattr(standings, "_BLOCK", 7)
    predictor, repeated = small_predictor(**parts), 0
    for number in range(0, 12, 2):
        edited_case = build_edited_case(predictor, number)
        for poi in (edited_case.target, int(edited_case.total_P.argmax())):
            variants = [*Removals.of(edited_case, poi).variants, *PathCuts.of(edited_case, poi).variants]
            repeated += len(variants) - len({variant.content for variant in variants})
            whole = Standings.of_totals(predictor.score_counterfactuals(variants), poi)
            told = effects(edited_case, variants, poi)
            assert [effect.rank for effect in told] == whole.rank_M.tolist()
            assert [effect.logit for effect in told] == pytest.approx(whole.logit_M.tolist(), abs=1e-9)
            assert [effect.probability for effect in told] == pytest.approx(whole.probability_M.tolist(), abs=1e-9)
    assert repeated > 0


def test_paths_that_an_answer_has_no_time_for_are_told_without_cuts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Room for three copies among all places: the strongest path is cut in three ways, the others are not."""
    predictor = small_predictor()
    monkeypatch.setattr(paths, "_CUT_SCORES", 3 * predictor.dataset.num_pois)
    several = [build_edited_case(predictor, number) for number in range(len(predictor.cases))]
    edited_case = next(case for case in several if len(two_hop_paths(case, case.target)) > 1)
    told = explain_fully(predictor, edited_case.case.number)
    first, *others = told.path_evidence
    assert first.frozen is not None and first.recounted_in is not None and first.recounted_out is not None
    assert others and all(path.frozen is path.recounted_in is path.recounted_out is None for path in others)
    items = [entry.item for entry in told.leave_one_out or [] if entry.item.kind == "path"]
    assert [item.key for item in items] == [first.middle]


def test_masking_everything_leaves_positions_alone() -> None:
    """With all slots masked the state is the same for every case, and still a number."""
    predictor = small_predictor()
    slots = 1 + predictor.model.config.suffix_length + 1
    batch = predictor.batch([build_edited_case(predictor, number).row for number in (0, 5, 9)])
    changes = Interventions(masked_BS=torch.ones(3, slots, dtype=torch.bool))
    state_BD, _ = predictor.core_scores(batch, changes)
    assert torch.isfinite(state_BD).all() and torch.allclose(state_BD, state_BD[:1].expand_as(state_BD))


def test_a_masked_checkin_no_longer_speaks() -> None:
    """With a slot masked, the place in it does not matter to the state; unmasked it does."""
    predictor = small_predictor()
    edited_case = build_edited_case(predictor, 3)
    history = edited_case.variant.history
    at = len(history) - 4
    slot = predictor.model.config.suffix_length - 2
    poi_H = history.poi_H.copy()
    poi_H[at] = (poi_H[at] + 1) % predictor.dataset.num_pois
    other = replace(edited_case.variant, history=replace(history, poi_H=poi_H))
    for masked, same in ((frozenset({slot}), True), (frozenset[int](), False)):
        variants = [replace(v, masked=masked, off=frozenset({"prior"})) for v in (edited_case.variant, other)]
        first, second = predictor.score_counterfactuals(variants)
        assert torch.allclose(first, second, rtol=0, atol=1e-12) == same


def test_masking_the_oldest_equals_not_having_it() -> None:
    """A masked slot weighs as much as one that a shorter history leaves empty: nothing."""
    predictor = small_predictor()
    length = predictor.model.config.suffix_length
    edited_case = build_edited_case(predictor, 3)
    history = edited_case.variant.history
    columns = (history.poi_H, history.seconds_H, history.local_seconds_H, history.trajectory_H)
    shorter = History(history.user, *(column[-length:] for column in columns))  # length - 1 check-ins and the target
    masked = replace(edited_case.variant, masked=frozenset({1}), off=frozenset({"prior"}))
    absent = replace(edited_case.variant, history=shorter, off=frozenset({"prior"}))
    first, second = predictor.score_counterfactuals([masked, absent])
    assert torch.allclose(first, second, rtol=0, atol=1e-12)


def test_leave_one_out_of_a_term_by_hand() -> None:
    """Without its count term, a target inside the clip loses count x (1 + lambda gamma), and nothing else moves."""
    predictor = small_predictor()
    scale = float(predictor.model.calibration.scale)  # type: ignore[union-attr]
    checked = 0
    for number in range(len(predictor.cases)):
        explanation = explain_case(predictor, number)
        entry = next(entry for entry in explanation.candidates if entry.poi == explanation.target)
        if entry.count == 0 or entry.is_clipped:
            continue
        edited_case = build_edited_case(predictor, number)
        item = next(item for item in evidence_items(edited_case, edited_case.target) if item.kind == "count")
        (total_P,) = predictor.score_counterfactuals([without(edited_case, edited_case.target, item)])
        raw = entry.recency + entry.window
        limit = predictor.model.config.prior.max_prior
        prior = min(max(raw, 0.0), limit)
        expected = entry.core + prior * (1 + scale * (entry.gate or 0.0))
        assert float(total_P[edited_case.target]) == pytest.approx(expected, abs=1e-9)
        others = torch.arange(len(total_P)) != edited_case.target
        assert torch.allclose(total_P[others], edited_case.total_P[others], rtol=0, atol=1e-12)
        checked += 1
    assert checked >= 5


def test_leave_one_out_is_sorted_and_signed() -> None:
    """Most supporting item first; changes are after minus before."""
    predictor = small_predictor()
    edited_case = build_edited_case(predictor, 3)
    left_out = leave_one_out(edited_case, edited_case.target)
    changes = [entry.outcome.logit_change for entry in left_out]
    assert changes == sorted(changes)
    for entry in left_out:
        assert entry.outcome.logit == pytest.approx(
            float(edited_case.total_P[edited_case.target]) + entry.outcome.logit_change
        )


def test_without_a_visit_means_everywhere() -> None:
    """An earlier check-in leaves history, evidence and window, as the edit does; masking is told beside it."""
    predictor = small_predictor(evidence=EvidenceConfig())
    differs = 0
    for number in range(0, len(predictor.cases), 4):
        edited_case = build_edited_case(predictor, number)
        target, current = edited_case.target, len(edited_case.variant.history) - 2
        told = [entry for entry in leave_one_out(edited_case, target) if entry.item.kind == "checkin"]
        for entry in told:
            visit = entry.item.visit
            assert visit is not None and (entry.removal == "everywhere") == (visit != current)
            masked_P = predictor.score_counterfactuals([without(edited_case, target, entry.item)])[0]
            if visit == current:
                assert entry.masked is None and entry.outcome.logit == pytest.approx(float(masked_P[target]))
                continue
            gone = apply_edit(edited_case, RemoveVisit(visit=visit))
            assert entry.outcome.logit == pytest.approx(float(gone.total_P[target]), abs=1e-9)
            assert entry.outcome.rank == rank_of(gone.total_P, target)
            assert entry.masked is not None and entry.masked.logit == pytest.approx(float(masked_P[target]), abs=1e-9)
            differs += abs(entry.masked.logit - entry.outcome.logit) > 1e-3
    assert differs > 5


def dense_g(adjacency: np.ndarray, embedding: np.ndarray, hops: int) -> np.ndarray:
    for _ in range(hops):
        embedding = adjacency @ embedding
    return embedding


@pytest.mark.parametrize("hops", [1, 2, 3])
def test_edited_propagation_equals_dense_matrices(hops: int) -> None:
    """Changed counts of several rows, a row emptied and a new edge: G^(N) as from a dense matrix."""
    predictor = small_predictor(num_hops=hops)
    assert predictor.propagation is not None
    counts = predictor.graph.counts.toarray()
    edges = {(0, int(np.flatnonzero(counts[0])[0])): 0, (0, 5): 9, (3, 4): 2}
    edges |= {(7, int(d)): 0 for d in np.flatnonzero(counts[7])}
    edited = counts.astype(np.float64)
    for (source, destination), count in edges.items():
        edited[source, destination] = count
    totals = edited.sum(1, keepdims=True)
    adjacency = np.divide(edited, totals, out=np.zeros_like(edited), where=totals > 0)
    expected = dense_g(adjacency, predictor.propagation.embedding_PE, hops)
    for source in range(predictor.dataset.num_pois):
        assert np.allclose(predictor.propagation.row(source, edges), expected[source], rtol=0, atol=1e-12)


def test_path_cuts_equal_changed_matrices() -> None:
    """Frozen: (A^2)_sd loses one product. Recounted: the counts go and the row is normalised again."""
    predictor = small_predictor()
    propagation = predictor.propagation
    assert propagation is not None
    adjacency = predictor.graph.adjacency.toarray()
    cases = 0
    for number in range(len(predictor.cases)):
        edited_case = build_edited_case(predictor, number)
        paths = two_hop_paths(edited_case, edited_case.target)
        if not paths:
            continue
        cases += 1
        middle, source, target = paths[0].middle, edited_case.source, edited_case.target
        squared = adjacency @ adjacency
        squared[source, target] -= adjacency[source, middle] * adjacency[middle, target]
        frozen = propagation.row(source, {}, ((middle, target),))
        assert np.allclose(frozen, squared[source] @ propagation.embedding_PE, rtol=0, atol=1e-12)
        evidence = path_evidence(edited_case, target)
        assert len(evidence) == len(paths) and evidence[0].frozen is not None
        removed = apply_edit(edited_case, SetEdge(source=source, destination=middle, count=0))
        assert evidence[0].recounted_in is not None
        assert evidence[0].recounted_in.logit == pytest.approx(float(removed.total_P[target]), abs=1e-12)
        assert len(cut_variants(edited_case, target, [middle])["frozen"]) == 1
    assert cases >= 3


def test_path_evidence_adds_up_and_names_its_rows() -> None:
    """Products add up to (A^2)_sd, and each count has exactly its training rows."""
    predictor = small_predictor()
    squared = (predictor.graph.adjacency @ predictor.graph.adjacency).toarray()
    for number in range(len(predictor.cases)):
        edited_case = build_edited_case(predictor, number)
        evidence = path_evidence(edited_case, edited_case.target, {})
        assert sum(path.product for path in evidence) == pytest.approx(squared[edited_case.source, edited_case.target])
        for path in evidence:
            for rows, count in ((path.rows_in, path.count_in), (path.rows_out, path.count_out)):
                assert len(rows.times) == len(rows.walkers) == len(rows.trajectories) == count


def test_edited_paths_equal_unedited_ones_after_a_null_edit() -> None:
    """Setting an edge to the count it has changes nothing, though another branch of the code answers."""
    predictor = small_predictor()
    for number in range(6):
        edited_case = build_edited_case(predictor, number)
        count = edited_case.transition_count(edited_case.source, edited_case.target)
        null = apply_edit(edited_case, SetEdge(source=edited_case.source, destination=edited_case.target, count=count))
        assert torch.allclose(null.total_P, edited_case.total_P, rtol=0, atol=1e-12)
        for before, after in zip(
            two_hop_paths(edited_case, edited_case.target), two_hop_paths(null, edited_case.target), strict=True
        ):
            assert before.model_dump() == pytest.approx(after.model_dump())


def test_contrast_splits_the_margin() -> None:
    """Parts add up to the margin; the edit found turns the order round when applied; no smaller visit edit does."""
    predictor = small_predictor()
    flips = 0
    for number in range(12):
        edited_case = build_edited_case(predictor, number)
        first, second = edited_case.total_P.topk(2).indices.tolist()
        compared = contrast(edited_case, first, second)
        assert compared.margin == pytest.approx(sum(compared.parts.values()) + compared.residual, abs=1e-9)
        assert abs(compared.residual) < 1e-9
        if compared.flip is None:
            continue
        flips += 1
        edited = apply_edit(edited_case, compared.flip.edit)
        assert float(edited.total_P[first] - edited.total_P[second]) == pytest.approx(compared.flip.margin, abs=1e-12)
        assert compared.flip.margin < 0 <= compared.margin
        if isinstance(compared.flip.edit, RemoveVisit):
            assert compared.flip.size == 1
    assert flips >= 3
    with pytest.raises(CaseError, match="two different places"):
        contrast(build_edited_case(predictor, 0), 3, 3)
    with pytest.raises(CaseError, match="there is no POI 9999"):
        contrast(build_edited_case(predictor, 0), 3, 9999)


def test_a_binding_clip_is_flagged_and_split() -> None:
    """With a low b_max: parts still add up, the loss counts negatively in a contrast, sentences name it truly."""
    predictor = small_predictor(prior=PriorConfig(max_prior=0.6))
    clipped = 0
    for number in range(10):
        explanation = explain_fully(predictor, number, counterfactuals=False)
        for entry in explanation.candidates:
            raw = entry.count + entry.recency + entry.window
            assert entry.prior == pytest.approx(min(max(raw, 0.0), 0.6)) and abs(entry.residual) < 1e-9
            assert entry.is_clipped == (entry.prior != pytest.approx(raw))
        split = explanation.contrast
        assert split.margin == pytest.approx(sum(split.parts.values()) + split.residual, abs=1e-9)
        clipped += split.a.clip_loss != split.b.clip_loss
        assert check(explanation) >= 4
    assert clipped >= 2


def test_inactive_parts_are_told_and_never_items() -> None:
    """A model without graph and a case without its prior: no items, no cuts, and the names are listed."""
    predictor = small_predictor(use_graph=False)
    explanation = explain_fully(predictor, 3)
    assert explanation.inactive == ["graph_token"] and explanation.num_hops is None
    assert all(path.frozen is None and path.recounted_in is None for path in explanation.path_evidence)
    kinds = {entry.item.kind for entry in explanation.leave_one_out or []}
    assert "graph_token" not in kinds and "path" not in kinds
    edited_case = build_edited_case(small_predictor(), 3, parse_edits("off:prior"))
    assert edited_case.inactive == ["prior", "correction"]
    assert {item.kind for item in evidence_items(edited_case, edited_case.target)} <= {"checkin", "user", "graph_token"}
    assert effects(edited_case, [], 0) == []


@pytest.mark.parametrize("edits", ["", "off:prior", "off:graph_token"])
def test_the_rank_without_two_hops_is_that_of_every_case(edits: str) -> None:
    """Scored among the other copies of the page, it is the rank that the removal over all cases takes."""
    moved = 0
    for number in range(8):
        edited_case = build_edited_case(small_predictor(), number, parse_edits(edits))
        told = explain_fully(small_predictor(), number, edits=parse_edits(edits)).rank_without_two_hops
        assert told == rank_without_two_hops(edited_case, edited_case.target)
        assert (two_hops_off(edited_case) is None) == (told is None) == (edits == "off:graph_token")
        moved += told != rank_of(edited_case.total_P, edited_case.target)
    assert moved > 2
