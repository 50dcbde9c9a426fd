"""`pretrained`: curves learned elsewhere, fitted to any dataset in seconds; a checkpoint in memory."""

from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

import torch

from recap.baselines import PRETRAINED, PRETRAINED_SUBJECT
from recap.checkpoint import Checkpoint, CheckpointManifest, EpochResult
from recap.data.dataset import Dataset
from recap.errors import CheckpointError, RecapError
from recap.history.graph import TransitionGraph
from recap.model.config import Stage
from recap.model.recap import Recap
from recap.presets import feature_curves, with_time_given
from recap.pretrained.adaptation import Adaptation, can_fit
from recap.pretrained.curves_file import MAKE_AGAIN, PretrainedCurves
from recap.probabilities import UNFITTED, Temperature
from recap.scores import TargetTime
from recap.storage.atomic import replace_json
from recap.storage.json_text import read_json
from recap.storage.user_folder import user_subfolder
from recap.training_config import TrainingSummary


@dataclass(frozen=True, eq=False)
class PretrainedCheckpoint(Checkpoint):
    """The package's curves for one dataset; ``folder`` is its name alone.

    Attributes:
        is_given_time: asked where at a given time.
        keep: whether the fitted numbers are written to the user's cache; they are read in any case.
    """

    curves: PretrainedCurves = field(kw_only=True)
    dataset: Dataset = field(kw_only=True)
    keep: bool = True
    _fitted: list[Adaptation] = field(default_factory=list, init=False, repr=False)

    @classmethod
    def of(
        cls,
        dataset: Dataset,
        curves: PretrainedCurves | None = None,
        *,
        keep: bool = True,
        given_time: bool = False,
    ) -> Self:
        """The checkpoint for a dataset; raises CheckpointError if the package's file does not fit this version."""
        curves = curves or PretrainedCurves.packaged()
        changes = ["preset=pretrained", "epochs=1", "model.prior.start=pretrained", "given_time=false"]
        config = feature_curves().override([*changes, f"model.prior.given_time={str(given_time).lower()}"])
        epoch = EpochResult(epoch=1, stage=Stage(), val={})
        manifest = CheckpointManifest.of(dataset, config, epoch, epoch).model_copy(update={"model": PRETRAINED})
        key = curves.key(dataset.hash, given_time=given_time)
        return cls(Path(PRETRAINED), manifest, key, is_given_time=given_time, curves=curves, keep=keep, dataset=dataset)

    @property
    def label(self) -> str:
        return with_time_given(PRETRAINED_SUBJECT) if self.is_given_time else PRETRAINED_SUBJECT

    @property
    def target_time(self) -> TargetTime:
        if self.is_given_time:
            return "must"
        return "can" if self.curves.given_time else "cannot"

    @property
    def given_time(self) -> "PretrainedCheckpoint":
        if self.target_time == "cannot":
            raise CheckpointError(f"these pretrained curves cannot read the time of the next check-in; {MAKE_AGAIN}")
        return self.of(self.dataset, self.curves, keep=self.keep, given_time=True)

    @property
    def learned_on(self) -> str:
        """The cities in words; says whether this very dataset, prepared as there, is among them, and whether the curves
        are scaled to it.
        """
        is_among = self.manifest.dataset_hash in {city.dataset_hash for city in self.curves.cities}
        among, scaled = ", this data's training weeks among them", ", scaled to this data"
        return self.curves.learned_on + among * is_among + scaled * (self.fitted is not None)

    def match(self, dataset: Dataset) -> None:
        """Curves know no user and no place, so they fit every dataset."""

    def read_summary(self) -> TrainingSummary:
        raise CheckpointError(f"{PRETRAINED} was not trained on this data, so it has no summary: use `recap evaluate`")

    def build_model(self, dataset: Dataset, graph: TransitionGraph, device: torch.device | str = "cpu") -> Recap:
        """The curves over a dataset's places, as `fit` fitted them."""
        model = self._unfitted(dataset, graph)
        if self.fitted is not None:
            self.fitted.put_into(model)
        return model.to(device)

    def fit(self, dataset: Dataset, graph: TransitionGraph) -> Self:
        """Fit the curves to the dataset, a matter of seconds; the numbers are kept in the user's cache."""
        if (adaptation := Adaptation.fit(self._unfitted(dataset, graph), dataset, graph)) is not None:
            self._fitted.append(adaptation)
            if self.keep:
                with suppress(RecapError, OSError):  # not writable: fit at every start
                    replace_json(user_subfolder("cache", make=True) / self._cache_file.name, adaptation.model_dump())
        return self

    def _unfitted(self, dataset: Dataset, graph: TransitionGraph) -> Recap:
        model = Recap(self.recap_training.model, dataset, graph, torch.float64).eval()
        assert model.curves is not None
        self.curves.fill(model.curves.curves)
        return model

    @property
    def fitted(self) -> Adaptation | None:
        """The numbers fitted to the dataset; None before, or with too few validation cases."""
        if not self._fitted:
            with suppress(RecapError, OSError, ValueError):
                self._fitted.append(Adaptation.parse(read_json(self._cache_file)))
        return self._fitted[-1] if self._fitted else None

    @property
    def temperature(self) -> Temperature:
        return UNFITTED if self.fitted is None else self.fitted.temperature

    @property
    def is_unfitted(self) -> bool:
        return self.fitted is None

    @property
    def waits_for_fit(self) -> bool:
        """Whether `fit` was not done before and has enough validation cases."""
        return self.is_unfitted and can_fit(self.dataset)

    @property
    def _cache_file(self) -> Path:
        return user_subfolder("cache") / f"pretrained-{self.hash[:16]}.json"
