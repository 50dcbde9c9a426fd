"""Configurations of the published models. Does not import torch."""

import math
from typing import Annotated, Any, ClassVar, Final, Literal, Self, get_args

from pydantic import BeforeValidator, Field

from recap.errors import ConfigError
from recap.published.config import PublishedConfig, with_network

RECAP: Final = "recap"


class SteppedConfig(PublishedConfig):
    """Shared settings of Flashback, REPLAY and LoTNext; values as published for Foursquare."""

    epochs: int = Field(100, ge=1, description="Passes over the training check-ins.")
    learning_rate: float = Field(0.01, gt=0, description="Adam's learning rate.")
    decay_epochs: tuple[int, ...] = Field((20, 40, 60, 80), description="After these epochs it is multiplied.")
    decay_factor: float = Field(0.2, gt=0, le=1, description="What it is multiplied with.")
    dim: int = Field(10, ge=1, le=1024, description="Width d of a place; 32 is better on NYC.")
    window: int = Field(20, ge=1, le=400, description="Check-ins of a window, across trajectories.")


class RecurrentConfig(SteppedConfig):
    """Shared settings of Flashback and REPLAY."""

    time_decay: float = Field(0.1, ge=0, description="lambda_t, a day.")
    space_decay: float = Field(100.0, ge=0, description="lambda_s, a degree.")


class FlashbackConfig(RecurrentConfig):
    """Flashback with the published values."""

    title: ClassVar = "Flashback"
    network: Literal["flashback"] = "flashback"


class ReplayConfig(RecurrentConfig):
    """REPLAY with the source's time; ``target_time`` is as published."""

    title: ClassVar = "REPLAY"
    network: Literal["replay"] = "replay"
    dim: int = Field(10, ge=2, le=1024, multiple_of=2, description="Width d, even; 32 is better on NYC.")
    target_time: bool = Field(False, description="Read the hour and weekday of the step to predict, as published.")


class LotnextConfig(SteppedConfig):
    """LoTNext with the published values."""

    title: ClassVar = "LoTNext"
    algorithm: ClassVar = "adamw"
    network: Literal["lotnext"] = "lotnext"
    dim: int = Field(10, ge=2, le=1024, multiple_of=2, description="Width d of a place, even; 32 is better on NYC.")
    space_decay: float = Field(100.0, ge=0, description="lambda_s, a kilometre.")
    dropout: float = Field(0.3, ge=0, lt=1, description="Dropout of the encoder layer.")
    attention_dropout: float = Field(0.1, ge=0, lt=1, description="Dropout of attention weights.")
    adjustment: float = Field(1.2, ge=0, description="tau, how much training logits of rare places are moved.")
    as_published: bool = Field(True, description="Keep the errors that we see in the public code.")


class SelfAttentionConfig(PublishedConfig):
    """Shared settings of SASRec and MELT; MELT's published values."""

    epochs: int = Field(200, ge=1, description="Passes over the training check-ins.")
    batch_size: int = Field(128, ge=1, description="Windows in a step.")
    second_moment: float = Field(0.98, gt=0, lt=1, description="Adam's beta_2.")
    dim: int = Field(50, ge=1, le=1024, description="Width d.")
    window: int = Field(50, ge=1, le=400, description="Check-ins of a window, across trajectories.")
    blocks: int = Field(2, ge=1, le=16, description="Self-attention blocks.")
    dropout: float = Field(0.5, ge=0, lt=1, description="Dropout of embeddings, attention and convolutions.")
    objective: Literal["binary", "softmax"] = Field(
        "binary",
        description="binary: the target against one place the user has not been to, as published; softmax: all places.",
    )

    @property
    def is_probabilistic(self) -> bool:
        return self.objective == "softmax"


class SasrecConfig(SelfAttentionConfig):
    """SASRec, trained against one random place a step."""

    title: ClassVar = "SASRec"
    network: Literal["sasrec"] = "sasrec"


class MeltConfig(SelfAttentionConfig):
    """MELT on SASRec: 200 epochs of the backbone alone, as published, then 180 with both branches."""

    title: ClassVar = "MELT"
    network: Literal["melt"] = "melt"
    epochs: int = Field(380, ge=1, description="Passes over the training check-ins, those of the backbone included.")
    backbone_share: float = Field(0.526, gt=0, lt=1, description="Share of the epochs that train the backbone alone.")
    head_users: float = Field(0.8, gt=0, lt=1, description="Users with more check-ins than this quantile are head.")
    head_places: float = Field(0.78, gt=0, lt=1, description="Places with more visits than this quantile are head.")
    user_weight: float = Field(0.1, ge=0, description="lambda_u, weight of the users' branch.")
    place_weight: float = Field(0.4, ge=0, description="lambda_i, weight of the places' branch.")


class GetnextConfig(PublishedConfig):
    """GETNext with the published values and larger batches."""

    title: ClassVar = "GETNext"
    network: Literal["getnext"] = "getnext"
    epochs: int = Field(200, ge=1, description="Passes over the training trajectories.")
    weight_decay: float = Field(5e-4, ge=0, description="L2 penalty.")
    patience: int | None = Field(10, ge=1, description="Validations without a better MRR before it is multiplied.")
    dim: int = Field(128, ge=2, le=1024, multiple_of=2, description="Width of a place and of a user.")
    side_dim: int = Field(32, ge=2, le=1024, multiple_of=2, description="Width of the time of day and of a category.")
    feedforward_dim: int = Field(1024, ge=1, le=16384, description="Feed-forward width of a layer.")
    layers: int = Field(2, ge=1, le=16, description="Transformer layers.")
    dropout: float = Field(0.3, ge=0, lt=1, description="Dropout of graph convolutions and Transformer.")
    window: int = Field(100, ge=1, le=400, description="Check-ins of a trajectory's prefix.")
    time_weight: float = Field(10.0, ge=0, description="Weight of the squared error of the next time of day.")
    raw_features: bool = Field(False, description="Counts and coordinates as they are, as published.")


class HypergraphConfig(PublishedConfig):
    """Shared settings of DCHL and MSAHG; DCHL's published values."""

    epochs: int = Field(30, ge=1, description="Passes over the training cases.")
    batch_size: int = Field(512, ge=1, description="Cases in a step; published: 200 users.")
    dim: int = Field(128, ge=1, le=1024, description="Width of a place and of a user.")
    layers: int = Field(3, ge=1, le=8, description="Propagations in each view.")
    dropout: float = Field(0.3, ge=0, lt=1, description="Dropout of the transitional view.")
    radius_km: float = Field(2.5, gt=0, description="Places closer than this are near.")
    near_places: int = Field(100, ge=1, description="At most so many of them.")
    contrast_weight: float = Field(0.1, ge=0, description="Weight of the contrast between views.")
    contrast_places: int = Field(1000, ge=2, description="Places drawn for it in a step.")
    temperature: float = Field(0.1, gt=0, description="Temperature of the contrast.")


class DchlConfig(HypergraphConfig):
    """DCHL with the published values."""

    title: ClassVar = "DCHL"
    network: Literal["dchl"] = "dchl"
    weight_decay: float = Field(5e-4, ge=0, description="L2 penalty.")
    patience: int | None = Field(3, ge=1, description="Validations without a better MRR before it is multiplied.")


class DeepmoveConfig(PublishedConfig):
    """DeepMove with the published values and larger batches."""

    title: ClassVar = "DeepMove"
    network: Literal["deepmove"] = "deepmove"
    epochs: int = Field(20, ge=1, description="Passes over the training check-ins.")
    batch_size: int = Field(16, ge=1, description="Windows in a step; published: one trajectory.")
    clip_norm: float | None = Field(5.0, gt=0, description="Largest norm of a gradient.")
    patience: int | None = Field(3, ge=1, description="Validations without a better MRR before it is multiplied.")
    dim: int = Field(100, ge=1, le=1024, description="Width of a place.")
    slot_dim: int = Field(10, ge=1, le=1024, description="Width of an hour of a weekday or weekend.")
    user_dim: int = Field(30, ge=1, le=1024, description="Width of a user.")
    hidden_dim: int = Field(300, ge=1, le=4096, description="Width of the recurrent state and of a history entry.")
    window: int = Field(200, ge=2, le=1000, description="Check-ins of history and current trajectory together.")
    dropout: float = Field(0.2, ge=0, lt=1, description="Dropout of tokens and of the last layer's input.")


class DprlConfig(PublishedConfig):
    """DPRL with the source's time and the values of a re-implementation."""

    title: ClassVar = "DPRL"
    network: Literal["dprl"] = "dprl"
    epochs: int = Field(50, ge=1, description="Passes over the training trajectories.")
    batch_size: int = Field(512, ge=1, description="Trajectories in a step.")
    learning_rate: float = Field(0.01, gt=0, description="Adam's learning rate.")
    weight_decay: float = Field(1e-5, ge=0, description="L2 penalty.")
    decay_epochs: tuple[int, ...] = Field((20, 40), description="After these epochs it is multiplied.")
    decay_factor: float = Field(0.2, gt=0, le=1, description="What it is multiplied with.")
    dim: int = Field(30, ge=2, le=1024, multiple_of=2, description="Width d of a place, a region and a user.")
    regions: int = Field(300, ge=1, le=10_000, description="Clusters of places by coordinates.")
    window: int = Field(80, ge=1, le=400, description="Check-ins of a trajectory's prefix.")
    time_decay: float = Field(0.1, ge=0, description="lambda_t, a day.")
    space_decay: float = Field(100.0, ge=0, description="lambda_s, a degree.")
    dropout: float = Field(0.1, ge=0, lt=1, description="Dropout of the places' states; .2 elsewhere.")
    region_weight: float = Field(0.1, ge=0, description="Weight of the loss of the next region.")
    target_time: bool = Field(False, description="Read the hour and weekday of the step to predict, as published.")


class RotanConfig(PublishedConfig):
    """ROTAN with the published values for NYC and the source's time."""

    title: ClassVar = "ROTAN"
    network: Literal["rotan"] = "rotan"
    epochs: int = Field(60, ge=1, description="Passes over the training trajectories.")
    batch_size: int = Field(128, ge=1, description="Trajectories in a step.")
    learning_rate: float = Field(1e-3, gt=0, description="Adam's learning rate after its warm-up, before it falls.")
    weight_decay: float = Field(8e-4, ge=0, description="L2 penalty.")
    warm_epochs: int = Field(10, ge=0, description="Epochs in which the learning rate rises to its height.")
    warm_rate: float = Field(1e-4, gt=0, description="Learning rate of the first epoch, if any warms up.")
    least_rate: float = Field(1e-5, gt=0, description="What it falls to, along a cosine.")
    dim: int = Field(128, ge=2, le=1024, description="Width of a place, its code, a user and a turn.")
    feedforward_dim: int = Field(1024, ge=1, le=16384, description="Feed-forward width of a layer.")
    layers: int = Field(4, ge=1, le=16, description="Layers of each Transformer; published elsewhere: 2.")
    window: int = Field(100, ge=1, le=400, description="Check-ins of a trajectory's prefix.")
    dropout: float = Field(0.4, ge=0, lt=1, description="Dropout of both Transformers.")
    target_time: bool = Field(False, description="Read the hour and weekday of the step to predict, as published.")

    def rate_at(self, epoch: int) -> float:
        """A line up to the learning rate, then a cosine down.

        >>> config = RotanConfig()
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


class DepoiConfig(PublishedConfig):
    """DePOI with the published values and larger batches."""

    title: ClassVar = "DePOI"
    network: Literal["depoi"] = "depoi"
    epochs: int = Field(300, ge=1, description="Passes over the training check-ins.")
    batch_size: int = Field(16, ge=1, description="Windows in a step; published: 8 users.")
    second_moment: float = Field(0.98, gt=0, lt=1, description="Adam's beta_2.")
    weight_decay: float = Field(1e-4, ge=0, description="L2 penalty.")
    dim: int = Field(64, ge=1, le=1024, description="Width d of a place in either graph.")
    window: int = Field(100, ge=1, le=400, description="Check-ins of a window, across trajectories.")
    anchors: int = Field(1000, ge=1, description="Places drawn in an epoch that all are compared with.")
    dropout: float = Field(0.5, ge=0, lt=1, description="Dropout of the encoder.")
    apart_weight: float = Field(0.01, ge=0, description="Weight of the loss that tells causal from bias vectors.")
    contrast_weight: float = Field(0.01, ge=0, description="Weight of the contrast between both graphs.")
    bias_weight: float = Field(1.0, ge=0, description="Weight of the loss that ties the bias scores to popularity.")
    as_published: bool = Field(True, description="The bias learns a softmax over raw counts, not shares of visits.")


class MsahgConfig(HypergraphConfig):
    """MSAHG with the published values and smaller contrasts."""

    title: ClassVar = "MSAHG"
    network: Literal["msahg"] = "msahg"
    epochs: int = Field(100, ge=1, description="Passes over the training cases.")
    dropout: float = Field(0.5, ge=0, lt=1, description="Dropout of every view but the geographic one.")
    local_days: float = Field(90.0, ge=0, description="Users whose training spans so many days are locals.")
    contrast_weight: float = Field(0.1, ge=0, lt=1, description="Weight of the contrast; cross-entropy has the rest.")
    contrast_places: int = Field(500, ge=2, description="Places drawn for it in a step; published: 1,000 negatives.")


class SthgcnConfig(PublishedConfig):
    """STHGCN with the published schedule and a quarter of its width."""

    title: ClassVar = "STHGCN"
    network: Literal["sthgcn"] = "sthgcn"
    epochs: int = Field(20, ge=1, description="Passes over the training cases.")
    learning_rate: float = Field(1e-4, gt=0, description="Adam's learning rate.")
    decay_epochs: tuple[int, ...] = Field((6, 9, 14), description="After these epochs it is multiplied.")
    dim: int = Field(32, ge=1, le=1024, description="Width of each of a check-in's five tables; published: 128.")
    heads: int = Field(4, ge=1, le=64, description="Heads of each attention; every one has the full width.")
    window: int = Field(100, ge=1, le=1000, description="Check-ins read of a trajectory; published: 500.")
    own_trajectories: int = Field(20, ge=0, description="The user's earlier trajectories that are read, the latest.")
    other_trajectories: int = Field(20, ge=0, description="Others' earlier training trajectories, the most similar.")
    least_similarity: float = Field(0.005, ge=0, le=1, description="Jaccard similarity of places that one needs.")
    dropout: float = Field(0.1, ge=0, lt=1, description="Dropout of attention weights and of every layer's output.")


_OnePublished = Annotated[
    FlashbackConfig
    | ReplayConfig
    | LotnextConfig
    | SasrecConfig
    | MeltConfig
    | GetnextConfig
    | DchlConfig
    | DeepmoveConfig
    | DprlConfig
    | RotanConfig
    | DepoiConfig
    | MsahgConfig
    | SthgcnConfig,
    Field(discriminator="network"),
]
AnyPublished = Annotated[_OnePublished, BeforeValidator(with_network)]
_KINDS: Final[tuple[type[PublishedConfig], ...]] = get_args(get_args(_OnePublished)[0])
PUBLISHED: Final[dict[str, type[PublishedConfig]]] = {kind.model_fields["network"].default: kind for kind in _KINDS}
"""Name -> class of configuration, in the order of docs/published-models.md."""


def published_config(name: str) -> PublishedConfig:
    """A published model's default configuration, by name. Raises ConfigError: unknown name."""
    if name not in PUBLISHED:
        raise ConfigError(f"unknown model {name!r}; choose one of recap, {', '.join(PUBLISHED)}")
    return PUBLISHED[name]()  # type: ignore[call-arg]  # every published model has defaults for all fields


def model_title(name: str) -> str:
    """A model's name as papers write it; unknown names stay as they are."""
    return PUBLISHED[name].title if name in PUBLISHED else "RECAP" if name == RECAP else name


def published_label(values: Any) -> str:
    """Title and options of a stored configuration; "another model" if it cannot be read."""
    try:
        return PUBLISHED[with_network(values)["network"]].parse(values).label
    except (KeyError, TypeError, ConfigError):
        return "another model"
