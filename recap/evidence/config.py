"""Which features the evidence has and at what scales."""

from typing import Final, Self

from pydantic import Field, PositiveFloat, PositiveInt, model_validator

from recap.config import Config

DENSE_FEATURES: Final = ("popularity", "distance")
"""Features that every POI has, given the source: log(1 + training check-ins), log(1 + km)."""

SESSION_FEATURES: Final = (
    "in_burst",
    "in_trajectory",
    "just_before",
    "own_transitions_at_hour",
    "week_slot",
    "next_at_hour_on_day",
    "slow_transitions",
)
"""What `EvidenceConfig.sessions` adds."""

LATER_HOURS: Final = ((0, 2), (2, 5), (5, 9))
"""Spans of the day after the source's hour."""
HOUR_FEATURES: Final = (
    *("visits_close_to_hour", "visits_about_hour"),
    *(f"visits_{first}_to_{last}_hours_later" for first, last in LATER_HOURS),
    *("visits_on_weekday", "visits_first_of_day"),
)
"""What `HabitsConfig.hours` adds, decayed like habits, each as log(1 + gain x count): visits within about half an hour
and about three hours of the source's local hour, visits in a span of the day after it, on the source's weekday, and
visits that were the user's first of a day."""


class SurroundingsConfig(Config):
    """Evidence about places that the user has not been to; 0 where the user was.

    With ``known_too`` visited places have nearness and category as features of their own.
    """

    near_km: tuple[PositiveFloat, ...] = Field(
        (0.1, 0.5, 2.0, 8.0), description="Distances from the source within which a place is near; one feature each."
    )
    alike_users: int = Field(
        100, ge=0, description="How many users with the most similar places tell where they went; 0: none."
    )

    own_category: bool | None = Field(
        None, description="Whether check-ins at places of the same category count; none leaves it out."
    )
    known_too: bool | None = Field(
        None, description="Whether places that the user knows have nearness and category as well; none: they have not."
    )

    @property
    def names(self) -> tuple[str, ...]:
        """Features of every new POI, in order.

        ``within_<x>_km``: exp(-distance / x). ``visitors_alike``: log(1 + 20 x summed likeness of the users alike who
        were there), where likeness is the cosine of the users' sets of places, rare places weighted up.
        ``own_category``: log(1 + the user's check-ins in the place's category).
        """
        return (
            *(f"within_{km:g}_km" for km in self.near_km),
            *(["visitors_alike"] if self.alike_users else []),
            *(["own_category"] if self.own_category else []),
        )

    @property
    def known_names(self) -> tuple[str, ...]:
        """Features of known POIs, in order: ``known_`` and the name of the same feature of new ones."""
        return tuple(f"known_{name}" for name in self.names if name != "visitors_alike") if self.known_too else ()


class HabitsConfig(Config):
    """More of the user's habits: how often a visited place was visited over many spans, how lately, how regularly."""

    decay_days: tuple[PositiveFloat, ...] = Field(
        (0.04, 0.25, 1.0, 3.0, 7.0, 30.0, 180.0),
        description="Decay lengths of visit counts, in days; one feature each.",
    )
    recency_days: tuple[PositiveFloat, ...] = Field(
        (0.05, 1.0, 3.0, 7.0, 60.0), description="Further decay lengths of the time since the last visit, in days."
    )
    hours: bool | None = Field(
        None, description="Whether further hours of the day count, see `HOUR_FEATURES`; none leaves them out."
    )

    @property
    def counts(self) -> tuple[str, ...]:
        """Decayed counts, in order, each as log(1 + gain x count): ``visits_<days>_days``, ``visits_ever``."""
        return (*(f"visits_{days:g}_days" for days in self.decay_days), "visits_ever")

    @property
    def names(self) -> tuple[str, ...]:
        """All features, in order: the counts, ``recency_<days>_days``, ``overdue`` and ``underdue``, further hours.

        ``overdue`` and ``underdue`` are the log of the time since the last visit over the mean time between visits,
        above and below 0.
        """
        return (
            *self.counts,
            *(f"recency_{days:g}_days" for days in self.recency_days),
            *("overdue", "underdue"),
            *(HOUR_FEATURES if self.hours else ()),
        )


class WeighingConfig(Config):
    """What a model's evidence weights depend on, beside being learned."""

    by_step: bool = Field(True, description="On the step's pace and the user's habit of going to new places.")
    by_state: bool = Field(True, description="On the prediction state h_t: the core says how much each clue counts.")
    network: PositiveInt | None = Field(
        None,
        description="Hidden units of a small network that reads a candidate's clues together; none leaves it out.",
    )
    layers: PositiveInt | None = Field(None, description="Hidden layers of that network; none: one.")
    scaled: bool | None = Field(
        None, description="Whether the network reads clues in units of their deviations in training; none: as they are."
    )
    state_numbers: PositiveInt | None = Field(
        None, description="How many numbers made of h_t the network reads beside the clues; none leaves them out."
    )

    @property
    def reads_state(self) -> bool:
        """Whether h_t weighs clues, or is read beside them."""
        return self.by_state or (self.network is not None and self.state_numbers is not None)


class EvidenceConfig(Config):
    """Scales of the evidence, chosen on NYC's validation cases."""

    recency_days: tuple[PositiveFloat, ...] = Field(
        (0.25, 14.0), description="Decay lengths of the time since the last visit, in days; one feature each."
    )
    memory_steps: float = Field(50.0, gt=0, description="Decay length of recent visits, in check-ins.")
    memory_days: float = Field(60.0, gt=0, description="Decay length of habits (hour, day, transitions), in days.")
    hour_width: float = Field(1.0, gt=0, description="How far from an hour a visit still counts for it, in hours.")
    next_hour_width: float = Field(2.0, gt=0, description="The same for what was visited next after an hour.")
    sessions: bool = Field(
        False, description="Also what the user did in this burst of check-ins and trajectory, and habits of this hour."
    )
    burst_minutes: float = Field(10.0, gt=0, description="Longest gap inside a burst of check-ins, in minutes.")
    gain: float = Field(5.0, gt=0, description="Factor on decayed counts inside log(1 + gain x count).")

    habits: HabitsConfig | None = Field(
        None,
        description="Also more of the user's habits: how often over many spans, how regularly; none leaves them out.",
    )
    surroundings: SurroundingsConfig | None = Field(
        None, description="For models: also evidence about places the user has not been to; none leaves it out."
    )
    weighing: WeighingConfig | None = Field(
        None, description="For models: weights that depend on the step; none keeps one weight for all steps."
    )
    others_popularity: bool | None = Field(
        None, description="For models: popularity counts the check-ins of other users alone; none: everyone's."
    )

    @model_validator(mode="after")
    def _each_scale_once(self) -> Self:
        both = set(self.recency_days) & set(() if self.habits is None else self.habits.recency_days)
        if both:
            raise ValueError(f"recency_days {sorted(both)} stand in habits too: keep them in one place")
        return self

    @property
    def log_linear(self) -> "EvidenceConfig":
        """What the evidence ranker fits, and a model's weights start from; further features start at 0."""
        return self.model_copy(
            update={"habits": None, "surroundings": None, "weighing": None, "others_popularity": None}
        )

    @property
    def surrounding_features(self) -> tuple[str, ...]:
        """Names of the features of new POIs, none without ``surroundings``."""
        return () if self.surroundings is None else self.surroundings.names

    @property
    def packed_features(self) -> tuple[str, ...]:
        """Names of the candidates' features, in order.

        ``known``: the user was there before (or is there now); ``stay``: it is the source; ``once``: exactly one
        visit. Decayed counts, each as log(1 + gain x count): ``recent_visits`` (by check-ins), ``visits_at_hour`` (at
        the source's local hour), ``visits_on_day`` (on a workday or a weekend day, like the source's),
        ``next_at_hour`` (right after a check-in at the source's hour), ``own_transitions`` (right after one at the
        source, in one trajectory), ``own_pairs`` (right after the previous POI and the source).
        ``recency_<days>_days``: exp(-days since the last visit / scale). ``others_transitions``: log(1 + others'
        training transitions from the source). ``known_popularity`` and ``known_distance``: the dense features again,
        where known.

        With ``sessions`` also, without decay: ``in_burst`` and ``in_trajectory`` (visits before the source in its
        burst, in its trajectory), ``just_before`` (it is the POI of the check-in before the source). With decay:
        ``own_transitions_at_hour`` (right after one at the source at a close hour), ``week_slot`` (on this weekday at
        a close hour), ``next_at_hour_on_day`` (right after a check-in at a close hour of such a day),
        ``slow_transitions`` (right after one at the source, but no more in its burst). With ``habits`` also
        `HabitsConfig.names`, with ``surroundings`` `SurroundingsConfig.known_names`.
        """
        return (
            *self._lasting_features,
            *(SESSION_FEATURES if self.sessions else ()),
            *(() if self.habits is None else self.habits.names),
            *(() if self.surroundings is None else self.surroundings.known_names),
        )

    @property
    def _lasting_features(self) -> tuple[str, ...]:
        return (
            "known",
            "stay",
            "once",
            "recent_visits",
            "visits_at_hour",
            "visits_on_day",
            "next_at_hour",
            *(f"recency_{days:g}_days" for days in self.recency_days),
            "own_transitions",
            "own_pairs",
            "others_transitions",
            "known_popularity",
            "known_distance",
        )
