"""One run's folder."""

from collections.abc import Iterator, Set
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, cast

from filelock import FileLock, Timeout

from recap.errors import ConfigError, FormatVersionError, RecapError
from recap.runs.store.files import ACTIVE, RunReference, RunSpec, RunState, StateName, now, read_json
from recap.runs.store.process import ProcessIdentity
from recap.storage.artifacts import SUMS
from recap.storage.atomic import replace_json
from recap.training.metrics_file import METRICS_FILE, EpochLine, read_metrics
from recap.training_config import TrainingSummary

SPEC: Final = "spec.json"
STATE: Final = "state.json"
PROGRESS: Final = "progress.json"
LOG: Final = "train.log"
REFERENCE: Final = "reference.json"
CHECKPOINTS: Final = "checkpoints"
LOCK: Final = ".lock"
STOP_RANKS: Final = ".stop"
"""File by which a run's first process passes a signal to the others."""
_LOCK_SECONDS: Final = 30.0


@dataclass(frozen=True)
class RunFolder:
    """A run on disk, in ``<runs>/<number>``."""

    path: Path

    @property
    def id(self) -> str:
        return self.path.name

    @property
    def checkpoint(self) -> Path:
        return self.path / CHECKPOINTS / f"run-{self.id}"

    @property
    def has_checkpoint(self) -> bool:
        """Whether the training has finished and the checkpoint is complete."""
        return (self.checkpoint / SUMS).is_file()

    @property
    def log(self) -> Path:
        return self.path / LOG

    def check_is_there(self) -> None:
        """Raises RecapError if the run's folder is gone, or is a link."""
        if self.path.is_symlink() or not self.path.is_dir():
            raise RecapError(f"there is no run {self.id} (see `recap runs list`)")

    def read_spec(self) -> RunSpec:
        """The run's specification. Raises FormatVersionError: written by a newer version; RecapError: missing or
        damaged.
        """
        return RunSpec.read(self.path / SPEC)

    def read_state(self) -> RunState:
        """The run's state; an unreadable state file is rebuilt from the other files. Raises FormatVersionError: written
        by a newer version; RecapError: the run's folder is gone.
        """
        try:
            return RunState.read(self.path / STATE)
        except FormatVersionError:
            raise
        except RecapError as error:
            self.check_is_there()
            return self._rebuilt_state(str(error))

    def change(
        self,
        only_from: Set[StateName],
        to: StateName | None,
        *,
        expected: RunState | None = None,
        of_attempt: int | None = None,
        **values: Any,
    ) -> RunState | None:
        """Move to another state (None keeps it) if the run is in one of ``only_from``, still in the ``expected`` state
        that the caller saw and not started again since ``of_attempt``; else return None. All changes of a run come
        through here, one at a time. Raises RecapError: the run's folder is gone, or the disk refused.
        """
        with self._locked():
            state = self.read_state()
            outdated = expected is not None and state != expected
            outdated = outdated or (of_attempt is not None and state.attempt != of_attempt)
            if state.state not in only_from or outdated:
                return None
            return self._write_state(state, {"state": to or state.state, **values})

    def claim(self, attempt: int, process: ProcessIdentity) -> bool:
        """Enter the process that trains; False if the run was stopped or started again meanwhile. Raises RecapError if
        the run's folder is gone, or the disk refused.
        """
        with self._locked():
            state = self.read_state()
            # A cluster may start a job before its run leaves the queue.
            by_cluster = state.state == "queued" and self.read_spec().backend == "slurm"
            if not (state.state in ("running", "stopping") or by_cluster) or state.attempt != attempt:
                return False
            if state.process not in (None, process) and state.process.is_here and state.process.is_alive():
                return False
            values: dict[str, Any] = {"process": process.model_dump(), "host": process.host}
            if by_cluster:
                values |= {"state": "running", "started": state.started or now()}
            self._write_state(state, values)
            return True

    def end(self, to: StateName, error: str | None = None, **conditions: Any) -> RunState | None:
        """Record how a run ended; None if it is over or ``conditions`` of `change` do not hold."""
        return self.change(ACTIVE, to, error=error, ended=now(), process=None, **conditions)

    def read_progress(self) -> dict[str, Any]:
        """The last `StepReport` of the worker, with its time, attempt and process; empty before the first."""
        return self._read_if_there(PROGRESS)

    def read_metrics(self) -> list[EpochLine]:
        """One entry for each finished epoch; a damaged line ends the list."""
        return read_metrics(self.path / METRICS_FILE)

    def read_summary(self) -> TrainingSummary:
        """The summary of the finished run's checkpoint; empty before."""
        return cast(TrainingSummary, self._read_if_there(f"{CHECKPOINTS}/{self.checkpoint.name}/summary.json"))

    def read_reference(self) -> RunReference:
        """Accuracy of counting on the validation cases; empty before."""
        return cast(RunReference, self._read_if_there(REFERENCE))

    def _read_if_there(self, name: str) -> dict[str, Any]:
        try:
            return read_json(self.path / name)
        except RecapError:
            return {}

    def write_notes(self, notes: str) -> None:
        """Replace the notes. Raises ConfigError: longer than allowed; RecapError: the run's folder is gone, or the disk
        refused.
        """
        with self._locked():
            spec = self.read_spec()
            replace_json(self.path / SPEC, RunSpec.parse(spec.model_dump() | {"notes": notes}).model_dump(mode="json"))

    def _write_state(self, state: RunState, values: dict[str, Any]) -> RunState:
        changed = RunState.parse(state.model_dump() | values)
        replace_json(self.path / STATE, changed.model_dump(mode="json"))
        return changed

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Lock all runs; raises RecapError if the disk refuses."""
        # One lock for all runs, outside them: inside, it would recreate a deleted folder.
        try:
            with FileLock(self.path.parent / LOCK, timeout=_LOCK_SECONDS):
                self.check_is_there()
                yield
        except Timeout as error:
            raise RecapError(f"{self.path.parent / LOCK} is held for over {_LOCK_SECONDS:.0f} s; try again") from error
        except OSError as error:
            raise RecapError(
                f"writing {self.path} failed: {error.strerror or error}; run {self.id} stays as it was"
            ) from error

    def _rebuilt_state(self, problem: str) -> RunState:
        error, progress = f"{problem}; the state was worked out from the run's files", self.read_progress()
        values: dict[str, Any] = {"created": now(), "error": error, "attempt": progress.get("attempt", 0)}
        with suppress(KeyError, TypeError, ConfigError):
            process = ProcessIdentity.parse({**progress["process"]})
            if not process.is_here or process.is_alive():
                return RunState.parse({"state": "running", "process": process, "host": process.host, **values})
        return RunState.parse({"state": "finished" if self.has_checkpoint else "lost", **values})
