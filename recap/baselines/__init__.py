"""Baselines that count: what every model must beat."""

from typing import Final

COUNTING_BASELINES: Final = ("popularity", "markov", "visit_count", "count_plus_markov", "nearest")
FEATURE_CURVES: Final = "feature_curves"
PRETRAINED: Final = "pretrained"
"""The package's curves, learned elsewhere: a model by name, for every dataset."""
PRETRAINED_CASES: Final = "pretrained_cases"
"""The same, learned inside trajectories: for cases there, as published results have them."""
PRETRAINED_LABEL: Final = "RECAP, pretrained"
PRETRAINED_LABELS: Final = {
    PRETRAINED: PRETRAINED_LABEL,
    PRETRAINED_CASES: f"{PRETRAINED_LABEL} inside trajectories",
}
BASELINES: Final = (*COUNTING_BASELINES, FEATURE_CURVES)
"""Keys of a model's evaluation records, and the models it is compared with."""


def pretrained_as_subject(label: str) -> str:
    """A label at the start of a sentence; others than of pretrained curves stay.

    >>> pretrained_as_subject(PRETRAINED_LABELS[PRETRAINED_CASES])
    'Pretrained RECAP inside trajectories'
    """
    return label.replace(PRETRAINED_LABEL, "Pretrained RECAP")
