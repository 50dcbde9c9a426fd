"""The lift of evidence on worlds small enough for a pencil, and the cases that filters and cards choose."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from analysis.long_tail.headlines import lift_finding
from analysis.long_tail.lift import CONTROLS, EVIDENCE, evidence_lift
from analysis.records.case_filters import filter_cases, filter_masks
from analysis.records.evaluation_records import evaluation_records
from analysis.records.loaded_dataset import LoadedDataset
from analysis.records.named_scorer import NamedScorer
from analysis.records.notable_cases import describe_absent, notable_cases
from analysis.records.score_rows import SOURCES
from recap import columns as c
from recap.data.dataset import Dataset
from recap.errors import ConfigError
from tests.checkins import split_dataset
from tests.worlds import small_city

TRAIN, TEST = 0, 2
Walks = list[tuple[int, list[tuple[int, int]]]]

# Places: 0 the source, 1 its frequent next place, 2 beyond 1, 3 known and beyond nothing, 4 where 3 is reached from.
# The walker was at 0, 2, 3 and 4 once or a few times and very often at 1.
HABIT: Walks = [
    *[(0, [(0, TRAIN), (1, TRAIN)])] * 3,
    (0, [(1, TRAIN), (2, TRAIN)]),
    (0, [(4, TRAIN), (3, TRAIN)]),
    *[(0, [(1, TRAIN)])] * 4,
    (0, [(0, TEST), (2, TEST)]),
    (0, [(0, TEST), (3, TEST)]),
]


def lift_of(dataset: Dataset, group: str) -> Any:
    """The table by evidence and control, with few bootstrap samples."""
    return evidence_lift(LoadedDataset.of(dataset), group=group, samples=20).set_index(["evidence", "control"])


def with_popularity(dataset: Dataset, checkins: list[int]) -> Dataset:
    """The dataset with given training check-ins of each place."""
    dataset.pois[c.TRAIN_CHECKINS] = checkins
    return dataset


def test_lift_of_a_single_case() -> None:
    """One walker saw place 1 of four; the next place is 1: observed 1, uniform chance 1/4, lift 4.

    Someone else's step 0 -> 3 is the only one in training. No place has training check-ins: popularity has no rival.
    """
    walks: Walks = [(0, [(1, TRAIN)]), (0, [(2, TEST), (1, TEST)]), (1, [(0, TRAIN), (3, TRAIN)])]
    table = lift_of(split_dataset(walks, 4), "all")
    row = table.loc[("revisit", "uniform")]
    assert row[["n", "observed", "chance", "lift"]].tolist() == [1, 1.0, 0.25, 4.0]
    assert row[["lower", "upper"]].tolist() == [4.0, 4.0]  # drawing one walker again changes nothing
    assert table.loc[("two_hops", "uniform"), "observed"] == 0.0  # nothing leaves place 2
    assert table.loc[("revisit", "popularity"), "n"] == 0
    assert np.isnan(table.loc[("revisit", "popularity"), "lift"])


def test_own_steps_of_a_single_case() -> None:
    """The one earlier step from 2 went to 3, so the truth 1 has none; by chance one place in four has one: lift 0."""
    walks: Walks = [(0, [(0, TRAIN), (1, TRAIN)]), (0, [(2, TRAIN), (3, TRAIN)]), (0, [(2, TRAIN), (1, TEST)])]
    table = lift_of(split_dataset(walks, 4), "all")
    assert table.loc[("own_step", "uniform"), ["observed", "chance", "lift"]].tolist() == [0.0, 0.25, 0.0]
    # Before the source the walker was at 0, 1, 2 and 3, so by chance too every place was visited before.
    assert table.loc[("revisit", "uniform"), ["observed", "chance", "lift"]].tolist() == [1.0, 1.0, 1.0]


def test_rivals_of_an_unseen_step_are_unseen_steps() -> None:
    """Given own visits two hops lift by 12/5; with the frequent place 1 among the rivals it would be below 1.

    Two cases, 0 -> 2 (two hops: 0 -> 1 -> 2) and 0 -> 3 (none): observed 1/2. The walker's visits before them are
    0: 3, 1: 8, 2: 1, 3: 1, 4: 1 and 0: 4, 1: 8, 2: 2, 3: 1, 4: 1. Training never reached 0, 2, 3 and 4 from 0; of
    these two hops hold for 2: chance 1/6 and 2/8, on average 5/24. With place 1 it was 9/14 and 10/16: a lift of 0.79.
    """
    row = lift_of(split_dataset(HABIT, 5), "unseen").loc[("two_hops", "own_visits")]
    assert (row["n"], row["observed"]) == (2, 0.5)
    assert row["chance"] == pytest.approx(5 / 24)
    assert row["lift"] == pytest.approx(12 / 5)
    everywhere = lift_of(split_dataset(HABIT, 5), "all").loc[("two_hops", "own_visits")]
    assert everywhere["chance"] == pytest.approx((9 / 14 + 10 / 16) / 2)


def test_an_own_step_that_training_saw_is_no_rival_of_an_unseen_one() -> None:
    """The walker's three steps 0 -> 1 are in training: no unseen rival has an own step before the first case.

    Before the second case the step 0 -> 2 is the walker's own, from the test split: a rival with 2 of 8 visits.
    """
    row = lift_of(split_dataset(HABIT, 5), "unseen").loc[("own_step", "own_visits")]
    assert row["chance"] == pytest.approx((0 + 2 / 8) / 2)


def test_rivals_of_the_tail_were_seen_at_most_once() -> None:
    """0 -> 1 three times and 0 -> 4 once: 0 -> 2 has the rivals 0, 2, 3 and 4 of five places, and 4 has two hops."""
    walks: Walks = [
        *[(0, [(0, TRAIN), (1, TRAIN)])] * 3,
        (0, [(0, TRAIN), (4, TRAIN)]),
        (0, [(1, TRAIN), (2, TRAIN)]),
        (1, [(0, TEST), (2, TEST)]),
    ]
    chances = {
        group: lift_of(split_dataset(walks, 5), group).loc[("two_hops", "uniform"), "chance"]
        for group in ("unseen", "tail", "all")
    }
    assert chances == pytest.approx({"unseen": 1 / 3, "tail": 2 / 4, "all": 3 / 5})


def test_among_places_new_to_the_walker() -> None:
    """A walker who was at 3 goes on from 0 to 2: rivals are 2 and 4, with 1 and 3 training check-ins, so chance is 1/4.

    1 is no rival, for training knows 0 -> 1; 3 is none, for the walker was there; nor is 0, where the walker stands.
    The step 0 -> 0 of another walker goes to a place just visited: no case of this question.
    """
    walks: Walks = [
        (0, [(0, TRAIN), (1, TRAIN)]),
        (0, [(1, TRAIN), (2, TRAIN)]),
        (1, [(3, TRAIN)]),
        (1, [(0, TEST), (2, TEST)]),
        (2, [(0, TEST), (0, TEST)]),
    ]
    table = lift_of(with_popularity(split_dataset(walks, 5), [9, 9, 1, 9, 3]), "unseen")
    row = table.loc[("two_hops", "unvisited")]
    assert row[["n", "observed", "chance", "lift"]].tolist() == [1, 1.0, 0.25, 4.0]
    assert table.loc[("two_hops", "uniform"), "n"] == 2
    nothing = table.loc[("revisit", "unvisited")]
    assert nothing[["observed", "chance"]].tolist() == [0.0, 0.0]
    assert np.isnan(nothing["lift"])


def test_a_control_that_implies_the_evidence_gives_no_lift() -> None:
    """Own visits imply that a place was visited: observed and chance are 1, and the lift is empty, not one."""
    table = lift_of(small_city(), "all")
    implied = table.loc[("revisit", "own_visits")]
    assert implied[["observed", "chance"]].tolist() == pytest.approx([1.0, 1.0])
    assert implied[["lift", "lower", "upper"]].isna().all()
    empty = {("revisit", "own_visits"), ("revisit", "unvisited"), ("own_step", "unvisited")}
    assert set(table.index[table["lift"].isna()]) == empty
    assert (table["n"] > 0).all()


@pytest.mark.parametrize("group", ["unseen", "tail", "all"])
def test_chance_is_the_mean_over_rivals_one_by_one(group: str) -> None:
    """Every case, rival and control of a small city, counted in plain loops."""
    opened = LoadedDataset.of(small_city())
    limit = {"unseen": 0, "tail": 1, "all": 10**9}[group]
    counts = opened.graph.counts.toarray()
    two_hops = (counts > 0) | ((counts > 0).astype(int) @ (counts > 0).astype(int) > 0)
    popularity = opened.dataset.pois[c.TRAIN_CHECKINS].tolist()
    poi, user = (opened.dataset.checkins[name].tolist() for name in (c.POI, c.USER))
    chances: dict[str, list[float]] = {"uniform": [], "popularity": [], "own_visits": []}
    for row, source, target in opened.cases[["row", "source", "target"]].itertuples(index=False):
        if counts[source, target] > limit:
            continue
        been = [poi[i] for i in range(row) if user[i] == user[row]]
        rivals = [d for d in range(len(popularity)) if counts[source, d] <= limit]
        weights = {"uniform": [1] * len(rivals), "popularity": [popularity[d] for d in rivals]}
        if target in been:
            weights["own_visits"] = [been.count(d) for d in rivals]
        for control, weight in weights.items():
            held = sum(w for w, d in zip(weight, rivals, strict=True) if two_hops[source, d])
            chances[control].append(held / sum(weight))
    table = lift_of(small_city(), group)
    for control, values in chances.items():
        row = table.loc[("two_hops", control)]
        assert row["n"] == len(values)
        assert row["chance"] == pytest.approx(np.mean(values))


def test_cases_are_drawn_by_the_seed_for_each_question() -> None:
    """At most so many cases to a question: 5 of 24, and of the 4 whose place is new to the walker all."""
    opened = LoadedDataset.of(small_city())
    tables = [evidence_lift(opened, group="all", max_cases=5, samples=20, seed=seed) for seed in (1, 1, 2)]
    pd.testing.assert_frame_equal(tables[0], tables[1])
    assert not tables[0].equals(tables[2])
    new = ~opened.cases["in_history"] & (opened.cases["source"] != opened.cases["target"])
    n = tables[0].set_index(["evidence", "control"])["n"]
    assert n["two_hops", "uniform"] == 5
    assert n["two_hops", "unvisited"] == new.sum() == 4
    assert list(n.index) == [(name, control) for name in EVIDENCE for control in CONTROLS]


@pytest.mark.parametrize(
    ("own", "new", "words"),
    [
        (
            (1.06, 1.02, 1.11),
            (0.99, 0.86, 1.14),
            [
                "more than habit would give",
                "too close to tell from what popularity (in check-ins) and distance would give",
            ],
        ),
        (
            (1.02, 0.98, 1.08),
            (1.18, 1.04, 1.35),
            [
                "too close to tell from what habit would give",
                "more than popularity (in check-ins) and distance would give",
            ],
        ),
        (
            (0.95, 0.91, 0.99),
            (0.8, 0.7, 0.9),
            ["less than habit would give", "less than popularity (in check-ins) and distance would give"],
        ),
        (
            (1.06, 1.02, 1.11),
            (np.nan, np.nan, np.nan),
            ["more than habit would give", "too few cases whose place is new"],
        ),
    ],
)
def test_the_finding_says_where_each_interval_lies(
    own: tuple[float, ...], new: tuple[float, ...], words: list[str]
) -> None:
    """Above, across or below 1, for both questions; and what it says where nobody went anywhere new."""
    rows = {"uniform": (6.6, 6.2, 7.0), "own_visits": own, "unvisited": new}
    table = pd.DataFrame(
        [
            {"evidence": "two_hops", "control": name, "lift": lift, "lower": low, "upper": high}
            for name, (lift, low, high) in rows.items()
        ]
    )
    finding = lift_finding(table)
    assert finding.startswith("Two hops hold 6.6 times as often for the truth as for any rival")
    assert f"{own[0]:.2f} times: {words[0]}" in finding
    assert words[1] in finding


# Filters and cards


def test_filters_partition_recoveries() -> None:
    """A case is recovered by history or by two hops, never by both, and never missed at the same time."""
    records, markov = ranked(RESCUES, [1, 1, 30], [25, 30, 30])
    masks = filter_masks(records, markov)
    assert masks["history"].tolist() == [True, False, False]
    assert masks["hops"].tolist() == [False, True, False]
    assert masks["missed"].tolist() == [False, False, True]
    opened = LoadedDataset.of(small_city())
    records = evaluation_records(opened, "visit_count", lambda: NamedScorer.of_baseline("visit_count", opened))
    markov = evaluation_records(opened, "markov", lambda: NamedScorer.of_baseline("markov", opened))
    masks = filter_masks(records, markov, k=2)
    assert masks["history"].any()
    assert masks["missed"].any()
    assert not (masks["history"] & masks["hops"]).any()
    assert not ((masks["history"] | masks["hops"]) & masks["missed"]).any()
    assert (masks["unseen"] <= masks["tail"]).all()
    both = filter_cases(records, markov, ["tail", "missed"], k=2)
    assert both.tolist() == np.flatnonzero(masks["tail"] & masks["missed"]).tolist()
    with pytest.raises(ConfigError, match="tail, unseen"):
        filter_cases(records, markov, ["lost"])


# Training knows 0 -> 1 -> 2. Three walkers each make an unseen step: to a place visited before, to a new place within
# two hops, and to a new place that nothing leads to.
RESCUES: Walks = [
    (0, [(0, TRAIN), (1, TRAIN), (2, TRAIN)]),
    (0, [(3, TRAIN)]),
    (0, [(0, TEST), (3, TEST)]),
    (1, [(0, TEST), (2, TEST)]),
    (2, [(2, TEST), (4, TEST)]),
]


def ranked(walks: Walks, ranks: list[int], markov: list[int]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Records of the model and of Markov with given ranks of the truths."""
    cases = LoadedDataset.of(split_dataset(walks, 5)).cases
    return cases.assign(rank=np.array(ranks, float)), cases.assign(rank=np.array(markov, float))


def test_cards_name_one_case_of_each_kind() -> None:
    """Walker 0 is recovered by history, walker 1 by two hops, walker 2 is missed without any evidence."""
    opened = LoadedDataset.of(split_dataset(RESCUES, 5))
    found = notable_cases(opened, *ranked(RESCUES, [1, 2, 30], [25, 30, 40]))
    assert [(card.kind, card.case, card.markov_rank, card.rank) for card in found] == [
        ("history", 0, 25.0, 1.0),
        ("hops", 1, 30.0, 2.0),
        ("missed", 2, 40.0, 30.0),
    ]
    assert found[0].reason == "A new step to a place that this walker had visited once."
    assert found[1].reason.endswith(f"{opened.labels[1]} links the two.")
    assert notable_cases(opened, *ranked(RESCUES, [1, 1, 1], [1, 1, 1])) == []


def removals_of(records: pd.DataFrame, **without: list[float]) -> pd.DataFrame:
    """Removals that move nothing but what is named."""
    still = {f"without_{source}": records["rank"] for source in SOURCES}
    moved = {f"without_{source}": np.array(ranks, float) for source, ranks in without.items()}
    return pd.DataFrame({"case": records["case"], "rank": records["rank"], **still, **moved})


def test_cards_with_removals_are_causes() -> None:
    """Case 1 (2nd) falls to 41st without two hops; case 0 lies where history reaches but needs none of it."""
    opened = LoadedDataset.of(split_dataset(RESCUES, 5))
    records, markov = ranked(RESCUES, [1, 2, 30], [25, 30, 40])
    removals = removals_of(records, two_hops=[1, 41, 30], own_revisits=[20, 2, 30])
    found = notable_cases(opened, records, markov, removals)
    assert [(card.kind, card.case, card.rank_without) for card in found] == [("hops", 1, 41.0), ("missed", 2, None)]
    middle = opened.labels[1]
    assert found[0].reason == f"New to this walker. {middle} links the two. Without two hops it would rank 41st."
    assert describe_absent(found, causes=True) == "No test case is found at 20 with own visits and lost without."
    assert describe_absent(found, causes=False) == ""
    removals = removals_of(records, own_revisits=[21, 2, 30])
    (first, _) = notable_cases(opened, records, markov, removals)
    assert (first.kind, first.case) == ("history", 0)
    assert first.reason.endswith("had visited once. Without own visits it would rank 21st.")
    assert "two hops" in describe_absent([first], causes=True) and "own visits" not in describe_absent(
        [first], causes=True
    )
    nothing = notable_cases(opened, records, markov, removals_of(records))
    assert describe_absent(nothing, causes=True).endswith("with own visits or with two hops and lost without.")
