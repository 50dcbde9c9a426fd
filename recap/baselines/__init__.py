"""Scorers that count or weigh counts: what a model must beat to be worth its electricity."""

from typing import Final

COUNTING_BASELINES: Final = ("popularity", "markov", "visit_count", "count_plus_markov", "nearest")
EVIDENCE: Final = "evidence"
EVIDENCE_WITH_SESSIONS: Final = "evidence_sessions"
BASELINES: Final = (*COUNTING_BASELINES, EVIDENCE, EVIDENCE_WITH_SESSIONS)
