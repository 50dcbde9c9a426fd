"""`pretrained`: curves learned elsewhere as a checkpoint in memory, for every dataset and without training."""

from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Self

import torch
from pydantic import Field

from recap import columns as c
from recap.baselines import PRETRAINED_LABELS, pretrained_as_subject
from recap.checkpoint import Checkpoint, CheckpointManifest, EpochResult
from recap.config import Config
from recap.data.cases import Protocol
from recap.data.dataset import Dataset
from recap.errors import CheckpointError, RecapError
from recap.evaluation.cases import describe_cases, draw_cases
from recap.evaluation.temperature import fit_temperature
from recap.graph import TransitionGraph
from recap.history import CaseBatch, CheckinTensors
from recap.model.config import Stage
from recap.model.pretrained_curves import PretrainedCurves
from recap.model.recap import Recap
from recap.model.scorer import RecapScorer
from recap.presets import feature_curves
from recap.probabilities import UNFITTED, Temperature
from recap.storage.atomic import replace_json
from recap.storage.json_text import read_json
from recap.storage.user_folder import user_subfolder
from recap.training_config import TrainingSummary

LEAST_CASES: Final = 50
"""Fewer validation cases leave new places where the other cities have them."""
_MOST_CASES: Final = 1_000
_CASES_AT_ONCE: Final = 128
_FURTHEST: Final = 3.0
"""Points by which new places move at most."""


@dataclass(frozen=True, eq=False)
class PretrainedCheckpoint(Checkpoint):
    """The package's curves for one dataset; ``folder`` is its name alone.

    Attributes:
        keep: whether the fitted numbers are written to the user's cache.
    """

    curves: PretrainedCurves
    keep: bool = True
    _fitted: "list[Fitted]" = field(default_factory=list, init=False, repr=False)

    @classmethod
    def of(cls, dataset: Dataset, curves: PretrainedCurves | None = None, *, keep: bool = True) -> Self:
        """The checkpoint for a dataset, of `pretrained` by default; raises CheckpointError: the file does not fit."""
        curves = curves or PretrainedCurves.named()
        config = feature_curves().override(["preset=pretrained", "epochs=1", "model.prior.start=pretrained"])
        epoch = EpochResult(epoch=1, stage=Stage(), val={})
        manifest = CheckpointManifest.of(dataset, config, epoch, epoch).model_copy(update={"model": curves.name})
        return cls(Path(curves.name), manifest, curves.key(dataset.hash), curves, keep)

    @property
    def label(self) -> str:
        return pretrained_as_subject(PRETRAINED_LABELS[self.curves.name])

    @property
    def learned_on(self) -> str:
        """The cities in words; says so where this very dataset is among them, prepared as there."""
        is_among = self.manifest.dataset_hash in {city.dataset_hash for city in self.curves.cities}
        return self.curves.learned_on + (", this data's training weeks among them" if is_among else "")

    def match(self, dataset: Dataset) -> None:
        """Curves know no user and no place, so they fit every dataset."""

    def read_summary(self) -> TrainingSummary:
        raise CheckpointError(f"{self.folder} was not trained on this data, so it has no summary: use `recap evaluate`")

    def build_model(self, dataset: Dataset, graph: TransitionGraph, device: torch.device | str = "cpu") -> Recap:
        """The curves over a dataset's places, with the shift of new places that its validation cases ask for."""
        model = Recap(self.recap_training.model, dataset, graph, torch.float64).eval()
        assert model.curves is not None
        self.curves.fill(model.curves.curves)
        if self.fitted is None:
            self._fit(model, dataset, graph)
        else:
            model.curves.new_places = self.fitted.new_places
        return model.to(device)

    def _fit(self, model: Recap, dataset: Dataset, graph: TransitionGraph) -> None:
        """Fit the shift, put it into the model, fit the temperature of the shifted scores, and keep both."""
        shift = fit_new_places(model, dataset, self.curves.protocol)
        if shift is None:
            return
        assert model.curves is not None
        model.curves.new_places = shift
        cases = describe_cases(dataset, graph, c.VAL, self.curves.protocol, most=_MOST_CASES)
        temperature = fit_temperature(RecapScorer(model, Stage()), cases, CheckinTensors.from_dataset(dataset))
        if temperature is None:
            return
        self._fitted.append(Fitted(new_places=shift, temperature=temperature))
        if self.keep:
            with suppress(RecapError, OSError):  # not writable: fit at every start
                path = user_subfolder("cache", make=True) / self._cache_file.name
                replace_json(path, self._fitted[-1].model_dump())

    @property
    def fitted(self) -> "Fitted | None":
        """The numbers fitted to the dataset's validation cases; None before, or with too few cases."""
        if not self._fitted:
            with suppress(RecapError, OSError, ValueError):
                self._fitted.append(Fitted.parse(read_json(self._cache_file)))
        return self._fitted[-1] if self._fitted else None

    @property
    def temperature(self) -> Temperature:
        return UNFITTED if self.fitted is None else self.fitted.temperature

    @property
    def is_unfitted(self) -> bool:
        return self.fitted is None

    @property
    def _cache_file(self) -> Path:
        return user_subfolder("cache") / f"pretrained-{self.hash[:16]}.json"


class Fitted(Config):
    """What `pretrained` learns of a dataset from its validation cases, in seconds."""

    new_places: float = Field(ge=-_FURTHEST, le=_FURTHEST, description="Points of all places new to the user.")
    temperature: Temperature = Field(description="Turns scores into probabilities.")


def fit_new_places(model: Recap, dataset: Dataset, protocol: Protocol = "every_next") -> float | None:
    """Points of all places new to the user at the highest likelihood of known against new validation targets. None with
    fewer than `LEAST_CASES` validation cases. At most `_MOST_CASES` are read, always the same sample.
    """
    rows = draw_cases(dataset.cases(c.VAL, protocol), _MOST_CASES)
    if len(rows) < LEAST_CASES:
        return None
    checkins, odds, is_new = CheckinTensors.from_dataset(dataset), [], []
    for row_B in torch.from_numpy(rows).split(_CASES_AT_ONCE):
        batch = CaseBatch(checkins, row_B)
        histories = batch.histories()
        with torch.inference_mode():
            total_BP = model(histories, Stage()).total
        known_BP = histories.known_places(dataset.num_pois)
        new_B, known_B = (total_BP.masked_fill(mask, -torch.inf).logsumexp(1) for mask in (known_BP, ~known_BP))
        odds.append(new_B - known_B)
        is_new.append(~known_BP.gather(1, batch.target_B[:, None])[:, 0])
    odds_N, new = torch.cat(odds), float(torch.cat(is_new).sum())
    low, high = -_FURTHEST, _FURTHEST
    while high - low > 1e-3:  # the expected number of new targets rises with the shift
        middle = (low + high) / 2
        low, high = (middle, high) if float(torch.sigmoid(odds_N + middle).sum()) < new else (low, middle)
    return round((low + high) / 2, 2)
