"""The counting baselines on a table whose every number a reader can redo, and on the real file."""

from dataclasses import replace
from functools import cache
from math import log
from typing import Any

import pytest
import torch

from recap import columns as c
from recap.baselines import BASELINES, COUNTING_BASELINES
from recap.baselines.counting import Nearest
from recap.data.dataset import Dataset
from recap.errors import ConfigError
from recap.evaluation.cases import describe_cases
from recap.evaluation.metrics import metrics_by_group
from recap.evaluation.ranks import top_pois
from recap.evaluation.scoring import evaluate, rank_cases
from recap.history.graph import TAIL_MAX_COUNT, TransitionGraph
from recap.history.tensors import CheckinTensors, Histories
from recap.scores import PartTerms, Scores
from recap.training.baselines import build_baseline
from tests.checkins import split_dataset
from tests.nyc import FULL_HISTORY_FILE, needs_nyc, nyc_dataset, nyc_reference

TRAIN, TEST = c.TRAIN, c.TEST

# User 0 trains on 0 1 0 1 2 and is tested on 0 -> 1 -> 3; user 1 trains on 1 2 1 4 3 and is tested on 1 -> 0.
# Train check-ins of POIs 0..4: 2, 4, 2, 1, 1. Train transitions: 0->1 twice, 1->0 once, 1->2 twice, 1->4 once,
# 2->1 once, 4->3 once; A_01 = 1, A_10 = A_14 = 1/4, A_12 = 1/2.
WALKS = [
    (0, [(0, TRAIN), (1, TRAIN), (0, TRAIN), (1, TRAIN), (2, TRAIN)]),
    (0, [(0, TEST), (1, TEST), (3, TEST)]),
    (1, [(1, TRAIN), (2, TRAIN), (1, TRAIN), (4, TRAIN), (3, TRAIN)]),
    (1, [(1, TEST), (0, TEST)]),
]
POPULARITY = [2.0, 4.0, 2.0, 1.0, 1.0]


@cache
def world() -> tuple[Dataset, TransitionGraph]:
    dataset = split_dataset(WALKS, num_pois=5)
    dataset.pois[c.TRAIN_CHECKINS] = [int(value) for value in POPULARITY]
    return dataset, TransitionGraph.from_dataset(dataset)


def asked() -> Histories:
    dataset, _ = world()
    return Histories(CheckinTensors.from_dataset(dataset), torch.from_numpy(dataset.cases(TEST)))


def score_tests(name: str) -> Scores:
    return build_baseline(name, *world()).score(asked())


@pytest.mark.parametrize(
    ("latitude", "longitude", "km", "order"),
    [
        # one degree of latitude is 111.19 km; the place itself comes first, places at one point are tied by popularity
        ([0.0, 1.0, 3.0, 3.0, -1.0], 0.0, [0, 111.195, 333.585, 333.585, 111.195], [0, 1, 4, 2, 3]),
        # across the date line: 179.5 and -179.5 degrees are one degree apart, not 359
        (0.0, [179.5, -179.5, 0.0, 90.0, 178.0], [0, 111.195, 19959.5, 9951.9, 166.79], [0, 1, 4, 3, 2]),
    ],
)
def test_nearest_by_hand(latitude: Any, longitude: Any, km: list[float], order: list[int]) -> None:
    dataset, _ = world()
    moved = replace(dataset, pois=dataset.pois.assign(latitude=latitude, longitude=longitude))
    batch = Histories(CheckinTensors.from_dataset(moved), torch.from_numpy(moved.cases(TEST)[:1]))  # 0 -> 1
    scores = Nearest(moved).score(batch)
    assert (-scores.total[0]).tolist() == pytest.approx(km, rel=1e-4)
    assert top_pois(scores, 5)[0].tolist() == [order]


LN2, LN3, LN4 = (log(number) for number in (2.0, 3.0, 4.0))


@pytest.mark.parametrize(
    ("name", "scores", "places"),
    [
        # the same list for everyone: 1, then 0 and 2, then 3 and 4
        ("popularity", [POPULARITY] * 3, [(0, 1), (3, 2), (1, 2)]),
        # m_sd of sources 0, 1, 1; from 1, POI 3 ties with 1 at zero and is less popular; 0 ties with 4 and is more so
        ("markov", [[0, 2, 0, 0, 0], [1, 0, 2, 0, 1], [1, 0, 2, 0, 1]], [(0, 1), (4, 1), (1, 1)]),
        # visits up to and including the current check-in; 3 ties with 4 at zero visits, equally popular
        ("visit_count", [[3, 2, 1, 0, 0], [3, 3, 1, 0, 0], [0, 3, 1, 1, 1]], [(1, 1), (3, 2), (4, 1)]),
        (  # log(1 + visits) + 6 A_sd: for the second case log 4 + 6/4, log 4, log 2 + 6/2, 0, 6/4
            "count_plus_markov",
            [[LN4, LN3 + 6, LN2, 0, 0], [LN4 + 1.5, LN4, LN2 + 3, 0, 1.5], [1.5, LN4, LN2 + 3, LN2, LN2 + 1.5]],
            [(0, 1), (4, 1), (2, 1)],
        ),
    ],
)
def test_counters_by_hand(name: str, scores: list[list[float]], places: list[tuple[int, int]]) -> None:
    """Scores of the three test cases, which are sums of contributions, and (better, tied)."""
    torch.testing.assert_close(score_tests(name).total, torch.tensor(scores, dtype=torch.float64))
    counter = build_baseline(name, *world())
    assert isinstance(counter, PartTerms)
    added = counter.contributions(asked(), torch.arange(5).expand(3, -1)).sum(2)
    torch.testing.assert_close(added, score_tests(name).total)
    records = evaluate(build_baseline(name, *world()), *world()).records
    assert list(zip(records["num_better"], records["num_tied"], strict=True)) == places


@pytest.mark.parametrize("name", COUNTING_BASELINES)
def test_scores_are_float64_and_ties_go_by_popularity(name: str) -> None:
    """The tie-break is a column of its own, never a small number inside the score."""
    scores = score_tests(name)
    assert scores.total.dtype == torch.float64
    assert scores.tie_break_P is not None and scores.tie_break_P.tolist() == POPULARITY
    assert build_baseline(name, *world()).name == name


def test_refuses_an_unknown_name() -> None:
    with pytest.raises(ConfigError, match=f"unknown baseline 'magic'; choose one of {', '.join(BASELINES)}"):
        build_baseline("magic", *world())


@pytest.mark.nyc
@needs_nyc
def test_nyc_equals_the_independent_reference() -> None:
    """History of cases only: every metric of every group of every counting baseline, to four decimals."""
    dataset = nyc_dataset("cases_only")
    graph = TransitionGraph.from_dataset(dataset)
    cases, checkins = describe_cases(dataset, graph), CheckinTensors.from_dataset(dataset)
    for name, expected in nyc_reference()["baselines"].items():
        measured = metrics_by_group(rank_cases(build_baseline(name, dataset, graph), cases, checkins))
        for group, values in expected.items():
            assert measured[group] == pytest.approx(values, abs=5e-5), (name, group)


@pytest.mark.nyc
@needs_nyc
def test_nyc_equals_the_reference_of_full_histories() -> None:
    """Every earlier check-in is history: cases and popularity stay, what counts the user's visits gains."""
    dataset = nyc_dataset()
    graph = TransitionGraph.from_dataset(dataset)
    checkins, reference = CheckinTensors.from_dataset(dataset), nyc_reference(FULL_HISTORY_FILE)
    for protocol in ("every_step", "trajectory_last"):
        cases = describe_cases(dataset, graph, protocol=protocol)
        tail = cases[cases["transition_count"] <= TAIL_MAX_COUNT]
        assert tail["in_history"].mean() == reference["tail_in_history"][protocol]
        for name in ("visit_count", "count_plus_markov"):
            measured = metrics_by_group(rank_cases(build_baseline(name, dataset, graph), cases, checkins))
            for group in ("all", "head", "tail"):
                expected = reference[name][f"{protocol}.{group}"]
                found = {metric: measured[group][metric] for metric in expected}
                assert found == pytest.approx(expected, abs=6e-7), (name, protocol, group)
