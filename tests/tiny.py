"""RECAP at a size of seconds, for tests: the preset ``paper`` with these changes."""

from typing import Final

from recap.presets import paper
from recap.training_config import TrainConfig

PRESET: Final = "paper"
EPOCHS: Final = 4
CHANGES: Final = (
    "batch_size=64",
    "select_on=every_step",
    "model.poi_dim=16",
    "model.category_dim=4",
    "model.hidden_dim=32",
    "model.num_layers=1",
    "model.num_heads=2",
    "model.feedforward_dim=32",
    "model.graph_dim=16",
    "model.calibration_dim=16",
    "model.suffix_length=5",
    "optimiser.learning_rate=3e-3",
    "optimiser.prior_learning_rate=5e-2",
)
WORDS: Final = (
    "--preset",
    PRESET,
    "--epochs",
    str(EPOCHS),
    *(word for change in CHANGES for word in ("--set", change)),
)
"""The same for `recap train` and `recap runs submit`; a later --epochs or --set wins."""


def tiny(epochs: int = EPOCHS) -> TrainConfig:
    """Seconds on a small city; every part acts by the last epoch."""
    return paper().with_epochs(epochs).override([*CHANGES])
