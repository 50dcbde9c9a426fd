"""Revisit evidence: a user's visits to a candidate, the statistics of Eqs. 9 and 20-23, and the gate."""

from datetime import UTC, datetime

import numpy as np
from pydantic import Field

from analysis.explain.edited_case import EditedCase
from recap.config import Config
from recap.history import SECONDS_PER_DAY, local_weekday


class Visit(Config):
    """One earlier visit to the candidate."""

    visit: int = Field(description="Number of the check-in, as edits name it.")
    time: str = Field(description="UTC, ISO 8601.")
    local_time: str = Field(description="On the clock of the place, ISO 8601 without offset.")
    steps_ago: int = Field(description="Check-ins from here to the source, t - q.")
    days_ago: float
    in_recent_window: bool


class RevisitEvidence(Config):
    """All that the prior and the calibration know of one candidate's past."""

    poi: int
    name: str
    visits: list[Visit] = Field(description="Oldest first; visits before the source (q < t).")
    is_candidate: bool = Field(description="In C_t and among the kept candidates, so that the prior acts on it.")
    count: int = Field(description="n_t(d).")
    recency_steps: int | None = Field(description="r_t(d), in check-ins; None without a visit.")
    recency_days: float | None
    in_recent_window: bool = Field(description="Last visit among the recent_window check-ins before the source.")
    recent_window: int
    history_length: int = Field(description="Check-ins before the source.")
    first_time: str | None = Field(description="UTC time of the user's first check-in: where a timeline starts.")
    now_time: str = Field(description="UTC time of the current check-in.")
    last_hour: float | None = Field(description="Local hour of the last visit, 0 to 24.")
    now_hour: float
    last_weekday: int | None = Field(description="0 Monday to 6 Sunday.")
    now_weekday: int
    gate: float | None = Field(description="gamma_t(d) in [-1, 1]; None where the correction does not act.")
    correction: float = Field(description="What the gate did: lambda_corr gamma R, in score points.")


def revisit_evidence(edited_case: EditedCase, poi: int, gate: float | None, correction: float) -> RevisitEvidence:
    """Visits and statistics of one candidate.

    Args:
        gate, correction: from the candidate's score parts.
    """
    history = edited_case.variant.history
    now = len(history) - 2
    at_V = np.flatnonzero(history.poi_H[:now] == poi)
    window = edited_case.config.recent_window
    now_seconds, now_local = int(history.seconds_H[now]), int(history.local_seconds_H[now])
    visits = [
        Visit(
            visit=int(edited_case.visit_H[q]),
            time=_iso(int(history.seconds_H[q])) + "Z",
            local_time=_iso(int(history.local_seconds_H[q])),
            steps_ago=now - q,
            days_ago=(now_seconds - int(history.seconds_H[q])) / SECONDS_PER_DAY,
            in_recent_window=now - q <= window,
        )
        for q in at_V.tolist()
    ]
    last = visits[-1] if visits else None
    last_local = int(history.local_seconds_H[at_V[-1]]) if visits else 0
    newer = len(np.unique(history.poi_H[at_V[-1] + 1 : now])) if visits else 0
    return RevisitEvidence(
        poi=poi,
        name=edited_case.predictor.dataset.poi_labels[poi],
        visits=visits,
        is_candidate=bool(visits) and newer < edited_case.config.max_candidates,
        count=len(visits),
        recency_steps=None if last is None else last.steps_ago,
        recency_days=None if last is None else last.days_ago,
        in_recent_window=last is not None and last.in_recent_window,
        recent_window=window,
        history_length=now,
        first_time=_iso(int(history.seconds_H[0])) + "Z" if now else None,
        now_time=_iso(now_seconds) + "Z",
        last_hour=None if last is None else last_local % SECONDS_PER_DAY / 3600,
        now_hour=now_local % SECONDS_PER_DAY / 3600,
        last_weekday=None if last is None else local_weekday(last_local),
        now_weekday=local_weekday(now_local),
        gate=gate,
        correction=correction,
    )


def _iso(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S")
