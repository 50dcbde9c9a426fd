"""The miss taxonomy: one label per missed case, by the removal that would have found it."""

import numpy as np
import pandas as pd
import pytest

from analysis.long_tail.misses import (
    HIT,
    MISS_LABELS,
    MISS_SOURCES,
    MISSES,
    count_misses,
    describe_misses,
    label_misses,
)
from analysis.records.removals import describe_removals
from analysis.records.score_rows import SOURCES
from recap.errors import ConfigError
from recap.evaluation.scoring import score_cases
from recap.evidence.config import EvidenceConfig
from recap.model.recap import RecapScorer
from tests.analysis.planted import small_predictor

FAR = {"first_distance_m": 9e3, "first_same_category": False, "has_evidence": True, "rank": 9.0}
ROWS = [
    # what is known, label at K = 5
    ({"rank": 3.0, "without_core": 1.0}, HIT),
    ({"without_core": 5.0, "without_distance": 6.0, "has_evidence": False}, "outvoted_by_core"),
    ({"without_core": 4.0, "without_distance": 2.0}, "outvoted_by_distance"),
    ({"without_correction": 5.0, "without_own_revisits": 1.0}, "outvoted_by_correction"),
    ({"without_correction": 5.5, "without_own_revisits": 5.0}, "outvoted_by_own_revisits"),
    ({"without_two_hops": 2.0, "without_clip": 3.0}, "outvoted_by_two_hops"),
    ({"without_graph_token": 4.0, "without_two_hops": 8.0, "without_clip": 4.0}, "clipped"),
    ({"has_evidence": False, "first_distance_m": 10.0}, "no_evidence"),
    ({"first_distance_m": 200.0, "first_same_category": True}, "near_miss"),
    ({"first_distance_m": 200.1, "first_same_category": True, "without_core": 5.5}, "same_category"),
    ({}, "other"),
]
"""What each missed case would rank without a source; what is not named would change nothing."""


def test_labels_by_hand() -> None:
    """The removal after which the case stands best names it; own visits only where nothing narrower does."""
    nothing = {f"without_{source}": np.nan for source in SOURCES}
    table = pd.DataFrame([nothing | FAR | row for row, _ in ROWS])
    labels = label_misses(table, k=5)
    assert labels.astype(str).tolist() == [label for _, label in ROWS]
    counts = count_misses(labels)
    assert counts["label"].tolist() == list(MISSES) and counts["n"].sum() == 10
    assert set(label_misses(table, k=9).astype(str)) == {HIT}
    with pytest.raises(ConfigError, match="at least 1, got 0"):
        label_misses(table, k=0)


def test_every_source_has_a_label_and_every_label_words() -> None:
    """No removal can find a case and leave it unnamed."""
    assert {source for sources in MISS_SOURCES.values() for source in sources} == set(SOURCES)
    assert set(MISS_SOURCES) < set(MISSES) == set(MISS_LABELS)


@pytest.mark.parametrize("k", [1, 2, 5, 16])
def test_labels_partition_the_misses_of_a_model(k: int) -> None:
    """Every missed case has exactly one label, no hit has one, and without the named source it is found."""
    predictor = small_predictor(evidence=EvidenceConfig())
    removals = describe_removals(predictor, predictor.cases)
    described = describe_misses(predictor.dataset, predictor.cases, removals)
    records = score_cases(RecapScorer(predictor.model, predictor.stage), predictor.cases, predictor.checkins)
    assert np.array_equal(described["rank"], records["rank"])
    labels = label_misses(described, k)
    missed = records["rank"] > k
    assert np.array_equal(labels != HIT, missed) and count_misses(labels)["n"].sum() == missed.sum()
    for label, sources in MISS_SOURCES.items():
        named = removals[labels == label]
        assert (named[[f"without_{source}" for source in sources]].min(axis=1) <= k).all()
    unnamed = removals[labels.isin(set(MISSES) - set(MISS_SOURCES))]
    assert not (unnamed[[f"without_{source}" for source in SOURCES]] <= k).any(axis=None)
