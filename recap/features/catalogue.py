"""All features by name, with group, unit and scale, from features.toml. Does not import torch."""

import tomllib
from dataclasses import dataclass
from functools import cached_property
from math import expm1, log1p
from pathlib import Path
from typing import Any, Final, Literal

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


def _read_features(asked: str) -> FeatureSet:
    """The rows of features.toml that belong to a question."""
    rows = tomllib.loads(Path(__file__).with_name("features.toml").read_text(encoding="utf-8"))

    def of(part: str) -> tuple[Feature, ...]:
        return tuple(_feature(row, part == "new") for row in rows[part] if row.pop("asked", asked) == asked)

    return FeatureSet(of("visited"), of("sparse"), of("new"))


def _feature(row: dict[str, Any], everywhere: bool) -> Feature:
    if "factors" in row:
        first, second = row["factors"]
        meaning = f"{first} x {second}, on their scales".replace("_", " ")
        row |= {"unit": "product", "meaning": meaning, "scale": "linear", "factors": (first, second)}
    return Feature(**row, everywhere=everywhere)


WHENEVER: Final = _read_features("whenever")
"""Where next, whenever it comes."""
GIVEN_TIME: Final = _read_features("time given")
"""Where at a given time."""


def feature_set(*, given_time: bool) -> FeatureSet:
    return GIVEN_TIME if given_time else WHENEVER


FEATURES: Final = {feature.name: feature for feature in (*GIVEN_TIME.features, *WHENEVER.features)}
"""By name, of both questions."""
TIME_SINCE_FEATURE: Final = FEATURES["time_since_visit"]
