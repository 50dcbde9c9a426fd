"""Measure the time of a training's steps, for benchmarks."""

import time
from typing import Final

import torch

from recap.training.loop import TrainingLoop

_LEAST_STEPS: Final = 2
_STEPS_AT_ONCE: Final = 10
"""Steps between two waits for a GPU, which works while the next ones are queued."""


def synchronise(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def time_steps(trainer: TrainingLoop, seconds: float, *, warm_up: int) -> tuple[float, int]:
    """Wall seconds of a step and the number of steps timed, as many as fit into the time, at most an epoch.
    ``trainer``: at the beginning of an epoch, see `TrainingLoop.begin_at`; ``warm_up``: untimed steps before.
    """
    for step in range(warm_up):
        trainer.take_step(step)
    synchronise(trainer.device)
    started, steps, total = time.perf_counter(), 0, trainer.steps_per_epoch
    while steps < total and (steps < _LEAST_STEPS or time.perf_counter() - started < seconds):
        trainer.take_step(warm_up + steps)
        steps += 1
        if steps % _STEPS_AT_ONCE == 0:
            synchronise(trainer.device)
    synchronise(trainer.device)
    return (time.perf_counter() - started) / steps, steps
