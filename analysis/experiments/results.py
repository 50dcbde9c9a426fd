"""What is measured of one trained arm, and the file that keeps it."""

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import pandas as pd
from pydantic import Field

from analysis.experiments.costs import Costs
from analysis.experiments.reweighting import reweight
from analysis.experiments.spec import Column
from analysis.experiments.spreads import spreads
from analysis.records.accuracy import is_known, metric_values
from recap import columns as c
from recap.config import Config
from recap.data.dataset import Dataset
from recap.errors import DataError, FormatVersionError
from recap.evaluation.evaluate import evaluate
from recap.evaluation.metrics import METRICS, Metrics, MetricsByGroup, group_masks, metrics_by_group, metrics_of
from recap.fingerprint import unseen_reach
from recap.graph import TransitionGraph
from recap.scores import Scorer
from recap.storage.atomic import replace_text
from recap.storage.json_text import read_json
from recap.training_config import AnyTraining

FORMAT_VERSION: Final = 1
LONG_HISTORY: Final = 20
"""Cases with at least so many check-ins before the source: the fixed set on which windows are compared."""
_FREQUENCY_BINS: Final = 10
"""Exact training counts 0..9 have a bin each, 10 and more share one (the paper's Fig. 10)."""


class ArmResult(Config):
    """One arm under one seed; see `measure` for ``values``."""

    arm: str
    label: str
    seed: int | None = Field(description="None for a baseline, which has none.")
    digest: str = Field(description="Of dataset and configuration: equal digests are the same training.")
    epochs: int | None = None
    best_epoch: int | None = None
    preset: str | None = None
    changes: tuple[str, ...] = ()
    values: dict[str, Any]
    test_points: list[dict[str, float]] = Field(default_factory=list)
    paper: dict[str, float] = Field(default_factory=dict)
    public: dict[str, float] = Field(default_factory=dict, description="Its public code's on the same split.")
    reason: str = Field("", description="Why it lies where it does beside the paper and the public code.")
    note: str = Field("", description="Why there are no values: not run, or predictions that are not here.")


class ArmComparison(Config):
    """One arm against another, each case's values averaged over its seeds; None where the group is empty.

    ``difference`` is ``value - rival_value``; ``low, high`` its 95 % interval, see `compare_means`.
    """

    arm: str
    rival: str
    group: str
    metric: str
    n: int
    value: float | None
    rival_value: float | None
    difference: float | None
    low: float | None
    high: float | None


class ExperimentResult(Config):
    """Everything an experiment's table and text are generated from; plain numbers, nobody's traces."""

    format_version: int = FORMAT_VERSION
    experiment: str
    title: str
    question: str
    dataset_name: str
    dataset_hash: str
    synthetic: bool
    seeds: tuple[int, ...]
    changes: tuple[str, ...] = Field((), description="Against the preset, in every arm that trains.")
    columns: tuple[Column, ...]
    average_rank: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    arms: tuple[ArmResult, ...]
    comparisons: tuple[ArmComparison, ...] = ()
    costs: Costs | None = None
    finished: bool
    command: str
    date: str
    hardware: str
    versions: dict[str, str]

    def runs_of(self, arm: str) -> list[ArmResult]:
        """An arm under the seeds that were run; under all where none was."""
        runs = [run for run in self.arms if run.arm == arm]
        return [run for run in runs if run.values] or runs

    def save(self, path: Path) -> None:
        """Write as JSON, whole or not at all."""
        replace_text(path, self.model_dump_json(indent=1) + "\n")

    @classmethod
    def load(cls, path: Path, dataset_hash: str | None = None) -> "ExperimentResult":
        """Read a result file.

        Raises:
            DataError: not a result file, or of another dataset than ``dataset_hash``.
            FormatVersionError: written by a newer version.
        """
        try:
            content = read_json(path)
            version = int(content["format_version"])
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise DataError(f"{path} is no experiment result ({error}); run the experiment again") from error
        if version > FORMAT_VERSION:
            raise FormatVersionError(f"{path} has format {version}, this version reads up to {FORMAT_VERSION}")
        result = cls.parse(content)
        if dataset_hash is not None and result.dataset_hash != dataset_hash:
            raise DataError(
                f"{path} holds results of dataset {result.dataset_name} ({result.dataset_hash[:12]}), not of "
                f"{dataset_hash[:12]}: choose another --out"
            )
        return result


def training_digest(dataset: Dataset, config: AnyTraining, test_points: bool) -> str:
    """Names a training: equal data and configuration give the same one, so that experiments share it.

    Parts that are left out have no name in it: a new optional part does not make finished trainings strangers.
    """
    key = json.dumps([dataset.hash, config.model_dump(mode="json", exclude_none=True), test_points], sort_keys=True)
    return hashlib.sha256(key.encode()).hexdigest()[:16]


def measure(scorer: Scorer, dataset: Dataset, graph: TransitionGraph) -> tuple[dict[str, Any], pd.DataFrame]:
    """Test metrics of a scorer, see `measure_records`, with ``test_seconds``; and the every_step records."""
    step = evaluate(scorer, dataset, graph)
    return measure_records(step.records, dataset) | {"test_seconds": step.seconds}, step.records


def measure_records(records: pd.DataFrame, dataset: Dataset) -> dict[str, Any]:
    """Test metrics of every_step records under every protocol, whose cases are among them.

    Returns:
        ``every_step, trajectory_last, user_last`` -> group -> ``n`` and metrics; ``frequency`` -> exact training count
        ("0".."9", "10+") -> the same; ``long_history`` -> the same over cases with at least `LONG_HISTORY` earlier
        check-ins; ``deviation``, see `deviations`; ``spread``, see `spreads`; ``reweighted`` -> metric ->
        trajectory_last at the paper's share of head cases, see `reweight`.
    """
    last = at_trajectory_ends(records, dataset)
    user_last = records[records[c.ROW].isin(dataset.cases(c.TEST, "user_last"))]
    count = records[c.TRANSITION_COUNT].clip(upper=_FREQUENCY_BINS)
    known = [metric for metric in METRICS if is_known(records, metric)]
    return {
        "every_step": _by_group(records, known),
        "trajectory_last": _by_group(last, known),
        "deviation": deviations(last),
        "spread": spreads(last),
        "reweighted": {metric: reweight(last, metric) for metric in known},
        "user_last": _by_group(user_last, known),
        "frequency": {
            f"{low}" + ("+" if low == _FREQUENCY_BINS else ""): _kept(metrics_of(records[count == low]), known)
            for low in range(_FREQUENCY_BINS + 1)
        },
        "long_history": _by_group(records[records[c.POSITION] >= LONG_HISTORY], known),
    }


def at_trajectory_ends(records: pd.DataFrame, dataset: Dataset) -> pd.DataFrame:
    """The trajectory_last cases among every_step records."""
    return records[records[c.ROW].isin(dataset.cases(c.TEST, "trajectory_last"))]


def deviations(last: pd.DataFrame) -> dict[str, dict[str, float]]:
    """Group -> metric -> standard deviation over trajectory_last cases; a group of fewer than two cases has none."""
    known = [metric for metric in METRICS if is_known(last, metric)]
    return {
        group: {metric: float(metric_values(last[mask], metric).std(ddof=1)) for metric in known}
        for group, mask in group_masks(last[c.TRANSITION_COUNT]).items()
        if mask.sum() > 1
    }


def _by_group(records: pd.DataFrame, known: Sequence[str]) -> MetricsByGroup:
    return {group: _kept(metrics, known) for group, metrics in metrics_by_group(records).items()}


def _kept(metrics: Metrics, known: Sequence[str]) -> Metrics:
    """None where imported lists are too short to tell."""
    return {name: value if name == "n" or name in known else None for name, value in metrics.items()}


def reach(dataset: Dataset, graph: TransitionGraph, num_hops: int) -> dict[str, float]:
    """Candidates, coverage in % and 1000 x SNR of an N-hop graph over the paper's kind of pairs, see `unseen_reach`."""
    row = unseen_reach(dataset, graph, num_hops)[num_hops - 1]
    return {
        "candidates": row["candidates"],
        "coverage": 100.0 * row["coverage"],
        "snr": row["snr_x1000"],
    }


def value_at(values: dict[str, Any], key: str) -> float | None:
    """A number by its dotted path; None where it is not there."""
    level: Any = values
    for part in key.split("."):
        if not isinstance(level, dict) or part not in level:
            return None
        level = level[part]
    return float(level) if isinstance(level, int | float) else None


def mean_at(runs: Sequence[ArmResult], key: str) -> float | None:
    """A number's mean over runs; None where one of them does not have it.

    Of the ends of intervals it is an interval of the mean over seeds that is a little too wide.
    """
    known = [value for run in runs if (value := value_at(run.values, key)) is not None]
    return float(np.mean(known)) if known and len(known) == len(runs) else None
