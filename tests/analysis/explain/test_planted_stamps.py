"""Stamps of a trained RECAP: the two-hop token holds where it carries the signal, not where labels are permuted."""

from pathlib import Path

import numpy as np
import pytest

from analysis.explain.edited_case import build_edited_case
from analysis.explain.siblings import permute_labels
from analysis.explain.stamps import RowStamp, stamp_rows
from analysis.records.removals import describe_removals
from recap.data.dataset import Dataset
from recap.predictor import Predictor
from recap.training_config import Curriculum, OptimiserConfig, TrainConfig
from tests.analysis.planted import train_checkpoint
from tests.test_planted_worlds import two_hop_world
from tests.worlds import small_model_config

SIZES = {
    "poi_dim": 16,
    "hidden_dim": 32,
    "num_layers": 1,
    "feedforward_dim": 32,
    "graph_dim": 32,
    "suffix_length": 1,
    "embedding_dropout": 0.8,
    "output_dropout": 0.1,
}


def token_stamps(dataset: Dataset, folder: Path) -> list[RowStamp]:
    """Stamps of the two-hop token over forty test cases, by three seeds of RECAP as in the paper."""
    predictors = []
    for seed in range(3):
        config = TrainConfig(
            epochs=6,
            batch_size=64,
            seed=seed,
            validate_every=6,
            model=small_model_config(**SIZES),
            curriculum=Curriculum(staged=False, warm_weight=0.0),
            optimiser=OptimiserConfig(learning_rate=5e-3, prior_learning_rate=5e-2),
        )
        predictors.append(Predictor(train_checkpoint(dataset, config, folder / f"seed-{seed}"), dataset))
    first, *siblings = predictors
    numbers = np.random.default_rng(0).permutation(len(first.cases))[:40]
    seeds = {seed: describe_removals(sibling, sibling.cases) for seed, sibling in enumerate(siblings)}
    found = []
    for number in numbers.tolist():
        edited_case = build_edited_case(first, number)
        stamps = stamp_rows(edited_case, edited_case.target, seeds=seeds)
        found += [stamp for stamp in stamps if stamp.row == "graph_token"]
    return found


@pytest.mark.slow
def test_the_token_holds_with_the_signal_and_fails_without(tmp_path: Path) -> None:
    """Real two-hop steps: most stamps hold; training check-ins permuted: nine of ten fail.

    The world has twenty groups, so that about one placebo in twenty stands in the group of the case and says as much.
    """
    world = two_hop_world(0)
    real, permuted = token_stamps(world, tmp_path / "real"), token_stamps(permute_labels(world, 0), tmp_path / "none")
    assert np.mean([stamp.verdict == "holds" for stamp in real]) > 0.6
    assert np.mean([stamp.verdict == "holds" for stamp in permuted]) <= 0.1
