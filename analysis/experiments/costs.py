"""What every arm of an experiment costs, measured in one run: one after the other, each in a process of its own."""

import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Final

import torch
from pydantic import Field

from analysis.experiments.machine import describe_machine, today
from analysis.experiments.spec import Arm, ExperimentSpec
from recap import columns as c
from recap.baselines.building import build_baseline
from recap.config import Config
from recap.data.dataset import Dataset
from recap.evaluation.evaluate import evaluate
from recap.graph import TransitionGraph
from recap.memory import peak_bytes, reset_peak
from recap.training.run import build_trainer
from recap.training.timing import synchronise, time_steps
from recap.training_config import AnyTraining

_WARM_UP_STEPS: Final = 2
_SECONDS: Final = 6.0


class ArmCost(Config):
    """Wall seconds and memory of one arm; a baseline has neither epochs nor learned numbers."""

    arm: str
    label: str
    setup_seconds: float = Field(description="From check-ins to the first step: graphs, statistics, fits.")
    test_seconds: float = Field(description="All places ranked for every test case.")
    peak_gb: float | None = Field(description="Resident at most, libraries included; None where the system hides it.")
    epochs: int | None = None
    parameters: int | None = None
    epoch_seconds: float | None = Field(None, description="From some seconds of steps, without validation.")


class Costs(Config):
    """Every arm's cost, of one run on one machine."""

    arms: tuple[ArmCost, ...]
    threads: int
    test_cases: int
    date: str
    hardware: str


def measure_costs(
    spec: ExperimentSpec, dataset: Dataset, device: torch.device, log: Callable[[str], None], stop: Callable[[], bool]
) -> Costs | None:
    """Measure every arm that trains or counts, those too that an experiment does not run; None if stopped.

    A training takes its steps where its last epoch begins, so that every part acts, from fresh weights.
    """
    found = []
    # A process for each: memory that one held is not the next one's peak.
    with ProcessPoolExecutor(1, mp_context=get_context("spawn"), max_tasks_per_child=1) as processes:
        for arm in spec.arms:
            if arm.imported is not None:
                continue
            if stop():
                return None
            log(f"{arm.label}: measuring what it costs")
            config = spec.train_config(arm, spec.seeds[0]) if arm.trains else None
            found.append(processes.submit(_measure, arm, config, dataset, device).result())
    return Costs(
        arms=tuple(found),
        threads=torch.get_num_threads(),
        test_cases=len(dataset.cases(c.TEST)),
        date=today(),
        hardware=describe_machine(),
    )


def _measure(arm: Arm, config: AnyTraining | None, dataset: Dataset, device: torch.device) -> ArmCost:
    """In a process of its own."""
    reset_peak()
    measured = _of_baseline(arm, dataset) if config is None else _of_training(config, dataset, device)
    peak = peak_bytes()
    return ArmCost(arm=arm.name, label=arm.label, peak_gb=None if peak is None else peak / 1e9, **measured)


def _of_training(config: AnyTraining, dataset: Dataset, device: torch.device) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        started = time.perf_counter()
        trainer = build_trainer(dataset, config, Path(folder), device)
        trainer.begin_at(config.epochs)
        synchronise(device)
        ready = time.perf_counter()
        a_step, _ = time_steps(trainer, _SECONDS, warm_up=_WARM_UP_STEPS)
        weights = trainer.model.state_dict()
        test = evaluate(trainer.kept_scorer(weights, config.epochs), dataset, trainer.graph, checkins=trainer.checkins)
    return {
        "setup_seconds": ready - started,
        "test_seconds": test.seconds,
        "epochs": config.epochs,
        "parameters": sum(tensor.numel() for tensor in weights.values() if tensor.is_floating_point()),
        "epoch_seconds": a_step * trainer.steps_per_epoch,
    }


def _of_baseline(arm: Arm, dataset: Dataset) -> dict[str, Any]:
    assert arm.baseline is not None
    started = time.perf_counter()
    graph = TransitionGraph.from_dataset(dataset)
    scorer = build_baseline(arm.baseline, dataset, graph)
    ready = time.perf_counter()
    return {"setup_seconds": ready - started, "test_seconds": evaluate(scorer, dataset, graph).seconds}
