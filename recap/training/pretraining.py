"""Curves learned on several cities together: the file `pretrained.json`."""

import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

import numpy as np
import torch
from torch import Tensor

from recap import columns as c
from recap.data.dataset import Dataset
from recap.features.catalogue import feature_set
from recap.model.curves import Curves
from recap.presets import feature_curves
from recap.pretrained.curves_file import PretrainedCurves, TrainedCity
from recap.training.optimiser import build_optimiser
from recap.training.trainer import Trainer

_LAST_QUANTILE: Final = 0.999
"""The last knot is at this quantile, so that it is never one person's extreme."""
_ABOUT: Final = (
    "Curves of RECAP, learned from training weeks only. They read named features and know no place and no person."
)
_LEFT_OUT: Final = [
    "validation and test weeks",
    "users, places, coordinates, times and all rows",
    "the highest and lowest 0.1 % of each feature's values: knots end there",
    "digits after the fourth",
]


def pretrain(datasets: Sequence[Dataset], log: Callable[[str], None] = lambda _: None) -> PretrainedCurves:
    """Learn one set of curves for each question on every next check-in of all cities."""
    whenever, cases = _learn(datasets, log, given_time=False)
    given_time, _ = _learn(datasets, log, given_time=True)
    cities = [_describe(dataset, count) for dataset, count in zip(datasets, cases, strict=True)]
    return PretrainedCurves.of(whenever, given_time, cities, about=_ABOUT, left_out=_LEFT_OUT)


def _learn(datasets: Sequence[Dataset], log: Callable[[str], None], *, given_time: bool) -> tuple[Curves, list[int]]:
    """Train shared curves, as `feature_curves` is trained on one city. Steps of all cities alternate at random; each
    learning rate follows its city's own progress. Also returns the number of each city's cases.
    """
    asked = ["train_on=every_next", "validation_cases=1", f"model.prior.given_time={str(given_time).lower()}"]
    config = feature_curves().override(asked)
    with tempfile.TemporaryDirectory() as folder:
        trainers = [Trainer(dataset, config, Path(folder), torch.device("cpu")) for dataset in datasets]
    values = [_knot_values(trainer) for trainer in trainers]
    shared = Curves(feature_set(given_time=given_time))
    shared.place_knots([torch.cat(pieces) for pieces in zip(*values, strict=True)], _LAST_QUANTILE)
    for trainer in trainers:
        curves = _curves_of(trainer)
        curves.step_FK, curves.knot_FK1 = shared.step_FK, shared.knot_FK1
    optimiser = build_optimiser(trainers[0].model, config.optimiser)
    for trainer in trainers:
        trainer.optimiser = optimiser
    city_S = np.repeat(np.arange(len(trainers)), [trainer.steps_per_epoch for trainer in trainers])
    for epoch in range(1, config.epochs + 1):
        log(f"{'time given' if given_time else 'whenever'}: epoch {epoch} of {config.epochs}")
        for trainer in trainers:
            trainer.begin_epoch(epoch)
        taken = [0] * len(trainers)
        for city in np.random.default_rng([config.seed, epoch]).permutation(city_S):
            trainers[city].take_step(taken[city])
            taken[city] += 1
    return shared, [trainer.num_examples for trainer in trainers]


def _curves_of(trainer: Trainer) -> Curves:
    assert trainer.model.curves is not None
    return trainer.model.curves.curves


def _knot_values(trainer: Trainer) -> list[Tensor]:
    """See `CurvePrior.knot_values`; a city without categories has no values of features by category."""
    assert trainer.model.curves is not None
    values = trainer.model.curves.knot_values(trainer.histories)
    if trainer.dataset.num_categories > 1:
        return values
    of = trainer.model.curves.of
    _curves_of(trainer).disable(of.of_categories)
    return [x[:0] if name in of.of_categories else x for name, x in zip(of.names, values, strict=True)]


def _describe(dataset: Dataset, cases: int) -> TrainedCity:
    return TrainedCity(
        name=dataset.manifest.name,
        dataset_hash=dataset.hash,
        users=dataset.num_users,
        places=dataset.num_pois,
        checkins=int((dataset.checkins[c.SPLIT] == c.TRAIN).sum()),
        cases=cases,
    )
