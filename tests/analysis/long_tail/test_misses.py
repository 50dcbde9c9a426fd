"""The miss taxonomy: one label per missed case, in the given order of precedence."""

import numpy as np
import pandas as pd
import pytest

from analysis.long_tail.misses import HIT, MISSES, count_misses, describe_misses, label_misses
from recap.errors import ConfigError
from recap.evaluation.scoring import score_cases
from recap.model.recap import RecapScorer
from tests.analysis.planted import small_predictor

NAN = float("nan")
TABLE = pd.DataFrame(
    [
        # rank, evidence, by evidence, without correction, unclipped, metres, same category
        (3.0, False, NAN, NAN, NAN, 9e3, False, HIT),
        (9.0, False, 1.0, 1.0, 1.0, 10.0, True, "no_evidence"),
        (9.0, True, 5.0, 1.0, 1.0, 10.0, True, "outvoted_by_core"),
        (9.0, True, 5.5, 5.0, 1.0, 10.0, True, "gate_against"),
        (9.0, True, 8.0, NAN, 5.0, 10.0, True, "clipped"),
        (9.0, True, NAN, NAN, NAN, 200.0, True, "near_miss"),
        (9.0, True, NAN, NAN, 6.0, 200.1, True, "same_category"),
        (9.0, True, NAN, 7.0, NAN, 9e3, False, "other"),
    ],
    columns=[
        "rank",
        "has_evidence",
        "rank_by_evidence",
        "rank_without_correction",
        "rank_unclipped",
        "first_distance_m",
        "first_same_category",
        "expected",
    ],
)


def test_precedence_by_hand() -> None:
    """Each row satisfies its own label and, where possible, all later ones; the first wins."""
    assert label_misses(TABLE, k=5).astype(str).tolist() == TABLE["expected"].tolist()
    counts = count_misses(label_misses(TABLE, k=5))
    assert counts["label"].tolist() == list(MISSES) and counts["n"].sum() == 7 and set(counts["n"]) == {1}
    assert set(label_misses(TABLE, k=9).astype(str)) == {HIT}
    with pytest.raises(ConfigError, match="at least 1, got 0"):
        label_misses(TABLE, k=0)


@pytest.mark.parametrize("k", [1, 2, 5, 16])
def test_labels_partition_the_misses_of_a_model(k: int) -> None:
    """Every missed case has exactly one label, no hit has one, ranks are the records', for any K."""
    predictor = small_predictor()
    described = describe_misses(predictor, predictor.cases)
    records = score_cases(RecapScorer(predictor.model, predictor.stage), predictor.cases, predictor.checkins)
    assert np.array_equal(described["rank"], records["rank"])
    labels = label_misses(described, k)
    missed = records["rank"] > k
    assert np.array_equal(labels != HIT, missed) and count_misses(labels)["n"].sum() == missed.sum()


def test_what_ifs_of_the_taxonomy() -> None:
    """By hand over every case: dropping the negative correction, lifting the clip, prior and correction alone."""
    predictor = small_predictor()
    scores = predictor.score(predictor.batch(predictor.cases["row"].tolist()))
    described = describe_misses(predictor, predictor.cases)
    evidence = (scores.prior + scores.correction).numpy()
    for case, target in enumerate(predictor.cases["target"].tolist()):
        row = described.iloc[case]
        own = evidence[case]
        assert row["rank_by_evidence"] == (own > own[target]).sum() + ((own == own[target]).sum() + 1) / 2
        correction = float(scores.correction[case, target])
        assert np.isnan(row["rank_without_correction"]) == (correction >= 0)
        if correction < 0:
            total = scores.total[case].clone()
            total[target] -= correction
            assert row["rank_without_correction"] == int((total > total[target]).sum()) + 1
