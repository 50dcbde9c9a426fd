"""The miss taxonomy: one label per missed case, by the ablation that finds it."""

import numpy as np
import pandas as pd
import pytest

from analysis.figures.miss_map import miss_deck
from analysis.figures.palette import LIGHT
from analysis.long_tail.miss_map import miss_cells
from analysis.long_tail.misses import HIT, MISS_ABLATIONS, MISSES, count_misses, describe_misses, label_misses
from analysis.records.ablations import ABLATIONS, describe_ablations
from analysis.workspace import Workspace
from recap import columns as c
from recap.errors import ConfigError
from recap.evaluation.scoring import score_cases
from tests.analysis.planted import small_predictor
from tests.worlds import CURVES, small_city

FAR = {"first_distance_m": 9e3, "first_same_category": False, "within_reach": True, "rank": 9.0}
ROWS = [
    # what is known, label at K = 5
    ({"rank": 3.0, "without_core": 1.0}, HIT),
    ({"without_core": 5.0, "without_two_hops": 6.0, "within_reach": False}, "outvoted_by_core"),
    ({"without_core": 4.0, "without_popularity_and_distance": 2.0}, "outvoted_by_places"),
    ({"without_correction": 5.5, "without_history": 5.0}, "outvoted_by_past_visits"),
    ({"without_graph_token": 4.0, "without_transitions_from_here": 4.5}, "outvoted_by_two_hops"),
    ({"without_time_of_day_and_week": 1.0, "without_past_visits": 3.0}, "outvoted_by_times"),
    ({"within_reach": False, "first_distance_m": 10.0}, "out_of_reach"),
    ({"first_distance_m": 200.0, "first_same_category": True}, "near_miss"),
    ({"first_distance_m": 200.1, "first_same_category": True, "without_core": 5.5}, "same_category"),
    ({}, "other"),
]
"""The rank without a group; groups that are not named change nothing."""


def test_labels_by_hand() -> None:
    """The ablation with the best rank names the case."""
    nothing = {f"without_{name}": np.nan for name in ABLATIONS}
    table = pd.DataFrame([nothing | FAR | row for row, _ in ROWS])
    labels = label_misses(table, k=5)
    assert labels.astype(str).tolist() == [label for _, label in ROWS]
    counts = count_misses(labels)
    assert counts["label"].tolist() == list(MISSES) and counts["n"].sum() == 9
    assert set(label_misses(table, k=9).astype(str)) == {HIT}
    with pytest.raises(ConfigError, match="at least 1, got 0"):
        label_misses(table, k=0)


def test_every_ablation_has_a_label() -> None:
    """No ablation can find a case and leave it unnamed."""
    assert {name for names in MISS_ABLATIONS.values() for name in names} == set(ABLATIONS)
    assert set(MISS_ABLATIONS) < set(MISSES)


@pytest.mark.parametrize("k", [1, 2, 5, 16])
def test_labels_partition_the_misses_of_a_model(k: int) -> None:
    """Every missed case has exactly one label, no hit has one, and without the named group it is found."""
    predictor = small_predictor(**CURVES)
    ablations = describe_ablations(predictor, predictor.cases)
    described = describe_misses(predictor.dataset, predictor.cases, ablations)
    records = score_cases(predictor.scorer, predictor.cases, predictor.checkins)
    assert np.array_equal(described["rank"], records["rank"])
    labels = label_misses(described, k)
    missed = records["rank"] > k
    assert np.array_equal(labels != HIT, missed) and count_misses(labels)["n"].sum() == missed.sum()
    for label, names in MISS_ABLATIONS.items():
        named = ablations[labels == label]
        assert (named[[f"without_{name}" for name in names]].min(axis=1) <= k).all()
    unnamed = ablations[labels.isin(set(MISSES) - set(MISS_ABLATIONS))]
    assert not (unnamed[[f"without_{name}" for name in ABLATIONS]] <= k).any(axis=None)


def test_cells_of_few_people_are_not_shown() -> None:
    """Every shown cell has cases of at least the asked number of people, and counts add up."""
    opened = Workspace.of(small_city())
    records = opened.with_model("visit_count").records_with_lists()
    everything = miss_cells(opened, records, 1, min_users=1)
    assert everything["cases"].sum() == len(records)
    assert everything["missed"].sum() == (records[c.RANK] > 1).sum()
    assert (everything["share"] == everything["missed"] / everything["cases"]).all()
    few = miss_cells(opened, records, 1, min_users=3)
    assert len(few) < len(everything) and (few["users"] >= 3).all()
    people = int(records[c.USER].nunique())
    assert miss_cells(opened, records, 1, min_users=people + 1).empty
    deck = miss_deck(everything, k=1, map_style="data:,", palette=LIGHT)
    assert "cases missed at 1" in deck.to_json()
