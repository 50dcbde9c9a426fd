"""A small RECAP that trains in the toy town while the learner watches, with or without a part."""

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, Literal

import pandas as pd
import torch

from analysis.compare.paired import ComparisonRow, compare_means, comparison_rows
from analysis.learn.toy_town import ToyTown
from analysis.records.accuracy import metric_values
from recap import columns as c
from recap.evaluation.cases import describe_cases
from recap.evaluation.scoring import rank_cases
from recap.model.scorer import RecapScorer
from recap.training.trainer import Trainer
from recap.training_config import TrainConfig

LeftOut = Literal["graph", "history"]
"""What a variant leaves out: the graph token, or past visits."""

EPOCHS: Final = 8
_SIZES: Final[dict[str, Any]] = {
    "poi_dim": 16,
    "category_dim": 2,
    "hidden_dim": 32,
    "num_layers": 1,
    "num_heads": 2,
    "feedforward_dim": 32,
    "graph_dim": 32,
    "calibration_dim": 8,
    "suffix_length": 1,
    "embedding_dropout": 0.7,
    "output_dropout": 0.1,
}


def toy_config(*, lacks: LeftOut | None = None, seed: int = 0, epochs: int = EPOCHS) -> TrainConfig:
    """The configuration of a toy model.

    All parts act from the first epoch. Only the graph reads the first quarter of the training transitions, so the model
    cannot learn the closed houses by heart (see `analysis.learn.toy_town`).
    """
    model = _SIZES | {"use_graph": lacks != "graph", "use_history": lacks != "history"}
    return TrainConfig.parse(
        {
            "preset": "toy town",
            "epochs": epochs,
            "batch_size": 64,
            "seed": seed,
            "validate_every": epochs,
            "latest_share": 0.75,
            "model": model,
            "curriculum": {"staged": False, "warm_weight": 0.0},
            "optimiser": {"learning_rate": 5e-3, "prior_learning_rate": 5e-2},
        }
    )


def train_in_town(
    town: ToyTown, config: TrainConfig, report: Callable[[int, float], None] | None = None
) -> pd.DataFrame:
    """Train, and rank the town's test transitions after the last epoch, see `recap.evaluation.scoring.rank_cases`.

    Args:
        report: receives each epoch that has ended, and HR@1 over the town's test transitions.
    """
    with tempfile.TemporaryDirectory(prefix="recap-toy-") as folder:
        trainer = Trainer(town.dataset, config, Path(folder), torch.device("cpu"))
        cases = describe_cases(town.dataset, trainer.graph, c.TEST)
        ranked = cases

        def end_epoch(trainer: Trainer, epoch: int) -> None:
            nonlocal ranked
            scorer = RecapScorer(trainer.model, config.curriculum.at(epoch))
            ranked = rank_cases(scorer, cases, trainer.checkins)
            trainer.model.train()
            if report is not None:
                report(epoch, float(metric_values(ranked, "hr1").mean()))

        trainer.run(after_epoch=end_epoch)
    return ranked


def worth_of_part(whole: pd.DataFrame, without: pd.DataFrame) -> ComparisonRow:
    """HR@1 with a part (``value``) and without it (``baseline``), over the same test transitions."""
    (row,) = comparison_rows(compare_means([whole], [without], metrics=("hr1",), groups=("all",)))
    return row
