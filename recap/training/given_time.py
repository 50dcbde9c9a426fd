"""The second set of curves of a training: where at a given time."""

import shutil
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from recap import columns as c
from recap.baselines.at_time import VisitCountAtTime
from recap.checkpoint import GIVEN_TIME_WEIGHTS, Checkpoint, CheckpointManifest, GivenTime, features_read
from recap.evaluation.cases import describe_cases
from recap.evaluation.metrics import MetricsByGroup, metrics_by_group
from recap.evaluation.scoring import rank_cases
from recap.evaluation.temperature import fit_temperature, most_cases
from recap.model.curves import KNOTS, STEPS
from recap.presets import feature_curves
from recap.scores import Scorer
from recap.storage.tensors import load_tensors, save_tensors
from recap.training.loop import BEST, STATE_FILE, StepReport, StopRequest, Watcher
from recap.training.trainer import Trainer
from recap.training_config import TrainConfig

FOLDER: Final = "given_time"
"""Inside a training's folder."""


def given_time_config(config: TrainConfig) -> TrainConfig:
    """The configuration that trains the curves for a given time: curves alone, on every next check-in, with the start
    of the first set.
    """
    alone = feature_curves()
    prior = config.model.prior.model_copy(update={"given_time": True})
    model = alone.model.model_copy(update={"prior": prior, "use_history": config.model.use_history})
    rate = config.optimiser.prior_learning_rate
    optimiser = alone.optimiser.model_copy(update={"prior_learning_rate": rate})
    as_alone = ("preset", "curriculum", "label_smoothing", "precision", "compile")
    changes = {"model": model, "optimiser": optimiser, "train_on": "every_next", "select_on": "every_next"}
    changes |= {"given_time": False, "validate_every": config.epochs}
    return config.model_copy(update=changes | {name: getattr(alone, name) for name in as_alone})


@dataclass(frozen=True)
class GivenTimeTraining:
    """Trains them in a folder inside that of ``first``, the finished training of the first set; resumable like it."""

    first: Trainer

    @property
    def folder(self) -> Path:
        return self.first.folder / FOLDER

    def run(self, watch: Watcher, stop: StopRequest, *, resume: bool) -> bool:
        """False if ``stop`` ended it early; the next call with ``resume`` continues."""
        first, epochs = self.first, self.first.config.epochs
        if first.group.is_writer:
            self.folder.mkdir(exist_ok=True)
        first.group.wait()
        own = (first.dataset, given_time_config(first.config), self.folder, first.device)
        trainer = Trainer(*own, group=first.group, pretrained=first.pretrained)
        if resume and (self.folder / STATE_FILE).is_file():
            trainer.resume()

        def goes_on(report: StepReport) -> None:
            """Continue the count of epochs after those of the first set."""
            watch(replace(report, epoch=epochs + report.epoch, epochs=2 * epochs))

        return trainer.run(goes_on, stop)

    def add_to(self, out: Path, manifest: CheckpointManifest) -> CheckpointManifest:
        """Write the curves into a checkpoint's folder and choose on validation whether its core is added to them; then
        fit their temperature.
        """
        tensors, _ = load_tensors(self.folder / BEST)
        save_tensors({name: tensors[name] for name in (KNOTS, STEPS)}, out / GIVEN_TIME_WEIGHTS)
        first, config = self.first, self.first.config
        most = min(config.validation_cases or 1 << 31, most_cases(first.dataset.num_pois))
        cases = describe_cases(first.dataset, first.graph, c.VAL, "every_next", most=most)
        features = features_read(given_time_config(config)) or []
        scorers, metrics = {}, {}
        for core in (False, True) if config.model.has_core else (False,):
            tried = GivenTime(core=core, features=features, best=manifest.best)
            scorers[core] = self._scorer(out, manifest.model_copy(update={"given_time": tried}))
            metrics[core] = metrics_by_group(rank_cases(scorers[core], cases, first.checkins))["all"]
        core = max(metrics, key=lambda core: metrics[core]["mrr"] or 0.0)
        val = {name: value for name, value in metrics[core].items() if isinstance(value, float)}
        temperature = fit_temperature(scorers[core], cases, first.checkins)
        best = manifest.best.model_copy(update={"val": val})
        own = GivenTime(core=core, features=features, best=best, temperature=temperature)
        shutil.rmtree(self.folder)
        return manifest.model_copy(update={"given_time": own})

    def test_metrics(self, out: Path, manifest: CheckpointManifest) -> dict[str, MetricsByGroup]:
        """Metrics of the model and of the counter that reads the time, over every next check-in of the test weeks."""
        first, scorer = self.first, self._scorer(out, manifest)
        cases = describe_cases(first.dataset, first.graph, c.TEST, "every_next", most=first.config.test_cases)
        counted = rank_cases(VisitCountAtTime(first.dataset), cases, first.checkins.to("cpu"))
        ranked = {"recap": rank_cases(scorer, cases, first.checkins), VisitCountAtTime.name: counted}
        return {name: metrics_by_group(table) for name, table in ranked.items()}

    def _scorer(self, out: Path, manifest: CheckpointManifest) -> Scorer:
        return Checkpoint(out, manifest, hash="").given_time.scorer(
            self.first.dataset, self.first.graph, self.first.device
        )
