"""The lift of evidence on worlds small enough for a pencil."""

import numpy as np
import pytest

from analysis.long_tail.lift import evidence_lift
from analysis.records.case_filters import filter_cases, filter_masks, notable_cases
from analysis.records.evaluation_records import evaluation_records
from analysis.records.loaded_dataset import LoadedDataset
from analysis.records.named_scorer import NamedScorer
from recap.errors import ConfigError
from tests.checkins import split_dataset
from tests.worlds import small_city

TRAIN, TEST = 0, 2


def test_lift_of_a_single_case() -> None:
    """One walker saw place 1 of four; the next place is 1: observed 1, uniform chance 1/4, lift 4."""
    dataset = split_dataset(
        [(0, [(0, TRAIN), (1, TRAIN)]), (0, [(2, TRAIN), (3, TRAIN)]), (0, [(2, TRAIN), (1, TEST)])], num_pois=4
    )
    table = evidence_lift(LoadedDataset.of(dataset), group="all", samples=20).set_index(["evidence", "control"])
    # Before the source the walker was at 0, 1, 2 and 3, so by chance too every place was visited before.
    assert table.loc[("revisit", "uniform"), "observed"] == 1.0
    assert table.loc[("revisit", "uniform"), "chance"] == pytest.approx(1.0)
    # The one earlier step from 2 went to 3, so the truth 1 has no own step; chance is one place in four.
    assert table.loc[("own_step", "uniform"), "observed"] == 0.0
    assert table.loc[("own_step", "uniform"), "chance"] == pytest.approx(0.25)


def test_lift_given_own_visits_is_one_where_only_visits_speak() -> None:
    """Revisit evidence is implied by the walker's own visits, so that cell is empty, not one."""
    table = evidence_lift(LoadedDataset.of(small_city()), group="all", samples=20).set_index(["evidence", "control"])
    assert table["lift"].isna()[("revisit", "own_visits")]
    assert (table["n"] > 0).all()


def test_filters_partition_recoveries() -> None:
    """A case is recovered by history or by two hops, never by both, and never missed at the same time."""
    opened = LoadedDataset.of(small_city())
    records = evaluation_records(opened, "visit_count", lambda: NamedScorer.of_baseline("visit_count", opened))
    markov = evaluation_records(opened, "markov", lambda: NamedScorer.of_baseline("markov", opened))
    masks = filter_masks(records, markov, k=2)
    assert not (masks["history"] & masks["hops"]).any()
    assert not ((masks["history"] | masks["hops"]) & masks["missed"]).any()
    assert (masks["unseen"] <= masks["tail"]).all()
    both = filter_cases(records, markov, ["tail", "missed"], k=2)
    assert both.tolist() == np.flatnonzero(masks["tail"] & masks["missed"]).tolist()
    with pytest.raises(ConfigError, match="tail, unseen"):
        filter_cases(records, markov, ["lost"])
    for notable in notable_cases(opened, records, markov):
        assert records["rank"].iloc[notable.case] == notable.rank
