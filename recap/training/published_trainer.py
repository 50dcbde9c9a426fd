"""Training of published models: examples in a new order each epoch, one loss, one Adam.

Shape suffixes: N examples, B examples of a batch.
"""

import torch
from torch import Tensor

from recap.errors import ConfigError, DataError
from recap.evaluation.metrics import Metrics
from recap.published.configs import PublishedConfig
from recap.published.network import City, PublishedNetwork, PublishedScorer
from recap.published.registry import build_published
from recap.training.loop import TrainingLoop


class PublishedTrainer(TrainingLoop):
    """Trains one published model. Raises ConfigError: more than one process; DataError: the training split has nothing
    to learn from.
    """

    config: PublishedConfig
    model: PublishedNetwork

    def _build(self) -> None:
        config = self.config
        if self.group.is_shared:
            raise ConfigError(f"{config.title} trains in one process; ask for one")
        self.model = build_published(config, City.of(self.dataset, self.graph)).to(self.device)
        self.examples = self.model.examples(self.dataset, self.checkins)
        if not len(self.examples):
            raise DataError("the training split has no two check-ins in a row to learn from; prepare more check-ins")
        kind = {"adam": torch.optim.Adam, "adamw": torch.optim.AdamW}[config.algorithm]
        parameters = [parameter for parameter in self.model.parameters() if parameter.requires_grad]
        self.optimiser = kind(
            parameters,
            lr=config.learning_rate,
            betas=(0.9, config.second_moment),
            weight_decay=config.weight_decay,
            fused=True,
        )

    @property
    def num_examples(self) -> int:
        return len(self.examples)

    def scorer(self, epoch: int) -> PublishedScorer:
        return PublishedScorer(self.model)

    def begin(self) -> None:
        self.model.prepare(City.of(self.dataset, self.graph))

    def begin_epoch(self, epoch: int) -> dict[str, float]:
        self.model.begin_epoch(epoch, fresh=self.progress.step == 0)
        self._order_N = self._epoch_order(epoch)
        rate = self.config.rate_at(epoch) * self.progress.schedule.get("scale", 1.0)
        for group in self.optimiser.param_groups:
            group["lr"] = rate
        return {"all": rate}

    def _learn(self, positions: slice) -> Tensor:
        self.model.train()
        loss = self.model.loss(self.examples.batch(self._order_N[positions]))
        self.optimiser.zero_grad(set_to_none=True)
        loss.backward()
        if self.config.clip_norm is not None:
            torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.config.clip_norm)
        self._update()
        self._loss_sums += loss.detach().double()
        return loss.detach()

    def _keep_best(self, val: Metrics) -> None:
        super()._keep_best(val)
        if self.config.patience is None:
            return
        schedule, mrr = self.progress.schedule, val["mrr"] or 0.0
        if mrr > schedule.get("best", -1.0):
            schedule |= {"best": mrr, "waited": 0.0}
            return
        schedule["waited"] = schedule.get("waited", 0.0) + 1
        if schedule["waited"] >= self.config.patience:
            schedule |= {"waited": 0.0, "scale": schedule.get("scale", 1.0) * self.config.decay_factor}
