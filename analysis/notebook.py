"""A checkpoint with its dataset, opened for Python: explanations and comparisons show themselves in a notebook."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from analysis.compare.comparison import Comparison, PairedCases, compare
from analysis.compare.scorers import OpenedScorer, of_checkpoint, open_scorer
from analysis.explain.explanation import FullExplanation, explain_fully
from analysis.records.loaded_dataset import LoadedDataset
from analysis.report import comparison as comparison  # renders what a cell returns
from analysis.report import html as html  # renders what a cell returns
from recap.checkpoint import Checkpoint
from recap.data.dataset import Dataset
from recap.predictor import Predictor


@dataclass(frozen=True, eq=False)
class OpenedCheckpoint:
    """A trained model on its own dataset.

    Attributes:
        bundle: the folder beside the dataset, which may have come with records.
    """

    predictor: Predictor
    bundle: Path | None = None

    def explain(self, case: int, **options: Any) -> FullExplanation:
        """Explain one test case; options as in `explain_fully`.

        Raises:
            CaseError: no such case or POI, or an edit that does not fit.
        """
        return explain_fully(self.predictor, case, **options)

    def compare(self, other: "OpenedCheckpoint | str | Path", metric: str = "hr20", k: int | None = None) -> Comparison:
        """This model (B) beside another scorer (A) on the same test cases, as the Compare view shows it.

        Args:
            other: an opened checkpoint, a checkpoint folder, a baseline's name, or imported predictions by name.
            metric, k: see `analysis.compare.comparison.compare`.

        Raises:
            ConfigError: nothing of that name, or an unknown metric.
            VocabularyError: a checkpoint of another dataset.
        """
        a = other.as_scorer if isinstance(other, OpenedCheckpoint) else self._scorer(str(other))
        return compare(self.paired, a.side(), self.as_scorer.side(), metric, k)

    @cached_property
    def opened(self) -> LoadedDataset:
        """The dataset with its test cases."""
        return LoadedDataset(self.predictor.dataset, self.predictor.graph)

    @cached_property
    def paired(self) -> PairedCases:
        """What every comparison on these cases draws."""
        return PairedCases(self.opened.cases)

    @cached_property
    def as_scorer(self) -> OpenedScorer:
        """The model as a side of a comparison."""
        return of_checkpoint(self.predictor.checkpoint, self.opened, bundle=self.bundle)

    def _scorer(self, name: str) -> OpenedScorer:
        return open_scorer(name, self.opened, bundle=self.bundle)


def open_checkpoint(checkpoint: Path | str, data: Path | str) -> OpenedCheckpoint:
    """Open a checkpoint folder with the dataset folder it was trained on.

    Raises:
        CheckpointError, DatasetError: a folder is not what it should be.
        VocabularyError: the checkpoint belongs to another dataset.
    """
    predictor = Predictor(Checkpoint.load(Path(checkpoint)), Dataset.load(Path(data)))
    return OpenedCheckpoint(predictor, Path(data).parent)
