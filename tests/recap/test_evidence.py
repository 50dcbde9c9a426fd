"""Evidence features: against plain loops, by hand, and what must not change them."""

from functools import cache
from math import cos, exp, log, log1p, pi

import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from recap.evidence.config import DENSE_FEATURES, SESSION_FEATURES, EvidenceConfig
from recap.evidence.features import EvidenceFeatures
from recap.evidence.places import EARTH_RADIUS_KM, PlaceAttributes

from recap import columns as c
from recap.data.dataset import Dataset
from recap.errors import ConfigError
from recap.graph import TransitionGraph
from recap.history import CheckinTensors
from recap.scores import CaseBatch
from tests.checkins import raw_rows, small_dataset, split_dataset
from tests.recap.reference_evidence import CONFIG, WITH_SESSIONS, Table, distance_km, evidence_by_loops
from tests.worlds import all_cases, small_city

TRAIN, TEST = c.TRAIN, c.TEST

# Rows 0-4 train user 0 on 0 1 0 1 2, rows 5-7 test 0 -> 1 -> 2; rows 8-11 train user 1 on 0 3 0 1. Row r is r hours
# after Monday 04:00 local time; all POIs lie at one point.
WALKS = [
    (0, [(0, TRAIN), (1, TRAIN), (0, TRAIN), (1, TRAIN), (2, TRAIN)]),
    (0, [(0, TEST), (1, TEST), (2, TEST)]),
    (1, [(0, TRAIN), (3, TRAIN), (0, TRAIN), (1, TRAIN)]),
]


@cache
def world() -> Dataset:
    dataset = split_dataset(WALKS, num_pois=5)
    dataset.pois[c.TRAIN_CHECKINS] = [4, 3, 1, 1, 0]
    return dataset


def features_of(dataset: Dataset, config: EvidenceConfig = CONFIG) -> EvidenceFeatures:
    return EvidenceFeatures.from_dataset(dataset, TransitionGraph.from_dataset(dataset), config)


def evidence_of(features: EvidenceFeatures, checkins: CheckinTensors, row: int) -> Table:
    """Candidate -> feature name -> value, of one case."""
    evidence = features.of(CaseBatch(checkins, torch.tensor([row])))
    names = features.config.packed_features
    return {
        poi: dict(zip(names, values, strict=True))
        for poi, values in zip(evidence.poi_C.tolist(), evidence.packed_CF.tolist(), strict=True)
    }


def assert_same_evidence(found: Table, expected: Table) -> None:
    assert found.keys() == expected.keys()
    for poi, values in expected.items():
        assert found[poi] == pytest.approx(values, abs=1e-9), poi


def test_by_hand() -> None:
    """User 0 at POI 0 (row 5) after 0 1 0 1 2: counts, ages in hours, and user 1's 0 -> 3 and 0 -> 1, once each."""
    found = evidence_of(features_of(world()), CheckinTensors.from_dataset(world()), 5)
    assert list(found) == [0, 1, 2, 3]
    assert [found[poi]["known"] for poi in found] == [1, 1, 1, 0]
    assert [found[poi]["stay"] for poi in found] == [1, 0, 0, 0]
    assert [found[poi]["once"] for poi in found] == [0, 0, 1, 0]
    assert found[1]["recency_14_days"] == pytest.approx(exp(-2 / 24 / 14))
    assert found[3]["recency_14_days"] == 0
    assert found[0]["recent_visits"] == pytest.approx(log1p(5 * (exp(-5 / 50) + exp(-3 / 50) + 1)))
    # Everything happened on one Monday: only age counts.
    assert found[2]["visits_on_day"] == pytest.approx(log1p(5 * exp(-1 / 24 / 60)))
    # 0 -> 1 at rows 1 and 3; row 5 begins a new walk, so 2 -> 0 is no transition and there is no pair before it.
    assert found[1]["own_transitions"] == pytest.approx(log1p(5 * (exp(-4 / 24 / 60) + exp(-2 / 24 / 60))))
    assert [found[poi]["own_transitions"] for poi in (0, 2, 3)] == [0, 0, 0]
    assert all(values["own_pairs"] == 0 for values in found.values())
    assert [found[poi]["others_transitions"] for poi in found] == pytest.approx([0, log(2), 0, log(2)])
    assert [found[poi]["known_popularity"] for poi in found] == pytest.approx([log(5), log(4), log(2), 0])


def test_pairs_by_hand() -> None:
    """User 0 at 1 after 0 (row 6): 0 1 went on to 0 (row 2, 4 hours ago) and to 2 (row 4, 2 hours ago)."""
    found = evidence_of(features_of(world()), CheckinTensors.from_dataset(world()), 6)
    expected = {0: log1p(5 * exp(-4 / 24 / 60)), 1: 0.0, 2: log1p(5 * exp(-2 / 24 / 60))}
    assert {poi: found[poi]["own_pairs"] for poi in found} == pytest.approx(expected)
    assert {poi: found[poi]["own_transitions"] for poi in found} == pytest.approx(expected)


def test_sessions_by_hand() -> None:
    """One Monday, POIs 0 1 2 1 0 of one walk at 12:00, 12:05, 12:20, 12:25 and 12:30: the burst began at 12:20."""
    dataset = split_dataset([(0, [(poi, TRAIN) for poi in (0, 1, 2, 1, 0, 2)])], num_pois=3)
    minutes = [0, 5, 20, 25, 30, 60]
    times = pd.Timestamp("2012-04-02 12:00", tz="UTC") + pd.to_timedelta(minutes, unit="min")
    table = dataset.checkins.assign(**{c.TIME: times.astype(dataset.checkins[c.TIME].dtype)})
    dataset = Dataset(checkins=table, pois=dataset.pois, users=dataset.users, manifest=dataset.manifest)
    found = evidence_of(features_of(dataset, WITH_SESSIONS), CheckinTensors.from_dataset(dataset), 4)
    shown = {name: [found[poi][name] for poi in (0, 1, 2)] for name in SESSION_FEATURES}
    once, twice = log1p(5), log1p(5 * 2)
    assert shown["in_burst"] == pytest.approx([0, once, once])
    assert shown["in_trajectory"] == pytest.approx([once, twice, once])
    assert shown["just_before"] == pytest.approx([0, once, 0])
    # The only step from 0, at 12:00 to 1, took five minutes: it is no slow one. Half past twelve is half an hour later.
    assert shown["slow_transitions"] == [0, 0, 0]
    near = exp((cos(2 * pi * 0.5 / 24) - 1) / (2 * pi * 2.0 / 24) ** 2)
    faded = exp(-25 / 60 / 24 / 60)
    assert shown["own_transitions_at_hour"] == pytest.approx([0, log1p(5 * near * faded), 0])


def test_pairs_end_at_trajectories() -> None:
    """1 | 0 2 1 | ..., then 1 0: the first 0 followed 1 in another walk, so its 2 says nothing of the pair 1, 0."""
    walks = [(0, [(1, TRAIN)]), (0, [(0, TRAIN), (2, TRAIN)]), (0, [(1, TRAIN), (0, TRAIN), (3, TRAIN)])]
    dataset = split_dataset(walks, num_pois=4)
    features, checkins = features_of(dataset), CheckinTensors.from_dataset(dataset)
    assert evidence_of(features, checkins, 4)[2]["own_pairs"] == 0.0
    assert evidence_of(features, checkins, 4)[2]["own_transitions"] > 0.0
    one_walk = split_dataset([(0, [(poi, TRAIN) for poi in (1, 0, 2, 1, 0, 3)])], num_pois=4)
    found = evidence_of(features_of(one_walk), CheckinTensors.from_dataset(one_walk), 4)
    assert found[2]["own_pairs"] == found[2]["own_transitions"] > 0.0


def test_others_never_include_the_user() -> None:
    """For user 1 at POI 0 only user 0's two 0 -> 1 count, neither the own 0 -> 1 nor the own 0 -> 3."""
    checkins = CheckinTensors.from_dataset(world())
    features = features_of(world())
    at_row_10 = evidence_of(features, checkins, 10)
    counts = {poi: values["others_transitions"] for poi, values in at_row_10.items()}
    assert counts == pytest.approx({0: 0.0, 1: log(3), 3: 0.0})
    # At row 8 user 1 has no past but POI 0: a destination only user 1 will go to is no candidate.
    assert list(evidence_of(features, checkins, 8)) == [0, 1]


def test_dense_features() -> None:
    """Popularity is shared by all cases; POIs at one point are 0 km apart."""
    evidence = features_of(world()).of(CaseBatch(CheckinTensors.from_dataset(world()), torch.tensor([5, 6])))
    assert tuple(evidence.dense) == DENSE_FEATURES
    assert evidence.dense["popularity"].tolist() == pytest.approx([log(5), log(4), log(2), log(2), 0])
    assert evidence.dense["distance"].tolist() == [[0.0] * 5] * 2


def test_distance() -> None:
    """New York to London is 5,570 km, a quarter turn 10,008 km, and near points keep a metre's precision."""
    pois = pd.DataFrame(
        {
            c.LATITUDE: [40.7128, 51.5074, 0.0, 0.0, 40.7128],
            c.LONGITUDE: [-74.006, -0.1278, 0.0, 90.0, -74.00601],
            c.TRAIN_CHECKINS: 0,
        }
    )
    dataset = Dataset(checkins=world().checkins, pois=pois, users=world().users, manifest=world().manifest)
    places = PlaceAttributes.from_dataset(dataset)
    distance_PP = places.distance_km(torch.arange(5))
    assert torch.equal(places.distance_km(torch.arange(5).repeat(8)), distance_PP.repeat(8, 1)), "more than a piece"
    assert float(distance_PP[0, 1]) == pytest.approx(5570, abs=1)
    assert float(distance_PP[2, 3]) == pytest.approx(EARTH_RADIUS_KM * pi / 2, abs=1e-6)
    assert float(distance_PP[0, 4]) == pytest.approx(distance_km((40.7128, -74.006), (40.7128, -74.00601)), rel=1e-6)
    assert float(distance_PP.diagonal().max()) == 0.0


@settings(max_examples=20)
@given(raw_rows(min_size=12), st.integers(0, 10_000))
def test_equals_plain_loops(rows: list[tuple[str, str, float]], pick: int) -> None:
    """Any small table, any case of it: every feature of every candidate."""
    dataset = dataset_with_training(rows)
    cases = all_cases(dataset)
    row = int(cases[pick % len(cases)])
    checkins = CheckinTensors.from_dataset(dataset)
    for config in (CONFIG, WITH_SESSIONS):
        found = evidence_of(features_of(dataset, config), checkins, row)
        assert_same_evidence(found, evidence_by_loops(dataset, row, config))


def dataset_with_training(rows: list[tuple[str, str, float]]) -> Dataset:
    """The rows after one walk that makes sure of a training transition."""
    return small_dataset([("ann", "home", -60.0), ("ann", "gym", -58.0), *rows])


def test_equals_plain_loops_in_a_city() -> None:
    """Test cases of a city with overlapping habits."""
    dataset = small_city()
    features, checkins = features_of(dataset, WITH_SESSIONS), CheckinTensors.from_dataset(dataset)
    for row in dataset.cases(TEST)[::3].tolist():
        assert_same_evidence(evidence_of(features, checkins, row), evidence_by_loops(dataset, row, WITH_SESSIONS))


def test_batches_change_nothing() -> None:
    """All cases at once or one by one: bit-equal evidence."""
    dataset = small_city()
    features, checkins, rows = (
        features_of(dataset, WITH_SESSIONS),
        CheckinTensors.from_dataset(dataset),
        all_cases(dataset),
    )
    together = features.of(CaseBatch(checkins, rows))
    for case, row in enumerate(rows.tolist()):
        alone = features.of(CaseBatch(checkins, torch.tensor([row])))
        mine_C = together.case_C == case
        assert torch.equal(alone.poi_C, together.poi_C[mine_C])
        assert torch.equal(alone.packed_CF, together.packed_CF[mine_C])
        assert torch.equal(alone.dense["distance"][0], together.dense["distance"][case])


@settings(max_examples=30)
@given(st.integers(0, 10_000), st.integers(0, 16))
def test_the_future_changes_no_evidence(pick: int, place: int) -> None:
    """Everything after the source moved to another place: the same features, targets included in the change."""
    dataset = small_city()
    features, checkins = features_of(dataset, WITH_SESSIONS), CheckinTensors.from_dataset(dataset)
    cases = all_cases(dataset)
    row = int(cases[pick % len(cases)])
    changed = dataset.checkins.copy()
    changed.loc[changed.index > row, c.POI] = place
    edited = Dataset(checkins=changed, pois=dataset.pois, users=dataset.users, manifest=dataset.manifest)
    found = evidence_of(features, CheckinTensors.from_dataset(edited), row)
    assert found == evidence_of(features, checkins, row)


def test_edited_histories_stand_side_by_side() -> None:
    """User 0's history without row 3, as a second segment: own counts fall, what others did stays."""
    table = CheckinTensors.from_dataset(world())
    rows = np.array([0, 1, 2, 3, 4, 5, 0, 1, 2, 4, 5])
    segment = np.array([0] * 6 + [1] * 5)
    copies = CheckinTensors.from_arrays(
        user=np.zeros(11, dtype=np.int64),
        poi=table.poi_T.numpy()[rows],
        seconds=table.seconds_T.numpy()[rows],
        local_seconds=table.local_seconds_T.numpy()[rows],
        trajectory=table.trajectory_T.numpy()[rows],
        segment=segment,
    )
    features = features_of(world())
    whole, edited = evidence_of(features, copies, 5), evidence_of(features, copies, 10)
    assert whole == evidence_of(features, table, 5)
    assert (whole[1]["once"], edited[1]["once"]) == (0.0, 1.0)
    assert edited[1]["own_transitions"] == pytest.approx(log1p(5 * exp(-4 / 24 / 60)))
    assert {poi: values["others_transitions"] for poi, values in edited.items()} == {
        poi: values["others_transitions"] for poi, values in whole.items()
    }


def test_a_stranger_sees_everyone_as_others() -> None:
    """A user that training does not know: all transitions from 0 are others', 0 -> 1 three times and 0 -> 3 once."""
    zero = np.zeros(1, dtype=np.int64)
    stranger = CheckinTensors.from_arrays(
        user=np.array([7]), poi=zero, seconds=zero, local_seconds=zero, trajectory=zero
    )
    found = evidence_of(features_of(world()), stranger, 0)
    assert {poi: values["others_transitions"] for poi, values in found.items()} == pytest.approx(
        {0: 0.0, 1: log(4), 3: log(2)}
    )


def test_refuses_scales_that_are_no_scales() -> None:
    """A zero or negative decay length."""
    for wrong in ({"memory_days": 0}, {"recency_days": [1.0, -1.0]}, {"gain": -1}, {"unknown": 1}):
        with pytest.raises(ConfigError):
            EvidenceConfig.parse(wrong)
