"""A user's earlier visits to a place."""

from datetime import UTC, datetime

import numpy as np

from analysis.explain.edited_case import EditedCase
from analysis.explain.types import PastVisits, Visit
from recap.history import SECONDS_PER_DAY


def past_visits(edited_case: EditedCase, poi: int) -> PastVisits:
    history = edited_case.variant.history
    now = len(history) - 1
    visits = [
        Visit(
            visit=int(edited_case.visit_H[at]),
            local_time=local_iso(int(history.local_seconds_H[at])),
            checkins_ago=now - at,
            days_ago=float(history.seconds_H[now] - history.seconds_H[at]) / SECONDS_PER_DAY,
        )
        for at in np.flatnonzero(history.poi_H[:now] == poi).tolist()
    ]
    return PastVisits(poi=poi, name=edited_case.ranker.dataset.poi_labels[poi], visits=visits)


def local_iso(local_seconds: int) -> str:
    """Local seconds as ISO 8601 without offset.

    >>> local_iso(0)
    '1970-01-01T00:00:00'
    """
    return datetime.fromtimestamp(local_seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S")
