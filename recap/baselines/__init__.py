"""Baselines that count: what every model must beat."""

from typing import Final

COUNTING_BASELINES: Final = ("popularity", "markov", "visit_count", "count_plus_markov", "nearest")
FEATURE_CURVES: Final = "feature_curves"
PRETRAINED: Final = "pretrained"
"""The package's curves, learned elsewhere: a model by name, for every dataset."""
PRETRAINED_LABEL: Final = "RECAP, pretrained"
PRETRAINED_SUBJECT: Final = "Pretrained RECAP"
"""Of a sentence, in the place of the label."""
AT_TIME: Final = "visit_count_at_time"
"""The counter that reads the time of the next check-in; it stands only next to models that read it too."""
BASELINES: Final = (*COUNTING_BASELINES, FEATURE_CURVES, AT_TIME)
"""Keys of a model's evaluation records, and the models it is compared with."""


def baselines_of(given_time: bool) -> tuple[str, ...]:
    """The baselines that know as much as a model: the best first."""
    return (AT_TIME,) if given_time else (FEATURE_CURVES, *reversed(COUNTING_BASELINES))


def visit_counter(given_time: bool) -> str:
    """The counter of visits that knows as much as a model."""
    return AT_TIME if given_time else "visit_count"
