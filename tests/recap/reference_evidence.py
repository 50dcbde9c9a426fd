"""Evidence once more, one check-in and one transition at a time: nothing shared with the code under test."""

from math import cos, exp, log1p, pi, radians, sin

import numpy as np
from recap.evidence.config import SESSION_FEATURES, EvidenceConfig
from recap.evidence.places import EARTH_RADIUS_KM

from recap import columns as c
from recap.data.dataset import Dataset

TRAIN = c.TRAIN
CONFIG = EvidenceConfig()
WITH_SESSIONS = EvidenceConfig(sessions=True)
Table = dict[int, dict[str, float]]
Counts = dict[tuple[int, int], int]


def distance_km(one: tuple[float, float], other: tuple[float, float]) -> float:
    """Haversine, from degrees."""
    (lat1, lon1), (lat2, lon2) = ((radians(a), radians(b)) for a, b in (one, other))
    half = sin((lat2 - lat1) / 2) ** 2 + cos(lat1) * cos(lat2) * sin((lon2 - lon1) / 2) ** 2
    return 2 * EARTH_RADIUS_KM * np.arcsin(min(1.0, half**0.5))


def evidence_by_loops(dataset: Dataset, row: int, config: EvidenceConfig = CONFIG) -> Table:
    """The definition of every feature, one check-in at a time."""
    table = dataset.checkins
    user, poi, walk = (table[name].tolist() for name in (c.USER, c.POI, c.TRAJECTORY))
    seconds = [int(time.timestamp()) for time in table[c.TIME]]
    local = dataset.local_time
    source, now = poi[row], seconds[row]
    others: dict[int, int] = {}
    for q in dataset.cases(TRAIN).tolist():
        if poi[q] == source and user[q] != user[row]:
            others[poi[q + 1]] = others.get(poi[q + 1], 0) + 1
    mine = [q for q in range(row + 1) if user[q] == user[row]]
    popularity = dataset.pois[c.TRAIN_CHECKINS].tolist()
    points = list(zip(dataset.pois[c.LATITUDE], dataset.pois[c.LONGITUDE], strict=True))

    def kernel(q: int, width: float) -> float:
        hours = [(local[at] - local[at].normalize()).total_seconds() / 3600 for at in (q, row)]
        return exp((cos(2 * pi / 24 * (hours[0] - hours[1])) - 1) / (2 * pi / 24 * width) ** 2)

    def kind_of_day(q: int) -> bool:
        return bool(local[q].day_of_week >= 5)

    def is_one_burst(first: int, last: int) -> bool:
        return all(seconds[at + 1] - seconds[at] <= 600 for at in range(first, last))

    def add_session_counts(totals: dict[str, float], q: int, habit: float) -> None:
        totals["in_burst"] += q < row and is_one_burst(q, row)
        totals["in_trajectory"] += q < row and walk[q] == walk[row]
        totals["just_before"] += q == row - 1
        totals["week_slot"] += habit * (local[q].day_of_week == local[row].day_of_week) * kernel(q, 1.0)
        if q - 1 in mine:
            totals["next_at_hour_on_day"] += habit * (kind_of_day(q - 1) == kind_of_day(row)) * kernel(q - 1, 2.0)
            if walk[q - 1] == walk[q] and poi[q - 1] == source:
                totals["own_transitions_at_hour"] += habit * kernel(q - 1, 2.0)
                totals["slow_transitions"] += habit * (not is_one_burst(q - 1, q))

    found: Table = {}
    for d in sorted(set(others) | {poi[q] for q in mine}):
        visits = [q for q in mine if poi[q] == d]
        names = ["recent_visits", "visits_at_hour", "visits_on_day", "next_at_hour", "own_transitions", "own_pairs"]
        totals = dict.fromkeys([*names, *(SESSION_FEATURES if config.sessions else ())], 0.0)
        for q in visits:
            habit = exp(-(now - seconds[q]) / 86400 / CONFIG.memory_days)
            totals["recent_visits"] += exp(-(row - q) / CONFIG.memory_steps)
            totals["visits_at_hour"] += habit * kernel(q, CONFIG.hour_width)
            totals["visits_on_day"] += habit * ((local[q].day_of_week >= 5) == (local[row].day_of_week >= 5))
            if q - 1 in mine:
                totals["next_at_hour"] += habit * kernel(q - 1, CONFIG.next_hour_width)
                if walk[q - 1] == walk[q] and poi[q - 1] == source:
                    totals["own_transitions"] += habit
                    pairs = [(a - 1 in mine and walk[a - 1] == walk[a]) for a in (q - 1, row)]
                    totals["own_pairs"] += habit * (all(pairs) and poi[q - 2] == poi[row - 1])
            if config.sessions:
                add_session_counts(totals, q, habit)
        days = (now - seconds[visits[-1]]) / 86400 if visits else 0.0
        known = float(bool(visits))
        found[d] = {
            "known": known,
            "stay": float(d == source),
            "once": float(len(visits) == 1),
            **{name: log1p(CONFIG.gain * value) for name, value in totals.items()},
            **{f"recency_{scale:g}_days": known * exp(-days / scale) for scale in CONFIG.recency_days},
            "others_transitions": log1p(others.get(d, 0)),
            "known_popularity": known * log1p(popularity[d]),
            "known_distance": known * log1p(distance_km(points[source], points[d])),
        }
    return found


def counts_of_others(dataset: Dataset, user: int, edits: Counts | None = None) -> Counts:
    """Training transitions of all but one user, one at a time; an edit sets everyone's count."""
    poi, users = dataset.checkins[c.POI].tolist(), dataset.checkins[c.USER].tolist()
    every: Counts = {}
    own: Counts = {}
    for row in dataset.cases(c.TRAIN).tolist():
        edge = poi[row], poi[row + 1]
        every[edge] = every.get(edge, 0) + 1
        own[edge] = own.get(edge, 0) + (users[row] == user)
    every |= edits or {}
    left = {edge: count - own.get(edge, 0) for edge, count in every.items()}
    return {edge: count for edge, count in left.items() if count > 0}


def walks_by_loops(counts: Counts, source: int) -> dict[tuple[int, int], float]:
    """(middle, destination) -> A_sm A_md."""
    out: dict[int, int] = {}
    for (start, _), count in counts.items():
        out[start] = out.get(start, 0) + count
    return {
        (middle, destination): first / out[source] * second / out[middle]
        for (start, middle), first in counts.items()
        if start == source
        for (again, destination), second in counts.items()
        if again == middle
    }
