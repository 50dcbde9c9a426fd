"""Histories: packed candidates equal a per-user dictionary, and whatever comes later changes no score."""

import gc
import weakref
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from recap import columns as c
from recap.baselines import AT_TIME, COUNTING_BASELINES
from recap.evaluation.cases import describe_cases
from recap.history.graph import TransitionGraph
from recap.history.tensors import (
    CaseBatch,
    CheckinTensors,
    Histories,
    find_revisit_candidates,
    local_hour_fraction,
    local_weekday,
)
from recap.history.visits import NEVER, Visits
from recap.model.backbone import suffix_rows
from recap.model.config import Stage
from recap.model.scorer import RecapScorer
from recap.published.network import PublishedScorer
from recap.scores import Scorer
from recap.training.baselines import build_baseline
from tests.checkins import LENIENT, small_dataset
from tests.recap.published.variants import shaken, variants
from tests.worlds import small_city, small_recap

Walks = list[list[int]]
histories = st.lists(st.lists(st.integers(0, 4), min_size=1, max_size=20), min_size=1, max_size=4)


def tensors(walks: Walks, **changes: Any) -> CheckinTensors:
    """One user per list of POIs, an hour apart."""
    user = np.repeat(np.arange(len(walks)), [len(walk) for walk in walks])
    seconds = np.arange(len(user)) * 3600
    arrays: dict[str, Any] = {
        "user": user,
        "poi": np.concatenate([np.array(walk, dtype=np.int64) for walk in walks]),
        "seconds": seconds,
        "local_seconds": seconds,
        "trajectory": user,
    }
    return CheckinTensors.from_arrays(**(arrays | changes))


def packed(checkins: CheckinTensors, rows: list[int], **options: Any) -> list[dict[int, tuple[int, int, int, bool]]]:
    """Candidates of each case as {poi: (last row, count, recency, in recent window)}."""
    found = find_revisit_candidates(Histories(checkins, torch.tensor(rows, dtype=torch.int64)), **options)
    cases: list[dict[int, tuple[int, int, int, bool]]] = [{} for _ in rows]
    columns = (found.poi_C, found.last_row_C, found.count_C, found.recency_steps_C, found.in_recent_window_C)
    for case, poi, *features in zip(found.case_C.tolist(), *(column.tolist() for column in columns), strict=True):
        assert poi not in cases[case], "a candidate appears once"
        cases[case][poi] = tuple(features)
    assert found.case_C.tolist() == sorted(found.case_C.tolist())
    return cases


def by_dictionary(
    walks: Walks, rows: list[int], recent_window: int, limit: int | None
) -> list[dict[int, tuple[int, int, int, bool]]]:
    """The definition: walk through each user's past and remember visits in a dictionary."""
    start = 0
    answers = {}
    for walk in walks:
        for t in range(len(walk)):
            visits: dict[int, list[int]] = {}
            for q in range(t):
                visits.setdefault(walk[q], []).append(start + q)
            latest = sorted(visits.items(), key=lambda item: item[1][-1])
            if limit is not None:
                latest = latest[-limit:]
            answers[start + t] = {
                poi: (seen[-1], len(seen), start + t - seen[-1], start + t - seen[-1] <= recent_window)
                for poi, seen in latest
            }
        start += len(walk)
    return [answers[row] for row in rows]


def test_by_hand() -> None:
    """ann: a b a c; before step 3, a was seen twice (last at 2, one step ago) and b once (two steps ago)."""
    checkins = tensors([[0, 1, 0, 2], [1, 1]])
    assert checkins.next_visit_T.tolist() == [2, NEVER, NEVER, NEVER, 5, NEVER]
    assert checkins.visit_number_T.tolist() == [1, 1, 2, 1, 1, 2]
    assert checkins.first_T.tolist() == [0, 0, 0, 0, 4, 4]
    assert packed(checkins, [3, 0, 5], recent_window=1) == [
        {0: (2, 2, 1, True), 1: (1, 1, 2, False)},
        {},
        {1: (4, 1, 1, True)},
    ]


@given(histories, st.integers(0, 6), st.sampled_from([None, 1, 2, 3, 256]), st.data())
def test_equals_a_dictionary_per_user(walks: Walks, window: int, limit: int | None, data: st.DataObject) -> None:
    """Any histories, any batch of rows in any order and with repeats, any cap."""
    total = sum(map(len, walks))
    rows = data.draw(st.lists(st.integers(0, total - 1), min_size=1, max_size=12))
    found = packed(tensors(walks), rows, recent_window=window, max_candidates=limit)
    assert found == by_dictionary(walks, rows, window, limit)


def test_keeps_the_256_most_recent_by_default() -> None:
    """300 POIs seen once each: the 256 latest stay; the oldest 44 are gone, unless the cap is lifted."""
    checkins = tensors([[*range(300), 0]])
    (kept,) = packed(checkins, [300])
    assert sorted(kept) == list(range(44, 300))
    (everything,) = packed(checkins, [300], max_candidates=None)
    assert len(everything) == 300


@given(histories)
def test_target_in_history_is_membership_of_the_target(walks: Walks) -> None:
    """y in C_t, for every row that has a successor of the same user; places known are C_t and the row's own."""
    checkins = tensors(walks)
    user, poi = checkins.user_T.tolist(), checkins.poi_T.tolist()
    rows = [row for row in range(len(poi) - 1) if user[row] == user[row + 1]]
    cases = packed(checkins, rows) if rows else []
    visits = Visits.of_segments(checkins.user_T.numpy(), checkins.poi_T.numpy())
    at = np.array(rows, dtype=np.int64)
    expected = [poi[row + 1] in case for row, case in zip(rows, cases, strict=True)]
    assert visits.target_in_history(at).tolist() == expected
    known = [len({*case, poi[row]}) for row, case in zip(rows, cases, strict=True)]
    assert visits.places_known(at).tolist() == known


def test_segments_keep_edited_copies_of_one_user_apart() -> None:
    """Two histories of the same user, in two segments, share no visit."""
    checkins = tensors([[0, 1], [0, 1]], user=np.zeros(4, dtype=np.int64), segment=np.array([0, 0, 1, 1]))
    assert checkins.visit_number_T.tolist() == [1, 1, 1, 1]
    assert packed(checkins, [3]) == [{0: (2, 1, 1, True)}]


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_the_same_on_a_gpu() -> None:
    generator = np.random.default_rng(0)
    checkins = tensors([generator.integers(0, 50, 400).tolist() for _ in range(20)])
    rows = generator.integers(0, 8000, 500).tolist()
    assert packed(checkins, rows) == packed(checkins.to("cuda"), rows)


def test_local_clock() -> None:
    """Monday 2 April 2012 18:00 local: three quarters of the day, weekday 0; before 1970 works too."""
    seconds = torch.tensor([1_333_389_600, -1])
    assert local_hour_fraction(seconds).tolist() == pytest.approx([0.75, 1 - 1 / 86_400])
    assert local_weekday(seconds).tolist() == [local_weekday(int(second)) for second in seconds] == [0, 2]


def test_check_ins_that_open_no_case_are_history() -> None:
    """Ann walks home and work by turns, 16 hours of training; then two hours at the bar of which no case is made, and
    a test walk of three.

    Before the case (18 -> 19) she was at the bar twice, last one row ago; the model's window starts with those rows.
    """
    hours = [*range(16), 100, 101, 200, 201, 202]
    pois = [*("home", "work") * 8, "bar", "bar", "home", "bar", "home"]
    rows = [("ann", poi, float(hour)) for poi, hour in zip(pois, hours, strict=True)]
    # The bar must be known from training: bob is there all day.
    rows += [("bob", "bar", hour + 0.5) for hour in range(16)]
    config = LENIENT.model_copy(update={"min_trajectory_length": 3, "train_end": 0.85, "val_end": 0.9})
    dataset = small_dataset(rows, config)
    assert dataset.checkins.loc[dataset.checkins[c.HISTORY_ONLY], c.TIME].dt.day.tolist() == [6, 6]
    (row, _) = dataset.cases(c.TEST).tolist()
    assert row == 18

    bar = dataset.pois[c.POI_ID].tolist().index("bar")
    checkins = CheckinTensors.from_dataset(dataset)
    assert packed(checkins, [row], recent_window=1)[0][bar] == (17, 2, 1, True)
    visits = build_baseline("visit_count", dataset, TransitionGraph.from_dataset(dataset)).score(
        Histories(checkins, torch.tensor([row]))
    )
    assert visits.total[0, bar] == 2
    row_BK, present_BK = suffix_rows(Histories(checkins, torch.tensor([row])), 3)
    assert row_BK.tolist() == [[16, 17, 18]] and present_BK.all()
    case = describe_cases(dataset, TransitionGraph.from_dataset(dataset)).iloc[0]
    assert case["in_history"] and case["position"] == 18
    # What training counts is the same without those rows.
    only = small_dataset(rows, config.model_copy(update={"history": "cases_only"}))
    counts = [TransitionGraph.from_dataset(one).counts.toarray() for one in (only, dataset)]
    assert counts[0].tolist() == counts[1].tolist()
    assert not describe_cases(only, TransitionGraph.from_dataset(only)).iloc[0]["in_history"]


def test_visits_are_ordered_once_for_a_dataset() -> None:
    """The same object to whoever asks, its arrays those of the tensors; gone with the dataset; another has its own."""
    dataset = small_city()
    other = replace(dataset)
    visits = Visits.of(other)
    assert Visits.of(other) is visits and Visits.of(dataset) is not visits
    assert np.shares_memory(CheckinTensors.from_dataset(other).next_visit_T.numpy(), visits.next_visit_T)
    gone = weakref.ref(visits)
    del other, visits
    gc.collect()
    assert gone() is None


RECAPS: dict[str, dict[str, Any]] = {
    "paper": {},
    "paper with the target's time": {"use_future_time": True},
    "curves": {"prior": {"kind": "curves"}, "core_scope": "unvisited", "use_correction": False},
    "curves with a correction": {"prior": {"kind": "curves"}},
    "curves, time given": {"prior": {"kind": "curves", "given_time": True}, "use_correction": False},
}


def scorers() -> Mapping[str, Callable[[], Scorer]]:
    """Every counter, RECAP's kinds and every published model with its options."""
    city = small_city()
    graph = TransitionGraph.from_dataset(city)
    counters = {name: partial(build_baseline, name, city, graph) for name in (*COUNTING_BASELINES, AT_TIME)}
    recaps = {
        name: lambda changes=changes: RecapScorer(small_recap(city, **changes), Stage())
        for name, changes in RECAPS.items()
    }
    published = {config.label: lambda config=config: PublishedScorer(shaken(config)) for config in variants()}
    return counters | recaps | published


def overwritten(checkins: CheckinTensors, row: int) -> CheckinTensors:
    """Another table after a row: other places, times and trajectories, and visits made of them."""
    generator = torch.Generator().manual_seed(row)
    later = torch.arange(len(checkins.poi_T)) > row
    poi = torch.randint(small_city().num_pois, later.shape, generator=generator)
    shift = torch.where(later, 7 * 3600, 0)
    return CheckinTensors.from_arrays(
        user=checkins.user_T.numpy(),
        poi=torch.where(later, poi, checkins.poi_T).numpy(),
        seconds=(checkins.seconds_T + shift).numpy(),
        local_seconds=(checkins.local_seconds_T + shift).numpy(),
        trajectory=torch.where(later, checkins.trajectory_T[row], checkins.trajectory_T).numpy(),
    )


@pytest.mark.parametrize("name", scorers())
def test_nothing_after_a_history_changes_a_score(name: str) -> None:
    """In training, validation and test, and where the data end: equal to the last bit."""
    city, scorer = small_city(), scorers()[name]()
    own = CheckinTensors.from_dataset(city)
    ends = (city.cases(c.TEST)[0], city.cases(c.VAL)[5], city.cases(c.TRAIN)[40], len(own.poi_T) - 1)
    for row in map(int, ends):
        row_B = torch.tensor([row])
        time_B = own.local_seconds_T[row_B] + 3600
        before, after = (
            Histories(table, row_B, time_B) if scorer.reads_target_time else Histories(table, row_B)
            for table in (own, overwritten(own, row))
        )
        assert torch.equal(scorer.score(before).total, scorer.score(after).total), row


def test_only_a_case_knows_what_follows() -> None:
    """The target and its time belong to the case; its histories get the time where a model reads it, and no target.

    User 0 goes 0, 1, 0: at its first and second check-in, nobody knows of the return.
    """
    own = CheckinTensors.from_dataset(small_city())
    cases = CaseBatch(own, torch.tensor([3]))
    assert cases.target_B.tolist() == [int(own.poi_T[4])]
    for histories, timed in ((cases.histories(), False), (cases.histories(target_time=True), True)):
        assert (histories.next_local_seconds_B is not None) is timed and not hasattr(histories, "target_B")
    for last, expected in ((0, [NEVER]), (1, [NEVER, NEVER]), (2, [2, NEVER, NEVER])):
        short = Histories(tensors([[0, 1, 0]]), torch.tensor([last]))
        assert short.next_visit(*short.past_rows()).tolist() == expected
