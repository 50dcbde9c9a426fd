"""All runs of a user: a folder of numbered folders."""

import os
import shutil
from contextlib import suppress
from pathlib import Path
from typing import Final
from uuid import uuid4

from filelock import FileLock
from pydantic import Field

from recap.config import Config
from recap.errors import ConfigError, RecapError
from recap.runs.store.files import ACTIVE, RunSpec, RunState, now, read_json
from recap.runs.store.run_folder import CHECKPOINTS, LOCK, SPEC, STATE, RunFolder
from recap.storage.atomic import replace_json
from recap.storage.user_folder import make_folder, user_subfolder

_LAST_NUMBER: Final = ".last_number"
SETTINGS: Final = "settings.json"


class SlurmSettings(Config):
    """Slurm options of each job."""

    partition: str | None = Field(None, description="--partition.")
    account: str | None = Field(None, description="--account.")
    time_limit: str | None = Field(None, description="--time, such as 12:00:00.")
    cpus: int = Field(2, ge=1, description="--cpus-per-task.")
    memory: str | None = Field(None, description="--mem, such as 8G.")
    gpu_option: str = Field("--gpus={count}", pattern=r"^--[a-z-]+=[^\s]*\{count\}$", description="How GPUs are asked.")
    extra: tuple[str, ...] = Field((), description="Further sbatch options, one argument each.")
    poll_seconds: float = Field(10.0, gt=0, description="Least time between two questions about a job.")


class RunSettings(Config):
    """The runner's settings."""

    cpu_runs: int = Field(1, ge=1, description="Trainings on the CPU at once.")
    threads: int = Field(
        default_factory=lambda: max(1, (os.cpu_count() or 2) - 1),
        ge=1,
        description="CPU threads of a training; one core is left to the app, because threads that wait for a core "
        "slow a training down manyfold.",
    )
    nice: int = Field(10, ge=0, le=19, description="How far a training's priority is below the app's; 0: equal.")
    gpu_margin_bytes: int = Field(512 << 20, ge=0, description="GPU memory kept free with every lease.")
    default_gpu_bytes: int = Field(3 << 30, ge=0, description="Lease of a run whose memory nobody has measured yet.")
    poll_seconds: float = Field(0.5, gt=0, description="Time between two looks at the queue.")
    idle_seconds: float = Field(20.0, ge=0, description="A runner without work ends after this.")
    stop_seconds: float = Field(30.0, ge=0, description="Time a stopping run gets before its processes are signalled.")
    kill_seconds: float = Field(15.0, ge=0, description="Time after that before they are killed.")
    slurm: SlurmSettings = Field(default_factory=lambda: SlurmSettings(), description="The cluster.")


class ReadOnlyError(RecapError):
    """A change to a read-only store."""


class RunStore:
    """The runs under one folder, each in a folder named by its number."""

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
        return RunSettings.parse(read_json(path)) if path.is_file() else RunSettings()

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
        self.get(run.id)
        with FileLock(self.folder / LOCK):
            state = run.read_state().state
            if state in ACTIVE:
                raise RecapError(f"run {run.id} is {state}: stop it first with `recap runs stop {run.id}`")
            trash = self.folder / f".removed-{run.id}-{uuid4().hex}"
            run.path.rename(trash)
        shutil.rmtree(trash, ignore_errors=True)

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
