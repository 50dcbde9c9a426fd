"""Baselines that count: what every model must beat."""

from typing import Final

COUNTING_BASELINES: Final = ("popularity", "markov", "visit_count", "count_plus_markov", "nearest")
FEATURE_CURVES: Final = "feature_curves"
BASELINES: Final = (*COUNTING_BASELINES, FEATURE_CURVES)
