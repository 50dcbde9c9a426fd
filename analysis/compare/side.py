"""One side of a comparison: a model's records of all cases, and those of its seed replicates.

Shape suffixes: S seeds, N cases.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd

from analysis.records.accuracy import is_hit, metric_values
from analysis.records.evaluation_records import PROTOCOL, distinct_labels
from analysis.workspace import Workspace
from recap import columns as c
from recap.baselines import PRETRAINED
from recap.data.cases import Protocol
from recap.errors import ConfigError, RecapError
from recap.evaluation.metrics import reciprocal_rank


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
        """The value of each case, (N,), see `metric_values`."""
        return metric_values(self.cases, metric)

    def seed_values(self, metric: str) -> np.ndarray:
        """The value of each case under each seed, its own first, (S, N)."""
        return np.stack([metric_values(table, metric) for table in (self.cases, *self.replicates)])

    def hits(self, k: int) -> np.ndarray:
        """Whether each case is found within K, see `is_hit`."""
        return is_hit(self.cases, k)

    def ranks(self) -> np.ndarray:
        """Rank of each case; NaN if the truth is not in an imported list."""
        rank = self.cases[c.RANK]
        rank = rank.where(self.cases[c.IN_LIST]) if c.IN_LIST in self.cases else rank
        return rank.to_numpy(np.float64)


class MeanSide(Side):
    """A side whose values are means over its seeds."""

    def values(self, metric: str) -> np.ndarray:
        return self.seed_values(metric).mean(axis=0)


def check_same_cases(*tables: pd.DataFrame) -> None:
    """Raise RecapError for records that are not of the same cases in the same order."""
    keys, first = [c.CASE, c.USER, c.SOURCE, c.TARGET], tables[0]
    for other in tables[1:]:
        if len(first) != len(other) or not np.array_equal(first[keys].to_numpy(), other[keys].to_numpy()):
            raise RecapError(
                f"a paired comparison needs records of the same cases in the same order, got {len(first):,} and "
                f"{len(other):,} cases that differ"
            )


def check_same_question(a: Workspace, b: Workspace) -> None:
    """Refuse two models of which one knows the time, unless they are one model with and without it: ConfigError."""
    if a.reads_time != b.reads_time and a.model != b.model:
        knows, other = (a, b) if a.reads_time else (b, a)
        raise ConfigError(
            f"{knows.label} knows the time of the next check-in and {other.label} does not: give both the time "
            "(--given-time) or neither"
        )


def records_of_ranks(cases: pd.DataFrame, ranks: pd.DataFrame) -> pd.DataFrame:
    """Records of a seed of which only ranks were kept (`analysis.records.ablations`).

    Shipped tables of earlier versions, which have no tie, lack the counts.
    """
    rank_N = ranks[c.RANK].to_numpy(np.float64)
    is_counted = c.NUM_TIED in ranks
    better_N = ranks[c.NUM_BETTER].to_numpy(np.int64) if is_counted else rank_N.astype(np.int64) - 1
    tied_N = ranks[c.NUM_TIED].to_numpy(np.int64) if is_counted else np.ones(len(ranks), np.int64)
    counts = {c.NUM_BETTER: better_N, c.NUM_TIED: tied_N, c.RANK: rank_N}
    return cases.assign(**counts, **{c.RECIPROCAL_RANK: reciprocal_rank(better_N, tied_N)})


def side_of(model: Workspace, replicates: Sequence[Workspace] = (), protocol: Protocol = PROTOCOL) -> Side:
    """A model as one side, with these seed replicates and, except for ``every_next``, the kept ones."""
    records = model.records_of(protocol)
    checkpoints = [item.checkpoint for item in (model, *replicates) if item.model != PRETRAINED]
    trained = [checkpoint.manifest.train.seed for checkpoint in checkpoints if checkpoint is not None]
    seeds = {} if protocol == "every_next" else model.seeds()
    kept = [
        records_of_ranks(model.cases, ranks)[model.inside(protocol)]
        for seed, ranks in seeds.items()
        if seed not in trained
    ]
    others = (*(item.records_of(protocol) for item in replicates), *kept)
    return Side(model.key, model.label, records, others, trained=bool(trained))


def is_replicate(one: Workspace, other: Workspace) -> bool:
    """Whether two models are checkpoints that differ only in their seed."""
    if one.checkpoint is None or other.checkpoint is None:
        return False
    mine, theirs = one.checkpoint.manifest, other.checkpoint.manifest
    is_other = theirs.train.seed != mine.train.seed and theirs.dataset_hash == mine.dataset_hash
    return is_other and theirs.train.override([f"seed={mine.train.seed}"]) == mine.train


def sides_with_seeds(
    models: Sequence[Workspace], more: Sequence[Workspace], protocol: Protocol = PROTOCOL
) -> list[Side]:
    """Sides of the models, each with the checkpoints that differ only in their seed; refuses others by ConfigError."""
    replicates: dict[str, list[Workspace]] = {model.key: [] for model in models}
    for item in more:
        owners = [model.key for model in models if is_replicate(model, item)]
        if not owners:
            raise ConfigError(f"{item.label} is not another seed of A or B: it differs from both in more than its seed")
        for key in owners:
            replicates[key].append(item)
    sides = [side_of(model, replicates[model.key], protocol) for model in models]
    return [replace(side, label=label) for side, label in zip(sides, workspace_labels(models), strict=True)]


def workspace_labels(models: Sequence[Workspace]) -> list[str]:
    """Their labels in one list, see `distinct_labels`."""
    return distinct_labels(
        [(item.label, item.model if isinstance(item.model, Path) else None, item.key) for item in models]
    )
