"""The measured result of an experiment's arm, its file, and its tables as Markdown."""

import hashlib
import json
from pathlib import Path
from typing import Any, Final

import numpy as np
import pandas as pd
from pydantic import Field

from analysis.compare.head_share import PAPER_HEAD_SHARE, is_tail, reweight
from analysis.compare.model_table import markdown_table
from analysis.experiments.spec import ResultColumn
from analysis.records.accuracy import METRIC_LABELS, is_known, metric_values
from analysis.records.bootstrap import UserBootstrap
from recap import columns as c
from recap.config import Config
from recap.data.cases import Protocol
from recap.data.dataset import Dataset
from recap.errors import DataError, FormatVersionError
from recap.evaluation.cases import is_known_place
from recap.evaluation.metrics import METRICS, SHOWN_METRICS, metrics_by_group, metrics_of
from recap.evaluation.scoring import evaluate
from recap.history.graph import TransitionGraph
from recap.history.statistics import unseen_reach
from recap.pretrained.curves_file import PretrainedCurves
from recap.scores import Scorer
from recap.storage.json_text import read_json
from recap.training_config import AnyTraining, TrainConfig

FORMAT_VERSION: Final = 2


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
    paper: dict[str, float] = Field(default_factory=dict)


class ArmComparison(Config):
    """One arm against another, each case's values averaged over its seeds; None where the group is empty.

    ``low, high`` is the difference's 95 % interval.
    """

    arm: str
    other: str
    protocol: Protocol = "every_step"
    group: str
    metric: str
    n: int
    difference: float | None = None
    low: float | None = None
    high: float | None = None


class ExperimentResult(Config):
    format_version: int = FORMAT_VERSION
    experiment: str
    title: str
    question: str
    dataset_name: str
    dataset_hash: str
    synthetic: bool
    seeds: tuple[int, ...]
    changes: tuple[str, ...] = Field((), description="Against the preset, in every arm that trains.")
    columns: tuple[ResultColumn, ...]
    arms: tuple[ArmResult, ...]
    comparisons: tuple[ArmComparison, ...] = ()
    finished: bool
    command: str
    date: str
    hardware: str
    versions: dict[str, str]

    @classmethod
    def load(cls, path: Path) -> "ExperimentResult":
        """Read a result file.

        Raises:
            DataError: not a result file.
            FormatVersionError: written by another version.
        """
        try:
            content = read_json(path)
            version = int(content["format_version"])
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise DataError(f"{path} is not an experiment result ({error}); run the experiment again") from error
        if version != FORMAT_VERSION:
            raise FormatVersionError(f"{path} has format {version}, this version reads {FORMAT_VERSION}")
        return cls.parse(content)


def training_digest(dataset: Dataset, config: AnyTraining, pretrained: PretrainedCurves | None = None) -> str:
    """Hash of data, configuration and pretrained curves, which names a training; parts that are None do not count."""
    parts = [dataset.hash, config.model_dump(mode="json", exclude_none=True), False]
    if isinstance(config, TrainConfig) and config.model.prior.start == "pretrained":
        parts.append((pretrained or PretrainedCurves.packaged()).hash)
    key = json.dumps(parts, sort_keys=True)
    return hashlib.sha256(key.encode()).hexdigest()[:16]


def measure(
    scorer: Scorer, dataset: Dataset, graph: TransitionGraph, protocol: Protocol = "every_step"
) -> tuple[dict[str, Any], pd.DataFrame]:
    """Test metrics of a scorer, and its records of a protocol.

    Returns:
        Protocol -> group (also ``new``: new places) -> ``n`` and metrics; ``reweighted`` -> metric -> trajectory_last
        at the paper's share of head cases, see `reweight`; ``test_seconds``.
    """
    test = evaluate(scorer, dataset, graph, protocol=protocol)
    return measure_records(test.records, dataset, protocol) | {"test_seconds": test.seconds}, test.records


def measure_records(records: pd.DataFrame, dataset: Dataset, protocol: Protocol = "every_step") -> dict[str, Any]:
    """What `measure` returns of a protocol's records, without metrics that short imported lists do not say."""
    protocols: tuple[Protocol, ...] = (protocol, "every_step", "trajectory_last", "user_last")
    of = {name: records_of_run(records, dataset, name) for name in protocols}
    unknown = [metric for metric in METRICS if not is_known(records, metric)]
    known = {}
    for name, cases in of.items():
        groups = metrics_by_group(cases) | {"new": metrics_of(cases[~is_known_place(cases)])}
        known[name] = {group: {k: v for k, v in row.items() if k not in unknown} for group, row in groups.items()}
    shown = [metric for metric in SHOWN_METRICS if metric not in unknown]
    last = of["trajectory_last"]
    tail_N, bootstrap = is_tail(last), UserBootstrap(last[c.USER].to_numpy())
    weighted = {}
    for metric in shown:
        numbers = reweight(metric_values(last, metric), tail_N, bootstrap)._asdict()
        weighted[metric] = {name: None if np.isnan(value) else value for name, value in numbers.items()}
    return known | {"reweighted": weighted}


def records_of_run(records: pd.DataFrame, dataset: Dataset, protocol: Protocol) -> pd.DataFrame:
    """Those test records that are cases of a protocol, without the gaps that every_next is split by."""
    if protocol == "every_next":
        return records
    return records[records[c.ROW].isin(dataset.cases(c.TEST, protocol))].drop(columns=c.GAP_HOURS, errors="ignore")


def reach(dataset: Dataset, graph: TransitionGraph, num_hops: int) -> dict[str, float]:
    """Candidates, coverage in % and 1000 x SNR of an N-hop graph over the paper's pairs."""
    row = unseen_reach(dataset, graph, num_hops)
    return {
        "candidates": row["candidates"],
        "coverage": 100.0 * row["coverage"],
        "snr": row["snr_x1000"],
    }


def value_at(values: dict[str, Any], key: str) -> float | None:
    """A number by its dotted path, or None."""
    level: Any = values
    for part in key.split("."):
        if not isinstance(level, dict) or part not in level:
            return None
        level = level[part]
    return float(level) if isinstance(level, int | float) else None


def markdown(result: ExperimentResult) -> str:
    rows = [[label, *(_mean(runs, x.key, x.digits) for x in result.columns)] for label, runs in _by_arm(result)]
    heads = ["", *(x.label for x in result.columns)]
    parts = [f"## {result.title}", result.question, _how(result), markdown_table(heads, rows)]
    if any(arm.paper for arm in result.arms):
        heads = ["", *(head for metric in SHOWN_METRICS for head in (METRIC_LABELS[metric], "paper"))]
        rows = [[label, *_next_to_paper(runs)] for label, runs in _by_arm(result)]
        note = f"Cases trajectory_last at the paper's head share {PAPER_HEAD_SHARE:.4f}, 95 % intervals over users:"
        parts += [note, markdown_table(heads, rows)]
    if result.comparisons:
        labels = {arm.arm: arm.label for arm in result.arms}
        heads = ["", "cases", *(METRIC_LABELS[metric] for metric in SHOWN_METRICS)]
        cells_of: dict[tuple[str, str], dict[str, str]] = {}
        for row in result.comparisons:
            cell = f"{row.difference:+.4f} [{row.low:+.4f}, {row.high:+.4f}]" if row.difference is not None else "–"
            key = (f"{labels[row.arm]} − {labels[row.other]}", f"{row.protocol} {row.group}")
            cells_of.setdefault(key, {})[row.metric] = cell
        rows = [
            [label, group, *(cells.get(metric, "–") for metric in SHOWN_METRICS)]
            for (label, group), cells in cells_of.items()
        ]
        note = "Differences with 95 % intervals over users (paired, 1,000 bootstrap samples):"
        parts += [note, markdown_table(heads, rows)]
    return "\n\n".join(parts) + "\n"


def _by_arm(result: ExperimentResult) -> list[tuple[str, list[ArmResult]]]:
    arms: dict[str, list[ArmResult]] = {}
    for run in result.arms:
        arms.setdefault(run.arm, []).append(run)
    return [(runs[0].label, runs) for runs in arms.values()]


def _how(result: ExperimentResult) -> str:
    values = result.arms[0].values if result.arms else {}
    n, tail = (value_at(values, f"every_step.{group}.n") or 0 for group in ("all", "tail"))
    kind = "synthetic" if result.synthetic else "real"
    parts = [
        f"{result.dataset_name} ({kind} check-ins, dataset `{result.dataset_hash[:12]}`), test",
        f"every_step n = {n:,.0f} (tail {tail:,.0f})",
        f"seeds {', '.join(map(str, result.seeds))}",
        *(f"`{change}`" for change in result.changes),
        f"{result.date}, {result.hardware}, torch {result.versions['torch']}",
        f"`{result.command}`",
    ]
    return "; ".join(parts) + ("." if result.finished else "; **not finished**.")


def _mean(runs: list[ArmResult], key: str, digits: int) -> str:
    values = [value for run in runs if (value := value_at(run.values, key)) is not None]
    if not values:
        return "–"
    spread = f" ± {number(float(np.std(values, ddof=1)), digits)}" if len(values) > 1 else ""
    return number(float(np.mean(values)), digits) + spread


def _next_to_paper(runs: list[ArmResult]) -> list[str]:
    cells = []
    for metric in SHOWN_METRICS:
        keys = [f"reweighted.{metric}.{name}" for name in ("value", "low", "high")]
        value, low, high = (_mean(runs, key, 4).partition(" ±")[0] for key in keys)
        paper = runs[0].paper.get(metric)
        cells += [f"{value} [{low}, {high}]", "–" if paper is None else number(paper, 4)]
    return cells


def number(value: float, digits: int) -> str:
    """As in a table: without the zero before the point."""
    text = f"{value:,.{digits}f}"
    return text.removeprefix("0") if 0 <= value < 1 and digits else text
