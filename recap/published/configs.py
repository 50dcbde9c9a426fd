"""Configurations of the published models; their values are in published.toml. Does not import torch."""

import math
import tomllib
from pathlib import Path
from typing import Annotated, Any, ClassVar, Final, Literal, Self

from pydantic import Field, model_validator

from recap.config import Config
from recap.errors import ConfigError

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
        words_of = [words[option] for option in self.options.items() if option in words]
        return ", ".join([self.title, *words_of])

    def rate_at(self, epoch: int) -> float:
        """The learning rate of an epoch (from 1), before any `patience` ran out.

        >>> config = published_config("flashback").override(["epochs=30", "decay_epochs=10,20", "decay_factor=0.5"])
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


RECAP: Final = "recap"

Width = Annotated[int, Field(ge=1, le=1024)]
EvenWidth = Annotated[int, Field(ge=2, le=1024, multiple_of=2)]
WideWidth = Annotated[int, Field(ge=1, le=16384)]
Layers = Annotated[int, Field(ge=1, le=16)]
Dropout = Annotated[float, Field(ge=0, lt=1)]
Part = Annotated[float, Field(gt=0, lt=1)]
Weight = Annotated[float, Field(ge=0)]


class WindowedConfig(PublishedConfig):
    """Shared settings of models that read windows of check-ins, across trajectories or the prefix of one."""

    dim: Width = Field(description="Width d of a place.")
    window: int = Field(ge=1, le=400, description="Check-ins of a window.")


class DropoutConfig(WindowedConfig):
    """Those whose network drops out."""

    dropout: Dropout = Field(description="Dropout; the network says of what.")


class RecurrentConfig(WindowedConfig):
    """Shared settings of Flashback and REPLAY."""

    time_decay: Weight = Field(description="lambda_t, a day.")
    space_decay: Weight = Field(description="lambda_s, a degree.")


class FlashbackConfig(RecurrentConfig):
    """Flashback."""

    network: Literal["flashback"] = "flashback"


class ReplayConfig(RecurrentConfig):
    """REPLAY with the source's time; ``target_time`` is as published."""

    network: Literal["replay"] = "replay"
    dim: EvenWidth = Field(description="Width d of a place.")
    target_time: bool = Field(description="Read the hour and weekday of the step to predict, as published.")


class LotnextConfig(DropoutConfig):
    """LoTNext."""

    algorithm: ClassVar = "adamw"
    network: Literal["lotnext"] = "lotnext"
    dim: EvenWidth = Field(description="Width d of a place.")
    space_decay: Weight = Field(description="lambda_s, a kilometre.")
    attention_dropout: Dropout = Field(description="Dropout of attention weights.")
    adjustment: Weight = Field(description="tau, how much training logits of rare places are moved.")
    as_published: bool = Field(description="Keep the errors that we see in the public code.")


class SelfAttentionConfig(DropoutConfig):
    """Shared settings of SASRec and MELT."""

    blocks: Layers = Field(description="Self-attention blocks.")
    objective: Literal["binary", "softmax"] = Field(
        description="binary: the target against one place the user has not been to, as published; softmax: all places."
    )

    @property
    def is_probabilistic(self) -> bool:
        return self.objective == "softmax"


class SasrecConfig(SelfAttentionConfig):
    """SASRec, trained against one random place a step."""

    network: Literal["sasrec"] = "sasrec"


class MeltConfig(SelfAttentionConfig):
    """MELT on SASRec: the backbone alone, then both branches."""

    network: Literal["melt"] = "melt"
    backbone_share: Part = Field(description="Share of the epochs that train the backbone alone.")
    head_users: Part = Field(description="Users with more check-ins than this quantile are head.")
    head_places: Part = Field(description="Places with more visits than this quantile are head.")
    user_weight: Weight = Field(description="lambda_u, weight of the users' branch.")
    place_weight: Weight = Field(description="lambda_i, weight of the places' branch.")


class GetnextConfig(DropoutConfig):
    """GETNext."""

    network: Literal["getnext"] = "getnext"
    dim: EvenWidth = Field(description="Width of a place and of a user.")
    side_dim: EvenWidth = Field(description="Width of the time of day and of a category.")
    feedforward_dim: WideWidth = Field(description="Feed-forward width of a layer.")
    layers: Layers = Field(description="Transformer layers.")
    time_weight: Weight = Field(description="Weight of the squared error of the next time of day.")
    raw_features: bool = Field(description="Counts and coordinates as they are, as published.")


class HypergraphConfig(PublishedConfig):
    """Shared settings of DCHL and MSAHG."""

    dim: Width = Field(description="Width of a place and of a user.")
    layers: int = Field(ge=1, le=8, description="Propagations in each view.")
    dropout: Dropout = Field(
        description="Dropout of DCHL's transitional view, or of all of MSAHG's but the geographic."
    )
    radius_km: float = Field(gt=0, description="Places closer than this are near.")
    near_places: int = Field(ge=1, description="At most so many of them.")
    contrast_weight: Weight = Field(description="Weight of the contrast between views.")
    contrast_places: int = Field(ge=2, description="Places drawn for it in a step.")
    temperature: float = Field(gt=0, description="Temperature of the contrast.")


class DchlConfig(HypergraphConfig):
    """DCHL."""

    network: Literal["dchl"] = "dchl"


class DeepmoveConfig(DropoutConfig):
    """DeepMove."""

    network: Literal["deepmove"] = "deepmove"
    slot_dim: Width = Field(description="Width of an hour of a weekday or weekend.")
    user_dim: Width = Field(description="Width of a user.")
    hidden_dim: int = Field(ge=1, le=4096, description="Width of the recurrent state and of a history entry.")
    window: int = Field(ge=2, le=1000, description="Check-ins of history and current trajectory together.")


class DprlConfig(DropoutConfig):
    """DPRL with the source's time."""

    network: Literal["dprl"] = "dprl"
    dim: EvenWidth = Field(description="Width d of a place, a region and a user.")
    regions: int = Field(ge=1, le=10_000, description="Clusters of places by coordinates.")
    time_decay: Weight = Field(description="lambda_t, a day.")
    space_decay: Weight = Field(description="lambda_s, a degree.")
    region_weight: Weight = Field(description="Weight of the loss of the next region.")
    target_time: bool = Field(description="Read the hour and weekday of the step to predict, as published.")


class RotanConfig(DropoutConfig):
    """ROTAN with the source's time; its learning rate warms up, then falls along a cosine."""

    network: Literal["rotan"] = "rotan"
    warm_epochs: int = Field(ge=0, description="Epochs in which the learning rate rises to its height.")
    warm_rate: float = Field(gt=0, description="Learning rate of the first epoch, if any warms up.")
    least_rate: float = Field(gt=0, description="What it falls to, along a cosine.")
    dim: int = Field(ge=2, le=1024, description="Width of a place, its code, a user and a turn.")
    feedforward_dim: WideWidth = Field(description="Feed-forward width of a layer.")
    layers: Layers = Field(description="Layers of each Transformer.")
    target_time: bool = Field(description="Read the hour and weekday of the step to predict, as published.")

    def rate_at(self, epoch: int) -> float:
        """A line up to the learning rate, then a cosine down.

        >>> config = published_config("rotan")
        >>> tuple(round(config.rate_at(epoch), 6) for epoch in (1, 6, 11, 36))
        (0.0001, 0.00055, 0.001, 0.000505)
        """
        if epoch <= self.warm_epochs:
            return self.warm_rate + (self.learning_rate - self.warm_rate) * (epoch - 1) / self.warm_epochs
        gone = (epoch - 1 - self.warm_epochs) / (self.epochs - self.warm_epochs)
        return self.least_rate + (self.learning_rate - self.least_rate) * (1 + math.cos(math.pi * gone)) / 2

    def with_epochs(self, epochs: int) -> Self:
        """Change the length; the warm-up keeps its fraction of it."""
        warm = round(self.warm_epochs * epochs / self.epochs)
        return self.parse(super().with_epochs(epochs).model_dump() | {"warm_epochs": min(warm, epochs - 1)})


class DepoiConfig(DropoutConfig):
    """DePOI."""

    network: Literal["depoi"] = "depoi"
    anchors: int = Field(ge=1, description="Places drawn in an epoch that all are compared with.")
    apart_weight: Weight = Field(description="Weight of the loss that tells causal from bias vectors.")
    contrast_weight: Weight = Field(description="Weight of the contrast between both graphs.")
    bias_weight: Weight = Field(description="Weight of the loss that ties the bias scores to popularity.")
    as_published: bool = Field(description="The bias learns a softmax over raw counts, not shares of visits.")


class MsahgConfig(HypergraphConfig):
    """MSAHG with smaller contrasts."""

    network: Literal["msahg"] = "msahg"
    local_days: Weight = Field(description="Users whose training spans so many days are locals.")
    contrast_weight: Dropout = Field(description="Weight of the contrast; cross-entropy has the rest.")


class SthgcnConfig(DropoutConfig):
    """STHGCN with the published schedule and a quarter of its width."""

    network: Literal["sthgcn"] = "sthgcn"
    heads: int = Field(ge=1, le=64, description="Heads of each attention; every one has the full width.")
    window: int = Field(ge=1, le=1000, description="Check-ins read of a trajectory.")
    own_trajectories: int = Field(ge=0, description="The user's earlier trajectories that are read, the latest.")
    other_trajectories: int = Field(ge=0, description="Others' earlier training trajectories, the most similar.")
    least_similarity: float = Field(ge=0, le=1, description="Jaccard similarity of places that one needs.")


PUBLISHED: Final[dict[str, type[PublishedConfig]]] = {
    str(kind.model_fields["network"].default): kind for kind in (
        FlashbackConfig, ReplayConfig, LotnextConfig, SasrecConfig, MeltConfig, GetnextConfig, DchlConfig,
        DeepmoveConfig, DprlConfig, RotanConfig, DepoiConfig, MsahgConfig, SthgcnConfig,
    )
}  # fmt: skip
"""Name -> class of configuration, in the order of docs/published-models.md."""


def published_config(name: str) -> PublishedConfig:
    """A published model's default configuration, by name. Raises ConfigError: unknown name."""
    return read_published({"network": name})


def read_published(values: dict[str, Any]) -> PublishedConfig:
    """A stored configuration. Raises ConfigError: an unknown network, or what `Config.parse` refuses."""
    name = with_network(values)["network"]
    if name not in PUBLISHED:
        raise ConfigError(f"unknown model {name!r}; choose one of recap, {', '.join(PUBLISHED)}")
    return PUBLISHED[name].parse(values)
