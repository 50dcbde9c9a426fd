"""A user's runs: a folder of numbered folders, one for each run."""

import shutil
from collections.abc import Iterator, Set
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast
from uuid import uuid4

from filelock import FileLock, Timeout

from recap.errors import ConfigError, FormatVersionError, RecapError
from recap.runs.store.files import ACTIVE, RunSettings, RunSpec, RunState, StateName, now
from recap.runs.store.process import ProcessIdentity
from recap.storage.artifacts import SUMS
from recap.storage.atomic import replace_json
from recap.storage.json_text import read_object
from recap.storage.user_folder import make_folder, user_subfolder
from recap.training.metrics_file import METRICS_FILE, EpochLine, read_metrics
from recap.training_config import TrainingSummary

if TYPE_CHECKING:
    from recap.evaluation.metrics import MetricsByGroup

SPEC: Final = "spec.json"
STATE: Final = "state.json"
PROGRESS: Final = "progress.json"
REFERENCE: Final = "reference.json"
CHECKPOINTS: Final = "checkpoints"
LOCK: Final = ".lock"
STOP_RANKS: Final = ".stop"
"""File by which a run's first process passes a signal to the others."""
_LOCK_SECONDS: Final = 30.0
_LAST_NUMBER: Final = ".last_number"
SETTINGS: Final = "settings.json"


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
        return self.path / "train.log"

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
        with self.locked():
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
        with self.locked():
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
        """Record how a run ended, which is finished where its checkpoint is complete; None if it is over or
        ``conditions`` of `change` do not hold.
        """
        if self.has_checkpoint:
            to, error = "finished", None
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

    def read_reference(self) -> "dict[str, MetricsByGroup]":
        """Metrics of counting baselines on the validation cases, by name; empty before, and without cases."""
        kept = self._read_if_there(REFERENCE)
        return kept if "model" not in kept else {kept["model"]: kept, "visit_count": kept["visit_count"]}  # earlier

    def _read_if_there(self, name: str) -> dict[str, Any]:
        try:
            return read_object(self.path / name)
        except RecapError:
            return {}

    def _write_state(self, state: RunState, values: dict[str, Any]) -> RunState:
        changed = RunState.parse(state.model_dump() | values)
        replace_json(self.path / STATE, changed.model_dump(mode="json"))
        return changed

    @contextmanager
    def locked(self) -> Iterator[None]:
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


class ReadOnlyError(RecapError):
    """A change to a read-only store."""


class RunStore:
    """The runs under one folder."""

    def __init__(self, folder: Path, *, read_only: bool = False) -> None:
        self.folder, self.read_only = folder, read_only
        self._seen: dict[RunFolder, tuple[tuple[int, ...], RunState]] = {}

    @classmethod
    def of_user(cls, *, read_only: bool = False) -> "RunStore":
        """The runs in the user's folder (``RECAP_HOME``)."""
        return cls(user_subfolder("runs"), read_only=read_only)

    def runs(self) -> list[RunFolder]:
        if not self.folder.is_dir():
            return []
        names = [entry.name for entry in self.folder.iterdir() if entry.name.isdecimal() and not entry.is_symlink()]
        return [RunFolder(self.folder / name) for name in sorted(names, key=int) if name[0] != "0"]

    def active(self) -> list[tuple[RunFolder, RunState]]:
        """Active runs and their states. A state file that has not changed is not read again, unless a process may end
        unseen.
        """
        seen: dict[RunFolder, tuple[tuple[int, ...], RunState]] = {}
        for run in self.runs():
            stamp: tuple[int, ...] = ()
            known = self._seen.get(run)
            with suppress(OSError):
                status = (run.path / STATE).stat()
                stamp = (status.st_mtime_ns, status.st_ino, status.st_size)
            with suppress(RecapError):
                if known is None or not stamp or known[0] != stamp or known[1].state in ("running", "stopping"):
                    known = stamp, run.read_state()
                seen[run] = known
        self._seen = seen
        return [(run, state) for run, (_, state) in seen.items() if state.state in ACTIVE]

    def get(self, run_id: str) -> RunFolder:
        """A run by its number. Raises ConfigError: not a number; RecapError: no such run."""
        # A number is the only outside text that becomes part of a path.
        if not (run_id.isascii() and run_id.isdecimal() and len(run_id) <= 9 and run_id[0] != "0"):
            raise ConfigError(f"a run is named by its number, such as 12; got {run_id!r} (see `recap runs list`)")
        run = RunFolder(self.folder / run_id)
        run.check_is_there()
        return run

    def settings(self) -> RunSettings:
        """The queue's settings on this machine; the defaults without a file. Raises RecapError if it is damaged or
        holds an unknown field.
        """
        path = self.folder / SETTINGS
        return RunSettings.parse(read_object(path)) if path.is_file() else RunSettings()

    def add(self, specs: list[RunSpec]) -> list[RunFolder]:
        """Queue runs; each appears whole or not at all. Raises ReadOnlyError: the store only shows runs; RecapError:
        the folder cannot be made; OSError: the disk refused.
        """
        self.check_writable("queue a run")
        make_folder(self.folder)
        with FileLock(self.folder / LOCK):
            first = self._take_numbers(len(specs))
            added = [RunFolder(self.folder / str(number)) for number in range(first, first + len(specs))]
            for run, spec in zip(added, specs, strict=True):
                self._make(run, spec)
        return added

    def remove(self, run: RunFolder) -> None:
        """Delete a run's folder with its checkpoints. Raises ReadOnlyError: the store only shows runs; RecapError: the
        run is not over, or is gone.
        """
        self.check_writable("remove a run")
        with run.locked():
            state = run.read_state().state
            if state in ACTIVE:
                raise RecapError(f"run {run.id} is {state}: stop it first with `recap runs stop {run.id}`")
            trash = self.folder / f".removed-{run.id}-{uuid4().hex}"
            run.path.rename(trash)
        shutil.rmtree(trash, ignore_errors=True)

    def write_notes(self, run: RunFolder, notes: str) -> None:
        """Replace a run's notes. Raises ReadOnlyError: the store only shows runs; ConfigError: longer than allowed;
        RecapError: the run's folder is gone, or the disk refused.
        """
        self.check_writable("change notes")
        with run.locked():
            spec = run.read_spec().model_dump() | {"notes": notes}
            replace_json(run.path / SPEC, RunSpec.parse(spec).model_dump(mode="json"))

    def check_writable(self, what: str) -> None:
        """Raise ReadOnlyError if nothing may be changed."""
        if self.read_only:
            raise ReadOnlyError(f"this server is read-only: it does not {what}; use `recap runs` on the machine itself")

    def _take_numbers(self, count: int) -> int:
        counter = self.folder / _LAST_NUMBER
        text = counter.read_text(encoding="ascii").strip() if counter.is_file() else ""
        used = [int(run.id) for run in self.runs()]
        # A number means one run for ever.
        last = max([int(text) if text.isdecimal() else 0, *used])
        replace_json(counter, last + count)
        return last + 1

    def _make(self, run: RunFolder, spec: RunSpec) -> None:
        draft = self.folder / f".draft-{run.id}-{uuid4().hex}"
        try:
            (draft / CHECKPOINTS).mkdir(parents=True)
            replace_json(draft / SPEC, spec.model_dump(mode="json"))
            replace_json(draft / STATE, RunState(state="queued", created=now()).model_dump(mode="json"))
            draft.rename(run.path)
        finally:
            shutil.rmtree(draft, ignore_errors=True)
