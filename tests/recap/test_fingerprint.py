"""The fingerprint of a split: by hand, and on the real file under the reading nearest to the paper's."""

import pytest

from recap import columns as c
from recap.data.preparation import prepare_dataset
from recap.dataset_statistics import fingerprint, unseen_reach
from recap.graph import TransitionGraph
from recap.presets import data_preset
from tests.checkins import split_dataset
from tests.nyc import needs_nyc, nyc_raw

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


def test_by_hand() -> None:
    """Five last cases; three unseen pairs from the sources 0 (twice) and 1; sums are over the two sources."""
    dataset = split_dataset(WALKS, 5)
    found = fingerprint(dataset, TransitionGraph.from_dataset(dataset))
    assert (found["cases"], found["head"], found["tail"], found["steps"]) == (5, 1, 4, 6)
    assert (found["unseen_pairs"], found["unseen_sources"]) == (3, 2)
    assert found["mean_degree"] == (1 + 2) / 2
    assert found["two_hop_candidates"] == (3 + 2) / 2
    assert found["two_hop_coverage"] == pytest.approx(1 / 3)
    assert found["two_hop_snr_x1000"] == pytest.approx(1000 * 1 / (5 - 1))
    # Distinct pairs of all steps: 2->0 unseen, 0->1 head, 0->2, 0->4, 1->0 unseen, 2->3 once.
    assert found["unique_tail_share"] == pytest.approx(5 / 6)
    # Tail targets: user 0 was at 2 and at 4; user 1 was nowhere before 0, and never at 3.
    assert found["tail_in_history"] == pytest.approx(2 / 4)
    assert found["checkins"] == found["merged_checkins"] == len(dataset.checkins)


def test_reach_by_hand() -> None:
    """By hop: nothing unseen at one, 0->2 at two; 0->4 and 1->0 stay out of reach, and the sets no longer grow."""
    dataset = split_dataset(WALKS, 5)
    one, two, three = unseen_reach(dataset, TransitionGraph.from_dataset(dataset), 3)
    assert one == {"pairs": 3, "sources": 2, "candidates": 1.5, "coverage": 0.0, "snr_x1000": 0.0}
    assert two == pytest.approx({"pairs": 3, "sources": 2, "candidates": 2.5, "coverage": 1 / 3, "snr_x1000": 250.0})
    assert three == two


def test_large_graphs_are_sampled() -> None:
    """With one source walked from, degrees and reach are that source's, and the same at each call."""
    dataset = split_dataset(WALKS, 5)
    graph = TransitionGraph.from_dataset(dataset)
    found = fingerprint(dataset, graph, max_sources=1)
    assert found == fingerprint(dataset, graph, max_sources=1)
    assert (found["mean_degree"], found["two_hop_candidates"]) in ((1.0, 3.0), (2.0, 2.0))
    assert (found["unseen_pairs"], found["unseen_sources"]) == (3, 2)


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
