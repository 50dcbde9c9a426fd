"""The toy town is what it is said to be: the shares that were asked for, and paths that nobody walked straight."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.learn.toy_town import PLACES, build_toy_town, place_name, square_of, stop_of
from recap import columns as c
from recap.evaluation.cases import describe_cases
from recap.graph import TransitionGraph

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
    number = {place_name(place): place for place in range(PLACES)}
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
