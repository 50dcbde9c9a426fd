"""Evidence about new places and weights that depend on the step: by hand, no future, and terms that still add up."""

from functools import cache
from math import exp, log, log1p, sqrt
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from recap import columns as c
from recap.data.dataset import Dataset
from recap.errors import ConfigError
from recap.evidence.config import EvidenceConfig, HabitsConfig, SurroundingsConfig, WeighingConfig
from recap.evidence.features import EvidenceFeatures
from recap.evidence.popularity import OthersCheckins
from recap.evidence.steps import STEP_NUMBERS, step_numbers
from recap.evidence.surroundings import Surroundings
from recap.graph import TransitionGraph
from recap.history import CheckinTensors
from recap.model.config import Stage
from recap.model.evidence_terms import TOGETHER, EvidenceTerms
from recap.model.recap import Recap
from recap.scores import CaseBatch
from recap.training.dropout import SharedMaskDropout
from recap.training_config import OptimiserConfig
from tests.checkins import split_dataset
from tests.worlds import all_cases, batch_of, small_city, small_recap

TRAIN, TEST = c.TRAIN, c.TEST
WEIGHED = EvidenceConfig(
    sessions=True,
    habits=HabitsConfig(hours=True),
    surroundings=SurroundingsConfig(alike_users=2, own_category=True, known_too=True),
    weighing=WeighingConfig(network=3, layers=2, scaled=True, state_numbers=2),
    others_popularity=True,
)

# Users 0 to 2 trained at {0, 1}, {0, 1, 2} and {1, 3}; user 0 goes on to place 4, rows 0-3.
WALKS = [
    (0, [(0, TRAIN), (1, TRAIN), (0, TRAIN), (4, TEST)]),
    (1, [(0, TRAIN), (1, TRAIN), (2, TRAIN)]),
    (2, [(1, TRAIN), (3, TRAIN)]),
]


@cache
def world() -> Dataset:
    return split_dataset(WALKS, num_pois=5)


def batch_at(dataset: Dataset, *rows: int) -> CaseBatch:
    return CaseBatch(CheckinTensors.from_dataset(dataset), torch.tensor(rows))


def test_visitors_alike_by_hand() -> None:
    """At row 2 user 0 knows {0, 1}. Rarity log(3 / (1 + visitors)): 0 at place 0, log(3/4) at 1, log(3/2) at 2 and 3.

    Likeness with {0, 1, 2} is |log 3/4| / length, of which place 1 alone has both; with {1, 3} the same.
    """
    around = Surroundings.from_dataset(world(), SurroundingsConfig(near_km=(1.0,), alike_users=100))
    found = around.of(batch_at(world(), 2), torch.tensor([[0.0, log1p(1), log1p(2), 0.0, 0.0]], dtype=torch.float64))
    one, two = log(3 / 4), log(3 / 2)
    like = abs(one) / sqrt(one**2 + two**2)
    expected = [log1p(20 * like), log1p(40 * like), log1p(20 * like), log1p(20 * like), 0.0]
    assert found["visitors_alike"][0].tolist() == pytest.approx(expected)
    assert found["within_1_km"][0].tolist() == pytest.approx([1, exp(-1), exp(-2), 1, 1])


def test_popularity_of_others_by_hand() -> None:
    """User 0 trained twice at place 0, once at 1; user 1 at {0, 1, 2}, user 2 at {1, 3}; user 9 is unknown."""
    others = OthersCheckins.from_dataset(world())
    found_BP = others.of(torch.tensor([0, 1, 2, 9]))
    assert found_BP.tolist() == [[1, 2, 1, 1, 0], [2, 2, 0, 1, 0], [3, 2, 1, 0, 0], [3, 3, 1, 1, 0]]
    evidence = features_of(world()).of(batch_at(world(), 2))
    assert evidence.dense["popularity"][0].tolist() == pytest.approx([log1p(x) for x in (1, 2, 1, 1, 0)])
    column = WEIGHED.packed_features.index("known_popularity")
    assert evidence.packed_CF[:, column].tolist() == pytest.approx([log1p(1), log1p(2), 0.0][: len(evidence.poi_C)])


@settings(max_examples=20)
@given(st.integers(0, 10_000), st.integers(0, 16))
def test_own_training_tells_nothing_beyond_the_source(pick: int, place: int) -> None:
    """All of the user's training check-ins after the source moved to one place: the same evidence of every place.

    The training counts are made anew from the changed history; everyone's popularity would see it.
    """
    dataset = small_city()
    rows = dataset.cases(TRAIN)
    row = int(rows[pick % len(rows)])
    user = dataset.checkins[c.USER]
    changed = dataset.checkins.copy()
    changed.loc[(changed.index > row) & (user == user[row]) & (changed[c.SPLIT] == TRAIN), c.POI] = place
    counts_P = np.bincount(changed.loc[changed[c.SPLIT] == TRAIN, c.POI], minlength=dataset.num_pois)
    pois = dataset.pois.assign(**{c.TRAIN_CHECKINS: counts_P})
    edited = Dataset(checkins=changed, pois=pois, users=dataset.users, manifest=dataset.manifest)
    graph = TransitionGraph.from_dataset(edited)
    config = WEIGHED.model_copy(update={"surroundings": None})
    there = EvidenceFeatures.from_dataset(edited, graph, config).of(batch_at(edited, row))
    here = EvidenceFeatures.from_dataset(dataset, TransitionGraph.from_dataset(dataset), config).of(
        batch_at(dataset, row)
    )
    assert torch.equal(there.poi_C, here.poi_C)
    assert torch.equal(there.packed_CF, here.packed_CF)
    assert torch.equal(there.dense["popularity"], here.dense["popularity"])


def test_only_new_places_have_surroundings() -> None:
    """Row 2: places 0 and 1 are known."""
    graph = TransitionGraph.from_dataset(world())
    features = EvidenceFeatures.from_dataset(world(), graph, WEIGHED)
    dense = features.of(batch_at(world(), 2)).dense
    for name in WEIGHED.surrounding_features:
        assert dense[name][0, :2].tolist() == [0, 0]
        assert float(dense[name][0, 2]) > 0


def test_categories_and_known_places_by_hand() -> None:
    """Three check-ins of the one category there is, at places 0 and 1; all places lie at one spot."""
    evidence = features_of(world()).of(batch_at(world(), 2))
    category = log1p(3)
    assert evidence.dense["own_category"][0].tolist() == pytest.approx([0, 0, category, category, category])
    known = dict(zip(WEIGHED.packed_features, evidence.packed_CF[0].tolist(), strict=True))
    assert known["known_own_category"] == pytest.approx(category)
    assert known["known_within_0.1_km"] == 1.0
    # At row 7 user 2 knows place 1 alone; others went from there to places 0 and 2.
    evidence = features_of(world()).of(batch_at(world(), 7))
    column = WEIGHED.packed_features.index("known_within_0.1_km")
    assert (evidence.poi_C.tolist(), evidence.packed_CF[:, column].tolist()) == ([0, 1, 2], [0, 1, 0])


def test_step_numbers_by_hand() -> None:
    """Hourly check-ins: at row 2 the gap is 60 minutes; three check-ins of one walk at two places, two of them new."""
    number_Z = step_numbers(batch_at(world(), 2), 10.0)[0]
    centre = torch.tensor([5.5, 0.16, 1.6, 5.0, 3.3, 0.2, 0.2], dtype=torch.float64)
    spread = torch.tensor([2.7, 0.37, 0.9, 1.2, 0.7, 0.16, 0.19], dtype=torch.float64)
    raw = dict(zip(STEP_NUMBERS, (number_Z * spread + centre).tolist(), strict=True))
    shares = {"new_of_last_10": 3 / 7, "new_of_last_50": 3 / 7}
    walk = {"trajectory_length": log(4), "history_length": log(4), "known_places": log(3)}
    assert raw == pytest.approx({"gap": log(61), "in_burst": 0.0, **walk, **shares})


@cache
def weighed_model() -> tuple[Recap, EvidenceTerms]:
    model = small_recap(small_city(), evidence=WEIGHED.model_dump())
    assert model.evidence is not None
    return model, model.evidence


def test_terms_of_a_weighed_model_add_up() -> None:
    """For every place of every seventh case, under weights that differ from case to case."""
    model, terms = weighed_model()
    batch = batch_of(small_city(), all_cases(small_city())[::7])
    with torch.inference_mode():
        scores = model(batch, Stage())
        values = terms.values(batch, None, model.encode(batch, Stage()))
        assert float(values.weight_BF.std(0).min()) > 1e-3
        for poi in range(small_city().num_pois):
            term_BF = terms.terms_at(values, torch.full((len(batch),), poi))
            np.testing.assert_allclose(term_BF.sum(1), scores.dense["evidence"][:, poi], atol=1e-11)


def test_weighing_by_nothing_is_no_weighing() -> None:
    """The further weights at zero: the evidence of one weight for all steps."""
    model, terms = weighed_model()
    batch = batch_of(small_city(), all_cases(small_city())[::7])
    state_BD = model.encode(batch, Stage())
    zeros = {name: torch.zeros_like(value) for name, value in terms.state_dict().items() if name != "weight_F"}
    zeros["network.scale_F"] += 1
    network = terms.names.index(TOGETHER)
    silent = EvidenceTerms(terms._features, state_BD.shape[1]).double()
    silent.load_state_dict({"weight_F": terms.weight_F.detach(), **zeros})
    features = EvidenceFeatures.from_dataset(
        small_city(),
        TransitionGraph.from_dataset(small_city()),
        WEIGHED.model_copy(update={"weighing": None}),
    )
    unweighed = EvidenceTerms(features).double()
    weight_F = terms.weight_F.detach()
    unweighed.load_state_dict({"weight_F": torch.cat([weight_F[:network], weight_F[network + 1 :]])})
    with torch.inference_mode():
        np.testing.assert_allclose(silent(batch, None, state_BD), unweighed(batch), atol=1e-11)


def test_the_network_reads_the_state() -> None:
    """Where no weight depends on h_t the network alone may read it, and says so."""
    weighing = WeighingConfig(by_state=False, by_step=False, network=3, state_numbers=2)
    model = small_recap(small_city(), evidence=WEIGHED.model_copy(update={"weighing": weighing}).model_dump())
    assert model.evidence is not None and model.evidence.reads_state
    batch = batch_of(small_city(), all_cases(small_city())[::7])
    state_BD = model.encode(batch, Stage())
    with torch.inference_mode():
        here, elsewhere = (model.evidence.values(batch, None, state) for state in (state_BD, -state_BD))
        assert torch.equal(here.weight_BF, elsewhere.weight_BF)
        differs_F = (here.evidence.packed_CF != elsewhere.evidence.packed_CF).any(0)
    assert differs_F.nonzero().flatten().tolist() == [here.evidence.packed_CF.shape[1] - 1]


@pytest.mark.parametrize(
    ("weighing", "changes", "reads"),
    [
        ({}, {}, False),
        ({"by_state": True}, {}, True),
        ({"network": 3, "state_numbers": 2}, {}, True),
        ({"network": 3}, {"use_history": True}, True),
        ({"network": 3}, {"core_scope": "unvisited"}, True),
    ],
)
def test_a_state_that_nothing_reads_is_not_computed(
    weighing: dict[str, Any], changes: dict[str, Any], reads: bool
) -> None:
    """Other weights of the encoder change no score there, and some elsewhere."""
    parts: dict[str, Any] = {"core_scope": "nowhere", "use_history": False} | changes
    config = WeighingConfig(**({"by_step": False, "by_state": False} | weighing))
    model = small_recap(
        small_city(), evidence=WEIGHED.model_copy(update={"weighing": config}).model_dump(), **parts
    ).eval()
    assert model.config.reads_state is reads
    batch = batch_of(small_city(), all_cases(small_city())[::7])
    with torch.inference_mode():
        before_BP = model(batch, Stage()).total
        for weight in (*model.backbone.parameters(), *model.tokens.parameters()):
            weight.add_(torch.randn_like(weight))
        after_BP = model(batch, Stage()).total
    assert torch.equal(before_BP, after_BP) is not reads


@pytest.mark.parametrize("words", [False, True])
def test_processes_that_share_a_batch_draw_as_one(words: bool) -> None:
    """Dropout of the network and of h_t: each process's cases have the evidence they have alone."""
    model = small_recap(small_city(), evidence=WEIGHED.model_dump())
    model.train()
    rows = all_cases(small_city())[::7]

    def said(rank: int, size: int) -> torch.Tensor:
        torch.manual_seed(0)
        share = batch_of(small_city(), rows[rank::size])
        with torch.no_grad(), SharedMaskDropout(len(rows), rank, size):
            return model(share, Stage()).dense["evidence"]

    together = said(0, 1)
    for rank in (0, 1):
        np.testing.assert_allclose(said(rank, 2), together[rank::2], atol=1e-10)


@settings(max_examples=20)
@given(st.integers(0, 10_000), st.integers(0, 16))
def test_the_future_changes_no_score(pick: int, place: int) -> None:
    """Everything after the source moved to another place: the same scores of every place."""
    dataset = small_city()
    model, _ = weighed_model()
    cases = all_cases(dataset)
    row = int(cases[pick % len(cases)])
    changed = dataset.checkins.copy()
    changed.loc[changed.index > row, c.POI] = place
    edited = Dataset(checkins=changed, pois=dataset.pois, users=dataset.users, manifest=dataset.manifest)
    with torch.inference_mode():
        assert torch.equal(model(batch_at(edited, row), Stage()).total, model(batch_at(dataset, row), Stage()).total)


def test_renumbered_places_keep_their_scores() -> None:
    """Every place under another number: the same evidence at its new number."""
    dataset = small_city()
    moved_P = np.random.default_rng(0).permutation(dataset.num_pois)
    checkins, pois = dataset.checkins.copy(), dataset.pois.iloc[np.argsort(moved_P)].reset_index(drop=True)
    checkins[c.POI] = moved_P[checkins[c.POI]].astype(np.int32)
    renumbered = Dataset(checkins=checkins, pois=pois, users=dataset.users, manifest=dataset.manifest)
    rows = all_cases(dataset)[::13]
    for name, value_BP in features_of(dataset).of(CaseBatch(CheckinTensors.from_dataset(dataset), rows)).dense.items():
        moved = features_of(renumbered).of(CaseBatch(CheckinTensors.from_dataset(renumbered), rows)).dense[name]
        np.testing.assert_allclose(moved[..., moved_P], value_BP, atol=1e-12, err_msg=name)


@cache
def features_of(dataset: Dataset) -> EvidenceFeatures:
    return EvidenceFeatures.from_dataset(dataset, TransitionGraph.from_dataset(dataset), WEIGHED)


def test_batches_change_no_score() -> None:
    """All cases at once or one by one."""
    model, _ = weighed_model()
    rows = all_cases(small_city())[::11]
    with torch.inference_mode():
        together = model(batch_of(small_city(), rows), Stage()).total
        for case, row in enumerate(rows.tolist()):
            alone = model(batch_at(small_city(), row), Stage()).total[0]
            np.testing.assert_allclose(alone, together[case], atol=1e-11)


def test_older_configurations_keep_their_names() -> None:
    """New parts are none where not asked for, so that a finished training keeps its digest."""
    assert "surroundings" not in EvidenceConfig().model_dump(exclude_none=True)
    assert WEIGHED.log_linear == EvidenceConfig(sessions=True)
    assert SurroundingsConfig().names[-1] == "visitors_alike"
    for part in (SurroundingsConfig(), WeighingConfig(), OptimiserConfig()):
        assert set(part.model_dump(exclude_none=True)) <= set(OLDER), part


OLDER = (
    *("near_km", "alike_users", "by_step", "by_state", "learning_rate", "weight_decay"),
    *("prior_learning_rate", "calibration_learning_rate", "evidence_learning_rate"),
)


@pytest.mark.parametrize(
    "values",
    [
        {"surroundings": {"near_km": [0.0]}},
        {"habits": {"decay_days": [-1.0]}},
        {"recency_days": [3.0], "habits": {}},
    ],
)
def test_refuses_scales_that_are_none(values: dict[str, Any]) -> None:
    """Scales are above 0, and each stands once."""
    with pytest.raises(ConfigError):
        EvidenceConfig.parse(values)
