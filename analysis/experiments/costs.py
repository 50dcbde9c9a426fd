"""What every arm of an experiment costs, measured in one run: one after the other, each in a process of its own."""

import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Final

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
    if config is None:
        return _measure_baseline(arm, dataset)
    with tempfile.TemporaryDirectory() as folder:
        started = time.perf_counter()
        trainer = build_trainer(dataset, config, Path(folder), device)
        trainer.begin_at(config.epochs)
        _wait_for(device)
        ready = time.perf_counter()
        for step in range(_WARM_UP_STEPS):
            trainer.take_step(step)
        _wait_for(device)
        began, steps = time.perf_counter(), 0
        while steps < trainer.steps_per_epoch and time.perf_counter() - began < _SECONDS:
            trainer.take_step(_WARM_UP_STEPS + steps)
            steps += 1
            _wait_for(device)
        a_step = (time.perf_counter() - began) / steps
        weights = trainer.model.state_dict()
        test = evaluate(trainer.kept_scorer(weights, config.epochs), dataset, trainer.graph, checkins=trainer.checkins)
        return ArmCost(
            arm=arm.name,
            label=arm.label,
            setup_seconds=ready - started,
            test_seconds=test.seconds,
            peak_gb=_peak_gb(),
            epochs=config.epochs,
            parameters=sum(tensor.numel() for tensor in weights.values() if tensor.is_floating_point()),
            epoch_seconds=a_step * trainer.steps_per_epoch,
        )


def _measure_baseline(arm: Arm, dataset: Dataset) -> ArmCost:
    assert arm.baseline is not None
    started = time.perf_counter()
    graph = TransitionGraph.from_dataset(dataset)
    scorer = build_baseline(arm.baseline, dataset, graph)
    ready = time.perf_counter()
    test = evaluate(scorer, dataset, graph)
    return ArmCost(
        arm=arm.name,
        label=arm.label,
        setup_seconds=ready - started,
        test_seconds=test.seconds,
        peak_gb=_peak_gb(),
    )


def _peak_gb() -> float | None:
    peak = peak_bytes()
    return None if peak is None else peak / 1e9


def _wait_for(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize(device)
