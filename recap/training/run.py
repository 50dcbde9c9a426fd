"""A training from dataset to checkpoint, resumable at any step."""

import logging
import platform
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

import torch
from filelock import FileLock, Timeout

from recap import columns as c
from recap.baselines import COUNTING_BASELINES, FEATURE_CURVES
from recap.checkpoint import (
    BEST_OVERALL_WEIGHTS,
    TRAINING_FOLDER,
    WEIGHTS,
    Checkpoint,
    CheckpointManifest,
    EpochResult,
    library_versions,
    write_checkpoint,
)
from recap.data.dataset import Dataset
from recap.errors import CheckpointError, ConfigError, FolderInUseError, RecapError
from recap.evaluation.cases import describe_cases
from recap.evaluation.metrics import MetricsByGroup, metrics_by_group
from recap.evaluation.scoring import Evaluation, evaluate, rank_cases
from recap.evaluation.temperature import fit_temperature, most_cases
from recap.machine.memory import peak_bytes
from recap.pretrained.curves_file import PretrainedCurves
from recap.probabilities import UNFITTED, Temperature
from recap.scores import Scorer
from recap.storage.artifacts import SUMS
from recap.storage.atomic import replace_json
from recap.storage.json_text import read_json
from recap.training.baselines import MOST_PLACES, build_baseline
from recap.training.given_time import GivenTimeTraining
from recap.training.group import Group
from recap.training.loop import BEST, BEST_OVERALL, STATE_FILE, EpochWatcher, StopRequest, TrainingLoop, Watcher
from recap.training.published_trainer import PublishedTrainer
from recap.training.trainer import Trainer
from recap.training_config import AnyTraining, TrainConfig, TrainingSummary
from recap.vocabulary import write_vocabulary

CONFIG: Final = "config.json"
"""Data and configuration of a training in progress."""
ENVIRONMENT: Final = "env.json"
_LOCK = ".lock"
_log = logging.getLogger(__name__)


def train(
    dataset: Dataset,
    config: AnyTraining,
    out: Path,
    *,
    device: torch.device,
    resume: bool = False,
    watch: Watcher = lambda report: None,
    stop: StopRequest = lambda: False,
    after_epoch: EpochWatcher = lambda loop, epoch: None,
    after_test: Callable[[Evaluation], None] = lambda evaluation: None,
    journal_folder: Path | None = None,
    group: Group | None = None,
    pretrained: PretrainedCurves | None = None,
) -> Checkpoint | None:
    """Train into ``out`` and write the checkpoint there; None if ``stop``, polled after every step, ended it early.

    Args:
        resume: continue a stopped training with the same configuration and dataset.
        after_epoch: called after an epoch is saved.
        after_test: gets the kept model's test evaluation before the checkpoint is written.
        journal_folder: for metrics and versions; inside ``out`` by default.
        group: the processes that share the training; only the writer returns a checkpoint.
        pretrained: the curves to start from where ``config`` asks for some; the package's by default.

    Raises:
        FolderInUseError: another training writes to ``out``, or it holds something else.
        ConfigError: resumed with another configuration or dataset.
        DataError: the dataset has no validation case.
        DivergenceError: losses or weights are no longer finite; the saved state is from before that.
    """
    group, working = group or Group(), out / TRAINING_FOLDER
    identity = {"dataset_hash": dataset.hash, "train": config.model_dump(mode="json")}
    if isinstance(config, TrainConfig) and config.model.prior.start == "pretrained":
        identity["pretrained_hash"] = (pretrained or PretrainedCurves.packaged()).hash
    shared = {"journal_folder": journal_folder, "group": group, "pretrained": pretrained}
    lock = _locked(out, resume) if group.is_writer else nullcontext()  # the others come when the writer has checked
    with lock, torch.random.fork_rng([device] if device.type == "cuda" else []):  # the caller's numbers go on after it
        if group.is_writer:
            _check_identity(working / CONFIG, identity, config, resume)
        trainer = build_trainer(dataset, config, working, device, **shared)
        group.wait()
        if resume and (working / STATE_FILE).is_file():
            trainer.resume()
        if group.is_writer:
            replace_json(working / CONFIG, identity)  # an incomplete file would stop every resume
            write_environment(journal_folder or working, device)
        if not trainer.run(watch, stop, after_epoch):
            return None
        trainer.let_go()
        given_time = None
        if isinstance(trainer, Trainer) and trainer.config.given_time:
            given_time = GivenTimeTraining(trainer)
            if not given_time.run(watch, stop, resume=resume):
                return None
        if not group.is_writer:
            return None
        _write_checkpoint(out, trainer, given_time, after_test)
        return Checkpoint.load(out)


@contextmanager
def _locked(out: Path, resume: bool) -> Iterator[None]:
    """A training's folder, made and locked, and removed if it holds no file at the end. Raises as `train`."""
    _check_folder(out, resume)
    is_new, working = not out.exists(), out / TRAINING_FOLDER
    try:
        working.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RecapError(f"cannot write to {out}: {error.strerror or error}") from error
    lock = FileLock(out / _LOCK)
    try:
        lock.acquire(timeout=0)
    except Timeout as error:
        raise FolderInUseError(f"another training is writing to {out}; wait for it or choose another folder") from error
    try:
        yield
    except OSError as error:
        raise RecapError(
            f"writing {out} failed: {error.strerror or error}; free space and continue with --resume"
        ) from error
    finally:
        lock.release()
        if not any(path.is_file() for path in working.rglob("*")):
            shutil.rmtree(out if is_new else working)
            if not is_new:
                (out / _LOCK).unlink(missing_ok=True)


def build_trainer(
    dataset: Dataset, config: AnyTraining, folder: Path, device: torch.device, **shared: Any
) -> TrainingLoop:
    """The loop that trains a configuration; ``shared`` are further arguments of `TrainingLoop`."""
    kind: type[TrainingLoop] = Trainer if isinstance(config, TrainConfig) else PublishedTrainer
    return kind(dataset, config, folder, device, **shared)


def _check_folder(out: Path, resume: bool) -> None:
    if not out.exists() or (out.is_dir() and not any(out.iterdir())):
        return
    if (out / SUMS).is_file():
        raise FolderInUseError(f"{out} already holds a finished checkpoint; choose another folder")
    if not (out / TRAINING_FOLDER).is_dir():
        raise FolderInUseError(f"{out} exists but contains no training; choose another folder")
    if not resume and (out / TRAINING_FOLDER / CONFIG).is_file():
        raise FolderInUseError(
            f"{out} holds an unfinished training: continue it with --resume or choose another folder"
        )


def _check_identity(path: Path, identity: dict[str, Any], config: AnyTraining, resume: bool) -> None:
    if not resume or not path.is_file():
        return
    try:
        earlier = read_json(path)
        started_on, trained_with = str(earlier["dataset_hash"]), dict(earlier["train"])
        with suppress(ConfigError):  # another kind of model, or retired options: no resume
            trained_with = type(config).parse(trained_with).model_dump(mode="json")
    except (ValueError, KeyError, TypeError) as error:
        raise CheckpointError(f"{path} is damaged ({error}); remove {path.parent.parent} and train again") from error
    if started_on != identity["dataset_hash"]:
        raise ConfigError(f"{path.parent.parent} was started on another dataset ({started_on[:12]}…)")
    changed = sorted(name for name in identity["train"] if identity["train"][name] != trained_with.get(name))
    if changed:
        raise ConfigError(f"--resume needs the configuration the training started with; {', '.join(changed)} differ")
    if earlier.get("pretrained_hash") not in (None, identity.get("pretrained_hash")):
        raise ConfigError(
            f"{path.parent.parent} was started from other pretrained curves than this version has; "
            "continue with the version that started it, or train again in another folder"
        )


def _write_checkpoint(
    out: Path,
    trainer: TrainingLoop,
    given_time: GivenTimeTraining | None,
    after_test: Callable[[Evaluation], None],
) -> None:
    best, best_overall = _keep_weights(out, trainer)
    dataset, device = trainer.dataset, trainer.device
    write_vocabulary(dataset, out)
    start = trainer.pretrained.hash if isinstance(trainer, Trainer) and trainer.pretrained is not None else None
    manifest = CheckpointManifest.of(dataset, trainer.config, best, best_overall, started_from=start)
    scorer = Checkpoint(out, manifest, hash="").scorer(dataset, trainer.graph, device)
    manifest = manifest.model_copy(update={"temperature": _fitted_temperature(trainer, scorer)})
    if given_time is not None:
        manifest = given_time.add_to(out, manifest)
    evaluation = _test(trainer, scorer, manifest.temperature)
    after_test(evaluation)
    summary = _summarise(trainer, best, evaluation)
    if given_time is not None:
        summary["given_time"] = given_time.test_metrics(out, manifest)
    write_checkpoint(out, manifest, summary)
    for name in (STATE_FILE, BEST, BEST_OVERALL):
        (trainer.folder / name).unlink(missing_ok=True)


def _fitted_temperature(trainer: TrainingLoop, scorer: Scorer) -> Temperature | None:
    """Fitted to validation cases; None for a model without probabilities, or with too few cases."""
    if not trainer.config.is_probabilistic:
        return None
    most = most_cases(trainer.dataset.num_pois)
    validation = describe_cases(trainer.dataset, trainer.graph, c.VAL, "every_next", most=most)
    return fit_temperature(scorer, validation, trainer.checkins)


def _test(trainer: TrainingLoop, scorer: Scorer, temperature: Temperature | None) -> Evaluation:
    return evaluate(
        scorer,
        trainer.dataset,
        trainer.graph,
        split=c.TEST,
        checkins=trainer.checkins,
        most=trainer.config.test_cases,
        temperature=(temperature or UNFITTED) if trainer.config.is_probabilistic else None,
    )


def _keep_weights(out: Path, trainer: TrainingLoop) -> tuple[EpochResult, EpochResult]:
    """Copy the best epochs' weights and return both epochs. Raises CheckpointError: no epoch had every part active."""
    progress = trainer.progress
    if progress.best is None or progress.best_overall is None:
        raise CheckpointError(f"{out}: no epoch had every enabled part active, nothing to keep")
    (out / WEIGHTS).write_bytes((trainer.folder / BEST).read_bytes())
    if progress.best_overall.epoch != progress.best.epoch:  # else stored once
        (out / BEST_OVERALL_WEIGHTS).write_bytes((trainer.folder / BEST_OVERALL).read_bytes())
    return progress.best, progress.best_overall


def _measure_baselines(trainer: TrainingLoop) -> dict[str, MetricsByGroup]:
    """Metrics of the baselines shown with the model, without those that fail."""
    dataset = trainer.dataset
    cases = describe_cases(dataset, trainer.graph, c.TEST, most=trainer.config.test_cases)
    baselines, checkins = dict[str, MetricsByGroup](), trainer.checkins.to("cpu")
    for name in baselines_shown(trainer.config, dataset):
        try:
            baseline = build_baseline(name, dataset, trainer.graph, say=_log.info)
            baselines[name] = metrics_by_group(rank_cases(baseline, cases, checkins))
        except (RecapError, MemoryError) as error:  # keep the training even so
            _log.warning("%s cannot be shown with the model: %s", name, error)
    return baselines


def _summarise(trainer: TrainingLoop, best: EpochResult, evaluation: Evaluation) -> TrainingSummary:
    device = trainer.device
    summary: TrainingSummary = {
        "epochs": trainer.config.epochs,
        "best_epoch": best.epoch,
        "val": best.val,
        "seconds": trainer.progress.seconds,
        "processor_seconds": trainer.progress.processor_seconds,
        "reserved_gpu_bytes": torch.cuda.max_memory_reserved(device) if device.type == "cuda" else 0,
        "peak_bytes": peak_bytes(),
        "device": str(device),
        "finished": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "protocol": evaluation.protocol,
        "test_seconds": evaluation.seconds,
        "test": evaluation.metrics,
        "baselines": _measure_baselines(trainer),
    }
    if evaluation.drawn_from is not None:
        summary["test_drawn_from"] = evaluation.drawn_from
    return summary


def write_environment(folder: Path, device: torch.device) -> None:
    """Write versions and hardware to env.json."""
    environment = {
        **library_versions(),
        "platform": platform.platform(),
        "device": str(device),
        "gpu": torch.cuda.get_device_name(device) if device.type == "cuda" else None,
        "threads": torch.get_num_threads(),
        "recap": version("recap-mobility"),
        "commit": _commit(),
    }
    replace_json(folder / ENVIRONMENT, environment)


def _commit() -> str | None:
    git = shutil.which("git")
    if git is None:
        return None
    command = [git, "-C", str(Path(__file__).parent), "rev-parse", "HEAD"]
    answer = subprocess.run(command, capture_output=True, text=True, check=False, timeout=10)  # noqa: S603 # no user text
    return answer.stdout.strip() or None


def baselines_shown(config: AnyTraining, dataset: Dataset) -> tuple[str, ...]:
    """The baselines shown with a model; none is fitted for very many places."""
    if isinstance(config, TrainConfig) and (config.sampled_softmax is not None or not config.model.has_core):
        return COUNTING_BASELINES
    return COUNTING_BASELINES if dataset.num_pois > MOST_PLACES else (FEATURE_CURVES, *COUNTING_BASELINES)
