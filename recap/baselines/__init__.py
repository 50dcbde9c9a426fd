"""Scorers that count or weigh counts: what a model must beat to be worth its electricity."""

from typing import Final

from recap.baselines.building import build_baseline
from recap.baselines.counting import CountPlusMarkov, Markov, Popularity, VisitCount
from recap.baselines.evidence import EvidenceRanker, EvidenceRankerConfig

COUNTING_BASELINES: Final = ("popularity", "markov", "visit_count", "count_plus_markov")
BASELINES: Final = (*COUNTING_BASELINES, "evidence")

__all__ = [
    "BASELINES",
    "COUNTING_BASELINES",
    "CountPlusMarkov",
    "EvidenceRanker",
    "EvidenceRankerConfig",
    "Markov",
    "Popularity",
    "VisitCount",
    "build_baseline",
]
