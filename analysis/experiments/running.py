"""Run an experiment: train what is missing, measure it, store the result after every arm."""

import platform
import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Final

import pandas as pd
import psutil
import torch

from analysis.compare.paired import compare_means, comparison_rows
from analysis.experiments.results import (
    ArmComparison,
    ArmResult,
    ExperimentResult,
    measure,
    measure_records,
    reach,
    records_of_run,
    training_digest,
)
from analysis.experiments.spec import ACCURACY, Arm, ExperimentSpec
from analysis.records.accuracy import is_known
from analysis.records.imported import ImportedPredictions, find_predictions, named_predictions
from recap import columns as c
from recap.baselines import PRETRAINED
from recap.checkpoint import TRAINING_FOLDER, WEIGHTS, Checkpoint, library_versions
from recap.data.cases import PROTOCOLS, Protocol
from recap.data.dataset import Dataset
from recap.errors import ConfigError, DataError, RecapError
from recap.evaluation.cases import is_known_place
from recap.evaluation.metrics import SHOWN_METRICS
from recap.evaluation.records import read_records, write_records
from recap.history.graph import TransitionGraph
from recap.pretrained.checkpoint import PretrainedCheckpoint
from recap.pretrained.curves_file import PretrainedCurves
from recap.scores import Scorer
from recap.storage.artifacts import SUMS
from recap.storage.atomic import replace_text
from recap.storage.cache_keys import cache_key
from recap.storage.json_text import read_object
from recap.storage.tensors import load_tensors
from recap.training.baselines import build_baseline
from recap.training.run import StopRequest, train
from recap.training_config import AnyTraining, TrainConfig

RESULT_FILE: Final = "result.json"
_TRAININGS: Final = "trainings"
_GROUPS: Final = ("all", "head", "tail")
_Log = Callable[[str], None]


@dataclass(frozen=True, eq=False)
class _Measured:
    result: ArmResult
    records: pd.DataFrame


def run_experiment(
    spec: ExperimentSpec,
    dataset: Dataset,
    out: Path,
    *,
    device: torch.device,
    command: str,
    log: _Log,
    stop: StopRequest = lambda: False,
    pretrained: PretrainedCurves | None = None,
) -> ExperimentResult:
    """Train and measure every arm with every seed; reuse finished trainings, continue interrupted ones.

    Args:
        out: folder of all experiments on this dataset. They share the trainings in ``out/trainings``; the result is
            ``out/<name>/result.json``.
        command: reproduces the numbers; kept in the result.
        stop: polled at every training step; True ends the experiment, which can be resumed.
        pretrained: of arms that are or start from pretrained curves; the package's by default.

    Raises:
        DataError: ``out`` holds results of another dataset.
        ConfigError: no imported predictions of an arm's name.
    """
    path = out / spec.name / RESULT_FILE
    if path.is_file() and ExperimentResult.load(path).dataset_hash != dataset.hash:
        raise DataError(f"{path} has results of another dataset; choose another --out")
    imported = {arm.name: _imported(arm.imported, dataset) for arm in spec.rows if arm.imported}
    path.parent.mkdir(parents=True, exist_ok=True)
    graph = TransitionGraph.from_dataset(dataset)
    done: list[_Measured] = []
    wanted = [(arm, seed) for arm in spec.rows for seed in _seeds(spec, arm)]
    result = _result(spec, dataset, done, command, finished=False)
    for arm, seed in wanted:
        if arm.name in imported:
            done.append(_measure_imported(arm, imported[arm.name], dataset, spec.protocol))
        elif arm.baseline is not None:
            started = time.process_time()
            if arm.baseline == PRETRAINED:
                unfitted = PretrainedCheckpoint.of(dataset, pretrained, keep=False, given_time=arm.given_time)
                scorer: Scorer = unfitted.fit(dataset, graph).scorer(dataset, graph)
            else:
                scorer = build_baseline(arm.baseline, dataset, graph)
            cost = {"processor_seconds": time.process_time() - started}
            values, records = measure(scorer, dataset, graph, spec.protocol)
            row = ArmResult(
                arm=arm.name, label=arm.label, seed=None, digest=arm.baseline, values=values | {"cost": cost}
            )
            done.append(_Measured(row, records))
        else:
            config = spec.train_config(arm, seed)
            trained = _train(arm, config, dataset, out / _TRAININGS, device, log, stop, pretrained)
            if trained is None:
                return result
            done.append(_measure_training(arm, trained, dataset, graph, spec.protocol))
        result = _result(spec, dataset, done, command, finished=len(done) == len(wanted))
        replace_text(path, result.model_dump_json(indent=1) + "\n")
    return result


def _seeds(spec: ExperimentSpec, arm: Arm) -> tuple[int, ...]:
    return spec.seeds[: arm.seeds] if arm.trains else spec.seeds[:1]


def _train(
    arm: Arm,
    config: AnyTraining,
    dataset: Dataset,
    trainings: Path,
    device: torch.device,
    log: _Log,
    stop: StopRequest,
    pretrained: PretrainedCurves | None,
) -> Checkpoint | None:
    folder = trainings / training_digest(dataset, config, pretrained)
    trainings.mkdir(parents=True, exist_ok=True)
    if (folder / SUMS).is_file():
        return Checkpoint.load(folder)
    log(f"{arm.label}, seed {config.seed}: training {config.epochs} epochs in {folder}")
    resume = (folder / TRAINING_FOLDER).is_dir()
    return train(dataset, config, folder, device=device, resume=resume, stop=stop, pretrained=pretrained)


def _imported(name: str, dataset: Dataset) -> ImportedPredictions:
    predictions = named_predictions(dataset.hash, name)
    if predictions is None:
        there = ", ".join(item.name for item in find_predictions(dataset.hash)) or "none"
        raise ConfigError(f"no imported predictions of this dataset are called {name!r}; there are: {there}")
    return predictions


def _measure_imported(arm: Arm, imported: ImportedPredictions, dataset: Dataset, protocol: Protocol) -> _Measured:
    """Accuracy of imported predictions; metrics beyond their shortest list stay out."""
    if protocol == "every_next":
        raise ConfigError(f"{imported.name} was imported for every_step; this experiment measures {protocol}")
    records = imported.read(len(dataset.cases(c.TEST)))
    is_short = c.IN_LIST in records and not records[c.IN_LIST].all()
    label = f"{arm.label} (MRR at least)" if is_short else arm.label
    values = measure_records(records, dataset)
    return _Measured(ArmResult(arm=arm.name, label=label, seed=None, digest=imported.key, values=values), records)


def _measure_training(
    arm: Arm, checkpoint: Checkpoint, dataset: Dataset, graph: TransitionGraph, protocol: Protocol
) -> _Measured:
    working = checkpoint.folder / TRAINING_FOLDER
    config = checkpoint.manifest.train
    asked = checkpoint.given_time if arm.given_time else checkpoint
    key = cache_key(dataset.hash, asked.hash)[:12]
    measured, ranked = (working / f"{protocol}-{key}.{kind}" for kind in ("json", "parquet"))
    try:
        values = ArmResult.parse(read_object(measured)).values
        records = read_records(ranked)[0]
    except RecapError:  # not measured yet, by another version, or damaged
        values, records = measure(asked.scorer(dataset, graph), dataset, graph, protocol)
        values |= {"cost": _cost(checkpoint), "val": asked.manifest.best.val}
        if isinstance(config, TrainConfig) and config.model.has_token:
            values["reach"] = reach(dataset, graph, config.model.num_hops)
        write_records(records, ranked, {"dataset_hash": dataset.hash, "model": checkpoint.folder.name})
    result = ArmResult(
        arm=arm.name,
        label=arm.label,
        seed=config.seed,
        digest=checkpoint.folder.name,
        epochs=config.epochs,
        best_epoch=checkpoint.manifest.best.epoch,
        preset=config.preset,
        changes=arm.changes,
        values=values,
        paper=arm.paper,
    )
    replace_text(measured, result.model_dump_json(indent=1) + "\n")
    return _Measured(result, records)


def _cost(checkpoint: Checkpoint) -> dict[str, float]:
    """Minutes and processor seconds of training, seconds of the test, GPU memory in GB, and learned numbers."""
    summary = checkpoint.read_summary()
    tensors, _ = load_tensors(checkpoint.folder / WEIGHTS)
    return {
        "train_minutes": summary["seconds"] / 60,
        **({"processor_seconds": processor} if (processor := summary.get("processor_seconds")) else {}),
        "test_seconds": summary["test_seconds"],
        "reserved_gpu_gb": summary["reserved_gpu_bytes"] / 1e9,
        "parameters": float(sum(tensor.numel() for tensor in tensors.values() if tensor.is_floating_point())),
    }


def _result(
    spec: ExperimentSpec, dataset: Dataset, done: list[_Measured], command: str, *, finished: bool
) -> ExperimentResult:
    memory = psutil.virtual_memory().total / 2**30
    gpus = [torch.cuda.get_device_name(index) for index in range(torch.cuda.device_count())]
    return ExperimentResult(
        experiment=spec.name,
        title=spec.title,
        question=spec.question,
        dataset_name=dataset.manifest.name,
        dataset_hash=dataset.hash,
        synthetic=dataset.manifest.synthetic,
        seeds=spec.seeds,
        changes=spec.changes,
        columns=(*spec.columns, *ACCURACY),
        arms=tuple(measured.result for measured in done),
        comparisons=_comparisons(spec, dataset, done) if finished else (),
        finished=finished,
        command=command,
        date=time.strftime("%Y-%m-%d", time.gmtime()),
        hardware=f"{psutil.cpu_count()} {platform.machine()} cores, {memory:.0f} GiB, {', '.join(gpus) or 'no GPU'}",
        versions=library_versions(),
    )


def _comparisons(spec: ExperimentSpec, dataset: Dataset, done: list[_Measured]) -> tuple[ArmComparison, ...]:
    rows: list[ArmComparison] = []
    protocols = PROTOCOLS if spec.protocol == "every_next" else (spec.protocol,)
    for (one, other), protocol in product(spec.compare, protocols):
        sides = [
            [records_of_run(run.records, dataset, protocol) for run in done if run.result.arm == name]
            for name in (one, other)
        ]
        every = [*sides[0], *sides[1]]
        known = [metric for metric in SHOWN_METRICS if all(is_known(side, metric) for side in every)]
        table = compare_means(*sides, metrics=known, groups=_GROUPS)
        new = [[records[~is_known_place(records)] for records in side] for side in sides]
        if len(new[0][0]):
            to_new = compare_means(*new, metrics=known, groups=("all",)).assign(group="new")
            table = pd.concat([table, to_new], ignore_index=True)
        for row in comparison_rows(table.drop(columns=["value", "baseline"])):
            numbers = {name: value for name, value in row.items() if value == value}  # without NaN
            rows.append(ArmComparison.parse({"arm": one, "other": other, "protocol": protocol} | numbers))
    return tuple(rows)
