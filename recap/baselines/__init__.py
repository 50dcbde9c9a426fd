"""Scorers that count: what a model must beat to be worth its electricity."""

from typing import Final

from recap.baselines.counting import CountPlusMarkov, Markov, Popularity, VisitCount

COUNTING_BASELINES: Final = ("popularity", "markov", "visit_count", "count_plus_markov")
BASELINES: Final = (*COUNTING_BASELINES, "evidence")

__all__ = ["BASELINES", "COUNTING_BASELINES", "CountPlusMarkov", "Markov", "Popularity", "VisitCount"]
