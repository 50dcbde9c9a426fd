"""Training of RECAP (Algorithm 1): curriculum, losses, parameter groups.

Shape suffixes: N training cases, B cases of a batch.
"""

from contextlib import AbstractContextManager, nullcontext
from functools import cached_property
from typing import ClassVar, Final

import numpy as np
import torch
from torch import Tensor

from recap import columns as c
from recap.data.cases import latest_cases
from recap.errors import ConfigError
from recap.history.graph import TAIL_MAX_COUNT
from recap.history.tensors import CaseBatch, Histories
from recap.model.config import Stage
from recap.model.curves import Curves
from recap.model.kept_features import KeptFeatures
from recap.model.recap import Recap
from recap.model.sampled import sampled_scores
from recap.model.scorer import RecapScorer
from recap.pretrained.curves_file import PretrainedCurves
from recap.training.group import SharedMaskDropout
from recap.training.loop import TrainingLoop
from recap.training.losses import NegativeSampler, sampled_losses, training_losses
from recap.training.optimiser import build_optimiser, set_learning_rates
from recap.training_config import TrainConfig

CURVE_SPREAD: Final = 0.1
"""Standard deviation of increments around the pretrained curves, in score points; for all cities."""


class Trainer(TrainingLoop):
    """Trains one RECAP."""

    losses: ClassVar = ("main", "warm")
    config: TrainConfig
    model: Recap

    def _build(self) -> None:
        dataset, config, device = self.dataset, self.config, self.device
        learned = dataset.cases(c.TRAIN, "every_step" if config.train_on == "cases" else "every_next")
        row_N = latest_cases(dataset.checkins, learned, config.latest_share)
        poi_T = dataset.checkins[c.POI].to_numpy()
        warm_N = self.graph.count(poi_T[row_N], poi_T[row_N + 1]) > TAIL_MAX_COUNT
        self.row_N = torch.from_numpy(row_N).to(device)
        self.warm_N = torch.from_numpy(warm_N).to(device)
        self.model = Recap(config.model, dataset, self.graph).to(device)
        if config.compile and config.model.has_encoder:
            self.model.backbone.compile(dynamic=True)
        starts = config.model.has_curves and config.model.prior.start == "pretrained"
        self.pretrained = self.pretrained or PretrainedCurves.packaged() if starts else None
        self.sampler: NegativeSampler | None = None
        if config.sampled_softmax is not None:
            if self.group.is_shared:
                raise ConfigError("a sampled softmax trains in one process; ask for one")
            popularity_P = torch.tensor(dataset.pois[c.TRAIN_CHECKINS].to_numpy(np.float64), device=device)
            self.sampler = NegativeSampler(popularity_P, config.sampled_softmax)
            if config.model.has_encoder:
                self.model.poi_embedding.sparse = self.model.backbone.user_embedding.sparse = True
        self.optimiser = build_optimiser(self.model, config.optimiser, sparse=self.sampler is not None)

    @property
    def num_examples(self) -> int:
        return len(self.row_N)

    def stage(self, epoch: int) -> Stage:
        return self.config.curriculum.at(epoch)

    def is_complete(self, epoch: int) -> bool:
        model = self.config.model
        return self.stage(epoch).inactive_parts(model) == Stage().inactive_parts(model)

    def scorer(self, epoch: int) -> RecapScorer:
        return RecapScorer(self.model, self.stage(epoch))

    def begin(self) -> None:
        curves = self.model.curves
        if curves is not None and self.pretrained is None:
            curves.curves.place_knots(curves.knot_values(self.histories))
        elif curves is not None and self.pretrained is not None:
            self.pretrained.fill(curves.curves)

    @cached_property
    def _kept(self) -> KeptFeatures | None:
        curves = self.model.curves
        return None if curves is None else KeptFeatures.compute(curves, self.histories)

    def let_go(self) -> None:
        self.__dict__.pop("_kept", None)  # the features too
        super().let_go()

    @property
    def histories(self) -> Histories:
        """What is known at every training case."""
        return CaseBatch(self.checkins, self.row_N).histories(target_time=self.config.model.reads_target_time)

    def begin_epoch(self, epoch: int) -> dict[str, float]:
        self._epoch, self._stage, self._order_N = epoch, self.stage(epoch), self._epoch_order(epoch)
        return self._set_rates(0)

    def _set_rates(self, position: int) -> dict[str, float]:
        passes = self._epoch - 1 + position / self.num_examples
        return set_learning_rates(
            self.optimiser, self._stage, self.config.optimiser.scale_at(passes, self.config.epochs)
        )

    def _learn(self, positions: slice) -> Tensor:
        if self.config.optimiser.schedule is not None:
            self._set_rates(positions.start)
        self.model.train()
        whole_B = self._order_N[positions]
        index_B = self.group.share(whole_B)
        if not len(index_B):
            self.optimiser.zero_grad(set_to_none=True)
            self._update()
            return torch.zeros((), device=self.device)
        # Turn means over shares into means over the batch: weight them by their number of cases.
        main_part = len(index_B) / len(whole_B)
        warm_part = int(self.warm_N[index_B].sum()) / max(1, int(self.warm_N[whole_B].sum()))
        fast = self.config.precision == "bf16"
        words = fast and self.device.type == "cpu"
        masks: AbstractContextManager[object] = nullcontext()
        if self.group.is_shared or words:
            masks = SharedMaskDropout(len(whole_B), self.group.rank, self.group.size, words=words)
        with torch.autocast(self.device.type, torch.bfloat16, enabled=fast), masks:
            objective, warm = self._losses(index_B, self._stage.warm_weight * warm_part / main_part)
        main = objective.detach()
        if self.model.curves is not None:
            objective = objective + self._penalty(self.model.curves.curves)
        self.optimiser.zero_grad(set_to_none=True)
        (objective * main_part).backward()
        self._update()
        self._loss_sums += torch.stack([main * main_part, warm * warm_part]).double()
        return main

    @cached_property
    def _held_FK(self) -> Tensor | None:
        """Increments of the pretrained curves."""
        if self.pretrained is None:
            return None
        assert self.model.curves is not None
        curves = Curves(self.model.curves.of)
        self.pretrained.fill(curves)
        return curves.step_FK.detach().to(self.device)

    def _penalty(self, curves: Curves) -> Tensor:
        """Roughness, or the negative log of a Gaussian around the pretrained curves, for one of the cases."""
        if self._held_FK is None:
            return self.config.optimiser.curve_smoothing * curves.roughness()
        squared = (curves.step_FK - self._held_FK).square().sum()
        return squared / (2.0 * CURVE_SPREAD**2 * self.num_examples)

    def _losses(self, index_B: Tensor, warm_weight: float) -> tuple[Tensor, Tensor]:
        """`training_losses` of some cases."""
        batch, warm_B = CaseBatch(self.checkins, self.row_N[index_B]), self.warm_N[index_B]
        if self.sampler is None:
            histories = batch.histories(target_time=self.config.model.reads_target_time)
            values = None if self._kept is None else self._kept.take(histories, index_B)
            scores = self.model(histories, self._stage, values=values)
            return training_losses(scores, batch.target_B, warm_B, warm_weight, self.config.label_smoothing)
        poi_U, log_weight_U = self.sampler.draw()
        return sampled_losses(sampled_scores(self.model, batch, self._stage, poi_U), log_weight_U, warm_B, warm_weight)
