"""One side of a comparison: a model's records of all cases, and those of its seed replicates.

Shape suffixes: S seeds, N cases.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from analysis.records.accuracy import is_hit, metric_values
from analysis.workspace import Workspace
from recap import columns as c
from recap.errors import ConfigError, RecapError
from recap.evaluation.metrics import reciprocal_rank

if TYPE_CHECKING:
    from recap.checkpoint import Checkpoint


@dataclass(frozen=True, eq=False)
class Side:
    """A model on one side.

    Attributes:
        key: its name in links and caches.
        cases: its evaluation records.
        replicates: records of the same cases by the same model under other seeds.
        trained: whether it has a seed.
    """

    key: str
    label: str
    cases: pd.DataFrame
    replicates: tuple[pd.DataFrame, ...] = ()
    trained: bool = False

    def __post_init__(self) -> None:
        check_same_cases(self.cases, *self.replicates)

    def values(self, metric: str) -> np.ndarray:
        """The value of each case, (N,).

        Raises:
            ConfigError: unknown metric, or one that an imported list is too short for.
        """
        return metric_values(self.cases, metric)

    def seed_values(self, metric: str) -> np.ndarray:
        """The value of each case under each seed, its own first, (S, N)."""
        return np.stack([metric_values(table, metric) for table in (self.cases, *self.replicates)])

    def hits(self, k: int) -> np.ndarray:
        """Whether each case is found within K; a tie counts by its mean rank."""
        return is_hit(self.cases, k)

    def ranks(self) -> np.ndarray:
        """Rank of each case; NaN if the truth is not in an imported list."""
        rank = self.cases[c.RANK]
        rank = rank.where(self.cases[c.IN_LIST]) if c.IN_LIST in self.cases else rank
        return rank.to_numpy(np.float64)


def check_same_cases(*tables: pd.DataFrame) -> None:
    """Refuse records that are not of the same cases in the same order.

    Raises:
        RecapError: they differ.
    """
    keys, first = [c.CASE, c.USER, c.SOURCE, c.TARGET], tables[0]
    for other in tables[1:]:
        if len(first) != len(other) or not np.array_equal(first[keys].to_numpy(), other[keys].to_numpy()):
            raise RecapError(
                f"a paired comparison needs records of the same cases in the same order, got {len(first):,} and "
                f"{len(other):,} cases that differ"
            )


def records_of_ranks(cases: pd.DataFrame, ranks: pd.DataFrame) -> pd.DataFrame:
    """Records of a seed of which only ranks were kept (`analysis.records.ablations`).

    A fractional mean rank is read as a tie of two.
    """
    rank_N = ranks[c.RANK].to_numpy(np.float64)
    tied_N = np.where(rank_N == np.floor(rank_N), 1, 2)
    better_N = (rank_N - (tied_N + 1) / 2).astype(np.int64)
    return cases.assign(
        **{
            c.NUM_BETTER: better_N,
            c.NUM_TIED: tied_N,
            c.RANK: rank_N,
            c.RECIPROCAL_RANK: reciprocal_rank(better_N, tied_N),
        }
    )


def side_of(model: Workspace, replicates: Sequence[Workspace] = ()) -> Side:
    """A model as one side, with these seed replicates and the kept ones.

    Raises:
        CheckpointError, VocabularyError: a folder that is no checkpoint of the dataset.
    """
    several = (model, *replicates)
    trained = [item.checkpoint.manifest.train.seed for item in several if item.checkpoint is not None]
    kept = [records_of_ranks(model.cases, ranks) for seed, ranks in model.seeds().items() if seed not in trained]
    others = (*(item.records() for item in replicates), *kept)
    return Side(model.key, model.label, model.records(), others, trained=bool(trained))


def is_replicate(one: "Checkpoint", other: "Checkpoint") -> bool:
    """Whether two checkpoints differ only in their seed."""
    mine, theirs = one.manifest, other.manifest
    seed = [f"seed={mine.train.seed}"]
    return (
        one.hash != other.hash
        and mine.dataset_hash == theirs.dataset_hash
        and theirs.train.seed != mine.train.seed
        and theirs.train.override(seed) == mine.train
    )


def sides_with_seeds(models: Sequence[Workspace], more: Sequence[Workspace]) -> list[Side]:
    """Sides of the models, each with the checkpoints that differ from it only in their seed.

    Raises:
        ConfigError: a further checkpoint is no other seed of a model.
    """
    replicates: dict[str, list[Workspace]] = {model.key: [] for model in models}
    for item in more:
        owners = [
            model.key
            for model in models
            if model.checkpoint is not None
            and item.checkpoint is not None
            and is_replicate(model.checkpoint, item.checkpoint)
        ]
        if not owners:
            raise ConfigError(f"{item.label} is not another seed of A or B: it differs from both in more than its seed")
        for key in owners:
            replicates[key].append(item)
    sides = [side_of(model, replicates[model.key]) for model in models]
    labels = [side.label for side in sides]
    return [
        replace(side, label=model.label_of_folder) if labels.count(side.label) > 1 else side
        for side, model in zip(sides, models, strict=True)
    ]
