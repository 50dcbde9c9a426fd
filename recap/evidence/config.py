"""Which features the evidence has and at what scales."""

from typing import Final

from pydantic import Field, PositiveFloat

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


class SurroundingsConfig(Config):
    """Evidence about places that the user has not been to; 0 where the user was.

    Where a visited place lies and who else goes there adds nothing to what the user did there (docs/results.md).
    """

    near_km: tuple[PositiveFloat, ...] = Field(
        (0.1, 0.5, 2.0, 8.0), description="Distances from the source within which a place is near; one feature each."
    )
    alike_users: int = Field(
        100, ge=0, description="How many users with the most similar places tell where they went; 0: none."
    )

    @property
    def names(self) -> tuple[str, ...]:
        """Features of every new POI, in order.

        ``within_<x>_km``: exp(-distance / x). ``visitors_alike``: log(1 + 20 x summed likeness of the users alike who
        were there), where likeness is the cosine of the users' sets of places, rare places weighted up.
        """
        return (
            *(f"within_{km:g}_km" for km in self.near_km),
            *(["visitors_alike"] if self.alike_users else []),
        )


class WeighingConfig(Config):
    """What a model's evidence weights depend on, beside being learned."""

    by_step: bool = Field(True, description="On the step's pace and the user's habit of going to new places.")
    by_state: bool = Field(True, description="On the prediction state h_t: the core says how much each clue counts.")


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

    surroundings: SurroundingsConfig | None = Field(
        None, description="For models: also evidence about places the user has not been to; none leaves it out."
    )
    weighing: WeighingConfig | None = Field(
        None, description="For models: weights that depend on the step; none keeps one weight for all steps."
    )

    @property
    def log_linear(self) -> "EvidenceConfig":
        """What the evidence ranker fits: the features that need no model."""
        return self.model_copy(update={"surroundings": None, "weighing": None})

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
        ``slow_transitions`` (right after one at the source, but no more in its burst).
        """
        return (*self._lasting_features, *(SESSION_FEATURES if self.sessions else ()))

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
