"""Misses by the ablation that finds them, Overview's cards, and the lift of two hops, by hand."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from analysis.explain.edits import SwitchOff
from analysis.explain.explain_case import explain_case
from analysis.figures.miss_map import miss_deck
from analysis.figures.palette import LIGHT
from analysis.long_tail.headlines import lift_line
from analysis.long_tail.lift import CONTROLS, two_hop_lift
from analysis.long_tail.miss_map import miss_cells
from analysis.long_tail.misses import HIT, MISS_ABLATIONS, MISSES, count_misses, describe_misses, label_misses
from analysis.long_tail.notable_cases import NotableCase, _spread, find_notable, notable_cases
from analysis.records.ablations import ABLATIONS, describe_ablations
from analysis.records.case_filters import filter_cases, filter_masks
from analysis.workspace import Workspace
from recap import columns as c
from recap.data.dataset import Dataset
from recap.errors import ConfigError
from recap.evaluation.scoring import score_cases
from tests.analysis.planted import small_predictor
from tests.checkins import split_dataset
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
    """The ablation with the best rank names the case; none can find a case and leave it unnamed."""
    assert {name for names in MISS_ABLATIONS.values() for name in names} == set(ABLATIONS)
    assert set(MISS_ABLATIONS) < set(MISSES)
    nothing = {f"without_{name}": np.nan for name in ABLATIONS}
    table = pd.DataFrame([nothing | FAR | row for row, _ in ROWS])
    labels = label_misses(table, k=5)
    assert labels.astype(str).tolist() == [label for _, label in ROWS]
    counts = count_misses(labels)
    assert counts["label"].tolist() == list(MISSES) and counts["n"].sum() == 9
    assert set(label_misses(table, k=9).astype(str)) == {HIT}
    with pytest.raises(ConfigError, match="at least 1, got 0"):
        label_misses(table, k=0)


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


BUNDLE = Path(__file__).parents[3] / "checkpoints" / "demo-city"
TRAIN, TEST = 0, 2
Walks = list[tuple[int, list[tuple[int, int]]]]
# Training knows 0 -> 1 -> 2. Three users each make an unseen transition: to a place visited before, to a new place
# within two hops, and to a new place that nothing leads to.
RESCUES: Walks = [
    (0, [(0, TRAIN), (1, TRAIN), (2, TRAIN)]),
    (0, [(3, TRAIN)]),
    (0, [(0, TEST), (3, TEST)]),
    (1, [(0, TEST), (2, TEST)]),
    (2, [(2, TEST), (4, TEST)]),
]
OPENED = Workspace.of(split_dataset(RESCUES, 5))


def found_with(ranks: list[float], facts: dict[str, Any] | None = None, **without: list[float]) -> list[NotableCase]:
    """The cards of a model with these ranks; with ablations that move nothing but what is named."""
    records = OPENED.cases.assign(rank=ranks, **facts or {})
    table = pd.DataFrame({"case": records["case"], "rank": ranks} | {f"without_{name}": ranks for name in ABLATIONS})
    for name, moved in without.items():
        table[f"without_{name}"] = moved
    counter = OPENED.cases.assign(rank=[25.0, 30.0, 40.0])
    return notable_cases(OPENED, records, counter, (lambda cases: table.iloc[cases]) if without else None)


def test_one_case_of_each_kind() -> None:
    """Without ablations: a known place, a new place within two hops, and a miss out of reach of both."""
    assert [card[:6] for card in found_with([1.0, 2.0, 30.0])] == [
        ("past_visits", 0, 1.0, 25.0, 0, 1),
        ("two_hop_paths", 1, 2.0, 30.0, 0, 0),
        ("missed", 2, 30.0, 40.0, 0, 0),
    ]
    assert found_with([1.0, 1.0, 1.0])[0].case == 0 and len(found_with([1.0, 1.0, 1.0])) == 2


def test_with_ablations_a_card_is_lost_without_the_part() -> None:
    """Case 1 (2nd) falls to 41st without two-hop paths; case 0 needs none of its past visits, or only just."""
    found = found_with([1.0, 2.0, 30.0], two_hop_paths=[1.0, 41.0, 30.0], past_visits=[20.0, 2.0, 30.0])
    assert [(card.kind, card.case, card.ablation, card.rank_without) for card in found] == [
        ("two_hop_paths", 1, "two_hop_paths", 41.0),
        ("missed", 2, None, None),
    ]
    first = found_with([1.0, 2.0, 30.0], past_visits=[21.0, 2.0, 30.0])[0]
    assert (first.kind, first.case, first.rank_without) == ("past_visits", 0, 21.0)
    nan = [np.nan] * 3
    token = found_with([1.0, 2.0, 30.0], two_hop_paths=nan, graph_token=[1.0, 50.0, 30.0])[0]
    assert (token.kind, token.ablation, token.rank_without) == ("two_hop_paths", "graph_token", 50.0)


@pytest.mark.parametrize("folder", ["checkpoint", "paper"])
def test_a_cards_rank_is_that_of_explains_edit(folder: str) -> None:
    """The demo city's cards: the same numbers when Explain leaves the part out of the case."""
    opened = Workspace.open(BUNDLE / "dataset").with_model(BUNDLE / folder)
    cards = [card for card in find_notable(opened) if card.ablation]
    assert [card.kind for card in cards] == ["past_visits", "two_hop_paths"]
    for card in cards:
        edited = explain_case(opened.predictor, card.case, edits=(SwitchOff(name=str(card.ablation)),))
        assert edited.target_rank == card.rank_without
        assert explain_case(opened.predictor, card.case).target_rank == card.rank


def test_a_short_list_reaches_from_the_best_rank_to_the_worst() -> None:
    """Of ten likely cases three: the first, the middle and the last; others only where there is room."""
    rows = pd.DataFrame({"rank": range(12)})
    assert _spread(rows, 10, 3).index.tolist() == [0, 4, 9]
    assert _spread(rows, 2, 3).index.tolist() == [0, 1, 2]


def test_a_hit_that_the_model_was_sure_of_comes_first() -> None:
    """All three cases lose their past visits; only in the second was the first choice worth half of the list."""
    lists = pd.Series([[0.0] * 20, [5.0] + [0.0] * 19, [0.0] * 20])
    changes = {"past_visits": [50.0] * 3}
    first = found_with([1.0, 1.0, 1.0], {"top_scores": lists, "in_history": True}, **changes)[0]
    assert (first.kind, first.case) == ("past_visits", 1)


# Places: 0 the source, 1 its frequent next place, 2 beyond 1, 3 known and beyond nothing, 4 where 3 is reached from.
# The user was at 0, 2, 3 and 4 once or a few times and very often at 1.
HABIT: Walks = [
    *[(0, [(0, TRAIN), (1, TRAIN)])] * 3,
    (0, [(1, TRAIN), (2, TRAIN)]),
    (0, [(4, TRAIN), (3, TRAIN)]),
    *[(0, [(1, TRAIN)])] * 4,
    (0, [(0, TEST), (2, TEST)]),
    (0, [(0, TEST), (3, TEST)]),
]


def lift_of(dataset: Dataset) -> pd.DataFrame:
    """The table by control, with few bootstrap samples."""
    return two_hop_lift(Workspace.of(dataset), samples=20).set_index("control")


def test_an_unseen_transition_is_compared_with_unseen_ones() -> None:
    """Given own visits two hops lift by 12/5; with the frequent place 1 among the others it would be below 1.

    Two cases, 0 -> 2 (two hops: 0 -> 1 -> 2) and 0 -> 3 (none): observed 1/2. The user's visits before them are
    0: 3, 1: 8, 2: 1, 3: 1, 4: 1 and 0: 4, 1: 8, 2: 2, 3: 1, 4: 1. Training never reached 0, 2, 3 and 4 from 0; of
    these two hops hold for 2: chance 1/6 and 2/8, on average 5/24. With place 1 it was 9/14 and 10/16: a lift of 0.79.
    """
    row = lift_of(split_dataset(HABIT, 5)).loc["own_visits"]
    assert (row["n"], row["observed"]) == (2, 0.5)
    assert row["chance"] == pytest.approx(5 / 24)
    assert row["lift"] == pytest.approx(12 / 5)


def test_among_places_new_to_the_user() -> None:
    """A user who was at 3 goes on from 0 to 2, next to which are 2 and 4 with 1 and 3 training check-ins: chance 1/4.

    1 does not count, for training knows 0 -> 1; nor does 3, where the user was, nor 0, where the user stands.
    The transition 0 -> 0 of another user goes to a place just visited: no case of this question.
    """
    walks: Walks = [
        (0, [(0, TRAIN), (1, TRAIN)]),
        (0, [(1, TRAIN), (2, TRAIN)]),
        (1, [(3, TRAIN)]),
        (1, [(0, TEST), (2, TEST)]),
        (2, [(0, TEST), (0, TEST)]),
    ]
    dataset = split_dataset(walks, 5)
    dataset.pois[c.TRAIN_CHECKINS] = [9, 9, 1, 9, 3]
    table = lift_of(dataset)
    row = table.loc[["unvisited"]].iloc[0]
    assert row[["n", "observed", "chance", "lift"]].tolist() == [1, 1.0, 0.25, 4.0]
    assert row[["lower", "upper"]].tolist() == [4.0, 4.0]  # drawing one user again changes nothing
    assert table.loc["uniform", "n"] == 2


def test_chance_is_the_mean_over_places_one_by_one() -> None:
    """Every case, place and control of a small city, counted in plain loops."""
    opened = Workspace.of(small_city())
    counts = opened.graph.counts.toarray()
    two_hops = (counts > 0) | ((counts > 0).astype(int) @ (counts > 0).astype(int) > 0)
    poi, user = (opened.dataset.checkins[name].tolist() for name in (c.POI, c.USER))
    chances: dict[str, list[float]] = {"uniform": [], "own_visits": []}
    for row, source, target in opened.cases[["row", "source", "target"]].itertuples(index=False):
        if counts[source, target] > 0:
            continue
        been = [poi[i] for i in range(row) if user[i] == user[row]]
        others = [d for d in range(len(counts)) if counts[source, d] == 0]
        weights = {"uniform": [1] * len(others)}
        if target in been:
            weights["own_visits"] = [been.count(d) for d in others]
        for control, weight in weights.items():
            held = sum(w for w, d in zip(weight, others, strict=True) if two_hops[source, d])
            chances[control].append(held / sum(weight))
    table = lift_of(small_city())
    for control, values in chances.items():
        assert table.loc[control, "n"] == len(values)
        assert table.loc[control, "chance"] == pytest.approx(np.mean(values))


def test_cases_are_drawn_by_the_seed_for_each_question() -> None:
    """At most so many cases to a question, the same for the same seed."""
    opened = Workspace.of(small_city())
    first, again = (two_hop_lift(opened, max_cases=2, samples=20, seed=1) for _ in range(2))
    pd.testing.assert_frame_equal(first, again)
    assert list(first["control"]) == list(CONTROLS) and (first["n"] <= 2).all()


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ((1.18, 1.04, 1.35), "reach true new places 1.18 times as often as by chance (95 % interval 1.04 to 1.35)."),
        ((0.99, 0.86, 1.14), "do not reach true new places more often than chance: 0.99 times (95 % interval 0.86"),
        ((np.nan, np.nan, np.nan), "Too few unseen transitions lead to new places"),
    ],
)
def test_the_finding_says_where_the_interval_lies(row: tuple[float, ...], words: str) -> None:
    """Above, across or below 1; and what it says where nobody went anywhere new."""
    table = pd.DataFrame([{"control": "unvisited", **dict(zip(("lift", "lower", "upper"), row, strict=True))}])
    assert words in lift_line(table)


def test_filters_partition_recoveries() -> None:
    """A case is recovered by history or by two hops, never by both, and never missed at the same time."""
    records, markov = (OPENED.cases.assign(rank=ranks) for ranks in ([1.0, 1.0, 30.0], [25.0, 30.0, 30.0]))
    masks = filter_masks(records, markov)
    assert masks["history"].tolist() == [True, False, False]
    assert masks["hops"].tolist() == [False, True, False]
    assert masks["missed"].tolist() == [False, False, True]
    both = filter_cases(records, markov, ["tail", "missed"])
    assert both.tolist() == np.flatnonzero(masks["tail"] & masks["missed"]).tolist() == [2]
    with pytest.raises(ConfigError, match="tail, unseen"):
        filter_cases(records, markov, ["lost"])
