"""All features by name, with group, unit and scale. Does not import torch."""

from dataclasses import dataclass
from math import expm1, log1p
from typing import Final, Literal

Group = Literal[
    "past visits", "time of day and week", "transitions from here", "two-hop paths", "popularity and distance"
]
PAST: Final[Group] = "past visits"
TIME: Final[Group] = "time of day and week"
TRANSITIONS: Final[Group] = "transitions from here"
PATHS: Final[Group] = "two-hop paths"
PLACES: Final[Group] = "popularity and distance"
GROUPS: Final = (PAST, TIME, TRANSITIONS, PATHS, PLACES)

Scale = Literal["linear", "log", "log, visited"]
"""How a feature's value x comes from the amount u in its unit: u; log(1 + u); 1 + log(1 + u) at visited places and 0
elsewhere, so that the curve has a free level at visited places."""


@dataclass(frozen=True)
class Feature:
    """One feature of a candidate.

    Attributes:
        everywhere: every place new to the user has a value; others are 0 outside a case's few candidates.
        factors: the two values whose product this is, an interaction; empty for a feature of its own.
    """

    name: str
    group: Group
    unit: str
    meaning: str
    scale: Scale = "log"
    everywhere: bool = False
    factors: tuple[str, str] | tuple[()] = ()

    def in_unit(self, value: float) -> float:
        """A value in the feature's own unit."""
        if self.scale == "linear":
            return value
        return expm1(max(0.0, value - 1.0)) if self.scale == "log, visited" else expm1(value)

    def from_unit(self, amount: float) -> float:
        """The value of a visited place with this amount."""
        if self.scale == "linear":
            return amount
        return log1p(amount) + (1.0 if self.scale == "log, visited" else 0.0)


HABIT_DAYS: Final = 60.0
"""Visits of a habit (an hour, a weekday, a transition) count exp(-age / this many days)."""
BURST_MINUTES: Final = 10.0
"""Check-ins closer than this are one burst."""
LATELY: Final = 20
"""Check-ins that tell how often the user goes to new places, and how often after a long gap."""
LONG_GAP_HOURS: Final = 24.0
"""A longer time between two check-ins is a long gap."""

_DECAYED: Final = "visits, recent ones more"
_USUAL: Final = "times as usual, log"


def _interaction(name: str, group: Group, first: str, second: str) -> Feature:
    """A product of two values at visited places (as in GA2M, Lou et al. 2013)."""
    meaning = f"{first} x {second}, on their scales".replace("_", " ")
    return Feature(name, group, "product", meaning, "linear", factors=(first, second))


def _new(name: str, unit: str, meaning: str) -> Feature:
    """A feature that every place new to the user has."""
    scale: Scale = "linear" if unit in (_USUAL, "share") else "log"
    return Feature(name, PLACES, unit, f"{meaning}, at new places", scale, everywhere=True)


TIME_SINCE_FEATURE: Final = Feature("time_since_visit", PAST, "hours", "time since the last visit", "log, visited")
VISIT_FEATURES: Final = (
    Feature("visits", PAST, "visits", "all visits"),
    Feature("visits_50_checkins", PAST, _DECAYED, "visits, each weighted exp(-check-ins since / 50)"),
    TIME_SINCE_FEATURE,
    Feature(
        "overdue", PAST, "times the usual wait", "log ratio of the time since the last visit, where longer", "linear"
    ),
    Feature("early", PAST, "times the usual wait", "log ratio of the usual wait, where longer", "linear"),
    Feature("visits_first_of_day", PAST, _DECAYED, "visits that were the first of a day"),
    _interaction("visits_by_popularity", PAST, "visits", "popularity_known"),
    _interaction("visits_by_new_lately", PAST, "visits", "new_lately"),
    _interaction("visits_50_checkins_by_distance", PAST, "visits_50_checkins", "distance_known"),
    _interaction("overdue_by_first_of_day", PAST, "overdue", "visits_first_of_day"),
    _interaction("visits_50_checkins_by_long_gaps", PAST, "visits_50_checkins", "long_gaps_lately"),
    _interaction("time_since_visit_by_long_gaps", PAST, "time_since_visit", "long_gaps_lately"),
    _interaction("visits_first_of_day_by_long_gaps", PAST, "visits_first_of_day", "long_gaps_lately"),
    Feature("visits_0_to_2_hours_later", TIME, _DECAYED, "visits up to two hours later in the day"),
    Feature("next_at_hour_on_such_days", TIME, _DECAYED, "visits right after a check-in at this hour on such a day"),
    _interaction("visits_on_weekday_by_popularity", TIME, "visits_on_weekday", "popularity_known"),
    _interaction("visits_on_such_days_by_distance", TIME, "visits_on_such_days", "distance_known"),
    Feature("own_transitions", TRANSITIONS, _DECAYED, "the user's transitions from here to there"),
    Feature("own_transition_pairs", TRANSITIONS, _DECAYED, "the same, coming from the same place before"),
    Feature("own_transitions_at_hour", TRANSITIONS, _DECAYED, "the user's transitions from here to there at this hour"),
    Feature("own_slow_transitions", TRANSITIONS, _DECAYED, "the user's transitions from here after a pause"),
    _interaction("own_transitions_by_visits", TRANSITIONS, "own_transitions", "visits_50_checkins"),
    _interaction(
        "own_transitions_at_hour_by_first_of_day", TRANSITIONS, "own_transitions_at_hour", "visits_first_of_day"
    ),
    _interaction("own_slow_transitions_by_distance", TRANSITIONS, "own_slow_transitions", "distance_known"),
    _interaction("own_transitions_by_long_gaps", TRANSITIONS, "own_transitions", "long_gaps_lately"),
    Feature("popularity_known", PLACES, "check-ins of others", "other users' check-ins, at visited places"),
    Feature("distance_known", PLACES, "km", "distance from here, at visited places"),
    _interaction("category_by_popularity", PLACES, "category_known", "popularity_known"),
)
"""Of every place in the user's past, in the order of `recap.features.visits`."""

TRANSITION_FEATURE: Final = Feature(
    "others_transitions", TRANSITIONS, "transitions", "other users' transitions from here to there"
)
TWO_HOP_FEATURE: Final = Feature("two_hop_paths", PATHS, "path weight", "sum over paths of A(s, m) A(m, d)", "linear")
SIMILAR_FEATURE: Final = Feature(
    "similar_users", PLACES, "similarity x 20", "similar users who were there, at places new to the user"
)
PLACE_FEATURES: Final = (
    _new("popularity_new", "check-ins of others", "other users' check-ins"),
    _new("distance_new", "km", "distance from here"),
    _new("category_new", "check-ins", "the user's check-ins in the category"),
    _new("category_from_here", _USUAL, "how often others go from this category to the place's, compared with usual"),
    _new("category_at_hour", _USUAL, "how often others go to the place's category at this hour, compared with usual"),
    _new("new_lately", "share", "first visits among the user's last 20 check-ins"),
)

FEATURES: Final = (*VISIT_FEATURES, TRANSITION_FEATURE, TWO_HOP_FEATURE, SIMILAR_FEATURE, *PLACE_FEATURES)
NAMES: Final = tuple(feature.name for feature in FEATURES)
"""In the order of a model's curves."""
CATEGORY_FEATURES: Final = tuple(name for name in NAMES if "category" in name)
"""Say nothing where all places have one category."""


def describe_features() -> list[dict[str, str]]:
    """The features as a checkpoint stores them."""
    return [{"name": f.name, "group": f.group, "unit": f.unit, "scale": f.scale} for f in FEATURES]


def features_of(group: Group) -> tuple[str, ...]:
    """Names of a group's features."""
    return tuple(feature.name for feature in FEATURES if feature.group == group)
