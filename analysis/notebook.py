"""A checkpoint with its dataset, opened for Python: explanations and comparisons show themselves in a notebook."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from analysis.compare.comparison import Comparison, PairedCases, compare
from analysis.compare.scorers import OpenedScorer, of_checkpoint, open_scorer
from analysis.explain.explanation import CaseExplanation, explain_case
from analysis.records.kept_seeds import seed_tables
from analysis.records.loaded_dataset import LoadedDataset
from analysis.sharing import comparison as comparison  # renders what a cell returns
from analysis.sharing import page as page  # renders what a cell returns
from recap.checkpoint import Checkpoint
from recap.data.dataset import Dataset
from recap.predictor import Predictor


@dataclass(frozen=True, eq=False)
class OpenedCheckpoint:
    """A trained model on its own dataset.

    Attributes:
        seeds: tables of seed replicates, shipped with the dataset or in the user's cache.
        bundle: the folder beside the dataset, which may have come with records.
    """

    predictor: Predictor
    seeds: Mapping[int, pd.DataFrame] = field(default_factory=dict)
    bundle: Path | None = None

    def explain(self, case: int, **options: Any) -> CaseExplanation:
        """Explain one test case; options as in `explain_case`, such as ``checks=True`` for robustness checks.

        Raises:
            CaseError: no such case or POI, or an edit that does not fit.
        """
        return explain_case(self.predictor, case, **{"seeds": self.seeds, **options})

    def compare(
        self, other: "OpenedCheckpoint | str | Path", metric: str = "hr20", k: int | None = None, *, seeds: bool = False
    ) -> Comparison:
        """This model (B) beside another scorer (A) on the same test cases, as the Compare view shows it.

        Args:
            other: an opened checkpoint, a checkpoint folder, a baseline's name, or imported predictions by name.
            metric, k: see `analysis.compare.comparison.compare`.
            seeds: include the kept seed replicates of both sides.

        Raises:
            ConfigError: nothing of that name, or an unknown metric.
            VocabularyError: a checkpoint of another dataset.
        """
        if isinstance(other, OpenedCheckpoint):
            a = other.as_scorer
        else:
            a = open_scorer(str(other), self.opened, bundle=self.bundle)
        side_a, side_b = (scorer.side(kept_seeds=seeds) for scorer in (a, self.as_scorer))
        return compare(self._paired, side_a, side_b, metric, k)

    @cached_property
    def opened(self) -> LoadedDataset:
        """The dataset with its test cases."""
        return LoadedDataset(self.predictor.dataset, self.predictor.graph)

    @cached_property
    def as_scorer(self) -> OpenedScorer:
        """The model as a side of a comparison."""
        return of_checkpoint(self.predictor.checkpoint, self.opened, bundle=self.bundle)

    @cached_property
    def _paired(self) -> PairedCases:
        return PairedCases(self.opened.cases)


def open_checkpoint(checkpoint: Path | str, data: Path | str) -> OpenedCheckpoint:
    """Open a checkpoint folder with the dataset folder it was trained on.

    Raises:
        CheckpointError, DatasetError: a folder is not what it should be.
        VocabularyError: the checkpoint belongs to another dataset.
    """
    predictor = Predictor(Checkpoint.load(Path(checkpoint)), Dataset.load(Path(data)))
    digests, rows = (predictor.dataset.hash, predictor.checkpoint.hash), len(predictor.cases)
    bundle = Path(data).parent
    return OpenedCheckpoint(predictor, seed_tables(*digests, rows=rows, bundle=bundle), bundle)
