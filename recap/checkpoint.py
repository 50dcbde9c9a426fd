"""A trained model on disk: safetensors, JSON, Parquet, SHA256SUMS and a model card; nothing is ever unpickled."""

import hashlib
import platform
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Final, Self, TypeVar

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import torch
from pydantic import Field, model_validator

from recap import columns as c
from recap.config import Config
from recap.data.dataset import Dataset
from recap.errors import CheckpointError, FormatVersionError, MissingTensorError, VocabularyError
from recap.features.catalogue import describe_features
from recap.graph import TransitionGraph
from recap.model.config import AnyValue, ModelConfig, Stage
from recap.model.recap import Recap
from recap.model.scorer import RecapScorer
from recap.published.city import City
from recap.published.config import PublishedConfig
from recap.published.network import PublishedNetwork, PublishedScorer
from recap.published.registry import build_published
from recap.rendering import render
from recap.storage.artifacts import CHECKPOINT_MANIFEST, SUMS, other_dataset_line, verify_sums, write_sums
from recap.storage.atomic import replace_json, replace_text
from recap.storage.json_text import read_json
from recap.storage.parquet import read_validated
from recap.storage.tensors import Unfilled, load_tensors, load_weights
from recap.training_config import AnyTraining, StoredTraining, TrainConfig, TrainingSummary

FORMAT_VERSION: Final = 2
"""2: the model may be a published one."""
_FORMAT_OF_RECAP: Final = 1
MANIFEST: Final = CHECKPOINT_MANIFEST
WEIGHTS: Final = "model.safetensors"
BEST_OVERALL_WEIGHTS: Final = "best_overall.safetensors"
VOCABULARY: Final = "vocabulary.parquet"
SUMMARY: Final = "summary.json"
CARD: Final = "MODEL_CARD.md"
TRAINING_FOLDER: Final = "training"

Model = TypeVar("Model", Recap, PublishedNetwork)
_VOCABULARY_COLUMNS: Final = [c.POI_ID, c.CATEGORY_ID, c.CATEGORY_INDEX]


class EpochResult(Config):
    """An epoch's validation metrics."""

    epoch: int
    stage: Stage | None = Field(None, description="None for a published model, which has no curriculum.")
    val: dict[str, float]


class CheckpointManifest(Config):
    """Content of `checkpoint.json`."""

    format_version: int = _FORMAT_OF_RECAP
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
        cls,
        dataset: Dataset,
        train: AnyTraining,
        best: EpochResult,
        best_overall: EpochResult,
        started_from: str | None = None,
    ) -> "CheckpointManifest":
        published = isinstance(train, PublishedConfig)
        return cls(
            format_version=FORMAT_VERSION if published else _FORMAT_OF_RECAP,
            model=train.network if isinstance(train, PublishedConfig) else "recap",
            dataset_hash=dataset.hash,
            dataset_name=dataset.manifest.name,
            synthetic=dataset.manifest.synthetic,
            num_users=dataset.num_users,
            users_hash=hash_users(dataset),
            train=train,
            best=best,
            best_overall=best_overall,
            features=describe_features() if isinstance(train, TrainConfig) and train.model.has_curves else None,
            started_from=started_from,
            versions=library_versions(),
        )


@dataclass(frozen=True, eq=False)
class Checkpoint:
    """A verified checkpoint folder.

    Attributes:
        hash: SHA-256 over SHA256SUMS, which names the whole content.
    """

    folder: Path
    manifest: CheckpointManifest
    hash: str

    @classmethod
    def load(cls, folder: Path) -> "Checkpoint":
        """Read and verify a checkpoint folder, without its weights.

        Raises:
            CheckpointError: not a checkpoint, or its training has not finished.
            FormatVersionError: written by a newer version.
            ChecksumError: a file was changed.
        """
        manifest_file = folder / MANIFEST
        if (folder / TRAINING_FOLDER).is_dir() and not (folder / SUMS).is_file():
            raise CheckpointError(
                f"the training in {folder} has not finished: continue it with `recap train` and --resume"
            )
        if not manifest_file.is_file():
            raise CheckpointError(f"{folder} has no {MANIFEST}: make a checkpoint with `recap train`")
        try:
            values = read_json(manifest_file)
            version = values["format_version"]
            if not isinstance(version, int):
                raise ValueError(f"format_version must be a whole number, got {version!r}")
        except (ValueError, KeyError, TypeError) as error:
            raise CheckpointError(f"{manifest_file} is not a checkpoint manifest ({error})") from error
        if version > FORMAT_VERSION:
            raise FormatVersionError(
                f"{folder} was written in format {version}, this version reads up to {FORMAT_VERSION}: update recap"
            )
        digest = verify_sums(folder, [MANIFEST, WEIGHTS, VOCABULARY])
        return cls(folder=folder, manifest=CheckpointManifest.parse(values), hash=digest)

    @property
    def is_recap(self) -> bool:
        return isinstance(self.manifest.train, TrainConfig)

    @property
    def label(self) -> str:
        """RECAP, or a published model's name with its options."""
        train = self.manifest.train
        return "RECAP" if isinstance(train, TrainConfig) else train.label

    @property
    def is_probabilistic(self) -> bool:
        """See `PublishedConfig.is_probabilistic`."""
        train = self.manifest.train
        return isinstance(train, TrainConfig) or train.is_probabilistic

    @property
    def options(self) -> dict[str, bool]:
        """See `PublishedConfig.options`."""
        train = self.manifest.train
        return {"target_time": train.model.use_future_time} if isinstance(train, TrainConfig) else train.options

    @property
    def recap_training(self) -> TrainConfig:
        """The configuration of a RECAP.

        Raises:
            CheckpointError: it holds a published model.
        """
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
        return self.stage.inactive_parts(self.recap_training.model) if self.is_recap else []

    def check_dataset(self, dataset: Dataset) -> None:
        """Refuse a dataset the model was not trained on.

        Raises:
            VocabularyError: users, POIs or check-ins differ.
        """
        if dataset.hash == self.manifest.dataset_hash:
            return
        try:
            vocabulary = read_validated(self.folder / VOCABULARY, columns=[c.POI_ID]).to_pandas()
        except (OSError, KeyError, pa.ArrowException) as error:
            raise CheckpointError(f"{self.folder / VOCABULARY} cannot be read ({error})") from error
        if len(vocabulary) != dataset.num_pois or dataset.num_users != self.manifest.num_users:
            detail = (
                f"it knows {len(vocabulary):,} POIs and {self.manifest.num_users:,} users, the dataset has "
                f"{dataset.num_pois:,} and {dataset.num_users:,}"
            )
        elif not vocabulary[c.POI_ID].equals(dataset.pois[c.POI_ID].reset_index(drop=True)):
            detail = "the POIs differ"
        elif hash_users(dataset) != self.manifest.users_hash:
            detail = "the users differ"
        else:
            detail = "users and POIs agree, but the check-ins differ"
        trained_on = self.manifest.dataset_name, self.manifest.dataset_hash
        line = other_dataset_line(self.folder.name, trained_on, (dataset.manifest.name, dataset.hash))
        raise VocabularyError(f"{line}: {detail}")

    def build_model(
        self,
        dataset: Dataset,
        graph: TransitionGraph,
        device: torch.device | str = "cpu",
        dtype: torch.dtype = torch.float64,
    ) -> Recap:
        """The trained RECAP in evaluation mode.

        In float64 a case's scores do not depend on the batch it is scored in.

        Raises:
            CheckpointError: it holds a published model.
            VocabularyError: another dataset.
            MissingTensorError: weights and configuration do not fit.
        """
        config = self.recap_training.model
        if config.has_curves and self.manifest.features != describe_features():
            raise CheckpointError(f"{self.folder.name}: its curves read other features than this version; train again")
        return self._filled(dataset, lambda: Recap.for_dataset(config, dataset, graph, dtype), device)

    def build_published(
        self, dataset: Dataset, graph: TransitionGraph, device: torch.device | str = "cpu"
    ) -> PublishedNetwork:
        """The trained published model in evaluation mode.

        Raises:
            CheckpointError: it holds RECAP.
            VocabularyError: another dataset.
            MissingTensorError: weights and configuration do not fit.
        """
        train = self.manifest.train
        if isinstance(train, TrainConfig):
            raise CheckpointError(f"{self.folder.name} is a RECAP checkpoint, not a published model")
        return self._filled(dataset, lambda: build_published(train, City.of(dataset, graph), torch.float64), device)

    def _filled(self, dataset: Dataset, build: Callable[[], Model], device: torch.device | str) -> Model:
        self.check_dataset(dataset)
        tensors, _ = load_tensors(self.folder / WEIGHTS)
        if isinstance(self.manifest.train, TrainConfig):
            self._check_sizes(self.manifest.train.model, tensors)
        with Unfilled():
            model = build()
        load_weights(model, tensors, f"{self.folder.name}/{WEIGHTS}")
        return model.to(device).eval()

    def _check_sizes(self, size: ModelConfig, tensors: dict[str, torch.Tensor]) -> None:
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
        """The trained model as a scorer, RECAP at its kept stage."""
        if not self.is_recap:
            return PublishedScorer(self.build_published(dataset, graph, device))
        return RecapScorer(self.build_model(dataset, graph, device), self.stage, self.manifest.model)

    def read_summary(self) -> TrainingSummary:
        """The training's cost and test metrics."""
        path = self.folder / SUMMARY
        try:
            summary: TrainingSummary = read_json(path)
        except (OSError, ValueError) as error:
            raise CheckpointError(f"{path} cannot be read ({error})") from error
        if not isinstance(summary, dict):
            raise CheckpointError(f"{path} must contain one object")
        return summary


def hash_users(dataset: Dataset) -> str:
    """SHA-256 of the user ids: a checkpoint recognises its users without naming them."""
    return hashlib.sha256("\n".join(dataset.users[c.USER_ID].astype(str)).encode()).hexdigest()


def write_vocabulary(dataset: Dataset, path: Path) -> None:
    """Write the POIs a model knows, in index order."""
    table = pa.Table.from_pandas(pd.DataFrame(dataset.pois[_VOCABULARY_COLUMNS]), preserve_index=False)
    pq.write_table(table, path, compression="zstd")


def write_checkpoint(folder: Path, manifest: CheckpointManifest, summary: TrainingSummary) -> str:
    """Write manifest, summary, card and, last, SHA256SUMS; weights and vocabulary are already there."""
    replace_json(folder / SUMMARY, summary)
    replace_text(folder / CARD, model_card(manifest, summary))
    replace_text(folder / MANIFEST, manifest.model_dump_json(indent=2) + "\n")
    names = [MANIFEST, WEIGHTS, BEST_OVERALL_WEIGHTS, VOCABULARY, SUMMARY, CARD]
    return write_sums(folder, [name for name in names if name != BEST_OVERALL_WEIGHTS or (folder / name).is_file()])


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
    starts = train.model.prior.start == "pretrained"
    unsaid = {} if starts else {"model": {"prior": {"start": True}}}
    return unsaid | ({"train_on": True} if train.train_on == "cases" else {})


def model_card(manifest: CheckpointManifest, summary: TrainingSummary) -> str:
    """Markdown: what was trained on what, how good it is, and what not to use it for."""
    train, stage = manifest.train, manifest.best.stage
    same_epoch = manifest.best.epoch == manifest.best_overall.epoch
    return (
        render(
            "model_card.md.j2",
            manifest=manifest,
            summary=summary,
            title="RECAP" if isinstance(train, TrainConfig) else train.label,
            inactive=None if isinstance(train, PublishedConfig) or stage is None else stage.inactive_parts(train.model),
            scorers={manifest.model: summary["test"], **summary["baselines"]},
            best_overall_weights=WEIGHTS if same_epoch else BEST_OVERALL_WEIGHTS,
            configuration=train.model_dump_json(indent=2, exclude=_unsaid(train)),
        )
        + "\n"
    )
