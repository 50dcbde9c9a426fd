"""Dataset statistics and fingerprints: counted on paper, by brute force, and on the real file."""

import math
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from recap import columns as c
from recap.data.cleaning import data_preset
from recap.data.dataset import Dataset
from recap.data.preparation import prepare_dataset
from recap.errors import DataError
from recap.history import statistics
from recap.history.graph import TransitionGraph
from recap.history.statistics import dataset_statistics, fingerprint, unseen_reach
from tests.checkins import split_dataset
from tests.nyc import NYC_FILE, needs_nyc, nyc_raw, nyc_reference
from tests.shell import recap_json

Walks = list[tuple[int, list[tuple[int, int]]]]

# Training: 0->1 twice, 1->2, 2->3. Test: 0->1 (head), 1->2 (tail, seen once), 0->2 twice (unseen, two hops),
# 0->3 (unseen, three hops). The same user walked 0 1 2 3 before, so every test target is in the history.
PAPER_SIZED: Walks = [
    (0, [(0, 0), (1, 0), (2, 0), (3, 0)]),
    (0, [(0, 0), (1, 0)]),
    (0, [(0, 0), (1, 2)]),
    (0, [(1, 0), (2, 2)]),
    (0, [(0, 0), (2, 2)]),
    (0, [(0, 0), (2, 2)]),
    (0, [(0, 0), (3, 2)]),
]


def test_by_hand() -> None:
    """Four unique test pairs, of which two unseen; five cases, of which four tail: 1->2 (one hop), 0->2, 0->2, 0->3.

    C_1 sizes: 1, 1, 1, 0. C_2: {1,2}, {2,3}, {3}, {}: 2, 2, 1, 0. C_3: {1,2,3}, {2,3}, {3}: 3, 2, 1, 0.
    Unseen pairs: (0,2) at two hops, (0,3) at three, both from source 0.
    """
    found = dataset_statistics(split_dataset(PAPER_SIZED, 4), max_hops=3)
    assert (found["transitions"], found["unique_test_pairs"], found["unseen_unique_test_pairs"]) == (3, 4, 2)
    assert found["unique_tail_share"] == 3 / 4
    assert (found["case_tail_share"], found["case_unseen_share"]) == (4 / 5, 3 / 5)
    assert found["in_history_share"] == 1.0
    assert found["tail_within_two_hops"] == found["tail_within_both"] == 3 / 4
    assert found["tail_two_step_walk"] == found["tail_two_step_both"] == 2 / 4
    names = ("n", "coverage", "avg_candidates", "snr_x1000", "avg_candidates_all_pois", "snr_x1000_all_pois")
    assert [tuple(row[name] for name in names) for row in found["hops"]] == [
        (1, 0.0, 1.0, 0.0, 3 / 4, 0.0),
        (2, 0.5, 2.0, 1000 * 1 / (2 + 2 - 1), 5 / 4, 1000 * 1 / (5 - 1)),
        (3, 1.0, 3.0, 1000 * 2 / (3 + 3 - 2), 6 / 4, 1000 * 2 / (6 - 2)),
    ]


def test_a_large_graph_is_sampled(monkeypatch: pytest.MonkeyPatch) -> None:
    """A sample that holds everything gives the exact values; a smaller one is drawn with a fixed seed and said so."""
    dataset = split_dataset(PAPER_SIZED, 4)
    exact = dataset_statistics(dataset, max_hops=3)
    assert "hop_sample" not in exact
    monkeypatch.setattr(statistics, "MAX_EDGE_VISITS", 11)  # 4 POIs times 3 transitions is more
    sampled = dataset_statistics(dataset, max_hops=3)
    assert sampled.pop("hop_sample")["sources"] == 4
    assert sampled == exact
    walks: Walks = [(0, [(poi, 0), (poi + 1, 0)]) for poi in range(600)]
    chain = split_dataset([*walks, *((0, [(poi, 0), (poi + 2, 2)]) for poi in range(500))], 601)
    first, second = dataset_statistics(chain, max_hops=2), dataset_statistics(chain, max_hops=2)
    assert first == second and first["hop_sample"] == {"pairs": 200, "sources": 200}
    assert [row["coverage"] for row in first["hops"]] == [0.0, 1.0]
    # Every POI but the last reaches one at one hop: 600 of 601, about 1 in a sample of 200.
    assert first["hops"][0]["avg_candidates_all_pois"] == pytest.approx(1, abs=0.01)


steps = st.lists(st.tuples(st.integers(0, 4), st.sampled_from([0, 0, 0, 2])), min_size=1, max_size=8)


def time_ordered(walk: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The same POIs with training steps before test steps."""
    return [(poi, part) for (poi, _), part in zip(walk, sorted(part for _, part in walk), strict=True)]


@given(st.lists(st.tuples(st.integers(0, 1), steps), min_size=1, max_size=6))
def test_equals_brute_force(drawn: Walks) -> None:
    """Counts, tail shares, coverage and candidates agree with loops over walks."""
    walks = sorted(((user, time_ordered(walk)) for user, walk in drawn), key=lambda item: item[0])
    train: dict[tuple[int, int], int] = {}
    cases, history = [], []
    for user, walk in walks:
        past = [poi for u, w in walks[: walks.index((user, walk))] if u == user for poi, _ in w]
        for t, ((source, _), (target, part)) in enumerate(pairwise(walk)):
            if part == 0:
                train[source, target] = train.get((source, target), 0) + 1
            else:
                cases.append((source, target))
                history.append(target in past + [poi for poi, _ in walk[:t]])
    assume(len({(user, tuple(walk)) for user, walk in walks}) == len(walks))
    dataset = split_dataset(walks, 5)
    if not train:
        with pytest.raises(DataError):
            dataset_statistics(dataset)
        return
    found = dataset_statistics(dataset, max_hops=3)
    unique = sorted(set(cases))
    unseen = [pair for pair in unique if pair not in train]
    assert (found["transitions"], found["unique_test_pairs"]) == (len(train), len(unique))
    assert found["unseen_unique_test_pairs"] == len(unseen)

    def share(flags: list[bool]) -> float:
        return sum(flags) / len(flags) if flags else 0.0

    assert found["unique_tail_share"] == pytest.approx(share([train.get(pair, 0) <= 1 for pair in unique]))
    assert found["case_tail_share"] == pytest.approx(share([train.get(pair, 0) <= 1 for pair in cases]))
    assert found["in_history_share"] == pytest.approx(share(history))
    reach = {s: {d for a, d in train if a == s} for s in range(5)}
    walk_ends = dict(reach)
    for row in found["hops"]:
        if row["n"] > 1:
            walk_ends = {s: {d for m in walk_ends[s] for a, d in train if a == m} for s in range(5)}
            reach = {s: reach[s] | walk_ends[s] for s in range(5)}
        signal = sum(d in reach[s] for s, d in unseen)
        size = sum(len(reach[s]) for s, _ in unseen)
        everywhere = sum(map(len, reach.values()))
        assert row["coverage"] == pytest.approx(signal / len(unseen) if unseen else 0)
        assert row["avg_candidates"] == pytest.approx(size / len(unseen) if unseen else 0)
        assert row["avg_candidates_all_pois"] == pytest.approx(everywhere / 5)
        assert row["snr_x1000"] == pytest.approx(1000 * signal / (size - signal) if size > signal else 0)


def differences(expected: Any, found: Any, place: str = "") -> list[str]:
    """Every leaf of ``expected`` that ``found`` lacks or that differs; floats to twelve digits."""
    if isinstance(expected, list):
        assert len(expected) == len(found), place
        expected, found = dict(enumerate(expected)), dict(enumerate(found))
    if isinstance(expected, dict):
        return [line for key in expected for line in differences(expected[key], found.get(key), f"{place}.{key}")]
    same = math.isclose(expected, found, rel_tol=1e-12) if isinstance(expected, float) and found else expected == found
    return [] if same else [f"{place}: expected {expected}, got {found}"]


@pytest.mark.nyc
@needs_nyc
def test_nyc_equals_the_independent_reference(tmp_path: Path) -> None:
    """`recap prepare` and `recap stats` give every value that an independent implementation of the protocol gives.

    It makes history of cases only; with every check-in in it, the counts of cases and transitions are the same.
    """
    command = ["prepare", NYC_FILE, "--format", "foursquare", "--preset", "default"]
    prepared = recap_json(*command, "--set", "history=cases_only", "--out", tmp_path / "nyc")
    statistics = recap_json("stats", tmp_path / "nyc")
    reference = nyc_reference()
    del reference["baselines"]  # compared where the baselines are tested
    assert differences(reference, prepared | statistics) == []
    assert prepared["dropped"]["rare_poi"] == prepared["dropped"]["rare_user"] == 0
    assert prepared["raw"] - sum(prepared["dropped"].values()) == prepared["checkins"]
    assert Dataset.load(tmp_path / "nyc").hash == prepared["dataset_hash"] == statistics["dataset_hash"]

    full = recap_json(*command, "--out", tmp_path / "full")
    assert (prepared["history_only"], full["history_only"]) == (0, 11_207)
    assert full["dropped"] == prepared["dropped"] | {"short_trajectory": 301}
    assert full["raw"] == full["checkins"] + full["history_only"] + sum(full["dropped"].values())
    assert full["only_predicted_from"] == prepared["only_predicted_from"] + full["dropped"]["short_trajectory"]
    changed = {"reading", "history_only", "dropped", "dataset_hash", "seconds", "only_predicted_from"}
    assert {k: v for k, v in full.items() if k not in changed} == {
        k: v for k, v in prepared.items() if k not in changed
    }


TRAIN, TEST = c.TRAIN, c.TEST

# Training: 0->1 twice, 1->2, 1->3, 2->3. C_1 of 0: {1}, of 1: {2, 3}, of 2: {3}, of 3: {}.
# C_2 of 0: {1, 2, 3}, of 1: {2, 3}, of 2: {3}.
# Test walks, last steps: 0->1 (head), 0->2 (unseen, two hops), 0->4 (unseen, out of reach), 1->0 (unseen), 2->3 (tail).
WALKS = [
    (0, [(0, TRAIN), (1, TRAIN), (2, TRAIN), (3, TRAIN)]),
    (0, [(0, TRAIN), (1, TRAIN), (3, TRAIN)]),
    (0, [(4, TRAIN)]),
    (0, [(2, TEST), (0, TEST), (1, TEST)]),
    (0, [(0, TEST), (2, TEST)]),
    (0, [(0, TEST), (4, TEST)]),
    (1, [(1, TEST), (0, TEST)]),
    (1, [(2, TEST), (3, TEST)]),
]


def test_fingerprint_by_hand() -> None:
    """Five last cases; three unseen pairs from the sources 0 (twice) and 1; sums are over the two sources.

    By hop: nothing unseen at one, 0->2 at two; 0->4 and 1->0 stay out of reach, and the sets no longer grow. With one
    source walked from, degrees and reach are that source's, and the same at each call.
    """
    dataset = split_dataset(WALKS, 5)
    graph = TransitionGraph.from_dataset(dataset)
    found = fingerprint(dataset, graph)
    assert (found["cases"], found["head"], found["tail"], found["steps"]) == (5, 1, 4, 6)
    assert (found["unseen_pairs"], found["unseen_sources"]) == (3, 2)
    assert (found["mean_degree"], found["two_hop_candidates"]) == ((1 + 2) / 2, (3 + 2) / 2)
    assert found["two_hop_coverage"] == pytest.approx(1 / 3)
    assert found["two_hop_snr_x1000"] == pytest.approx(1000 * 1 / (5 - 1))
    # Distinct pairs of all steps: 2->0 unseen, 0->1 head, 0->2, 0->4, 1->0 unseen, 2->3 once.
    assert found["unique_tail_share"] == pytest.approx(5 / 6)
    # Tail targets: user 0 was at 2 and at 4; user 1 was nowhere before 0, and never at 3.
    assert found["tail_in_history"] == pytest.approx(2 / 4)
    assert found["checkins"] == found["merged_checkins"] == len(dataset.checkins)
    one, two, three = (unseen_reach(dataset, graph, hops) for hops in (1, 2, 3))
    pairs = {"pairs": 3, "sources": 2, "degree": 1.5}
    assert one == pairs | {"candidates": 1.5, "coverage": 0.0, "snr_x1000": 0.0}
    assert two == pytest.approx(pairs | {"candidates": 2.5, "coverage": 1 / 3, "snr_x1000": 250.0})
    assert three == two
    sampled = fingerprint(dataset, graph, max_sources=1)
    assert sampled == fingerprint(dataset, graph, max_sources=1)
    assert (sampled["mean_degree"], sampled["two_hop_candidates"]) in ((1.0, 3.0), (2.0, 2.0))
    assert (sampled["unseen_pairs"], sampled["unseen_sources"]) == (3, 2)


@pytest.mark.nyc
@needs_nyc
@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        pytest.param(
            [],
            {"cases": 961, "head": 307, "steps": 7305, "unseen_pairs": 506, "unseen_sources": 456}
            | {
                "mean_degree": 15.2,
                "two_hop_candidates": 284.4,
                "unique_tail_share": 0.7423,
                "merged_checkins": 140_633,
            },
            id="same minute",
        ),
        pytest.param(
            ["merge_by=gap", "merge_seconds=45"],
            {"cases": 956, "steps": 7078, "merged_checkins": 137_925},
            id="within 45 s",
        ),
    ],
)
def test_nyc_under_the_reading_nearest_to_the_paper(changes: list[str], expected: dict[str, float]) -> None:
    """The values that another program gave for the preset `nyc_paper` and for its merging within 45 s."""
    config = data_preset("nyc_paper").override(changes)
    dataset = prepare_dataset(nyc_raw(), config, name="nyc", source_format="foursquare")
    found = fingerprint(dataset, TransitionGraph.from_dataset(dataset))
    digits = {"mean_degree": 1, "two_hop_candidates": 1, "unique_tail_share": 4}
    assert {name: round(found[name], digits.get(name, 0)) for name in expected} == expected
