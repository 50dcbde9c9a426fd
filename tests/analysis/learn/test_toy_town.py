"""The toy town is what it is said to be, and a part earns its keep where its kind of step was planted."""

import math
from statistics import mean, stdev

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.compare.paired import ComparisonRow
from analysis.learn.toy_lesson import (
    BY_CHANCE,
    LeftOut,
    change_without,
    toy_config,
    train_in_town,
    verdict,
    worth_of_part,
)
from analysis.learn.toy_town import MAX_SHARE, TOWN_PLACES, build_toy_town, place_name, square_of, stop_of
from recap import columns as c
from recap.evaluation.cases import describe_cases
from recap.evaluation.metrics import metrics_of
from recap.history.graph import TransitionGraph

SHARES = st.sampled_from([0.0, 0.1, 0.25, 0.5])


@settings(max_examples=3, deadline=None, derandomize=True)
@given(two_hop=SHARES, returns=SHARES, seed=st.integers(0, 99))
def test_the_truth_is_the_planted_one(two_hop: float, returns: float, seed: int) -> None:
    """For any shares: each kind has its share, a two-hop step was never taken and its path is the likeliest of all."""
    town = build_toy_town(two_hop, returns, seed)
    graph = TransitionGraph.from_dataset(town.dataset)
    cases = describe_cases(town.dataset, graph, c.TEST)
    kinds = np.array(town.kinds)
    assert town.kinds.count("two_hop") / len(town.kinds) == pytest.approx(two_hop, abs=0.02)
    assert town.kinds.count("return") / len(town.kinds) == pytest.approx(returns, abs=0.02)
    planted = cases[kinds == "two_hop"]
    assert (planted[c.TRANSITION_COUNT] == 0).all()
    number = {place_name(place): place for place in range(TOWN_PLACES)}
    name = town.dataset.pois[c.POI_NAME].to_list()
    for source, target in zip(planted[c.SOURCE], planted[c.TARGET], strict=True):
        house, square = number[name[source]], number[name[target]]
        assert square == square_of(house)
        everywhere = graph.two_step_probability(np.full(len(name), source), np.arange(len(name)))
        assert everywhere.argmax() == target
        assert graph.count(np.array([source]), np.array([name.index(place_name(stop_of(house)))]))[0] > 0
    if returns == 0:
        assert (cases[kinds == "ordinary"][c.TRANSITION_COUNT] > 1).all()


def test_positions_tell_no_house_from_another() -> None:
    """A position tells the kind: twelve houses 8 m apart, the others kilometres apart, squares south of all stops."""
    pois = build_toy_town(0.5, 0.0, 0).dataset.pois
    kind = pois[c.CATEGORY].to_numpy()
    latitude, longitude = (
        {name: np.sort(pois[degrees].to_numpy(np.float64)[kind == name]) for name in ("House", "Stop", "Square")}
        for degrees in (c.LATITUDE, c.LONGITUDE)
    )
    assert np.ptp(latitude["House"]) == 0
    assert np.ptp(longitude["House"]) == pytest.approx(11 * 1e-4)
    assert min(np.ptp(latitude["Stop"]), np.ptp(longitude["Stop"]), np.ptp(longitude["Square"])) > 0.01
    assert latitude["Square"][-1] < latitude["Stop"][0] < latitude["Stop"][-1] < latitude["House"][0]


T_OF_FIVE = 2.776
"""Student's t for 95 % and four degrees of freedom."""


def _interval(two_hop: float, returns: float, part: LeftOut) -> tuple[float, float]:
    """95 % interval of HR@1 of the whole model less HR@1 without the part, over five towns with five seeds."""
    found = []
    for seed in range(5):
        town = build_toy_town(two_hop, returns, seed)
        ranks = [train_in_town(town, toy_config(lacks=lacks, seed=seed))[c.RANK] for lacks in (None, part)]
        found.append(float(ranks[0].le(1).mean() - ranks[1].le(1).mean()))
    half = T_OF_FIVE * stdev(found) / math.sqrt(len(found))
    return mean(found) - half, mean(found) + half


@pytest.mark.slow  # ten trainings each
@pytest.mark.parametrize("part", ["graph", "history"])
@pytest.mark.parametrize("share", [MAX_SHARE, pytest.param(0.0, marks=pytest.mark.thorough)])
def test_a_part_earns_its_keep_where_it_is_needed(part: LeftOut, share: float) -> None:
    """At the largest share the interval of what leaving it out costs lies above 0.1.

    Where nothing was planted it holds 0, and lies within one step in a hundred.
    """
    low, high = _interval(*((share, 0.0) if part == "graph" else (0.0, share)), part)
    assert low > 0.1 if share else -0.01 < low <= 0 <= high < 0.01


def test_each_epoch_is_reported() -> None:
    """The last reported accuracy is that of the returned ranks; the same seed trains the same model."""
    town, lines = build_toy_town(0.25, 0.25), list[tuple[int, float]]()
    ranked = train_in_town(town, toy_config(epochs=2), lambda *line: lines.append(line))
    assert [epoch for epoch, _ in lines] == [1, 2]
    assert lines[-1][1] == metrics_of(ranked)["hr1"]
    assert len(ranked) == len(town.kinds)


def test_worth_is_a_paired_difference() -> None:
    """Four steps of two people: found 3 and 1 times, so a part is worth 2 of 4."""
    cases = pd.DataFrame(
        {c.USER: [0, 0, 1, 1], c.CASE: range(4), c.ROW: range(4), c.SOURCE: 1, c.TARGET: 0, c.TRANSITION_COUNT: 0}
    )
    whole, without = (cases.assign(num_better=better, num_tied=1) for better in ([0, 0, 0, 1], [0, 1, 1, 1]))
    worth = worth_of_part(whole, without)
    assert (worth["value"], worth["baseline"], worth["n"], worth["difference"]) == (0.75, 0.25, 4, 0.5)
    assert worth["low"] > 0 == worth_of_part(whole, whole)["low"]


@given(st.floats(-1, 1), st.floats(0, 0.3))
def test_one_rule_for_chance(difference: float, half: float) -> None:
    """A verdict is clear exactly where the interval that is shown excludes 0."""
    facts = {"value": difference, "baseline": 0.0, "difference": difference}
    interval = {"low": difference - half, "high": difference + half}
    worth = ComparisonRow(group="all", metric="hr1", n=100, **facts, **interval)  # type: ignore[typeddict-item]
    low, high = change_without(worth)
    assert ("no clear" in verdict("graph", worth)) == (low <= 0 <= high)
    assert high - low == pytest.approx(2 * half + 2 * BY_CHANCE)
