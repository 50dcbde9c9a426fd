"""An opened model: something that scores a dataset's cases."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import pandas as pd

from analysis.records.loaded_dataset import MODEL_LABELS, LoadedDataset
from recap.baselines import FEATURE_CURVES
from recap.checkpoint import Checkpoint
from recap.evaluation.scoring import score_cases
from recap.scores import Scorer
from recap.training.baselines import build_baseline

_CASES_PER_REPORT: Final = 1024


@dataclass(frozen=True, eq=False)
class NamedScorer:
    """Something that scores cases.

    Attributes:
        key: a checkpoint's hash or a baseline's name; with the dataset's hash it names the records.
        label: what people read.
        probabilistic: whether a softmax of its scores means a probability.
    """

    key: str
    label: str
    scorer: Scorer
    probabilistic: bool
    checkpoint: Checkpoint | None = None

    @classmethod
    def of_checkpoint(cls, checkpoint: Checkpoint, opened: LoadedDataset) -> "NamedScorer":
        """A trained checkpoint on its own dataset.

        Raises:
            VocabularyError: another dataset.
        """
        scorer = checkpoint.scorer(opened.dataset, opened.graph)
        return cls(checkpoint.hash, checkpoint.label, scorer, checkpoint.is_probabilistic, checkpoint)

    @classmethod
    def of_baseline(cls, name: str, opened: LoadedDataset, *, keep: bool = True) -> "NamedScorer":
        """One of the baselines by name.

        Args:
            keep: whether to write a new fit to the user's cache.

        Raises:
            ConfigError: unknown name.
        """
        scorer = build_baseline(name, opened.dataset, opened.graph, keep=keep)
        return cls(name, MODEL_LABELS[name], scorer, probabilistic=name == FEATURE_CURVES)

    def score(self, opened: LoadedDataset, progress: Callable[[int, int], None] | None = None) -> pd.DataFrame:
        """The records of all test cases.

        Args:
            progress: told (cases done, cases in all) while scoring.

        Raises:
            ScoreError: the model returned NaN.
        """
        pieces = []
        for start in range(0, max(len(opened.cases), 1), _CASES_PER_REPORT):
            chunk = opened.cases.iloc[start : start + _CASES_PER_REPORT]
            pieces.append(score_cases(self.scorer, chunk, opened.checkins))
            if progress is not None:
                progress(min(start + _CASES_PER_REPORT, len(opened.cases)), len(opened.cases))
        return pd.concat(pieces, ignore_index=True)
