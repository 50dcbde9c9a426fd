"""One side of a comparison: a model's records of all cases, or those of several seeds of one model.

Shape suffixes: S seeds, N cases.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np
import pandas as pd

from analysis.records.accuracy import is_hit, metric_values
from analysis.workspace import Workspace
from recap import columns as c
from recap.errors import ConfigError, RecapError
from recap.evaluation.metrics import reciprocal_rank

if TYPE_CHECKING:
    from recap.checkpoint import Checkpoint

SEEDS_MARK: Final = "-seeds"
"""Ends the key of a checkpoint with its kept seed replicates."""


def label_of_seeds(name: str, number: int) -> str:
    """A model's name with its number of seeds, where it has several.

    >>> label_of_seeds("RECAP", 5), label_of_seeds("Markov", 1)
    ('RECAP (5 seeds)', 'Markov')
    """
    return name if number == 1 else f"{name} ({number} seeds)"


@dataclass(frozen=True, eq=False)
class Side:
    """A scorer, or one model under several seeds.

    Attributes:
        key: what names it in links and caches; of several seeds, their keys joined by a dot.
        name: what people call it, without a number of seeds.
        tables: evaluation records of the same cases in the same order, one table for each seed.
        trained: whether a seed was drawn at all: a counter has none.
    """

    key: str
    name: str
    tables: tuple[pd.DataFrame, ...]
    trained: bool = False

    def __post_init__(self) -> None:
        check_same_cases(*self.tables)

    @property
    def label(self) -> str:
        """What people read: its name, and how many seeds it stands for."""
        return label_of_seeds(self.name, len(self.tables))

    @property
    def cases(self) -> pd.DataFrame:
        """The cases, with the first seed's ranks."""
        return self.tables[0]

    def values(self, metric: str) -> np.ndarray:
        """Each seed's value of each case, (S, N).

        Raises:
            ConfigError: unknown metric, or one that an imported list is too short for.
        """
        return np.stack([metric_values(table, metric) for table in self.tables])

    def hits(self, k: int) -> np.ndarray:
        """Whether each case is found within K: by more than half of the seeds.

        A tied place stands at its mean rank.
        """
        return np.mean([is_hit(table, k) for table in self.tables], axis=0) > 0.5

    def ranks(self) -> np.ndarray:
        """Each case's rank, the median over seeds; NaN where the truth is not in an imported list."""
        ranks = [
            table[c.RANK].where(table[c.IN_LIST]) if c.IN_LIST in table else table[c.RANK] for table in self.tables
        ]
        return np.median(np.stack([rank.to_numpy(np.float64) for rank in ranks]), axis=0)


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


def with_ranked_seeds(side: Side, seeds: Sequence[pd.DataFrame]) -> Side:
    """A side with further seeds of which ranks alone were kept; the side as it is where there are none.

    Args:
        seeds: one table of each, see `table_of_ranks`.
    """
    if not seeds:
        return side
    return Side(f"{side.key}{SEEDS_MARK}", side.name, (*side.tables, *seeds), trained=True)


def table_of_ranks(cases: pd.DataFrame, ranks: pd.DataFrame) -> pd.DataFrame:
    """Records of a seed of which ranks alone were kept (`analysis.records.ablations`), as the table of a side.

    A mean rank that is no whole number is read as a tie of two.
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


def side_of(model: Workspace, replicates: Sequence[Workspace] = (), *, kept_seeds: bool = False) -> Side:
    """One side of a comparison; with replicates, the model under several seeds.

    Args:
        kept_seeds: also the seed replicates of which ranks were kept, but for those that a replicate stands for.

    Raises:
        CheckpointError, VocabularyError: a folder that is no checkpoint of the dataset.
    """
    several = (model, *replicates)
    trained = [item.checkpoint.manifest.train.seed for item in several if item.checkpoint is not None]
    key = ".".join(item.key for item in several)
    # Several models may stand next to each other, so a checkpoint's folder with a name of its own belongs to the name.
    folder = model.model.name if isinstance(model.model, Path) else "checkpoint"
    name = model.label if folder == "checkpoint" else f"{model.label} {folder}"
    side = Side(key, name, tuple(item.records() for item in several), trained=bool(trained))
    if not kept_seeds:
        return side
    seeds = {seed: table for seed, table in model.seeds().items() if seed not in trained}
    return with_ranked_seeds(side, [table_of_ranks(model.cases, ranks) for ranks in seeds.values()])


def is_replicate(one: "Checkpoint", other: "Checkpoint") -> bool:
    """Whether two checkpoints differ in nothing but their seed."""
    mine, theirs = one.manifest, other.manifest
    seed = [f"seed={mine.train.seed}"]
    return (
        one.hash != other.hash
        and mine.dataset_hash == theirs.dataset_hash
        and theirs.train.seed != mine.train.seed
        and theirs.train.override(seed) == mine.train
    )


def with_seeds(models: Sequence[Workspace], more: Sequence[Workspace], *, kept_seeds: bool = False) -> list[Side]:
    """Sides of the models, each with those further checkpoints that differ from it in their seed only.

    Args:
        kept_seeds: see `side_of`.

    Raises:
        ConfigError: a further checkpoint is no other seed of any.
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
            raise ConfigError(f"{item.label} is no further seed of A or B: it differs from both in more than its seed")
        for key in owners:
            replicates[key].append(item)
    return [side_of(model, replicates[model.key], kept_seeds=kept_seeds) for model in models]
