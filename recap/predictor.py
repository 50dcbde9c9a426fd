"""A loaded checkpoint that answers questions about single cases and batches, in float64."""

from functools import cached_property
from pathlib import Path

import pandas as pd
import torch
from torch import Tensor

from recap import columns as c
from recap.checkpoint import Checkpoint
from recap.data.dataset import Dataset
from recap.errors import CaseError
from recap.evaluation.records import describe_cases
from recap.graph import TransitionGraph
from recap.history import CheckinTensors
from recap.model.recap import RecapScorer, RevisitParts
from recap.scores import CaseBatch, Scores


class Predictor:
    """A checkpoint and its dataset, ready to score any case.

    Args:
        checkpoint: verified checkpoint.
        dataset: the dataset it was trained on.

    Raises:
        VocabularyError: another dataset.
    """

    def __init__(self, checkpoint: Checkpoint, dataset: Dataset) -> None:
        self.checkpoint, self.dataset = checkpoint, dataset
        self.graph = TransitionGraph.from_dataset(dataset)
        self.checkins = CheckinTensors.from_dataset(dataset)
        self.model = checkpoint.build_model(dataset, self.graph)
        self.stage = checkpoint.stage
        self._scorer = RecapScorer(self.model, self.stage, checkpoint.manifest.model)

    @classmethod
    def load(cls, checkpoint_folder: Path, dataset_folder: Path) -> "Predictor":
        """Load both folders, verified."""
        return cls(Checkpoint.load(checkpoint_folder), Dataset.load(dataset_folder))

    @cached_property
    def cases(self) -> pd.DataFrame:
        """The test cases in records order, see `describe_cases`."""
        return describe_cases(self.dataset, self.graph, c.TEST)

    def case(self, number: int) -> pd.Series:
        """One test case.

        Raises:
            CaseError: there is no such number.
        """
        if not 0 <= number < len(self.cases):
            raise CaseError(
                f"there is no test case {number}; this dataset has cases 0 to {len(self.cases) - 1}"
                if len(self.cases)
                else f"there is no test case {number}; this dataset has no test case"
            )
        return self.cases.iloc[number]

    def batch(self, rows: list[int]) -> CaseBatch:
        """A batch of source rows of the dataset's own check-ins."""
        return CaseBatch(self.checkins, torch.tensor(rows, dtype=torch.int64))

    def score(self, batch: CaseBatch) -> Scores:
        """The scores that the batched evaluation ranks by."""
        return self._scorer.score(batch)

    def core_scores(self, batch: CaseBatch) -> tuple[Tensor, Tensor]:
        """Prediction state h_BD and core scores (B, P), computed apart from `score`."""
        with torch.inference_mode():
            state_BD = self.model.encode(batch, self.stage)
            return state_BD, self.model.core(state_BD)

    def revisit_parts(self, batch: CaseBatch, state_BD: Tensor) -> RevisitParts | None:
        """Prior terms, gates and corrections of the packed candidates; None while the prior is inactive."""
        with torch.inference_mode():
            return self.model.revisit(batch, self.stage, state_BD)
