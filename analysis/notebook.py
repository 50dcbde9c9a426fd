"""A checkpoint with its dataset, opened for Python and notebooks: explanations show themselves as HTML."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from analysis.explain.explanation import FullExplanation, explain_fully
from analysis.sharing import page as page  # renders what a cell returns
from recap.checkpoint import Checkpoint
from recap.data.dataset import Dataset
from recap.predictor import Predictor


@dataclass(frozen=True, eq=False)
class OpenedCheckpoint:
    """A trained model on its own dataset."""

    predictor: Predictor

    def explain(self, case: int, **options: Any) -> FullExplanation:
        """Explain one test case; options as in `explain_fully`.

        Raises:
            CaseError: no such case or POI, or an edit that does not fit.
        """
        return explain_fully(self.predictor, case, **options)


def open_checkpoint(checkpoint: Path | str, data: Path | str) -> OpenedCheckpoint:
    """Open a checkpoint folder with the dataset folder it was trained on.

    Raises:
        CheckpointError, DatasetError: a folder is not what it should be.
        VocabularyError: the checkpoint belongs to another dataset.
    """
    return OpenedCheckpoint(Predictor(Checkpoint.load(Path(checkpoint)), Dataset.load(Path(data))))
