"""Evidence as addends: two-step walks against plain loops, every term adds up, and edits, cuts and switches bite."""

from functools import cache
from typing import Any

import numpy as np
import pytest
import torch
from recap.baselines.evidence import EvidenceRanker
from recap.baselines.evidence_config import EvidenceRankerConfig
from recap.evidence.config import EvidenceConfig
from recap.evidence.features import EvidenceFeatures, dense_at
from recap.evidence.others import EdgeEdits, OtherUsers
from recap.evidence.two_hop import two_step_walks
from recap.model.evidence_terms import EvidenceTerms

from recap import columns as c
from recap.data.dataset import Dataset
from recap.graph import TransitionGraph
from recap.model.config import Stage
from recap.model.interventions import Interventions
from recap.model.recap import Recap
from recap.training.trainer import Trainer
from tests.recap.reference_evidence import counts_of_others, walks_by_loops
from tests.worlds import all_cases, batch_of, small_city, small_recap, small_training

EVIDENCE: dict[str, Any] = {"evidence": EvidenceConfig().model_dump()}
ROWS = all_cases(small_city())[::5]


def weights_of(terms: EvidenceTerms) -> dict[str, float]:
    """Weight by feature name."""
    return dict(zip(terms.names, terms.weight_F.detach().tolist(), strict=True))


@cache
def city_model() -> tuple[Recap, EvidenceTerms]:
    model = small_recap(small_city(), **EVIDENCE)
    assert model.evidence is not None
    return model, model.evidence


def edits_of(*edges: tuple[int, int, int, int]) -> EdgeEdits:
    """(case, source, destination, count)."""
    return EdgeEdits(*torch.tensor(edges, dtype=torch.int64).reshape(-1, 4).unbind(1))


def found_walks(dataset: Dataset, rows: torch.Tensor, edits: EdgeEdits | None) -> list[dict[tuple[int, int], float]]:
    others = OtherUsers.from_dataset(dataset, TransitionGraph.from_dataset(dataset))
    batch = batch_of(dataset, rows)
    walks = two_step_walks(others, batch.user_B, batch.source_B, edits)
    found: list[dict[tuple[int, int], float]] = [{} for _ in rows]
    for case, middle, destination, product in zip(*(column.tolist() for column in vars(walks).values()), strict=True):
        assert (middle, destination) not in found[case]
        found[case][middle, destination] = product
    return found


def test_walks_equal_plain_loops_without_the_user() -> None:
    """Every fifth case of the city: the same walks, the same products, none that only the user could walk."""
    dataset = small_city()
    batch = batch_of(dataset, ROWS)
    for case, found in enumerate(found_walks(dataset, ROWS, None)):
        counts = counts_of_others(dataset, int(batch.user_B[case]))
        assert found == pytest.approx(walks_by_loops(counts, int(batch.source_B[case])))


@pytest.mark.parametrize("count", [0, 1, 7])
def test_edited_walks_equal_plain_loops(count: int) -> None:
    """One edge of each case removed, weakened or new, as first and as second step; the next case keeps its own."""
    dataset = small_city()
    batch = batch_of(dataset, ROWS)
    edges: list[tuple[int, int, int, int]] = []
    for case, source in enumerate(batch.source_B.tolist()):
        if case % 2 == 0:
            known = [edge for edge in counts_of_others(dataset, -1) if edge[0] == source]
            first = known[case % len(known)] if known else (source, 3)
            new = (first[1], (first[1] + 5) % dataset.num_pois)
            edges += [(case, *edge, count) for edge in {first, new, (source, (source + 7) % dataset.num_pois)}]
    for case, found in enumerate(found_walks(dataset, ROWS, edits_of(*edges))):
        mine = {(source, destination): count for at, source, destination, count in edges if at == case}
        counts = counts_of_others(dataset, int(batch.user_B[case]), mine)
        assert found == pytest.approx(walks_by_loops(counts, int(batch.source_B[case])))


def test_terms_add_up_to_the_part() -> None:
    """For every POI of every fifth case; and the part is what the model adds to core, prior and correction."""
    model, terms = city_model()
    batch = batch_of(small_city(), ROWS)
    with torch.inference_mode():
        scores = model(batch, Stage())
        values = terms.values(batch)
        for poi in range(small_city().num_pois):
            term_BF = terms.terms_at(values, torch.full((len(batch),), poi))
            np.testing.assert_allclose(term_BF.sum(1), scores.dense["evidence"][:, poi], atol=1e-12)
    total = scores.core + scores.prior + scores.correction + scores.parts["evidence"]
    np.testing.assert_allclose(scores.total.numpy(), total.numpy(), atol=1e-12)
    assert len(terms.names) == len(set(terms.names)) == len(weights_of(terms))


def test_walk_terms_add_up_to_the_two_hop_term() -> None:
    """A path's contribution is an exact addend of the score."""
    _, terms = city_model()
    batch = batch_of(small_city(), ROWS)
    values = terms.values(batch)
    for poi in range(small_city().num_pois):
        here_W = values.walks.destination_W == poi
        by_walk = torch.zeros(len(batch), dtype=torch.float64).index_add(
            0, values.walks.case_W[here_W], terms.walk_terms(values)[here_W]
        )
        two_hop = terms.terms_at(values, torch.full((len(batch),), poi))[:, terms.names.index("others_two_hop")]
        np.testing.assert_allclose(two_hop, by_walk, atol=1e-14)


def test_a_cut_walk_takes_its_term_and_nothing_else() -> None:
    """Scores of all other POIs stay, and the destination loses exactly what the walk added."""
    _, terms = city_model()
    batch = batch_of(small_city(), ROWS)
    values = terms.values(batch)
    walks = values.walks
    at = int(walks.product_W.argmax())
    case, middle, destination = (int(column[at]) for column in (walks.case_W, walks.middle_W, walks.destination_W))
    with torch.inference_mode():
        before, after = terms(batch), terms(batch, Interventions(cut_K3=torch.tensor([[case, middle, destination]])))
    expected = before.clone()
    expected[case, destination] -= terms.walk_terms(values)[at]
    np.testing.assert_allclose(after, expected, atol=1e-14)
    assert abs(float(terms.walk_terms(values)[at])) > 1e-3


def test_switches() -> None:
    """The part off for the first case; the term `known` off for one candidate of the second."""
    _, terms = city_model()
    batch = batch_of(small_city(), ROWS[-2:])
    poi = int(batch.source_B[1])
    off_BF = torch.zeros(2, len(terms.names), dtype=torch.bool)
    off_BF[1, terms.names.index("known")] = True
    changes = Interventions(
        evidence_factor_B=torch.tensor([0.0, 1.0], dtype=torch.float64),
        focus_B=torch.tensor([-1, poi]),
        focus_evidence_off_BF=off_BF,
    )
    with torch.inference_mode():
        before, after = terms(batch), terms(batch, changes)
    assert torch.equal(after[0], torch.zeros_like(after[0]))
    expected = before[1].clone()
    expected[poi] -= weights_of(terms)["known"]
    np.testing.assert_allclose(after[1], expected, atol=1e-14)


def test_inactive_before_the_prior() -> None:
    """While the prior sleeps the evidence does, and the stage says so."""
    model, _ = city_model()
    stage = Stage(prior=False, correction=False)
    with torch.inference_mode():
        scores = model(batch_of(small_city(), ROWS), stage)
    assert not scores.dense["evidence"].any()
    assert stage.inactive_parts(model.config) == ["prior", "correction", "evidence"]
    assert "evidence" not in stage.inactive_parts(small_recap(small_city()).config)


def test_other_users_futures_are_silent() -> None:
    """Moving every later check-in leaves the part as it is."""
    dataset, (_, terms) = small_city(), city_model()
    row = int(dataset.cases(c.TEST)[3])
    changed = dataset.checkins.copy()
    changed.loc[changed.index > row, c.POI] = 0
    edited = Dataset(checkins=changed, pois=dataset.pois, users=dataset.users, manifest=dataset.manifest)
    with torch.inference_mode():
        before, after = (terms(batch_of(data, torch.tensor([row]))) for data in (dataset, edited))
    assert torch.equal(before, after)


@pytest.mark.parametrize("fitted", [True, False])
def test_training_starts_from_the_fit(fitted: bool, tmp_path: Any) -> None:
    """Before the first step the weights are the ranker's, or 0; afterwards all of them have moved."""
    config = small_training(model=EVIDENCE, epochs=3, fit_evidence=fitted)
    trainer = Trainer(small_city(), config, tmp_path, torch.device("cpu"))
    assert trainer.model.evidence is not None
    assert set(weights_of(trainer.model.evidence).values()) == {0.0}
    trainer.run(stop=lambda: True)
    weights = weights_of(trainer.model.evidence)
    ranker = EvidenceRanker.fit(
        small_city(), trainer.graph, EvidenceRankerConfig(features=EvidenceConfig()), seed=config.seed
    )
    expected = ranker.dense_weights | ranker.packed_weights if fitted else {}
    # The prior, and with it the evidence, sleeps in the first epoch: its first step moves no evidence weight.
    assert weights == pytest.approx({name: expected.get(name, 0.0) for name in weights}, rel=1e-6)
    trainer.run()
    moved = weights_of(trainer.model.evidence)
    assert all(moved[name] != weights[name] for name in weights)


@pytest.mark.parametrize("fitted", [True, False])
def test_training_scales_the_clues_that_a_network_reads(fitted: bool, tmp_path: Any) -> None:
    """Deviations over candidates of training cases, the same for every seed, kept with the weights."""
    weighing = {"network": 3, "scaled": True}
    config = small_training(model={"evidence": {"weighing": weighing}}, fit_evidence=fitted)
    found = []
    for seed in (1, 2):
        (tmp_path / str(seed)).mkdir()
        trainer = Trainer(small_city(), config.override([f"seed={seed}"]), tmp_path / str(seed), torch.device("cpu"))
        trainer.run(stop=lambda: True)
        found.append(trainer.model.state_dict()["evidence.network.scale_F"])
    trainer = Trainer(small_city(), config, tmp_path / "1", torch.device("cpu"))
    assert torch.equal(trainer.model.state_dict()["evidence.network.scale_F"], torch.ones_like(found[0]))
    assert torch.equal(found[0], found[1])
    apart = len(trainer.row_N) // config.batch_size
    features = EvidenceFeatures.from_dataset(small_city(), trainer.graph, config.model.evidence or EvidenceConfig())
    evidence = features.of(batch_of(small_city(), trainer.row_N[::apart][: config.batch_size]))
    dense = [dense_at(value, evidence.case_C, evidence.poi_C) for value in evidence.dense.values()]
    expected_F = torch.cat([evidence.packed_CF, torch.stack(dense, 1)], 1).std(0)
    np.testing.assert_allclose(found[0], torch.where(expected_F > 1e-3, expected_F, 1.0), rtol=1e-4)
