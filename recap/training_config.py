"""Typed configuration of a training and its summary. Does not import torch."""

from math import cos, pi
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self, TypedDict

from pydantic import BeforeValidator, Field, SerializeAsAny, model_validator

from recap.config import Config
from recap.errors import ConfigError
from recap.model.config import AnyValue, ModelConfig, Stage
from recap.published.configs import PublishedConfig, read_published, with_network

if TYPE_CHECKING:
    from recap.evaluation.metrics import MetricsByGroup


class Curriculum(Config):
    """When the parts of RECAP switch on (Algorithm 1, App. B.3); epochs count from 1."""

    staged: bool = Field(True, description="False: everything acts from the first epoch (simultaneous variant).")
    graph_epoch: int = Field(60, ge=1, description="e_graph, first epoch of the graph token.")
    graph_ramp_epochs: int = Field(20, ge=1, description="Epochs over which the graph token's weight grows to 1.")
    prior_epoch: int = Field(80, ge=1, description="e_prior, first epoch of the revisit prior.")
    correction_epoch: int = Field(120, ge=1, description="e_corr, first epoch of the contextual correction.")
    warm_epoch: int = Field(120, ge=1, description="e_warm, first epoch of the holdout loss.")
    warm_ramp_epochs: int = Field(10, ge=1, description="Epochs over which lambda_warm grows to its full value.")
    warm_weight: float = Field(0.5, ge=0, description="Full lambda_warm; 0 is w/o Shortcut.")
    backbone_lr_scale: float = Field(
        0.1, gt=0, description="Factor on the backbone's learning rate once the correction acts (staged only)."
    )

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.staged and not self.graph_epoch <= self.prior_epoch <= self.correction_epoch <= self.warm_epoch:
            raise ValueError(
                "epochs must be ordered graph_epoch <= prior_epoch <= correction_epoch <= warm_epoch, got "
                f"{self.graph_epoch}, {self.prior_epoch}, {self.correction_epoch}, {self.warm_epoch}"
            )
        return self

    def at(self, epoch: int) -> Stage:
        """The stage of an epoch (from 1)."""
        if not self.staged:
            return Stage(warm_weight=self.warm_weight)
        correction = epoch >= self.correction_epoch
        return Stage(
            graph_weight=_ramp(epoch, self.graph_epoch, self.graph_ramp_epochs),
            prior=epoch >= self.prior_epoch,
            correction=correction,
            warm_weight=self.warm_weight * _ramp(epoch, self.warm_epoch, self.warm_ramp_epochs),
            backbone_lr_scale=self.backbone_lr_scale if correction else 1.0,
        )

    def scaled(self, old_epochs: int, new_epochs: int) -> "Curriculum":
        """The curriculum scaled to another length: every stage keeps its fraction, and none vanishes. Parts that act
        from the first epoch still do.
        """

        def moved(name: str) -> int:
            epoch: int = getattr(self, name)
            if epoch == 1 and name.endswith("epoch"):
                return 1
            return max(1, min(new_epochs, round(epoch * new_epochs / old_epochs)))

        names = [name for name in type(self).model_fields if name.endswith(("epoch", "epochs"))]
        return self.model_copy(update={name: moved(name) for name in names})


def _ramp(epoch: int, start: int, length: int) -> float:
    return min(1.0, max(0.0, (epoch - start + 1) / length))


class OptimiserConfig(Config):
    """Adam and its parameter groups (App. B.3)."""

    learning_rate: float = Field(3e-5, gt=0, description="Adam's learning rate.")
    weight_decay: float = Field(5e-6, ge=0, description="L2 penalty of the backbone and the calibration.")
    prior_learning_rate: float | None = Field(
        None,
        gt=0,
        description="Learning rate of the prior (scalars or curves) and lambda_corr; none uses learning_rate.",
    )
    calibration_learning_rate: float | None = Field(
        None, gt=0, description="Learning rate of the calibration networks; none uses learning_rate."
    )
    curve_smoothing: float = Field(
        0.0, ge=0, description="Penalty on squared differences of a curve's neighbouring slopes."
    )
    schedule: Literal["cosine"] | None = Field(
        None, description="cosine: learning rates fall to 0, step by step; none: they stay."
    )

    retired: ClassVar = {
        "evidence_learning_rate": AnyValue(),  # words: key of earlier files
        "weighing_learning_rate": AnyValue(),  # words: key of earlier files
        "weighing_penalty": AnyValue(),  # words: key of earlier files
        "weighing_decay": AnyValue(),  # words: key of earlier files
    }

    def scale_at(self, passes: float, epochs: int) -> float:
        """Factor on every learning rate after this many epochs.

        >>> tuple(round(OptimiserConfig(schedule="cosine").scale_at(passes, 4), 3) for passes in (0, 1, 2, 4))
        (1.0, 0.854, 0.5, 0.0)
        """
        return 1.0 if self.schedule is None else 0.5 * (1.0 + cos(pi * passes / epochs))


class SampledSoftmax(Config):
    """A step scores targets, candidates and sampled places, not all places (beyond the paper)."""

    popular: int = Field(4096, ge=0, description="Places of a batch drawn by their training check-ins.")
    uniform: int = Field(4096, ge=1, description="Places of a batch drawn uniformly.")

    retired: ClassVar = {"power": (0.75,)}


class TrainConfig(Config):
    """A complete training run."""

    network: ClassVar[str] = "recap"
    label: ClassVar[str] = "RECAP"
    is_probabilistic: ClassVar[bool] = True

    preset: str = Field("custom", description="Name this configuration started from.")
    epochs: int = Field(130, ge=1, description="E, passes over the training cases.")
    batch_size: int = Field(512, ge=1, description="Cases in a step.")
    seed: int = Field(3407, ge=0, description="Seed of weights, dropout and batch order.")
    latest_share: float = Field(
        1.0, gt=0, le=1, description="Share of the training cases to train on, the latest: most like what comes."
    )
    train_on: Literal["cases", "every_next"] = Field(
        "cases",
        description="cases: pairs inside a trajectory, as in the paper; every_next: each next check-in, after any gap.",
    )
    given_time: bool = Field(
        False, description="Also learn curves that read the time of the next check-in: where at a given time."
    )
    label_smoothing: float = Field(0.0, ge=0, lt=1, description="Label smoothing of the main loss.")
    sampled_softmax: SampledSoftmax | None = Field(
        None, description="Score a sample of places in each step, for catalogues too large for all; none scores all."
    )
    precision: Literal["float32", "bf16"] = Field(
        "float32",
        description="bf16: the fast way, autocast of the forward pass; on a CPU with quickly drawn dropout masks too.",
    )
    compile: bool = Field(False, description="Run the encoder through torch.compile.")
    validate_every: int = Field(1, ge=1, description="Epochs between validations; the last epoch always validates.")
    select_on: Literal["every_step", "trajectory_last", "every_next"] = Field(
        "every_step",
        description="Validation cases whose MRR chooses the kept epoch; trajectory_last: as the paper's accuracies.",
    )
    validation_cases: int | None = Field(
        None, ge=1, description="Validation cases ranked after an epoch, always the same draw; none ranks all."
    )
    test_cases: int | None = Field(
        None, ge=1, description="Test cases ranked when the training is over, always the same draw; none ranks all."
    )
    save_every_seconds: float = Field(
        60.0, ge=0, description="Least time between resume states inside an epoch; 0 saves after every step."
    )
    model: ModelConfig = Field(default_factory=lambda: ModelConfig(), description="Architecture.")
    curriculum: Curriculum = Field(default_factory=lambda: Curriculum(), description="When parts switch on.")
    optimiser: OptimiserConfig = Field(default_factory=lambda: OptimiserConfig(), description="Adam and its groups.")

    retired: ClassVar = {"fit_evidence": AnyValue(), "order": ("random",)}  # words: keys of earlier files

    @model_validator(mode="after")
    def _every_part_gets_its_turn(self) -> Self:
        last = self.curriculum.at(self.epochs)
        asleep = last.inactive_parts(self.model)
        off = Stage().inactive_parts(self.model)
        late = [part for part in asleep if part not in off]
        if self.model.has_prior and self.curriculum.warm_weight > 0 and last.warm_weight == 0:
            late.append("warm_loss")
        if self.sampled_softmax is not None:
            refused = {
                "label_smoothing": self.label_smoothing > 0,
                "model.core_scope unvisited without curves": self.model.core_scope == "unvisited"
                and not self.model.has_curves,
            }
            asked = [name for name, is_asked in refused.items() if is_asked]
            if asked:
                raise ValueError(f"sampled_softmax does not go with {', '.join(asked)}; leave one of them out")
        if self.model.core_scope == "nowhere" and not self.curriculum.at(1).prior:
            raise ValueError(
                f"core_scope=nowhere needs curriculum.prior_epoch=1, got {self.curriculum.prior_epoch}: before "
                "the prior acts, nothing has a score to learn from"
            )
        if self.given_time and not self.model.has_curves:
            raise ValueError("given_time=true needs a prior of curves: add model.prior.kind=curves")
        if late:
            raise ValueError(
                f"{', '.join(late)} never become active within {self.epochs} epochs: train longer, move the "
                "curriculum's epochs, or switch the parts off"
            )
        return self

    @property
    def options(self) -> dict[str, bool]:
        """See `PublishedConfig.options`."""
        return {"target_time": self.model.reads_target_time}

    def override(self, assignments: list[str]) -> Self:
        """`Config.override`; also refuses ``model.num_hops`` without a graph token."""
        changed = super().override(assignments)
        fields = {text.partition("=")[0].strip() for text in assignments}
        if not changed.model.has_token and "model.num_hops" in fields:
            raise ConfigError(f"model.num_hops is of no effect: preset {self.preset!r} has no graph token here")
        return changed

    def with_epochs(self, epochs: int) -> "TrainConfig":
        """Change the length; the curriculum's stages keep their fraction."""
        values = self.model_dump()
        values |= {"epochs": epochs, "curriculum": self.curriculum.scaled(self.epochs, epochs).model_dump()}
        return self.parse(values)


AnyTraining = TrainConfig | PublishedConfig
"""A complete training, of RECAP or of a published model."""


def _read_stored(values: Any) -> Any:
    """A published model says its name, RECAP says none."""
    if not isinstance(values, dict):
        return values
    try:
        return read_published(values) if "network" in with_network(values) else TrainConfig.parse(values)
    except ConfigError as error:
        raise ValueError(str(error)) from error


StoredTraining = Annotated[SerializeAsAny[TrainConfig | PublishedConfig], BeforeValidator(_read_stored)]
"""The same as a field of JSON."""


class TrainingSummary(TypedDict, total=False):
    """`summary.json`: test metrics of model and baselines, and the training's cost."""

    epochs: int
    best_epoch: int
    val: dict[str, float]
    seconds: float
    processor_seconds: float
    reserved_gpu_bytes: int
    peak_bytes: int | None
    device: str
    finished: str
    protocol: str
    test_seconds: float
    test: "MetricsByGroup"
    test_drawn_from: int
    baselines: "dict[str, MetricsByGroup]"
    given_time: "dict[str, MetricsByGroup]"
