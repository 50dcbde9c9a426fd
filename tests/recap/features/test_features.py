"""Every feature against plain loops; nothing later is read, nothing about others comes from the user."""

from dataclasses import fields, replace
from datetime import UTC, datetime
from functools import cache

import numpy as np
import pytest
import torch
from scipy import sparse

from recap import columns as c
from recap.data.dataset import Dataset
from recap.features import similar_users
from recap.features.catalogue import GIVEN_TIME, GROUPS, WHENEVER, FeatureSet
from recap.features.similar_users import SimilarUsers
from recap.features.values import Features, FeatureValues
from recap.history.graph import TransitionGraph
from recap.history.tensors import CheckinTensors, Histories
from tests.checkins import small_dataset, split_dataset
from tests.recap.features.reference_features import Reference
from tests.worlds import all_cases, batch_of

PLACES = ["a0", "a1", "b0", "b1", "b2", "c0", "c1", "d0", "e0"]


@cache
def city() -> Dataset:
    """Six users, pauses from half a minute to two days: bursts, trajectories, every hour and day of the week."""
    generator = np.random.default_rng(11)
    rows = []
    for user in range(6):
        favourites, hour = generator.choice(PLACES, 4, replace=False), float(generator.uniform(0, 90))
        for _ in range(45):
            place = generator.choice(favourites if generator.random() < 0.8 else PLACES)
            rows.append((f"u{user}", str(place), hour))
            hour += float(generator.choice([1 / 120, 0.1, 0.5, 1.5, 3.0, 7.0, 23.5, 24.0, 50.0]))
    return small_dataset(rows)


@cache
def features() -> Features:
    return Features.from_dataset(city(), TransitionGraph.from_dataset(city()))


def laid_out(values: FeatureValues) -> np.ndarray:
    """Every feature of every place, (F, B, P); 0 where a place cannot have it."""
    value_FI, applies_FI = values.at(torch.arange(len(values.histories) * values.num_pois))
    return (value_FI * applies_FI).view(len(values.of), len(values.histories), -1).numpy()


def check_values(found_FBP: np.ndarray, of: FeatureSet, expected: list[dict[int, dict[str, float]]]) -> None:
    """Each feature to ten digits; each takes several values."""
    for at, name in enumerate(of.names):
        wanted = [[values[place][name] for place in range(city().num_pois)] for values in expected]
        np.testing.assert_allclose(found_FBP[at], wanted, rtol=1e-10, atol=1e-10, err_msg=name)
        assert len(np.unique(found_FBP[at])) > 1, name


def test_every_feature_equals_plain_loops() -> None:
    """Every fifth case of all splits, every place: each feature to ten digits, and each takes several values."""
    rows = all_cases(city())[::5]
    found_FBP = laid_out(features().of(batch_of(city(), rows)))
    reference = Reference(city())
    check_values(found_FBP, WHENEVER, [reference.of(row) for row in rows.tolist()])


def test_every_feature_of_a_time_given_equals_plain_loops() -> None:
    """The same with the local time of the next check-in, and with one two days later on another hour."""
    rows, reference = all_cases(city())[::7], Reference(city())
    checkins = CheckinTensors.from_dataset(city())
    for later in (0, 2 * 86_400 + 7 * 3_600):
        next_B = checkins.local_seconds_T[rows + 1] + later
        found_FBP = laid_out(features().of(Histories(checkins, rows, next_B)))
        times = [datetime.fromtimestamp(second, UTC).replace(tzinfo=None) for second in next_B.tolist()]
        expected = [reference.of(row, at) for row, at in zip(rows.tolist(), times, strict=True)]
        check_values(found_FBP, GIVEN_TIME, expected)


def test_nothing_of_the_target_but_its_time_acts() -> None:
    """The target and every later row with other places, zones and trajectories: the same bits."""
    checkins, row = CheckinTensors.from_dataset(city()), 40
    later_T = torch.arange(len(checkins.poi_T)) > row
    values = vars(checkins) | {
        "poi_T": torch.where(later_T, (checkins.poi_T + 1) % city().num_pois, checkins.poi_T),
        "local_seconds_T": checkins.local_seconds_T + 7_200 * later_T,
        "trajectory_T": checkins.trajectory_T + later_T.long(),
        "seconds_T": checkins.seconds_T + 100 * later_T,
    }
    changed = CheckinTensors(**{field.name: values[field.name] for field in fields(CheckinTensors)})
    row_B, at_B = torch.tensor([row]), checkins.local_seconds_T[row + 1][None]
    one, other = (laid_out(features().of(Histories(table, row_B, at_B))) for table in (checkins, changed))
    np.testing.assert_array_equal(one, other)


def test_the_catalogue_is_whole() -> None:
    """Names are unique, and the five groups hold every feature once."""
    for names in (WHENEVER, GIVEN_TIME):
        assert len(set(names.names)) == len(names)
        grouped = [feature.name for group in GROUPS for feature in names.features if feature.group == group]
        assert sorted(grouped) == sorted(names.names)


def test_what_the_user_does_later_says_nothing_about_others() -> None:
    """A user's later training check-ins at other places: neither transitions, paths, popularity nor similarity move.

    How rare a place is, the weight of similarities, is held as it was: it counts everyone.
    """
    dataset = city()
    checkins = CheckinTensors.from_dataset(dataset)
    rarity_P = features().similar.rarity_P
    for user in range(dataset.num_users):
        mine = np.flatnonzero(dataset.checkins[c.USER] == user)
        row = int(mine[len(mine) // 3])
        later = mine[mine > row]
        poi = dataset.checkins[c.POI].to_numpy().copy()
        poi[later] = (poi[later] + 1 + later % 3) % dataset.num_pois
        table = dataset.checkins.assign(**{c.POI: poi})
        edited = Dataset(checkins=table, pois=dataset.pois, users=dataset.users, manifest=dataset.manifest)
        graph = TransitionGraph.from_dataset(edited)
        found = Features.from_dataset(edited, graph)
        visited_UP = found.similar.visited_UP
        profile_PU = sparse.csr_array(similar_users._profiles(visited_UP, rarity_P).T)
        similar = SimilarUsers(visited_UP, profile_PU, rarity_P)
        batch = Histories(checkins, torch.tensor([row]))
        one, other = (laid_out(those.of(batch)) for those in (features(), replace(found, similar=similar)))
        np.testing.assert_allclose(one, other, rtol=0, atol=1e-12)


def test_cases_do_not_depend_on_their_batch() -> None:
    """Alone, in another order, twice: the same bits."""
    rows = all_cases(city())[::7]
    together = laid_out(features().of(batch_of(city(), rows)))
    order = torch.randperm(len(rows), generator=torch.Generator().manual_seed(0))
    shuffled = laid_out(features().of(batch_of(city(), rows[order])))
    np.testing.assert_allclose(shuffled, together[:, order], rtol=0, atol=1e-12)
    for at in (0, 11):
        alone = laid_out(features().of(batch_of(city(), rows[at : at + 1])))
        np.testing.assert_allclose(alone[:, 0], together[:, at], rtol=0, atol=1e-12)


def test_only_the_most_similar_users_count(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of two other users who share places with a user, the one most alike; both where they are equally alike."""
    walks = [
        (0, [(0, 0), (1, 0), (2, 0)]),
        (1, [(0, 0), (1, 0), (2, 0), (3, 0)]),
        (2, [(0, 0), (4, 0)]),
        (3, [(5, 0), (6, 0)]),
        (4, [(7, 0), (6, 0)]),
        (5, [(8, 0), (7, 0)]),
    ]
    similar = SimilarUsers.from_dataset(split_dataset(walks, 9))
    here, places = torch.zeros(3, dtype=torch.int64), torch.tensor([0, 1, 2])

    def reached(poi_H: torch.Tensor = places) -> set[int]:
        _, poi, value = similar.visits(here[: len(poi_H)], poi_H, torch.tensor([0]))
        assert bool((value > 0).all())
        return set(poi.tolist())

    assert reached() == {0, 1, 2, 3, 4}
    monkeypatch.setattr(similar_users, "_MOST_SIMILAR", 1)
    assert reached() == {0, 1, 2, 3}
    assert reached(places[:0]) == set()


def test_unknown_users_have_a_past_of_their_own_alone() -> None:
    """A user whom training does not know: all transitions and check-ins count, nothing is left out."""
    table = CheckinTensors.from_dataset(city())
    row = int(all_cases(city())[40])
    stranger = CheckinTensors(**(vars(table) | {"user_T": torch.full_like(table.user_T, 99)}))
    found = laid_out(features().of(Histories(stranger, torch.tensor([row]))))
    assert np.isfinite(found).all()
    counts = np.bincount(city().checkins[c.POI][city().checkins[c.SPLIT] == c.TRAIN], minlength=city().num_pois)
    either = found[WHENEVER.names.index("popularity_known"), 0] + found[WHENEVER.names.index("popularity_new"), 0]
    np.testing.assert_allclose(either, np.log1p(counts))
    graph = TransitionGraph.from_dataset(city())
    expected = np.log1p(graph.counts[[int(table.poi_T[row])]].toarray()[0])
    np.testing.assert_allclose(found[WHENEVER.names.index("others_transitions"), 0], expected)
