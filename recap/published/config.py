"""Shared configuration of all published models."""

import tomllib
from pathlib import Path
from typing import Any, ClassVar, Final, Literal, Self

from pydantic import Field, model_validator

from recap.config import Config

TIME_GIVEN: Final = "time given"
"""Part of the label of a model that is given the time of the next check-in."""
_EARLIER: Final = "rival"  # words: key of earlier files
VALUES: Final[dict[str, dict[str, Any]]] = tomllib.loads(
    Path(__file__).with_name("published.toml").read_text(encoding="utf-8")
)
"""Title and published values of each model, by its network's name."""


def with_network(values: Any) -> Any:
    """Rename a field of earlier files to ``network``."""
    if not isinstance(values, dict) or _EARLIER not in values:
        return values
    return {("network" if name == _EARLIER else name): value for name, value in values.items()}


class PublishedConfig(Config):
    """The training of one published model; fields that are not given have their published values (published.toml).

    A subclass may have ``target_time`` (the network reads the hour and weekday of the predicted check-in, which nobody
    knows beforehand) and ``as_published`` (with the errors of the public code).
    """

    network: str = Field(description="Which network.")
    epochs: int = Field(ge=1, description="Passes over the training check-ins.")
    batch_size: int = Field(64, ge=1, description="Windows, trajectories or cases in a step.")
    seed: int = Field(3407, ge=0, description="Seed of weights, dropout and batch order.")
    learning_rate: float = Field(1e-3, gt=0, description="Adam's learning rate.")
    weight_decay: float = Field(0.0, ge=0, description="L2 penalty, or AdamW's decay where the network uses that.")
    second_moment: float = Field(0.999, gt=0, lt=1, description="Adam's beta_2.")
    clip_norm: float | None = Field(None, gt=0, description="Largest norm of a gradient; none clips nothing.")
    decay_epochs: tuple[int, ...] = Field((), description="After these epochs the learning rate is multiplied.")
    decay_factor: float = Field(0.1, gt=0, le=1, description="What it is multiplied with.")
    patience: int | None = Field(None, ge=1, description="Validations without a better MRR before it is multiplied.")
    validate_every: int = Field(1, ge=1, description="Epochs between validations; the last epoch always validates.")
    select_on: Literal["every_step", "trajectory_last"] = Field(
        "every_step", description="Validation cases whose MRR chooses the kept epoch."
    )
    validation_cases: int | None = Field(None, ge=1, description="Validation cases ranked, always the same; none: all.")
    test_cases: int | None = Field(None, ge=1, description="Test cases ranked in the end, always the same; none: all.")
    save_every_seconds: float = Field(60.0, ge=0, description="Least time between states inside an epoch; 0: any step.")

    @model_validator(mode="before")
    @classmethod
    def _with_published_values(cls, values: Any) -> Any:
        if not isinstance(values, dict):
            return values
        published = VALUES.get(cls.model_fields["network"].default, {})
        return {name: value for name, value in published.items() if name != "title"} | with_network(values)

    algorithm: ClassVar[Literal["adam", "adamw"]] = "adam"

    @property
    def title(self) -> str:
        """The name as papers write it."""
        return VALUES[self.network]["title"]

    @property
    def preset(self) -> str:
        return self.network

    @property
    def is_probabilistic(self) -> bool:
        """Whether a softmax of its scores is a probability."""
        return True

    @property
    def options(self) -> dict[str, bool]:
        """Options that every number of this model must name."""
        fields = type(self).model_fields
        return {name: getattr(self, name) for name in ("target_time", "as_published") if name in fields}

    @property
    def label(self) -> str:
        """Name and options in words."""
        words = {
            ("target_time", True): TIME_GIVEN,
            ("as_published", True): "as published",
            ("as_published", False): "corrected",
        }
        said = [words[option] for option in self.options.items() if option in words]
        return ", ".join([self.title, *said])

    def rate_at(self, epoch: int) -> float:
        """The learning rate of an epoch (from 1), before any `patience` ran out.

        >>> class Example(PublishedConfig): title = "Example"
        >>> config = Example(network="x", epochs=30, learning_rate=0.01, decay_epochs=(10, 20), decay_factor=0.5)
        >>> config.rate_at(10), config.rate_at(11), config.rate_at(30)
        (0.01, 0.005, 0.0025)
        """
        return self.learning_rate * self.decay_factor ** sum(epoch > past for past in self.decay_epochs)

    def with_epochs(self, epochs: int) -> Self:
        """Change the length; the learning rate decays at the same fractions of it."""
        moved = {max(1, round(past * epochs / self.epochs)) for past in self.decay_epochs}
        return self.parse(
            self.model_dump() | {"epochs": epochs, "decay_epochs": sorted(past for past in moved if past < epochs)}
        )
