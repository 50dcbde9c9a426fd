"""What can stand on a side: a checkpoint folder, a baseline by name, or imported predictions by name."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from analysis.compare.side import Side, table_of_ranks, with_ranked_seeds
from analysis.records.evaluation_records import evaluation_records
from analysis.records.imported import find_predictions
from analysis.records.kept_seeds import seed_tables
from analysis.records.loaded_dataset import MODEL_LABELS, LoadedDataset
from analysis.records.named_scorer import NamedScorer
from recap.baselines import BASELINES
from recap.checkpoint import Checkpoint
from recap.errors import ConfigError

Progress = Callable[[int, int], None]


@dataclass(frozen=True, eq=False)
class OpenedScorer:
    """A scorer by the text that named it; records are made when they are asked for.

    Attributes:
        key: see `NamedScorer.key` and `ImportedPredictions.key`.
        checkpoint: of a trained model.
        ranked_seeds: its seed replicates of which ranks alone were kept: seed -> records.
    """

    key: str
    label: str
    records: Callable[[], pd.DataFrame]
    checkpoint: Checkpoint | None = None
    ranked_seeds: Callable[[], Mapping[int, pd.DataFrame]] = dict

    def side(self, replicates: "Sequence[OpenedScorer]" = (), *, kept_seeds: bool = False) -> Side:
        """One side of a comparison; with replicates, the model under several seeds.

        Args:
            kept_seeds: also `ranked_seeds`, but for those that a replicate stands for.
        """
        several = (self, *replicates)
        tables = tuple(item.records() for item in several)
        side = Side(".".join(item.key for item in several), self.label, tables, trained=self.checkpoint is not None)
        if not kept_seeds:
            return side
        there = {item.checkpoint.manifest.train.seed for item in several if item.checkpoint is not None}
        return with_ranked_seeds(side, [table for seed, table in self.ranked_seeds().items() if seed not in there])


def open_scorer(text: str, opened: LoadedDataset, *, bundle: Path | None = None) -> OpenedScorer:
    """The scorer that a word or a folder names.

    Raises:
        ConfigError: nothing of that name; the line says what there is.
        CheckpointError, VocabularyError: a folder that is no checkpoint of this dataset.
    """
    if text in BASELINES:
        return OpenedScorer(
            text,
            MODEL_LABELS[text],
            lambda: evaluation_records(opened, text, lambda: NamedScorer.of_baseline(text, opened), bundle=bundle),
        )
    imported = find_predictions(opened.dataset.hash)
    named = [item for item in imported if text in (item.name, item.key)]
    if len(named) > 1:
        keys = ", ".join(item.key for item in named)
        raise ConfigError(f"several imported predictions are called {text!r}; name one by its key: {keys}")
    if named:
        return OpenedScorer(named[0].key, named[0].name, lambda: named[0].read(len(opened.cases)))
    folder = Path(text)
    if not folder.is_dir():
        there = ", ".join([*BASELINES, *(item.name for item in imported)])
        raise ConfigError(f"{text!r} is neither a checkpoint folder nor one of {there}")
    return of_checkpoint(Checkpoint.load(folder), opened, bundle=bundle)


def of_checkpoint(
    checkpoint: Checkpoint, opened: LoadedDataset, *, bundle: Path | None = None, keep: bool = True
) -> OpenedScorer:
    """A checkpoint as a scorer, labelled by its folder.

    Args:
        keep: whether to write new records to the user's cache.

    Raises:
        VocabularyError: another dataset.
    """
    if checkpoint.manifest.dataset_hash != opened.dataset.hash:
        checkpoint.scorer(opened.dataset, opened.graph)  # refuses in its own words
    name = checkpoint.folder.name

    def ranked_seeds() -> dict[int, pd.DataFrame]:
        kept = seed_tables(opened.dataset.hash, checkpoint.hash, rows=len(opened.cases), bundle=bundle)
        return {seed: table_of_ranks(opened.cases, ranks) for seed, ranks in kept.items()}

    return OpenedScorer(
        checkpoint.hash,
        checkpoint.label if name == "checkpoint" else f"{checkpoint.label} {name}",
        lambda: evaluation_records(
            opened, checkpoint.hash, lambda: NamedScorer.of_checkpoint(checkpoint, opened), keep=keep, bundle=bundle
        ),
        checkpoint,
        ranked_seeds,
    )


def is_replicate(one: Checkpoint, other: Checkpoint) -> bool:
    """Whether two checkpoints differ in nothing but their seed."""
    mine, theirs = one.manifest, other.manifest
    seed = [f"seed={mine.train.seed}"]
    return (
        one.hash != other.hash
        and mine.dataset_hash == theirs.dataset_hash
        and theirs.train.seed != mine.train.seed
        and theirs.train.override(seed) == mine.train
    )


def with_seeds(
    scorers: Sequence[OpenedScorer], more: Sequence[OpenedScorer], *, kept_seeds: bool = False
) -> list[Side]:
    """Sides of the scorers, each with those further checkpoints that differ from it in their seed only.

    Args:
        kept_seeds: see `OpenedScorer.side`.

    Raises:
        ConfigError: a further checkpoint is no other seed of any.
    """
    replicates: dict[str, list[OpenedScorer]] = {scorer.key: [] for scorer in scorers}
    for item in more:
        owners = [
            scorer
            for scorer in scorers
            if scorer.checkpoint is not None
            and item.checkpoint is not None
            and is_replicate(scorer.checkpoint, item.checkpoint)
        ]
        if not owners:
            raise ConfigError(f"{item.label} is no further seed of A or B: it differs from both in more than its seed")
        for owner in owners:
            replicates[owner.key].append(item)
    return [scorer.side(replicates[scorer.key], kept_seeds=kept_seeds) for scorer in scorers]
