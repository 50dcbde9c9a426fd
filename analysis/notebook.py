"""A checkpoint with its dataset, opened for Python and notebooks: explanations show themselves as HTML."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from analysis.explain.check_tables import CheckTables
from analysis.explain.explanation import FullExplanation, explain_fully
from analysis.sharing import page as page  # renders what a cell returns
from recap.checkpoint import Checkpoint
from recap.data.dataset import Dataset
from recap.predictor import Predictor


@dataclass(frozen=True, eq=False)
class OpenedCheckpoint:
    """A trained model on its own dataset.

    Attributes:
        tables: what was measured over all test cases before: shipped beside the dataset, or in the user's cache.
    """

    predictor: Predictor
    tables: CheckTables = field(default_factory=CheckTables)

    def explain(self, case: int, **options: Any) -> FullExplanation:
        """Explain one test case; options as in `explain_fully`, such as ``checks=True`` for stamps.

        Raises:
            CaseError: no such case or POI, or an edit that does not fit.
        """
        return explain_fully(self.predictor, case, **{"tables": self.tables, **options})


def open_checkpoint(checkpoint: Path | str, data: Path | str) -> OpenedCheckpoint:
    """Open a checkpoint folder with the dataset folder it was trained on.

    Raises:
        CheckpointError, DatasetError: a folder is not what it should be.
        VocabularyError: the checkpoint belongs to another dataset.
    """
    predictor = Predictor(Checkpoint.load(Path(checkpoint)), Dataset.load(Path(data)))
    digests, rows = (predictor.dataset.hash, predictor.checkpoint.hash), len(predictor.cases)
    return OpenedCheckpoint(predictor, CheckTables.kept(*digests, rows=rows, bundle=Path(data).parent))
