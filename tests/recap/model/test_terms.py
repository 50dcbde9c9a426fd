"""Every score is a sum of terms, and "without X" is scoring again: against other models, other data, other loops."""

from functools import cache
from typing import Any

import numpy as np
import pytest
import torch
from scipy import sparse
from torch import Tensor

from recap.asking.counterfactuals import GRAPH_TOKEN, Counterfactual, pack_counterfactuals
from recap.features.catalogue import GROUPS, PAST, TIME, WHENEVER
from recap.features.others import two_hop_paths
from recap.history.graph import TransitionGraph
from recap.history.one_user import History
from recap.history.tensors import Histories
from recap.model.config import Stage
from recap.model.recap import Interventions, Recap
from recap.model.scorer import RecapScorer
from tests.recap.features.reference_features import counts_of_others, paths_by_loops
from tests.worlds import CURVES, all_cases, batch_of, small_city, small_recap, targets_of

CITY = small_city()
CASES = all_cases(CITY)[:200]
MODELS: dict[str, dict[str, Any]] = {
    f"{kind}, core {scope}, {corrected}correction, {answer}history": {
        "prior": {"kind": kind},
        "core_scope": scope,
        "use_correction": not corrected,
        "use_history": not answer,
    }
    for kind in ("paper", "curves")
    for scope in ("everywhere", "unvisited", "nowhere")
    for corrected in ("", "no ")
    for answer in ("", "no ")
    if (kind, scope, answer) != ("paper", "nowhere", "no ")
}
SAMPLED = [
    pytest.param(name, marks=[] if changes["use_correction"] == changes["use_history"] else pytest.mark.slow)
    for name, changes in MODELS.items()
]
"""Correction and history both there or both not; the others are slow tests."""


@cache
def model_of(name: str) -> Recap:
    return small_recap(CITY, **MODELS[name])


def without_weights(model: Recap, terms: set[str]) -> Recap:
    """A copy whose weights for these terms are 0: what they add is gone, and what depends on them with it."""
    other = Recap(model.config, CITY, dtype=torch.float64).eval()
    other.load_state_dict(model.state_dict())
    with torch.no_grad():
        if "core" in terms and other.core is not None:
            other.core.output.weight.zero_()
            other.core.output.bias.zero_()
        if "correction" in terms and other.calibration is not None:
            other.calibration.scale.zero_()
        for name in terms & set(WHENEVER.names):
            other.curves.curves.step_FK[WHENEVER.names.index(name)] = 0.0
        for name in terms & {"count", "recency", "window"}:
            assert other.prior is not None
            getattr(other.prior, f"{name}_weight").zero_()
    return other


@pytest.mark.parametrize("name", SAMPLED)
def test_contributions_add_up_to_the_score(name: str) -> None:
    """At the target, at a visited place and at a new one, to 1e-9; terms are there that the configuration has."""
    scorer = RecapScorer(model_of(name), Stage())
    batch = batch_of(CITY, CASES)
    total_BP = scorer.score(batch).total
    for poi_B in (targets_of(batch), batch.source_B, (batch.source_B + 5) % CITY.num_pois, batch.row_B % CITY.num_pois):
        found_BT = scorer.contributions(batch, poi_B)
        assert found_BT.dtype == torch.float64 and found_BT.shape == (len(batch), len(scorer.terms))
        torch.testing.assert_close(found_BT.sum(1), total_BP.gather(1, poi_B[:, None])[:, 0], rtol=0, atol=1e-9)
    changes, terms = MODELS[name], [term.name for term in scorer.terms]
    curves = changes["prior"]["kind"] == "curves"
    assert ("core" in terms) is (changes["core_scope"] != "nowhere")
    assert ("correction" in terms) is (changes["use_correction"] and changes["use_history"])
    assert (set(WHENEVER.names) <= set(terms)) is curves
    assert ("clip" in terms) is (not curves and changes["use_history"])
    if curves:
        assert [term.name for group in GROUPS for term in scorer.terms if term.group == group] == [
            name for group in GROUPS for name in [f.name for f in WHENEVER.features if f.group == group]
        ]


@pytest.mark.parametrize("name", SAMPLED)
def test_scores_without_terms_equal_a_model_that_never_had_them(name: str) -> None:
    """Single terms, whole groups and all at once, over 200 cases and every place: prior and correction are new too."""
    model = model_of(name)
    scorer, batch = RecapScorer(model, Stage()), batch_of(CITY, CASES)
    terms = [term.name for term in model.terms]
    groups = {term.group for term in model.terms}
    asked = [{term.name for term in model.terms if term.group == group} for group in groups]
    asked += [{terms[0]}, {terms[-1]}, set(terms[::3]), set(terms), set()]
    speaks_T = scorer.contributions(batch, targets_of(batch)).any(0).tolist()
    answer = {term for term, speaks in zip(terms, speaks_T, strict=True) if speaks} - {"clip"}
    total_BP = scorer.score(batch).total
    for left_out in asked:
        expected = RecapScorer(without_weights(model, left_out), Stage()).score(batch).total
        torch.testing.assert_close(
            scorer.score(batch, Interventions(frozenset(left_out))).total, expected, rtol=0, atol=1e-9
        )
        assert torch.equal(expected, total_BP) is not bool(left_out & answer)


def off(model: Recap, sets: list[frozenset[str]], rows: list[int]) -> Tensor:
    """Totals of cases, each with something of its own switched off."""
    batch = batch_of(CITY)
    histories = [History.until(batch.checkins, row) for row in rows]
    variants = [Counterfactual(history, off=names) for history, names in zip(histories, sets, strict=True)]
    graph = TransitionGraph.from_dataset(CITY)
    alone = [pack_counterfactuals([variant], model, graph) for variant in variants]
    return torch.cat([RecapScorer(model, Stage()).score(*packed).total for packed in alone])


@pytest.mark.parametrize("changes", [{}, CURVES | {"core_scope": "unvisited"}, CURVES], ids=["paper", "new", "all"])
def test_what_is_off_in_a_copy_of_a_case(changes: dict[str, Any]) -> None:
    """Four copies of each case: nothing, a term, a group, the token off."""
    model = small_recap(CITY, **changes)
    scorer = RecapScorer(model, Stage())
    term, group = model.terms[-2].name, model.terms[1].group
    rows = CASES[::20].tolist()
    kinds = [frozenset[str](), frozenset({term}), frozenset({group, "core"}), frozenset({GRAPH_TOKEN})]
    found = off(model, kinds * len(rows), [row for row in rows for _ in kinds]).view(len(rows), len(kinds), -1)
    batch = batch_of(CITY, torch.tensor(rows))
    names = frozenset(entry.name for entry in model.terms if entry.group in (group, "core"))
    torch.testing.assert_close(found[:, 0], scorer.score(batch).total, rtol=0, atol=1e-9)
    torch.testing.assert_close(
        found[:, 1], scorer.score(batch, Interventions(frozenset({term}))).total, rtol=0, atol=1e-9
    )
    torch.testing.assert_close(found[:, 2], scorer.score(batch, Interventions(names)).total, rtol=0, atol=1e-9)
    silent = RecapScorer(model, Stage(graph_weight=0.0)).score(batch).total
    torch.testing.assert_close(found[:, 3], silent, rtol=0, atol=1e-9)
    at_target = scorer.contributions(batch, targets_of(batch), Interventions(names))
    torch.testing.assert_close(
        at_target.sum(1), found[:, 2].gather(1, targets_of(batch)[:, None])[:, 0], rtol=0, atol=1e-9
    )


def two_hop_curve(model: Recap, value: float) -> float:
    """f(x) by numpy."""
    curves = model.curves.curves
    at = WHENEVER.names.index("two_hop_paths")
    knots = curves.knot_FK1[at][curves.knot_FK1[at].isfinite()]
    return float(np.interp(value, knots, curves.levels[at, : len(knots)].detach()))


def test_a_cut_path_scores_the_rest_of_its_sum() -> None:
    """Without a path of product p the curve is read at x - p instead of x, all else unchanged."""
    model = small_recap(CITY, **CURVES, core_scope="nowhere", use_correction=False)
    scorer, curves = RecapScorer(model, Stage()), model.curves
    checked = 0
    for row in CASES[::12].tolist():
        batch = batch_of(CITY, torch.tensor([row]))
        paths = two_hop_paths(curves.features.others, batch.user_B, batch.source_B)
        expected = paths_by_loops(counts_of_others(CITY, int(batch.user_B)), int(batch.source_B))
        ends = list(zip(paths.middle_W.tolist(), paths.destination_W.tolist(), strict=True))
        assert dict(zip(ends, paths.product_W.tolist(), strict=True)) == pytest.approx(expected)
        before = scorer.score(batch).total[0]
        for middle, destination in ends[::7]:
            x = sum(product for (_, end), product in expected.items() if end == destination)
            cut = Interventions(cut_K3=torch.tensor([[0, middle, destination]]))
            after = scorer.score(batch, cut).total[0]
            rest = max(0.0, x - expected[middle, destination])
            change = two_hop_curve(model, rest) - two_hop_curve(model, x)
            assert (after - before)[destination].item() == pytest.approx(change, abs=1e-9)
            assert (after != before).nonzero()[:, 0].tolist() in ([destination], [])
            checked += 1
    assert checked > 20


@pytest.mark.parametrize("changes", [{}, CURVES, CURVES | {"core_scope": "unvisited"}], ids=["paper", "all", "new"])
@pytest.mark.parametrize("count", [0, 1, 9])
def test_edited_counts_are_those_of_a_graph_that_was_edited(changes: dict[str, Any], count: int) -> None:
    """An edge of others weaker, gone or stronger, and a new one: token, transitions and paths as over the new graph."""
    model = small_recap(CITY, **changes)
    graph = TransitionGraph.from_dataset(CITY)
    checkins = batch_of(CITY).checkins
    for row in CASES[3::40].tolist():
        user, source = int(checkins.user_T[row]), int(checkins.poi_T[row])
        theirs = counts_of_others(CITY, user)
        known = next((edge for edge in theirs if edge[0] == source), None)
        own = {edge for edge in counts_of_others(CITY, -1) if edge not in theirs}
        new = next(
            edge for edge in ((source, p) for p in range(CITY.num_pois)) if edge not in theirs and edge not in own
        )
        edges = {new: count} if known is None else {known: count, new: count, (known[1], new[1]): count}
        mine = {edge: value for edge, value in edges.items() if value >= everyone(graph, edge) - theirs.get(edge, 0)}
        variant = Counterfactual(History.until(checkins, row), edges=mine)
        packed, interventions = pack_counterfactuals([variant], model, graph)
        found = RecapScorer(model, Stage()).score(packed, interventions).total
        edited = edited_graph(graph, mine)
        other = Recap(model.config, CITY, edited, torch.float64).eval()
        other.load_state_dict(model.state_dict())
        batch = Histories(checkins, torch.tensor([row]))
        torch.testing.assert_close(found, RecapScorer(other, Stage()).score(batch).total, rtol=0, atol=1e-9)
        if mine and count == 9:
            assert not torch.equal(found, RecapScorer(model, Stage()).score(batch).total)


def everyone(graph: TransitionGraph, edge: tuple[int, int]) -> int:
    return int(graph.count(np.array([edge[0]]), np.array([edge[1]]))[0])


def edited_graph(graph: TransitionGraph, edges: dict[tuple[int, int], int]) -> TransitionGraph:
    """The same graph with other counts."""
    matrix = graph.counts.toarray()
    for edge, count in edges.items():
        matrix[edge] = count
    return TransitionGraph(sparse.csr_array(matrix))


def test_without_history_no_past_visit_no_time_and_no_correction() -> None:
    """Those curves are 0 for any weights, the others still count; the paper's model keeps its core alone."""
    model = small_recap(CITY, **CURVES, use_history=False)
    batch = batch_of(CITY, CASES)
    found_BT = RecapScorer(model, Stage()).contributions(batch, targets_of(batch))
    for at, term in enumerate(model.terms):
        assert bool(found_BT[:, at].any()) is (term.group not in (PAST, TIME)), term
    assert model.calibration is None and "correction" not in [term.name for term in model.terms]
    paper = small_recap(CITY, use_history=False)
    assert [term.name for term in paper.terms] == ["core"] and paper.prior is None and paper.calibration is None


def test_without_core_and_correction_there_is_no_encoder() -> None:
    """The curves alone have one parameter; the paper's prior alone its scalars; no embedding, token or layer."""
    alone: dict[str, Any] = {"core_scope": "nowhere", "use_correction": False}
    assert [name for name, _ in small_recap(CITY, **CURVES, **alone).named_parameters()] == ["curves.curves.step_FK"]
    names = [name for name, _ in small_recap(CITY, **alone).named_parameters()]
    assert names and all(name.startswith("prior.") for name in names)
    corrected = small_recap(CITY, **CURVES, core_scope="nowhere")
    assert {"backbone", "calibration", "graph_token"} <= {
        name.split(".")[0] for name, _ in corrected.named_parameters()
    }


def test_the_correction_is_a_gate_on_past_visits_and_times() -> None:
    """Delta = lambda x gate x those curves at places visited before the source, 0 elsewhere, the gate in [-1, 1]."""
    model = small_recap(CITY, **CURVES)
    scorer, batch = RecapScorer(model, Stage()), batch_of(CITY, CASES)
    correction_BP = scorer.score(batch).parts["correction"]
    of_past = [at for at, term in enumerate(model.terms) if term.group in (PAST, TIME)]
    for poi in range(CITY.num_pois):
        curves_B = scorer.contributions(batch, torch.full_like(batch.row_B, poi))[:, of_past].sum(1)
        bound_B = (model.calibration.scale * curves_B).abs() + 1e-12
        for row, delta, bound in zip(CASES.tolist(), correction_BP[:, poi].tolist(), bound_B.tolist(), strict=True):
            past = batch.checkins.poi_T[batch.checkins.first_T[row] : row]
            assert 0 < abs(delta) <= bound if (past == poi).any() else delta == 0


def test_what_can_be_edited() -> None:
    """Check-ins always; transitions and paths where something reads them."""
    history = {"visits", "times", "source"}
    for changes, more in (
        ({}, {"transitions", "paths"}),
        ({"num_hops": 3}, {"transitions"}),
        ({"use_graph": False}, set()),
        ({"core_scope": "nowhere", "use_correction": False}, set()),
        (CURVES | {"core_scope": "nowhere", "use_correction": False}, {"transitions", "paths"}),
        (CURVES | {"use_graph": False, "num_hops": 3}, {"transitions", "paths"}),
    ):
        assert RecapScorer(small_recap(CITY, **changes), Stage()).supported_edits == history | more


def test_before_the_prior_acts_its_terms_are_zero() -> None:
    """A stage of the core alone: contributions still add up."""
    for changes in ({}, CURVES):
        stage = Stage(prior=False, correction=False)
        model, batch = small_recap(CITY, **changes), batch_of(CITY, CASES[:30])
        scorer = RecapScorer(model, stage)
        found_BT = scorer.contributions(batch, targets_of(batch))
        assert found_BT[:, 0].all() and not found_BT[:, 1:].any()
        assert torch.equal(scorer.score(batch).total, scorer.score(batch).parts["core"])
