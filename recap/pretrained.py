"""`pretrained`: curves learned elsewhere as a checkpoint in memory, for every dataset and without training."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self

import torch

from recap import columns as c
from recap.baselines import PRETRAINED
from recap.checkpoint import Checkpoint, CheckpointManifest, EpochResult
from recap.data.dataset import Dataset
from recap.errors import CheckpointError, RecapError
from recap.evaluation.cases import draw_cases
from recap.graph import TransitionGraph
from recap.history import CaseBatch, CheckinTensors
from recap.model.config import Stage
from recap.model.pretrained_curves import PretrainedCurves, pretrained_key
from recap.model.recap import Recap
from recap.presets import feature_curves
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
        keep: whether the fitted shift is written to the user's cache.
    """

    curves: PretrainedCurves
    keep: bool = True

    @classmethod
    def of(cls, dataset: Dataset, curves: PretrainedCurves | None = None, *, keep: bool = True) -> Self:
        """The checkpoint for a dataset; raises CheckpointError if the package's file does not fit this version."""
        curves = curves or PretrainedCurves.load()
        config = feature_curves().override(["preset=pretrained", "epochs=1", "model.prior.start=pretrained"])
        epoch = EpochResult(epoch=1, stage=Stage(), val={})
        manifest = CheckpointManifest.of(dataset, config, epoch, epoch).model_copy(update={"model": PRETRAINED})
        return cls(Path(PRETRAINED), manifest, pretrained_key(dataset.hash, curves), curves, keep)

    @property
    def label(self) -> str:
        return "Pretrained RECAP"

    @property
    def learned_on(self) -> str:
        """The cities in words, and whether this dataset is among them."""
        is_among = self.manifest.dataset_hash in {city.dataset_hash for city in self.curves.cities}
        here = "this data's training weeks among them" if is_among else "not on this data"
        return f"{self.curves.learned_on}, {here}"

    def match(self, dataset: Dataset) -> None:
        """Curves know no user and no place, so they fit every dataset."""

    def read_summary(self) -> TrainingSummary:
        raise CheckpointError(f"{PRETRAINED} was not trained on this data, so it has no summary: use `recap evaluate`")

    def build_model(
        self,
        dataset: Dataset,
        graph: TransitionGraph,
        device: torch.device | str = "cpu",
        dtype: torch.dtype = torch.float64,
    ) -> Recap:
        """The curves over a dataset's places, with the shift of new places that its validation cases ask for."""
        model = Recap.for_dataset(self.recap_training.model, dataset, graph, dtype)
        assert model.curves is not None
        self.curves.fill(model.curves.curves)
        shift = self._kept_shift()
        if shift is None:
            shift = fit_new_places(model, dataset)
            if self.keep and shift is not None:
                self._keep_shift(shift)
        model.curves.new_places = shift
        return model.to(device).eval()

    @property
    def _cache_file(self) -> Path:
        return user_subfolder("cache") / f"pretrained-{self.hash[:16]}.json"

    def _kept_shift(self) -> float | None:
        try:
            return float(read_json(self._cache_file)["new_places"])
        except (RecapError, OSError, ValueError, KeyError, TypeError):
            return None

    def _keep_shift(self, shift: float) -> None:
        try:
            replace_json(user_subfolder("cache", make=True) / self._cache_file.name, {"new_places": shift})
        except (RecapError, OSError):  # not writable: fit at every start
            return


def fit_new_places(model: Recap, dataset: Dataset) -> float | None:
    """Points of all places new to the user at the highest likelihood of known against new validation targets.

    None with fewer than `LEAST_CASES` validation cases. At most `_MOST_CASES` are read, always the same sample.
    """
    rows = draw_cases(dataset.cases(c.VAL, "every_next"), _MOST_CASES)
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
