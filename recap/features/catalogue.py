"""All features by name, with group, unit and scale. Does not import torch."""

from dataclasses import dataclass
from functools import cached_property
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
LONG_HABIT_DAYS: Final = 200.0
BURST_MINUTES: Final = 10.0
"""Check-ins closer than this are one burst."""
LATELY: Final = 20
"""Check-ins that tell how often the user goes to new places, and how often after a long gap."""
LONG_GAP_HOURS: Final = 24.0
"""A longer time between two check-ins is a long gap."""

_DECAYED: Final = "visits, recent ones more"
_USUAL: Final = "times as usual, log"
_AS_USUAL: Final = "times as usual"
"""Read as log(1 + ratio), where no value may be below 0."""


def _interaction(name: str, group: Group, first: str, second: str) -> Feature:
    """A product of two values at visited places (as in GA2M, Lou et al. 2013)."""
    meaning = f"{first} x {second}, on their scales".replace("_", " ")
    return Feature(name, group, "product", meaning, "linear", factors=(first, second))


def _new(name: str, unit: str, meaning: str, group: Group = PLACES) -> Feature:
    """A feature that every place new to the user has."""
    scale: Scale = "linear" if unit in (_USUAL, "share") else "log"
    return Feature(name, group, unit, f"{meaning}, at new places", scale, everywhere=True)


TIME_SINCE_FEATURE: Final = Feature("time_since_visit", PAST, "hours", "time since the last visit", "log, visited")
_OF_VISITS: Final = (
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
)
_SUCH_DAYS_BY: Final = _interaction("visits_on_such_days_by_distance", TIME, "visits_on_such_days", "distance_known")
_OWN_TRANSITIONS: Final = (
    Feature("own_transitions", TRANSITIONS, _DECAYED, "the user's transitions from here to there"),
    Feature("own_transition_pairs", TRANSITIONS, _DECAYED, "the same, coming from the same place before"),
)
_OWN_TRANSITIONS_BY: Final = _interaction(
    "own_transitions_by_visits", TRANSITIONS, "own_transitions", "visits_50_checkins"
)
_KNOWN_PLACES: Final = (
    Feature("popularity_known", PLACES, "check-ins of others", "other users' check-ins, at visited places"),
    Feature("distance_known", PLACES, "km", "distance from here, at visited places"),
    _interaction("category_by_popularity", PLACES, "category_known", "popularity_known"),
)
_SPARSE: Final = (
    Feature("others_transitions", TRANSITIONS, "transitions", "other users' transitions from here to there"),
    Feature("two_hop_paths", PATHS, "path weight", "sum over paths of A(s, m) A(m, d)", "linear"),
    Feature("similar_users", PLACES, "similarity x 20", "similar users who were there, at places new to the user"),
)
_NEW_PLACES: Final = (
    _new("popularity_new", "check-ins of others", "other users' check-ins"),
    _new("distance_new", "km", "distance from here"),
    _new("category_new", "check-ins", "the user's check-ins in the category"),
    _new("category_from_here", _USUAL, "how often others go from this category to the place's, compared with usual"),
)
_NEW_LATELY: Final = _new("new_lately", "share", "first visits among the user's last 20 check-ins")


@dataclass(frozen=True)
class FeatureSet:
    """What the curves of one question read, in the order of a model's curves.

    Attributes:
        visited: of every place in the user's past.
        sparse: others' transitions, two-hop paths and similar users, at the places that have them.
        new: of every place new to the user: popularity, distance, then those that depend on case and category only.
    """

    visited: tuple[Feature, ...]
    sparse: tuple[Feature, ...]
    new: tuple[Feature, ...]

    @cached_property
    def features(self) -> tuple[Feature, ...]:
        return (*self.visited, *self.sparse, *self.new)

    @cached_property
    def names(self) -> tuple[str, ...]:
        return tuple(feature.name for feature in self.features)

    def __len__(self) -> int:
        return len(self.features)

    def rows(self, *names: str) -> slice:
        """The rows of features that follow each other."""
        first = self.names.index(names[0])
        assert self.names[first : first + len(names)] == names
        return slice(first, first + len(names))

    @cached_property
    def row_spans(self) -> tuple[slice, ...]:
        """Rows of ``visited``, then of each of ``sparse``."""
        return (slice(0, len(self.visited)), *(self.rows(feature.name) for feature in self.sparse))

    @cached_property
    def by_category(self) -> tuple[str, ...]:
        """Features of new places that depend on case and category only."""
        return tuple(feature.name for feature in self.new[2:])

    @cached_property
    def of_categories(self) -> tuple[str, ...]:
        """Say nothing where all places have one category."""
        return tuple(name for name in self.names if "category" in name)

    def described(self) -> list[dict[str, str]]:
        """The features as a checkpoint stores them."""
        return [{"name": f.name, "group": f.group, "unit": f.unit, "scale": f.scale} for f in self.features]


WHENEVER: Final = FeatureSet(
    visited=(
        *_OF_VISITS,
        _interaction("visits_50_checkins_by_long_gaps", PAST, "visits_50_checkins", "long_gaps_lately"),
        _interaction("time_since_visit_by_long_gaps", PAST, "time_since_visit", "long_gaps_lately"),
        _interaction("visits_first_of_day_by_long_gaps", PAST, "visits_first_of_day", "long_gaps_lately"),
        Feature("visits_0_to_2_hours_later", TIME, _DECAYED, "visits up to two hours later in the day"),
        Feature(
            "next_at_hour_on_such_days", TIME, _DECAYED, "visits right after a check-in at this hour on such a day"
        ),
        _interaction("visits_on_weekday_by_popularity", TIME, "visits_on_weekday", "popularity_known"),
        _SUCH_DAYS_BY,
        *_OWN_TRANSITIONS,
        Feature(
            "own_transitions_at_hour", TRANSITIONS, _DECAYED, "the user's transitions from here to there at this hour"
        ),
        Feature("own_slow_transitions", TRANSITIONS, _DECAYED, "the user's transitions from here after a pause"),
        _OWN_TRANSITIONS_BY,
        _interaction(
            "own_transitions_at_hour_by_first_of_day", TRANSITIONS, "own_transitions_at_hour", "visits_first_of_day"
        ),
        _interaction("own_slow_transitions_by_distance", TRANSITIONS, "own_slow_transitions", "distance_known"),
        _interaction("own_transitions_by_long_gaps", TRANSITIONS, "own_transitions", "long_gaps_lately"),
        *_KNOWN_PLACES,
    ),
    sparse=_SPARSE,
    new=(
        *_NEW_PLACES,
        _new(
            "category_at_hour", _USUAL, "how often others go to the place's category at this hour, compared with usual"
        ),
        _NEW_LATELY,
    ),
)
"""Where next, whenever it comes."""
GIVEN_TIME: Final = FeatureSet(
    visited=(
        *_OF_VISITS,
        _interaction("visits_50_checkins_by_pause", PAST, "visits_50_checkins", "pause"),
        _interaction("visits_first_of_day_by_pause", PAST, "visits_first_of_day", "pause"),
        Feature("visits_near_time", TIME, _DECAYED, "visits within about half an hour of this time of day"),
        Feature("visits_around_time", TIME, _DECAYED, "visits within about two hours of this time of day"),
        Feature("visits_near_time_on_such_days", TIME, _DECAYED, "visits near this time on workdays, or on weekends"),
        Feature("visits_near_time_on_weekday", TIME, _DECAYED, "visits near this time on this weekday"),
        Feature(
            "visits_near_time_200_days",
            TIME,
            "visits, weighted exp(-age / 200 days)",
            "visits near this time on such days",
        ),
        Feature("visits_around_time_on_weekday", TIME, _DECAYED, "visits around this time on this weekday"),
        Feature("visits_after_similar_pause", TIME, _DECAYED, "visits after a pause as long as this one"),
        _SUCH_DAYS_BY,
        *_OWN_TRANSITIONS,
        Feature(
            "own_transitions_at_time",
            TRANSITIONS,
            _DECAYED,
            "the user's transitions from here to there, arriving around this time of day",
        ),
        Feature(
            "own_transitions_after_similar_pause",
            TRANSITIONS,
            _DECAYED,
            "the user's transitions from here to there after a pause as long as this one",
        ),
        _OWN_TRANSITIONS_BY,
        _interaction("own_transitions_by_pause", TRANSITIONS, "own_transitions", "pause"),
        *_KNOWN_PLACES,
        _interaction("distance_known_by_pause", PLACES, "distance_known", "pause"),
        Feature("category_at_time_known", TIME, _AS_USUAL, "others at its category at this time, compared with usual"),
    ),
    sparse=_SPARSE,
    new=(
        *_NEW_PLACES,
        _new(
            "category_at_time",
            _USUAL,
            "how often others are at the place's category at this time, compared with usual",
            TIME,
        ),
        _NEW_LATELY,
    ),
)
"""Where at a given time."""


def feature_set(*, given_time: bool) -> FeatureSet:
    return GIVEN_TIME if given_time else WHENEVER


FEATURES: Final = {feature.name: feature for feature in (*GIVEN_TIME.features, *WHENEVER.features)}
"""By name, of both questions."""
