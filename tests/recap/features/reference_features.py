"""Every feature once more, one check-in and one transition at a time: nothing shared with the code under test."""

from collections import Counter, defaultdict
from datetime import datetime
from itertools import pairwise
from math import cos, exp, log, log1p, pi, radians, sin, sqrt

import numpy as np

from recap import columns as c
from recap.arithmetic.geodesy import EARTH_RADIUS_KM
from recap.data.dataset import Dataset
from recap.features.catalogue import GIVEN_TIME, WHENEVER

Counts = dict[tuple[int, int], int]


def distance_km(one: tuple[float, float], other: tuple[float, float]) -> float:
    """Haversine, from degrees."""
    (lat1, lon1), (lat2, lon2) = ((radians(a), radians(b)) for a, b in (one, other))
    half = sin((lat2 - lat1) / 2) ** 2 + cos(lat1) * cos(lat2) * sin((lon2 - lon1) / 2) ** 2
    return 2 * EARTH_RADIUS_KM * float(np.arcsin(min(1.0, half**0.5)))


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


def paths_by_loops(counts: Counts, source: int) -> dict[tuple[int, int], float]:
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


def around_clock(one: float, other: float, width: float) -> float:
    """A Gaussian around the clock, cut where it is small."""
    close = exp((cos(2 * pi / 24 * (one - other)) - 1) / (2 * pi / 24 * width) ** 2)
    return close if close > 0.01 else 0.0


class Reference:
    """A dataset as plain lists."""

    def __init__(self, dataset: Dataset) -> None:
        self.dataset = dataset
        table = dataset.checkins
        self.user, self.poi, self.walk = (table[name].tolist() for name in (c.USER, c.POI, c.TRAJECTORY))
        self.seconds = [int(time.timestamp()) for time in table[c.TIME]]
        self.local = dataset.local_time.tolist()
        self.train = (table[c.SPLIT] == c.TRAIN).tolist()
        self.category = dataset.pois[c.CATEGORY_INDEX].tolist()
        self.steps = dataset.cases(c.TRAIN).tolist()
        self.points = list(zip(dataset.pois[c.LATITUDE], dataset.pois[c.LONGITUDE], strict=True))

    def same_hour(self, one: int, other: int, width: float) -> float:
        return around_clock(self.hour(one), self.hour(other), width)

    def hour(self, row: int) -> float:
        at = self.local[row]
        return at.hour + at.minute / 60 + at.second / 3600

    def weekend(self, row: int) -> bool:
        return bool(self.local[row].day_of_week >= 5)

    def together(self, first: int, last: int) -> bool:
        """No pause of more than ten minutes from one check-in to the other."""
        return all(self.seconds[at + 1] - self.seconds[at] <= 600 for at in range(first, last))

    def lately(self, mine: list[int]) -> tuple[float, float]:
        """The shares of new places and of pauses over a day among a user's last check-ins, smoothed."""
        last, waits = mine[-20:], [self.seconds[q] - self.seconds[p] for p, q in pairwise(mine[-21:])]
        new = sum(self.poi[q] not in [self.poi[p] for p in mine if p < q] for q in last)
        return (new + 1) / (len(last) + 2), (sum(wait > 86_400 for wait in waits) + 1) / (len(waits) + 2)

    def of(self, row: int, at: datetime | None = None) -> dict[int, dict[str, float]]:
        """Place -> feature -> value, of every place; where at a given local time, with ``at``."""
        me, source = self.user[row], self.poi[row]
        mine = [q for q in range(row + 1) if self.user[q] == me]
        counts = counts_of_others(self.dataset, me)
        two_hop: dict[int, float] = defaultdict(float)
        for (_, destination), product in paths_by_loops(counts, source).items():
            two_hop[destination] += product
        kinds = Counter(self.category[self.poi[q]] for q in mine)
        others = Counter(self.poi[q] for q in range(len(self.poi)) if self.train[q] and self.user[q] != me)
        alike = self.similar(me, {self.poi[q] for q in mine})
        likelier = self.likelier(me, row, at)
        exploring, pausing = self.lately(mine)
        found = {}
        for d in range(self.dataset.num_pois):
            visits = [q for q in mine if self.poi[q] == d]
            km = distance_km(self.points[source], self.points[d])
            place = (log1p(others[d]), log1p(km), log1p(kinds[self.category[d]]))
            values = dict.fromkeys((WHENEVER if at is None else GIVEN_TIME).names, 0.0)
            if visits:
                popularity, distance, category = place
                seen = defaultdict(float, self.visited(row, mine, visits, at))
                weekday, such_days = seen.pop("visits_on_weekday"), seen.pop("visits_on_such_days")
                pause = 0.0 if at is None else log1p(max(0.0, (at - self.local[row]).total_seconds()) / 3600)
                every = seen | {
                    "visits_by_popularity": seen["visits"] * popularity,
                    "visits_by_new_lately": seen["visits"] * exploring,
                    "visits_50_checkins_by_distance": seen["visits_50_checkins"] * distance,
                    "overdue_by_first_of_day": seen["overdue"] * seen["visits_first_of_day"],
                    "visits_50_checkins_by_long_gaps": seen["visits_50_checkins"] * pausing,
                    "time_since_visit_by_long_gaps": seen["time_since_visit"] * pausing,
                    "visits_first_of_day_by_long_gaps": seen["visits_first_of_day"] * pausing,
                    "visits_on_weekday_by_popularity": weekday * popularity,
                    "visits_on_such_days_by_distance": such_days * distance,
                    "own_transitions_by_visits": seen["own_transitions"] * seen["visits_50_checkins"],
                    "own_transitions_at_hour_by_first_of_day": seen["own_transitions_at_hour"]
                    * seen["visits_first_of_day"],
                    "own_slow_transitions_by_distance": seen["own_slow_transitions"] * distance,
                    "own_transitions_by_long_gaps": seen["own_transitions"] * pausing,
                    "category_by_popularity": category * popularity,
                    "popularity_known": popularity,
                    "distance_known": distance,
                    "visits_50_checkins_by_pause": seen["visits_50_checkins"] * pause,
                    "visits_first_of_day_by_pause": seen["visits_first_of_day"] * pause,
                    "own_transitions_by_pause": seen["own_transitions"] * pause,
                    "distance_known_by_pause": distance * pause,
                    "category_at_time_known": log1p(exp(likelier[1][self.category[d]])),
                }
                values |= {name: value for name, value in every.items() if name in values}
            else:
                values |= dict(zip(("popularity_new", "distance_new", "category_new"), place, strict=True))
                kind = self.category[d]
                clock = "category_at_hour" if at is None else "category_at_time"
                values |= {"category_from_here": likelier[0][kind], clock: likelier[1][kind]}
                values["new_lately"] = exploring
                values["similar_users"] = log1p(20 * alike[d])
            values["others_transitions"] = log1p(counts.get((source, d), 0))
            values["two_hop_paths"] = two_hop[d]
            found[d] = values
        return found

    def visited(self, row: int, mine: list[int], visits: list[int], at: datetime | None) -> dict[str, float]:
        """Features of a place in the user's past; now is the last check-in, or the time given."""
        now = self.local[row] if at is None else at
        pause = max(0.0, (now - self.local[row]).total_seconds())
        clock = now.hour + now.minute / 60 + now.second / 3600
        poi, source = self.poi, self.poi[row]
        total: dict[str, float] = defaultdict(float)
        for q in visits:
            days = (self.seconds[row] + pause - self.seconds[q]) / 86400
            habit = exp(-days / 60)
            later = (self.hour(q) - self.hour(row)) % 24
            weekday = self.local[q].day_of_week == now.weekday()
            such_day = self.weekend(q) == (now.weekday() >= 5)
            near, around = (around_clock(self.hour(q), clock, width) for width in (0.5, 2.0))
            first = q == mine[0]
            total["visits"] += 1
            total["visits_50_checkins"] += exp(-(row - q) / 50)
            total["visits_first_of_day"] += habit * (first or self.local[q].date() != self.local[q - 1].date())
            total["visits_0_to_2_hours_later"] += habit * (0 < later <= 2)
            total["visits_on_such_days"] += habit * such_day
            total["visits_on_weekday"] += habit * weekday
            total["visits_near_time"] += habit * near
            total["visits_around_time"] += habit * around
            total["visits_near_time_on_such_days"] += habit * near * such_day
            total["visits_near_time_on_weekday"] += habit * near * weekday
            total["visits_near_time_200_days"] += exp(-days / 200) * near * such_day
            total["visits_around_time_on_weekday"] += habit * around * weekday
            if first:
                continue
            such = self.weekend(q - 1) == self.weekend(row)
            waited = (self.seconds[q] - self.seconds[q - 1]) / 3600
            similar = exp(-((log1p(waited) - log1p(pause / 3600)) ** 2) / 2 / 0.35**2)
            total["visits_after_similar_pause"] += habit * similar
            total["next_at_hour_on_such_days"] += habit * such * self.same_hour(q - 1, row, 2.0)
            if self.walk[q - 1] == self.walk[q] and poi[q - 1] == source:
                total["own_transitions"] += habit
                total["own_transitions_at_hour"] += habit * self.same_hour(q - 1, row, 2.0)
                total["own_transitions_at_time"] += habit * around
                total["own_transitions_after_similar_pause"] += habit * similar
                total["own_slow_transitions"] += habit * (not self.together(q - 1, q))
                pairs = all(at - 1 in mine and self.walk[at - 1] == self.walk[at] for at in (q - 1, row))
                total["own_transition_pairs"] += habit * (pairs and poi[q - 2] == poi[row - 1])
        age = [(self.seconds[row] + pause - self.seconds[q]) / 86400 for q in visits]
        ratio = 0.0
        if len(visits) >= 2:
            wait = (age[0] - age[-1]) / (len(visits) - 1)
            ratio = min(5.0, max(-5.0, log((age[-1] + 0.02) / (wait + 0.02))))
        return {name: log1p(value) for name, value in total.items()} | {
            "time_since_visit": 1 + log1p(24 * age[-1]),
            "overdue": max(0.0, ratio),
            "early": max(0.0, -ratio),
        }

    def likelier(self, me: int, row: int, at: datetime | None) -> list[dict[int, float]]:
        """Category -> log of how many times as often as usual others go there next, from the category and the hour
        they leave, or arrive at the hour of a time given.
        """
        others = [q for q in self.steps if self.user[q] != me]
        kinds = sorted(set(self.category))
        usual = Counter(self.category[self.poi[q + 1]] for q in others)
        usual_sum = sum(usual.values()) + 0.5 * len(kinds)
        both = [
            [q for q in others if self.category[self.poi[q]] == self.category[self.poi[row]]],
            [
                q
                for q in others
                if (self.local[q].hour == self.local[row].hour if at is None else self.local[q + 1].hour == at.hour)
            ],
        ]
        found = []
        for some in both:
            count = Counter(self.category[self.poi[q + 1]] for q in some)
            share = {kind: (usual[kind] + 0.5) / usual_sum for kind in kinds}
            found.append(
                {kind: log((count[kind] + 20 * share[kind]) / (len(some) + 20) / share[kind]) for kind in kinds}
            )
        return found

    def similar(self, me: int, own: set[int]) -> dict[int, float]:
        """Place -> summed similarity of the other users who were there in training."""
        been: dict[int, set[int]] = defaultdict(set)
        for user, poi, train in zip(self.user, self.poi, self.train, strict=True):
            if train:
                been[user].add(poi)
        size = self.dataset.num_users
        visitors = Counter(poi for places in been.values() for poi in places)
        rarity = {poi: max(0.0, log(size / (1 + visitors[poi]))) for poi in range(self.dataset.num_pois)}
        length = {user: sqrt(sum(rarity[poi] ** 2 for poi in places)) for user, places in been.items()}
        mine = sqrt(sum(rarity[poi] ** 2 for poi in own))
        found: dict[int, float] = defaultdict(float)
        for user, places in been.items():
            if user != me and length[user] > 0 and mine > 0:
                alike = sum(rarity[poi] ** 2 for poi in own & places) / mine / length[user]
                for poi in places:
                    found[poi] += alike
        return found
