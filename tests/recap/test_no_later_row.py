"""A scorer reads a history up to its end: whatever comes later changes nothing."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import pytest
import torch

from recap import columns as c
from recap.baselines import COUNTING_BASELINES
from recap.graph import TransitionGraph
from recap.history import CaseBatch, CheckinTensors, Histories, TimedHistories
from recap.model.config import Stage
from recap.model.scorer import RecapScorer
from recap.published.config import PublishedConfig
from recap.published.network import PublishedScorer
from recap.scores import Scorer
from recap.training.baselines import build_baseline
from recap.visits import NEVER
from tests.recap.published.variants import shaken, variants
from tests.recap.test_history import tensors
from tests.worlds import small_city, small_recap

RECAPS: dict[str, dict[str, Any]] = {
    "paper": {},
    "paper with the target's time": {"use_future_time": True},
    "curves": {"prior": {"kind": "curves"}, "core_scope": "unvisited", "use_correction": False},
    "curves with a correction": {"prior": {"kind": "curves"}},
}


def scorers() -> Mapping[str, Callable[[], Scorer]]:
    """Every counter, RECAP's kinds and every published model with its options."""
    city = small_city()
    graph = TransitionGraph.from_dataset(city)
    counters = {name: partial(build_baseline, name, city, graph) for name in COUNTING_BASELINES}
    recaps = {name: partial(_recap, **changes) for name, changes in RECAPS.items()}
    return counters | recaps | {config.label: partial(_published, config) for config in variants()}


def _recap(**changes: Any) -> Scorer:
    return RecapScorer(small_recap(small_city(), **changes), Stage())


def _published(config: PublishedConfig) -> Scorer:
    return PublishedScorer(shaken(config))


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
            TimedHistories(table, row_B, time_B) if scorer.reads_target_time else Histories(table, row_B)
            for table in (own, overwritten(own, row))
        )
        assert torch.equal(scorer.score(before).total, scorer.score(after).total), row


def test_the_next_visit_of_a_history_lies_inside_it() -> None:
    """User 0 goes 0, 1, 0: at its first and second check-in, nobody knows of the return."""
    table = tensors([[0, 1, 0]])
    for last, expected in ((0, [NEVER]), (1, [NEVER, NEVER]), (2, [2, NEVER, NEVER])):
        histories = Histories(table, torch.tensor([last]))
        assert histories.next_visit(*histories.past_rows()).tolist() == expected


def test_only_a_case_knows_what_follows() -> None:
    """The target and its time belong to the case; its histories get the time where a model reads it, and no target."""
    own = CheckinTensors.from_dataset(small_city())
    cases = CaseBatch(own, torch.tensor([3]))
    assert cases.target_B.tolist() == [int(own.poi_T[4])]
    for histories, timed in ((cases.histories(), False), (cases.histories(target_time=True), True)):
        assert isinstance(histories, TimedHistories) is timed and not hasattr(histories, "target_B")
