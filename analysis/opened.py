"""Opened material: a dataset with its graph and case table, and a model that scores its cases."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final

import numpy as np
import pandas as pd

from analysis.geography import unwrap_longitudes
from analysis.kept_tables import TableKey, kept_table
from recap import columns as c
from recap.baselines import build_baseline
from recap.checkpoint import Checkpoint
from recap.data.dataset import Dataset
from recap.errors import CaseError
from recap.evaluation.records import describe_cases, score_cases
from recap.graph import TransitionGraph
from recap.history import CheckinTensors
from recap.scores import Scorer

SPLIT: Final = "test"
PROTOCOL: Final = "every_step"
_CASES_PER_REPORT: Final = 1024

MODEL_LABELS: Final = {
    "recap": "RECAP",
    "evidence": "Evidence",
    "count_plus_markov": "Count + Markov",
    "visit_count": "Visit count",
    "markov": "Markov",
    "popularity": "Popularity",
}


@dataclass(frozen=True, eq=False)
class OpenDataset:
    """A dataset, its training graph and its test cases."""

    dataset: Dataset
    graph: TransitionGraph
    checkins: CheckinTensors

    @classmethod
    def load(cls, folder: Path) -> "OpenDataset":
        """Read, verify and prepare a dataset folder."""
        return cls.of(Dataset.load(folder))

    @classmethod
    def of(cls, dataset: Dataset) -> "OpenDataset":
        """The same for a dataset in memory."""
        return cls(dataset, TransitionGraph.from_dataset(dataset), CheckinTensors.from_dataset(dataset))

    @cached_property
    def cases(self) -> pd.DataFrame:
        """The test cases in records order, see `describe_cases`."""
        return describe_cases(self.dataset, self.graph, c.TEST)

    @cached_property
    def labels(self) -> list[str]:
        """A name for every POI: its own, else its category, else its id; one line, at most 80 characters."""
        pois = self.dataset.pois
        columns = (pois[name].astype(str) for name in (c.POI_NAME, c.CATEGORY, c.POI_ID))
        return [
            _one_line(next((text for text in row if text.strip()), "unnamed")) for row in zip(*columns, strict=True)
        ]

    @cached_property
    def latitude(self) -> np.ndarray:
        """Degrees, one per POI."""
        return self.dataset.pois[c.LATITUDE].to_numpy(np.float64)

    @cached_property
    def longitude(self) -> np.ndarray:
        """Degrees, one per POI, without a jump at the date line."""
        return unwrap_longitudes(self.dataset.pois[c.LONGITUDE].to_numpy(np.float64))

    def case(self, number: int) -> pd.Series:
        """One test case.

        Raises:
            CaseError: there is no such number.
        """
        if not 0 <= number < len(self.cases):
            raise CaseError(
                f"there is no test case {number}; {self.dataset.manifest.name} has {len(self.cases):,} cases, from 0"
            )
        return self.cases.iloc[number]


@dataclass(frozen=True, eq=False)
class OpenModel:
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
    def of_checkpoint(cls, checkpoint: Checkpoint, opened: OpenDataset) -> "OpenModel":
        """A trained checkpoint on its own dataset.

        Raises:
            VocabularyError: another dataset.
        """
        scorer = checkpoint.scorer(opened.dataset, opened.graph)
        return cls(checkpoint.hash, MODEL_LABELS["recap"], scorer, probabilistic=True, checkpoint=checkpoint)

    @classmethod
    def of_baseline(cls, name: str, opened: OpenDataset) -> "OpenModel":
        """One of the baselines by name.

        Raises:
            ConfigError: unknown name.
        """
        scorer = build_baseline(name, opened.dataset, opened.graph)
        return cls(name, MODEL_LABELS[name], scorer, probabilistic=name == "evidence")


def evaluation_records(
    opened: OpenDataset,
    model_key: str,
    build_model: Callable[[], OpenModel],
    *,
    keep: bool = True,
    bundle: Path | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> pd.DataFrame:
    """A model's records over all test cases: read from the bundle or the user's cache, or scored once and kept there.

    Args:
        model_key: `OpenModel.key`.
        build_model: makes the model, called only when the records are not there yet.
        keep: whether to write new records to the cache; a cache that cannot be written is done without.
        bundle: the dataset's bundle, which may have come with records.
        progress: told (cases done, cases in all) while scoring.

    Raises:
        ScoreError: the model returned NaN.
    """

    def score() -> pd.DataFrame:
        model = build_model()
        pieces = []
        for start in range(0, max(len(opened.cases), 1), _CASES_PER_REPORT):
            chunk = opened.cases.iloc[start : start + _CASES_PER_REPORT]
            pieces.append(score_cases(model.scorer, chunk, opened.checkins))
            if progress is not None:
                progress(min(start + _CASES_PER_REPORT, len(opened.cases)), len(opened.cases))
        return pd.concat(pieces, ignore_index=True)

    key = TableKey(opened.dataset.hash, model_key, SPLIT, PROTOCOL)
    return kept_table(key, score, rows=len(opened.cases), keep=keep, bundle=bundle)


def _one_line(text: str, limit: int = 80) -> str:
    line = " ".join(text.split())
    return line if len(line) <= limit else line[: limit - 1] + "…"
