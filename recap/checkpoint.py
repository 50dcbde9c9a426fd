"""A trained model on disk: safetensors, JSON, Parquet, SHA256SUMS and a model card; nothing is ever unpickled."""

import platform
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Final, Self, TypeVar, cast

import numpy as np
import pandas as pd
import torch
from pydantic import Field, model_validator
from torch import Tensor

from recap.config import Config
from recap.data.dataset import Dataset
from recap.errors import CheckpointError, MissingTensorError
from recap.features.catalogue import feature_set
from recap.history.graph import TransitionGraph
from recap.machine.rendering import render
from recap.model.config import AnyValue, ModelConfig, Stage
from recap.model.curves import INTERVALS, KNOTS, STEPS
from recap.model.recap import Recap
from recap.model.scorer import RecapScorer
from recap.presets import checkpoint_label, with_time_given
from recap.probabilities import UNFITTED, Temperature
from recap.published.configs import PublishedConfig
from recap.published.network import City, PublishedNetwork, PublishedScorer
from recap.published.registry import build_published
from recap.scores import TargetTime
from recap.storage.artifacts import CHECKPOINT_MANIFEST, SUMS, check_format, recover_folders, verify_sums, write_sums
from recap.storage.atomic import replace_json, replace_text
from recap.storage.cache_keys import given_time_key
from recap.storage.json_text import read_json, read_object
from recap.storage.tensors import Unfilled, load_tensors, load_weights
from recap.training_config import AnyTraining, StoredTraining, TrainConfig, TrainingSummary
from recap.vocabulary import USERS, VOCABULARY, Match, TrainedOn, hash_users, match_dataset

FORMAT_VERSION: Final = 4
"""2: the model may be a published one. 3: places have coordinates and users hashes, to open with later check-ins.
4: a second set of curves, for a time given.
"""
WEIGHTS: Final = "model.safetensors"
BEST_OVERALL_WEIGHTS: Final = "best_overall.safetensors"
GIVEN_TIME_WEIGHTS: Final = "given_time.safetensors"
SUMMARY: Final = "summary.json"
MODEL_CARD: Final = "MODEL_CARD.md"
TRAINING_FOLDER: Final = "training"
_ROWS: Final = {
    **dict.fromkeys(("poi_embedding.weight", "core.output.weight", "core.output.bias"), "poi_P"),
    "backbone.user_embedding.weight": "user_U",
    "tokens.category_embedding.weight": "category_K",
}
"""Which index of `Match` has the rows of a tensor."""

AnyModel = TypeVar("AnyModel", Recap, PublishedNetwork)


class EpochResult(Config):
    """An epoch's validation metrics."""

    epoch: int
    stage: Stage | None = Field(None, description="None for a published model, which has no curriculum.")
    val: dict[str, float]


class GivenTime(Config):
    """The second set of curves: where at a given time."""

    core: bool = Field(description="Whether the core is added to the curves, as validation chose.")
    features: list[dict[str, str]] = Field(description="As `CheckpointManifest.features`.")
    best: EpochResult
    temperature: Temperature | None = None


class CheckpointManifest(Config):
    """Content of `checkpoint.json`."""

    format_version: int = 1
    model: str = "recap"
    dataset_hash: str
    dataset_name: str
    synthetic: bool = False
    num_users: int
    users_hash: str
    train: StoredTraining
    best: EpochResult = Field(
        description="Best MRR over the validation cases of train.select_on among epochs with every enabled part active."
    )
    best_overall: EpochResult = Field(description="The same among all epochs.")
    features: list[dict[str, str]] | None = Field(
        None, description="Of a prior made of curves: name, group, unit and scale of each curve's feature, in order."
    )
    temperature: Temperature | None = Field(
        None, description="Turns scores into probabilities; None if it was not fitted: T is 1, or there are none."
    )
    given_time: GivenTime | None = Field(None, description="None: it cannot be asked where at a given time.")
    started_from: str | None = Field(None, description="Hash of the pretrained curves that the training started from.")
    versions: dict[str, str]

    retired: ClassVar = {"rebalanced": AnyValue()}

    @model_validator(mode="after")
    def _recap_has_a_stage(self) -> Self:
        if isinstance(self.train, TrainConfig) and (self.best.stage is None or self.best_overall.stage is None):
            raise ValueError("an epoch of RECAP needs its stage")
        return self

    @classmethod
    def of(
        cls, dataset: Dataset, train: AnyTraining, best: EpochResult, best_overall: EpochResult, **fitted: Any
    ) -> "CheckpointManifest":
        """``fitted``: temperature and started_from."""
        return cls(
            format_version=FORMAT_VERSION,
            model=train.network,
            dataset_hash=dataset.hash,
            dataset_name=dataset.manifest.name,
            synthetic=dataset.manifest.synthetic,
            num_users=dataset.num_users,
            users_hash=hash_users(dataset),
            train=train,
            best=best,
            best_overall=best_overall,
            features=features_read(train),
            versions=library_versions(),
            **fitted,
        )


@dataclass(frozen=True, eq=False)
class Checkpoint:
    """A verified checkpoint folder, asked one of two questions. ``hash``: SHA-256 over SHA256SUMS, which names the
    whole content; where it is asked where at a given time (`given_time`), of the question too.
    """

    folder: Path
    manifest: CheckpointManifest
    hash: str
    is_given_time: bool = False

    @classmethod
    def load(cls, folder: Path) -> "Checkpoint":
        """Read and verify a checkpoint folder, without its weights. Raises CheckpointError: not a checkpoint, or its
        training has not finished; FormatVersionError: written by a newer version; ChecksumError: a file was changed.
        """
        recover_folders(folder.parent)
        manifest_file = folder / CHECKPOINT_MANIFEST
        if (folder / TRAINING_FOLDER).is_dir() and not (folder / SUMS).is_file():
            raise CheckpointError(
                f"the training in {folder} has not finished: continue it with `recap train` and --resume"
            )
        if not manifest_file.is_file():
            raise CheckpointError(f"{folder} has no {CHECKPOINT_MANIFEST}: make a checkpoint with `recap train`")
        try:
            values = read_json(manifest_file)
            check_format(folder, values["format_version"], FORMAT_VERSION)
        except (ValueError, KeyError, TypeError) as error:
            raise CheckpointError(f"{manifest_file} is not a checkpoint manifest ({error})") from error
        digest = verify_sums(folder, [CHECKPOINT_MANIFEST, WEIGHTS, VOCABULARY])
        return cls(folder=folder, manifest=CheckpointManifest.parse(values), hash=digest)

    @property
    def target_time(self) -> TargetTime:
        """Whether it can read the time of the next check-in."""
        if self.is_given_time or self.options.get("target_time"):
            return "must"
        return "can" if self.manifest.given_time is not None else "cannot"

    @property
    def given_time(self) -> "Checkpoint":
        """The same checkpoint asked where at a given time. Raises CheckpointError: it cannot read the time."""
        own = self.manifest.given_time
        if self.target_time == "must":
            return self
        if own is None or not isinstance(self.manifest.train, TrainConfig):
            raise CheckpointError(
                f"{self.label} in {self.folder.name} cannot read the time of the next check-in: name a model that can, "
                "such as pretrained, or train RECAP again"
            )
        model = self.manifest.train.model
        changes: dict[str, Any] = {"prior": model.prior.model_copy(update={"given_time": True})}
        if not own.core:
            changes |= {"core_scope": "nowhere", "use_graph": False, "use_correction": False}
        train = self.manifest.train.model_copy(update={"model": model.model_copy(update=changes)})
        asked = {"train": train, "best": own.best, "features": own.features, "temperature": own.temperature}
        manifest = self.manifest.model_copy(update=asked)
        return replace(self, manifest=manifest, hash=given_time_key(self.hash), is_given_time=True)

    @property
    def curves_file(self) -> str:
        """The file with the curves of the question."""
        return GIVEN_TIME_WEIGHTS if self.is_given_time else WEIGHTS

    @property
    def label(self) -> str:
        """See `checkpoint_label`."""
        label = checkpoint_label(self.manifest.model, self.manifest.train.model_dump())
        return with_time_given(label) if self.is_given_time else label

    @property
    def temperature(self) -> Temperature | None:
        """Turns scores into probabilities; None for a model without them."""
        return (self.manifest.temperature or UNFITTED) if self.manifest.train.is_probabilistic else None

    @property
    def is_unfitted(self) -> bool:
        """Whether its probabilities are those of T = 1: an earlier version, or too few validation cases."""
        return self.temperature is not None and self.manifest.temperature is None

    @property
    def options(self) -> dict[str, bool]:
        """See `PublishedConfig.options`."""
        return self.manifest.train.options

    @property
    def recap_training(self) -> TrainConfig:
        """The configuration of a RECAP. Raises CheckpointError if it holds a published model."""
        if not isinstance(self.manifest.train, TrainConfig):
            raise CheckpointError(
                f"{self.folder.name} holds {self.label}, which gives one score for each place and no sum of parts: "
                "name a checkpoint of RECAP"
            )
        return self.manifest.train

    @property
    def stage(self) -> Stage:
        """The curriculum's stage at RECAP's kept epoch; raises CheckpointError for a published model."""
        train, stage = self.recap_training, self.manifest.best.stage
        assert stage is not None, train  # the manifest was checked
        return stage

    @property
    def inactive_parts(self) -> list[str]:
        """Parts inactive at this checkpoint's epoch; none for a published model."""
        train, stage = self.manifest.train, self.manifest.best.stage
        return stage.inactive_parts(train.model) if isinstance(train, TrainConfig) and stage is not None else []

    def match(self, dataset: Dataset) -> Match | None:
        """Find a dataset's users and places in this checkpoint, see `match_dataset`. Raises VocabularyError if it does
        not open with this dataset.
        """
        manifest, published = self.manifest, isinstance(self.manifest.train, PublishedConfig)
        trained_on = TrainedOn(manifest.dataset_name, manifest.dataset_hash, manifest.users_hash, published=published)
        return match_dataset(self.folder, trained_on, dataset)

    def build_model(self, dataset: Dataset, graph: TransitionGraph, device: torch.device | str = "cpu") -> Recap:
        """The trained RECAP in evaluation mode, for its own dataset or another that matches; in float64, where a case's
        scores do not depend on the batch. Raises CheckpointError: it holds a published model; VocabularyError: it does
        not open with this dataset; MissingTensorError: weights and configuration do not fit.
        """
        config, match = self.recap_training.model, self.match(dataset)
        return self._filled(lambda: Recap(config, dataset, graph, torch.float64, match), match, device)

    def _filled(self, build: Callable[[], AnyModel], match: Match | None, device: torch.device | str) -> AnyModel:
        tensors: Mapping[str, Tensor] = load_tensors(self.folder / WEIGHTS)[0]
        if self.is_given_time and isinstance(self.manifest.train, TrainConfig):
            # The other question's curves go, and with them an encoder that nothing reads.
            kept = tensors if self.manifest.train.model.has_encoder else {}
            tensors = {**kept, **load_tensors(self.folder / self.curves_file)[0]}
        if isinstance(self.manifest.train, TrainConfig):
            self._check_sizes(self.manifest.train.model, tensors)
        if match is not None:
            tensors = _rows_of_dataset(tensors, match, f"{self.folder.name}/{WEIGHTS}")
        tensors = self.with_named_curves(tensors)
        with Unfilled():
            model = build()
        load_weights(model, tensors, f"{self.folder.name}/{WEIGHTS}")
        return model.to(device).eval()

    def with_named_curves(self, tensors: Mapping[str, Tensor]) -> Mapping[str, Tensor]:
        """Weights with a curve for each feature of this version, if they have curves; those they lack are 0. Raises
        CheckpointError: they read other features, or not in this version's order; MissingTensorError: another shape.
        """
        features, known = self.manifest.features or [], features_read(self.manifest.train) or []
        if not {KNOTS, STEPS} <= tensors.keys():
            return tensors
        if not features or [feature for feature in known if feature in features] != features:
            raise CheckpointError(f"{self.folder.name}: its curves read other features than this version; train again")
        sizes = {KNOTS: (len(features), INTERVALS + 1), STEPS: (len(features), INTERVALS)}
        if any(tensors[key].shape != size for key, size in sizes.items()):
            raise MissingTensorError(
                f"{self.folder.name} does not hold one curve for each of its {len(features)} features"
            )
        index_N = [known.index(feature) for feature in features]
        knot_FK1, step_FK = (torch.zeros(len(known), size, dtype=torch.float64) for size in (INTERVALS + 1, INTERVALS))
        knot_FK1[:, 1:] = torch.inf
        knot_FK1[index_N], step_FK[index_N] = tensors[KNOTS].double(), tensors[STEPS].double()
        return {**tensors, KNOTS: knot_FK1, STEPS: step_FK}

    def _check_sizes(self, size: ModelConfig, tensors: Mapping[str, Tensor]) -> None:
        """Refuse a configuration far larger than its weights before it takes memory."""
        if not size.has_encoder:
            return
        layer = size.hidden_dim * (4 * size.hidden_dim + 2 * size.feedforward_dim)
        held = sum(tensor.numel() for tensor in tensors.values())
        if size.num_layers * layer > held:
            raise MissingTensorError(
                f"{self.folder.name}/{WEIGHTS} holds {held:,} numbers, too few for {size.num_layers} layers of width "
                f"{size.hidden_dim}; it was written for another configuration or is damaged"
            )

    def scorer(
        self, dataset: Dataset, graph: TransitionGraph, device: torch.device | str = "cpu"
    ) -> RecapScorer | PublishedScorer:
        """The trained model as a scorer, RECAP at its kept stage; raises as `build_model`."""
        train = self.manifest.train
        if isinstance(train, TrainConfig):
            return RecapScorer(self.build_model(dataset, graph, device), self.stage, self.manifest.model)
        self.match(dataset)  # the same users and places, or refused
        network = self._filled(lambda: build_published(train, City.of(dataset, graph), torch.float64), None, device)
        return PublishedScorer(network)

    def read_summary(self) -> TrainingSummary:
        """The training's cost and test metrics."""
        return cast(TrainingSummary, read_object(self.folder / SUMMARY))


def _rows_of_dataset(tensors: Mapping[str, Tensor], match: Match, where: str) -> dict[str, Tensor]:
    """The weights with a row for each place, user and category of the dataset, in float64; new ones get the mean.
    Raises MissingTensorError if a tensor has fewer rows than the checkpoint's places, users or categories.
    """
    rows = dict(tensors)
    for name in filter(_ROWS.__contains__, tensors):
        index_N, values = torch.from_numpy(getattr(match, _ROWS[name]).astype(np.int64)), tensors[name].double()
        if (index_N >= len(values)).any():
            raise MissingTensorError(
                f"{where}: tensor {name!r} has {len(values):,} rows, too few for what the checkpoint knows"
            )
        rows[name] = values[index_N.clamp(min=0)]
        rows[name][index_N < 0] = values.mean(0)
    return rows


def features_read(train: AnyTraining) -> list[dict[str, str]] | None:
    """The features of a prior made of curves as a checkpoint stores them; None without one."""
    if not isinstance(train, TrainConfig) or not train.model.has_curves:
        return None
    return feature_set(given_time=train.model.prior.given_time).described()


def write_checkpoint(folder: Path, manifest: CheckpointManifest, summary: TrainingSummary) -> str:
    """Write manifest, summary, card and, last, SHA256SUMS; weights and vocabulary are already there."""
    replace_json(folder / SUMMARY, summary)
    replace_text(folder / MODEL_CARD, model_card(manifest, summary))
    replace_text(folder / CHECKPOINT_MANIFEST, manifest.model_dump_json(indent=2) + "\n")
    names = [CHECKPOINT_MANIFEST, WEIGHTS, VOCABULARY, USERS, SUMMARY, MODEL_CARD]
    names += [name for name in (BEST_OVERALL_WEIGHTS, GIVEN_TIME_WEIGHTS) if (folder / name).is_file()]
    return write_sums(folder, names)


def library_versions() -> dict[str, str]:
    """Versions that affect numbers."""
    return {
        "python": platform.python_version(),
        "torch": torch.__version__,
        "numpy": np.__version__,
        "pandas": pd.__version__,
    }


def _unsaid(train: AnyTraining) -> dict[str, Any]:
    """Fields that earlier configurations lack, where they mean the same as without."""
    if not isinstance(train, TrainConfig):
        return {}
    prior = {"start": train.model.prior.start == "zero", "given_time": not train.model.prior.given_time}
    own = {"train_on": train.train_on == "cases", "given_time": not train.given_time}
    return {"model": {"prior": {name for name, drop in prior.items() if drop}}} | {
        n: True for n, drop in own.items() if drop
    }


def model_card(manifest: CheckpointManifest, summary: TrainingSummary) -> str:
    """Markdown: what was trained on what, how good it is, and what not to use it for."""
    train, stage = manifest.train, manifest.best.stage
    same_epoch = manifest.best.epoch == manifest.best_overall.epoch
    return (
        render(
            "model_card.md.j2",
            manifest=manifest,
            summary=summary,
            title=train.label,
            inactive=None if isinstance(train, PublishedConfig) or stage is None else stage.inactive_parts(train.model),
            scorers={manifest.model: summary["test"], **summary["baselines"]},
            best_overall_weights=WEIGHTS if same_epoch else BEST_OVERALL_WEIGHTS,
            configuration=train.model_dump_json(indent=2, exclude=_unsaid(train)),
        )
        + "\n"
    )
