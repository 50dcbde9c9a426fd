"""The model of a workspace: its name, its checkpoint, and what scores with it.

Nothing loads torch before it is needed: counts and kept records appear a second earlier.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from analysis.records.evaluation_records import MODEL_LABELS, is_time_given
from analysis.records.imported import ImportedPredictions
from analysis.workspace.opened_dataset import OpenedDataset
from recap.baselines import FEATURE_CURVES, PRETRAINED
from recap.errors import CheckpointError, ConfigError
from recap.presets import checkpoint_label, with_time_given
from recap.pretrained.curves_file import PretrainedCurves
from recap.published.configs import RECAP
from recap.storage.artifacts import CHECKPOINT_MANIFEST, SUMS
from recap.storage.cache_keys import given_time_key
from recap.storage.json_text import read_json

if TYPE_CHECKING:
    from recap.asking.predictor import CaseRanker, Predictor
    from recap.checkpoint import Checkpoint
    from recap.scores import Scorer
    from recap.vocabulary import Match

_NO_MODEL: Final = "no model is open: name a checkpoint folder, pretrained, a baseline or imported predictions"


@dataclass(frozen=True, eq=False)
class OpenedModel(OpenedDataset):
    """A dataset and, if one is named, a model.

    Attributes:
        model: a checkpoint's folder, the name of a baseline or `pretrained`, imported predictions, or None.
        given_time: whether the model is asked where at a given time.
    """

    model: Path | str | ImportedPredictions | None = None
    given_time: bool = False

    @cached_property
    def key(self) -> str:
        """Key of its records: a checkpoint's hash, a name, or that of an import; raises ConfigError without a model."""
        if isinstance(self.model, Path):
            sums = self.model / SUMS
            if not sums.is_file():
                return self._verified.hash
            own = hashlib.sha256(sums.read_bytes()).hexdigest()
            return given_time_key(own) if self.given_time else own
        if self.model is None:
            raise ConfigError(_NO_MODEL)
        if self.model == PRETRAINED:
            return PretrainedCurves.packaged().key(self.dataset.hash, given_time=self.given_time)
        return self.model if isinstance(self.model, str) else self.model.key

    @property
    def reads_time(self) -> bool:
        """Whether it knows the time of the next check-in: only such models stand side by side."""
        if isinstance(self.model, ImportedPredictions):
            return self.model.given_time
        return self.model is not None and (self.given_time or is_time_given(self.label))

    @cached_property
    def label(self) -> str:
        """Name of the model: a checkpoint's by its preset, a baseline's, or that of imported predictions."""
        if isinstance(self.model, Path):
            label = checkpoint_label(self._manifest.get("model", RECAP), self._manifest.get("train"))
            return with_time_given(label) if self.given_time else label
        if self.model is None:
            raise ConfigError(_NO_MODEL)
        if isinstance(self.model, str):
            label = MODEL_LABELS[self.model]
            return with_time_given(label) if self.given_time and self.model == PRETRAINED else label
        return self.model.name

    @property
    def has_parts(self) -> bool:
        """Whether scores are sums of parts that can be left out, as those of a trained RECAP are."""
        return self.model == PRETRAINED or (
            isinstance(self.model, Path) and self._manifest.get("model", RECAP) == RECAP
        )

    @cached_property
    def _manifest(self) -> Mapping[str, Any]:
        assert isinstance(self.model, Path)
        try:
            values = read_json(self.model / CHECKPOINT_MANIFEST)
        except (OSError, ValueError):
            return {}
        return values if isinstance(values, dict) else {}

    @property
    def checkpoint(self) -> "Checkpoint | None":
        """The verified checkpoint, or the one in memory of `pretrained`; None for another model.

        Raises CheckpointError where the folder has none or changed since, VocabularyError where it does not open.
        """
        if not self._has_checkpoint:
            return None
        if isinstance(self.model, Path) and self._verified.hash != self.key:
            raise CheckpointError(f"{self.model} changed while it was open; open it again")
        self.match  # noqa: B018 # refuses a checkpoint that does not open
        return self._verified

    @property
    def match(self) -> "Match | None":
        """Which users and places the checkpoint knows; None for another model or the checkpoint's own dataset."""
        return self._once("match", lambda: self._verified.match(self.dataset)) if self._has_checkpoint else None

    @property
    def _verified(self) -> "Checkpoint":
        from recap.asking.open_model import find_checkpoint

        model = self.model
        assert isinstance(model, str | Path)

        def find() -> "Checkpoint":
            checkpoint = find_checkpoint(model, self.dataset, keep=self.keep)
            return checkpoint.given_time if self.given_time else checkpoint

        return self._once("checkpoint", find)

    @property
    def _has_checkpoint(self) -> bool:
        return isinstance(self.model, Path) or self.model == PRETRAINED

    @property
    def scorer(self) -> "Scorer":
        """The model as a scorer, a checkpoint's in float64; raises ConfigError for imports and without a model."""
        return self.any_ranker.scorer

    @property
    def any_ranker(self) -> "CaseRanker":
        """The opened model, also a baseline; raises ConfigError for imports and without a model."""
        return self._once("ranker", self._open)

    @property
    def is_open(self) -> bool:
        """Whether the model can score at once."""
        return "ranker" in self._made

    @property
    def opening(self) -> str:
        """What opening the model does."""
        from recap.pretrained.checkpoint import PretrainedCheckpoint
        from recap.training.baselines import FITTING, is_fitted

        if self.model == FEATURE_CURVES:
            waits = not is_fitted(self.dataset.hash)
        else:
            checkpoint = self.checkpoint
            waits = isinstance(checkpoint, PretrainedCheckpoint) and checkpoint.waits_for_fit
        return FITTING.format(data=self.name) if waits else "Opening the model"

    def _open(self) -> "CaseRanker":
        from recap.asking.open_model import open_model

        if not isinstance(self.model, str | Path):
            refusal = "imported predictions are lists of places; no model can be asked again"
            raise ConfigError(_NO_MODEL if self.model is None else refusal)
        made: dict[str, Any] = {"graph": self.graph, "checkins": self.checkins, "keep": self.keep}
        return open_model(self.checkpoint or self.model, self.dataset, **made).with_cases(self.cases)

    @property
    def ranker(self) -> "CaseRanker":
        """The checkpoint for single and edited cases; raises ConfigError without one."""
        if self.checkpoint is None:
            raise ConfigError("no trained model is open: name a checkpoint folder or pretrained")
        return self.any_ranker

    @property
    def predictor(self) -> "Predictor":
        """The ranker of RECAP, whose scores are sums of contributions; raises CheckpointError for another model."""
        from recap.asking.predictor import Predictor

        self.ranker.checkpoint.recap_training  # noqa: B018 # refuses a published model in its own words
        assert isinstance(self.ranker, Predictor)
        return self.ranker
