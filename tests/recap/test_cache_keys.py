"""Keys of what is kept: content and one version, which grows with the numbers."""

from typing import Final

import pytest

from recap.asking.open_model import open_model
from recap.baselines import BASELINES, PRETRAINED
from recap.evaluation.records import records_file
from recap.evaluation.scoring import evaluate
from recap.storage.cache_keys import COMPUTED, cache_key
from tests.checkins import small_dataset
from tests.worlds import habit_rows

NUMBERS: Final = (
    2,
    {"popularity": 0.2277, "markov": 0.294, "visit_count": 0.4219, "count_plus_markov": 0.4469, "nearest": 0.2468}
    | {"feature_curves": 0.3826, "visit_count_at_time": 0.4313, "pretrained": 0.4391},
)
"""The version, and MRR of its models: where these change, kept ones are wrong and `COMPUTED` has to grow."""


def test_numbers_change_with_the_version() -> None:
    """Every model that is kept without a checkpoint's hash, over every next check-in of a small city."""
    dataset = small_dataset(habit_rows(num_users=30, num_walks=12))
    found = {}
    for name in (*BASELINES, PRETRAINED):
        opened = open_model(name, dataset)
        evaluation = evaluate(opened.scorer, dataset, opened.graph, protocol="every_next")
        found[name] = round(float(evaluation.records["reciprocal_rank"].mean()), 4)
    assert (COMPUTED, found) == NUMBERS


def test_every_part_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Other content, another order and another version have other keys; records and fits are found by them."""
    assert len({cache_key("a", "b"), cache_key("b", "a"), cache_key("a"), cache_key("a", "b", "c")}) == 4
    before, file = cache_key("a", "b"), records_file("a" * 64, "markov", "test", "every_step")
    monkeypatch.setattr("recap.storage.cache_keys.COMPUTED", COMPUTED + 1)
    assert cache_key("a", "b") != before and records_file("a" * 64, "markov", "test", "every_step") != file
