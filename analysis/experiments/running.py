"""Run an experiment: train what is missing, measure it, keep the result after every arm."""

import json
import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any, Final

import pandas as pd
import torch

from analysis.compare.paired import compare_means, comparison_rows
from analysis.experiments.costs import Costs, measure_costs
from analysis.experiments.earlier import EarlierRows
from analysis.experiments.estimates import estimated_time
from analysis.experiments.machine import describe_machine, today
from analysis.experiments.results import (
    ArmComparison,
    ArmResult,
    ExperimentResult,
    at_trajectory_ends,
    deviations,
    measure,
    measure_records,
    reach,
    training_digest,
)
from analysis.experiments.spec import Arm, ExperimentSpec
from analysis.experiments.spreads import spreads
from analysis.records.imported import find_predictions
from recap.baselines.building import build_baseline
from recap.checkpoint import TRAINING_FOLDER, WEIGHTS, Checkpoint, library_versions
from recap.data.dataset import Dataset
from recap.evaluation.cases import describe_cases
from recap.evaluation.metrics import SHOWN_METRICS, metrics_by_group
from recap.evaluation.records import read_records, write_records
from recap.evaluation.scoring import rank_cases
from recap.graph import TransitionGraph
from recap.memory import peak_bytes, reset_peak
from recap.storage.artifacts import SUMS
from recap.storage.atomic import replace_text, replacing
from recap.storage.tensors import load_tensors
from recap.training.loop import EpochWatcher, TrainingLoop
from recap.training.metrics_file import METRICS, read_metrics
from recap.training.rebalancing import rebalance
from recap.training.run import StopRequest, train
from recap.training_config import AnyTraining, TrainConfig

RESULT: Final = "result.json"
_TRAININGS: Final = "trainings"
_REBALANCED: Final = "-rebalanced"
_MEASURED: Final = "measured.json"
_RECORDS: Final = "records.parquet"
_POINTS: Final = "test_points.csv"
_MEMORY: Final = "memory.json"
Log = Callable[[str], None]


@dataclass(frozen=True, eq=False)
class _Measured:
    """A row; its records are empty where it was not measured here."""

    result: ArmResult
    records: pd.DataFrame


def run_experiment(
    spec: ExperimentSpec,
    dataset: Dataset,
    out: Path,
    *,
    device: torch.device,
    command: str,
    log: Log,
    stop: StopRequest = lambda: False,
    trains: bool = True,
    costs_anew: bool = False,
    earlier: Path | None = None,
) -> ExperimentResult:
    """Train and measure every arm under every seed; what is already there is used, what was cut off is continued.

    Args:
        out: folder of all experiments on this dataset; trainings lie in ``out/trainings`` and are shared between
            experiments, the result in ``out/<name>/result.json``, written anew after every arm.
        command: how to get the numbers again, kept in the result.
        log: receives a line about each step.
        stop: polled at every training step; True ends the experiment early, resumable.
        trains: whether what is not there yet is trained; else it is a row "not run" with its estimated time.
        costs_anew: measure what arms cost although an earlier run did.
        earlier: a result file whose rows stand where their training is not in ``out``.

    Raises:
        DataError: ``out`` or ``earlier`` holds results of another dataset.
    """
    folder = out / spec.name
    known = EarlierRows() if earlier is None else EarlierRows.load(earlier, dataset.hash, spec.name)
    kept = ExperimentResult.load(folder / RESULT, dataset.hash).costs if (folder / RESULT).is_file() else None
    costs = known.costs if kept is None else kept
    folder.mkdir(parents=True, exist_ok=True)
    graph = TransitionGraph.from_dataset(dataset)
    done: list[_Measured] = []
    wanted = [(arm, seed) for arm in spec.arms for seed in _seeds(spec, arm)]
    result = _result(spec, dataset, done, known, costs, command, finished=False)
    for arm, seed in wanted:
        if arm.baseline is not None:
            done.append(_measure_baseline(arm, dataset, graph))
        elif arm.imported is not None:
            done.append(_measure_imported(arm, dataset, graph))
        elif arm.not_run is not None:
            done.append(_without_values(arm, seed, f"not run, {arm.not_run}"))
        else:
            config = spec.train_config(arm, seed)
            digest = training_digest(dataset, config, spec.test_points)
            at = out / _TRAININGS / digest
            digest += _REBALANCED if arm.rebalanced else ""
            row = known.row(digest)
            if row is not None and not (at / SUMS).is_file():
                done.append(_as_known(arm, row))
            elif trains or (at / SUMS).is_file():
                trained = _train(config, dataset, at, spec.test_points, device, log, stop, arm.label)
                if trained is None:
                    return result
                if arm.rebalanced:
                    trained = _rebalance(trained, dataset, at.with_name(digest))
                done.append(_measure_training(arm, trained, digest, dataset, graph))
            else:
                note = known.note(arm.name, seed) or f"not run, {estimated_time(at.parent, config)}"
                done.append(_without_values(arm, seed, note))
        result = _result(spec, dataset, done, known, costs, command, finished=len(done) == len(wanted))
        result.save(folder / RESULT)
    if spec.costs and (costs is None or costs_anew):
        measured = measure_costs(spec, dataset, device, log, stop)
        changes = {"finished": False} if measured is None else {"costs": measured}
        result = result.model_copy(update=changes)
        result.save(folder / RESULT)
    return result


def _train(
    config: AnyTraining,
    dataset: Dataset,
    folder: Path,
    test_points: bool,
    device: torch.device,
    log: Log,
    stop: StopRequest,
    label: str,
) -> Checkpoint | None:
    """The finished training, run or continued where it is not there yet; None if stopped."""
    if (folder / SUMS).is_file():
        return Checkpoint.load(folder)
    log(f"{label}, seed {config.seed}: training {config.epochs} epochs in {folder}")
    folder.parent.mkdir(parents=True, exist_ok=True)
    after_epoch = _evaluate_improvements(dataset, folder / TRAINING_FOLDER / _POINTS) if test_points else None
    resume = (folder / TRAINING_FOLDER).is_dir()
    reset_peak()
    try:
        return train(dataset, config, folder, device=device, resume=resume, stop=stop, after_epoch=after_epoch)
    finally:
        _keep_peak(folder / TRAINING_FOLDER)


def _rebalance(checkpoint: Checkpoint, dataset: Dataset, folder: Path) -> Checkpoint:
    """The training with core and prior weighed anew, made where it is not there yet."""
    if not (folder / SUMS).is_file():
        rebalance(checkpoint, dataset, folder)
        (folder / TRAINING_FOLDER).mkdir(exist_ok=True)
    return Checkpoint.load(folder)


def _keep_peak(working: Path) -> None:
    """The most memory that any session of a training held, beside what it has trained."""
    peak = peak_bytes()
    if peak is not None and working.is_dir():
        replace_text(working / _MEMORY, json.dumps({"peak_bytes": max(peak, _kept_peak(working) or 0)}) + "\n")


def _kept_peak(working: Path) -> int | None:
    """None for a training that nobody watched."""
    try:
        return int(json.loads((working / _MEMORY).read_text())["peak_bytes"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _evaluate_improvements(dataset: Dataset, path: Path) -> EpochWatcher:
    """After an epoch that is the best so far on validation, add its test metrics to a table; nothing reads it back."""
    graph = TransitionGraph.from_dataset(dataset)
    cases = describe_cases(dataset, graph)

    def after_epoch(trainer: TrainingLoop, epoch: int) -> None:
        best = trainer.progress.best_overall
        if best is None or best["epoch"] != epoch:
            return
        metrics = metrics_by_group(rank_cases(trainer.scorer(epoch), cases, trainer.checkins))
        trainer.model.train()
        row = {"epoch": epoch} | {f"{group}.hr1": metrics[group]["hr1"] for group in ("all", "head", "tail")}
        known = pd.read_csv(path) if path.is_file() else pd.DataFrame()
        kept = known[known["epoch"] < epoch] if len(known) else known
        with replacing(path) as temporary:
            pd.concat([kept, pd.DataFrame([row])]).to_csv(temporary, index=False)

    return after_epoch


def _measure_training(
    arm: Arm, checkpoint: Checkpoint, digest: str, dataset: Dataset, graph: TransitionGraph
) -> _Measured:
    """Measure a finished training, or read what was measured before."""
    working = checkpoint.folder / TRAINING_FOLDER
    train_config = checkpoint.manifest.train
    described = {
        "arm": arm.name,
        "label": arm.label,
        "seed": train_config.seed,
        "digest": digest,
        "epochs": train_config.epochs,
        "best_epoch": checkpoint.manifest.best.epoch,
        "preset": train_config.preset,
        "changes": arm.changes,
        **_beside(arm),
    }
    walked = {}
    if isinstance(train_config, TrainConfig) and train_config.model.use_graph:
        walked = {"reach": reach(dataset, graph, train_config.model.num_hops)}
    if (working / _MEASURED).is_file() and (working / _RECORDS).is_file():
        known = ArmResult.model_validate_json((working / _MEASURED).read_text())
        records = read_records(working / _RECORDS)[0]
        values = known.values
        if "deviation" not in values or "spread" not in values:  # measured by an earlier version
            last = at_trajectory_ends(records, dataset)
            values = values | {"deviation": deviations(last), "spread": spreads(last)}
        return _Measured(ArmResult.parse(known.model_dump() | described | {"values": values | walked}), records)
    values, records = measure(checkpoint.scorer(dataset, graph), dataset, graph)
    values["cost"] = _cost(checkpoint)
    values["val"] = checkpoint.manifest.best.val
    points = pd.read_csv(working / _POINTS).to_dict(orient="records") if (working / _POINTS).is_file() else []
    result = ArmResult.parse(described | {"values": values | walked, "test_points": points})
    write_records(records, working / _RECORDS, {"dataset_hash": dataset.hash, "model": digest})
    replace_text(working / _MEASURED, result.model_dump_json(indent=1) + "\n")
    return _Measured(result, records)


def _measure_baseline(arm: Arm, dataset: Dataset, graph: TransitionGraph) -> _Measured:
    assert arm.baseline is not None
    reset_peak()
    values, records = measure(build_baseline(arm.baseline, dataset, graph), dataset, graph)
    values["cost"] = {"test_seconds": values["test_seconds"]} | _memory(peak_bytes())
    result = ArmResult(arm=arm.name, label=arm.label, seed=None, digest=arm.baseline, values=values, **_beside(arm))
    return _Measured(result, records)


def _measure_imported(arm: Arm, dataset: Dataset, graph: TransitionGraph) -> _Measured:
    """Imported predictions of the arm's name, where somebody has imported them."""
    assert arm.imported is not None
    found = [item for item in find_predictions(dataset.hash) if item.name == arm.imported]
    if not found:
        return _without_values(arm, None, f"needs their output: `recap import-predictions` as {arm.imported}")
    cases = describe_cases(dataset, graph)
    listed = found[-1].read(len(cases))
    records = cases.join(listed[[name for name in listed.columns if name not in cases.columns]])
    values = measure_records(records, dataset)
    result = ArmResult(arm=arm.name, label=arm.label, seed=None, digest=found[-1].key, values=values, **_beside(arm))
    return _Measured(result, records)


def _without_values(arm: Arm, seed: int | None, note: str) -> _Measured:
    result = ArmResult(arm=arm.name, label=arm.label, seed=seed, digest="", values={}, note=note, **_beside(arm))
    return _Measured(result, pd.DataFrame())


def _as_known(arm: Arm, row: ArmResult) -> _Measured:
    """A row of an earlier result, beside what the arm is now called and held against."""
    described = {"arm": arm.name, "label": arm.label, "changes": arm.changes, **_beside(arm)}
    return _Measured(ArmResult.parse(row.model_dump() | described), pd.DataFrame())


def _beside(arm: Arm) -> dict[str, Any]:
    """What stands beside an arm's numbers."""
    return {"paper": arm.paper, "public": arm.public, "reason": arm.note}


def _seeds(spec: ExperimentSpec, arm: Arm) -> tuple[int, ...]:
    return spec.seeds[: arm.seeds] if arm.trains and arm.not_run is None else spec.seeds[:1]


def _cost(checkpoint: Checkpoint) -> dict[str, float]:
    """Minutes of training and seconds of an epoch and of the test, memory, and learned numbers."""
    summary = checkpoint.read_summary()
    tensors, _ = load_tensors(checkpoint.folder / WEIGHTS)
    lines = read_metrics(checkpoint.folder / TRAINING_FOLDER / METRICS)
    return {
        "train_minutes": summary["seconds"] / 60,
        "epoch_seconds": median(line["seconds"] for line in lines) if lines else math.nan,
        "test_seconds": summary["test_seconds"],
        "reserved_gpu_gb": summary["reserved_gpu_bytes"] / 1e9,
        "parameters": float(sum(tensor.numel() for tensor in tensors.values() if tensor.is_floating_point())),
    } | _memory(_kept_peak(checkpoint.folder / TRAINING_FOLDER))


def _memory(peak: int | None) -> dict[str, float]:
    return {} if peak is None else {"peak_memory_gb": peak / 1e9}


def _result(
    spec: ExperimentSpec,
    dataset: Dataset,
    done: list[_Measured],
    known: EarlierRows,
    costs: Costs | None,
    command: str,
    *,
    finished: bool,
) -> ExperimentResult:
    return ExperimentResult(
        experiment=spec.name,
        title=spec.title,
        question=spec.question,
        dataset_name=dataset.manifest.name,
        dataset_hash=dataset.hash,
        synthetic=dataset.manifest.synthetic,
        seeds=spec.seeds,
        changes=spec.changes,
        columns=spec.columns,
        average_rank=spec.average_rank,
        arms=tuple(measured.result for measured in done),
        comparisons=_comparisons(spec, done, known) if finished else (),
        costs=costs,
        finished=finished,
        command=command,
        date=today(),
        hardware=describe_machine(),
        versions=library_versions(),
    )


def _comparisons(spec: ExperimentSpec, done: list[_Measured], known: EarlierRows) -> tuple[ArmComparison, ...]:
    """Differences between arms, each arm's case values averaged over its seeds."""
    rows: list[ArmComparison] = []
    results = tuple(measured.result for measured in done)
    for one, other in spec.compare:
        sides = [
            [measured.records for measured in done if measured.result.arm == name and measured.result.values]
            for name in (one, other)
        ]
        if not all(sides):
            continue  # not run, or not imported: nothing to compare
        if any(records.empty for side in sides for records in side):
            rows += known.comparisons(one, other, results)
            continue
        table = compare_means(*sides, metrics=SHOWN_METRICS, groups=spec.compare_groups)
        rows += [
            ArmComparison(
                arm=one,
                rival=other,
                group=row["group"],
                metric=row["metric"],
                n=row["n"],
                value=_number(row["value"]),
                rival_value=_number(row["rival"]),
                difference=_number(row["difference"]),
                low=_number(row["low"]),
                high=_number(row["high"]),
            )
            for row in comparison_rows(table)
        ]
    return tuple(rows)


def _number(value: float) -> float | None:
    return None if math.isnan(value) else value
