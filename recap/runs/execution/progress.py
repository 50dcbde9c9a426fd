"""Progress of a training run."""

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from recap.errors import RecapError
from recap.runs.store.process import ProcessIdentity
from recap.runs.store.run_folder import PROGRESS, STATE, RunFolder
from recap.runs.store.state import now
from recap.runs.store.types import RunProgress
from recap.storage.atomic import replace_json

if TYPE_CHECKING:
    from recap.training.loop import StepReport

EVERY_SECONDS: Final = 1.0
STOP_RANKS: Final = ".stop"
"""File by which a run's first process passes a signal to the others."""


class ProgressWriter:
    """Writes `progress.json`: time, step and loss."""

    def __init__(self, run: RunFolder, attempt: int, process: ProcessIdentity) -> None:
        self._path: Path = run.path / PROGRESS
        self._fixed: RunProgress = {"attempt": attempt, "process": process.model_dump()}
        self._written = float("-inf")

    def watch(self, report: "StepReport") -> None:
        """Call after every step; writes at most once a second."""
        moment = time.monotonic()
        if moment - self._written < EVERY_SECONDS:
            return
        self._written = moment
        self.write(**vars(report))

    def write(self, **values: Any) -> None:
        replace_json(self._path, {**self._fixed, "time": now(), **values}, durable=False)


class StopQuestion:
    """Whether the run's state or a signal stops the training; reads the state file twice a second. ``signals``: filled
    by signal handlers.
    """

    def __init__(self, run: RunFolder, attempt: int, signals: list[int]) -> None:
        self._run, self._attempt, self._signals = run, attempt, signals
        self._next, self._seen = 0.0, 0
        self._answer = False

    def __call__(self) -> bool:
        if self._signals or self._answer:
            return True
        moment = time.monotonic()
        if moment >= self._next:
            self._next = moment + EVERY_SECONDS / 2
            changed = self._state_changed()
            if changed != self._seen:
                self._seen, self._answer = changed, self._is_asked()
            self._answer = self._answer or (self._run.path / STOP_RANKS).exists()
        return self._answer

    def _state_changed(self) -> int:
        try:
            return (self._run.path / STATE).stat().st_mtime_ns
        except OSError:
            return -1

    def _is_asked(self) -> bool:
        try:
            state = self._run.read_state()
        except RecapError:
            return not self._run.path.is_dir()
        return state.state == "stopping" or state.attempt != self._attempt
