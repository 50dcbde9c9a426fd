"""Runs on a Slurm cluster."""

import os
import shutil
import subprocess
import time
from typing import Any, Final

from recap.errors import RecapError
from recap.runs.execution.supervision import worker_command, worker_environment
from recap.runs.store.files import ACTIVE, Lease, RunSpec, RunState, SlurmJob, SlurmSettings, now
from recap.runs.store.run_store import RunFolder

JOB_SCRIPT: Final = "job.sh"
_SCRIPT: Final = '#!/bin/sh\nexec "$@"\n'
"""The whole batch script runs the command after it, so no text is ever built for a shell."""
_TIMEOUT_SECONDS: Final = 60
_WAITING: Final = frozenset({"PENDING", "REQUEUED", "REQUEUE_HOLD", "SPECIAL_EXIT", "CONFIGURING", "SUSPENDED"})
_RUNNING: Final = frozenset({"RUNNING", "COMPLETING", "STAGE_OUT", "SIGNALING", "STOPPED", "RESIZING"})
_GONE_GRACE_SECONDS: Final = 5.0
"""On a shared file system a node's last messages may arrive later than Slurm's."""


Job = dict[str, str]
"""A job's fields as scontrol prints them, such as JobState and SubmitTime."""


class SlurmQueue:
    """Submits, follows and stops jobs."""

    def __init__(self, settings: SlurmSettings) -> None:
        self.settings = settings
        self._asked: dict[str, float] = {}
        self._gone_since: dict[str, float] = {}

    def submit(self, run: RunFolder, spec: RunSpec, state: RunState) -> None:
        """Submit a queued run with sbatch and record the job's id and submit time. Raises RecapError if Slurm is not
        there or refuses.
        """
        attempt = state.attempt + 1
        # Record the start first: the job may begin before sbatch returns.
        if run.change({"queued"}, "queued", expected=state, attempt=attempt) is None:
            return
        (run.path / JOB_SCRIPT).write_text(_SCRIPT, encoding="ascii")
        answer = _call(self.sbatch_command(run, spec, attempt), worker_environment(run))
        job_id = answer.strip().partition(";")[0]
        if not job_id.isdecimal():
            raise RecapError(f"sbatch should print a job number, got {answer.strip()!r}")
        job = read_job(job_id)
        lease = Lease(kind="cpu" if spec.device == "cpu" else "cuda", name=f"Slurm job {job_id}")
        slurm = SlurmJob(job_id=job_id, submitted=(job or {}).get("SubmitTime", ""))
        facts: dict[str, Any] = {"device": lease.model_dump(), "slurm": slurm.model_dump()}
        if run.change(ACTIVE, None, of_attempt=attempt, **facts) is None and not run.has_checkpoint:
            _call(["scancel", job_id])

    def sbatch_command(self, run: RunFolder, spec: RunSpec, attempt: int) -> list[str]:
        """The arguments of sbatch, with nothing from notes or names."""
        settings = self.settings
        command = ["sbatch", "--parsable", f"--job-name=recap-{run.id}", "--requeue", "--open-mode=append"]
        command += [f"--output={run.log}", f"--chdir={run.path.parent}", "--nodes=1", "--ntasks=1"]
        command += [f"--cpus-per-task={settings.cpus * spec.processes}", "--signal=B:TERM@120"]
        if spec.device != "cpu":
            command.append(settings.gpu_option.format(count=spec.processes))
        optional = {"partition": settings.partition, "account": settings.account, "time": settings.time_limit}
        optional["mem"] = settings.memory
        command += [f"--{name}={value}" for name, value in optional.items() if value is not None]
        return [*command, *settings.extra, str(run.path / JOB_SCRIPT), *worker_command(run, attempt)]

    def follow(self, run: RunFolder, state: RunState) -> None:
        """Record the state of a run's job, and pass on a stop."""
        moment = time.monotonic()
        if state.state != "stopping" and moment - self._asked.get(run.id, float("-inf")) < self.settings.poll_seconds:
            return
        self._asked[run.id] = moment
        assert state.slurm is not None
        job = find_job(state.slurm)
        if job is not None and job["JobState"] in (_WAITING | _RUNNING):
            self._gone_since.pop(run.id, None)
            self._follow_live(run, state, job)
            return
        if moment - self._gone_since.setdefault(run.id, moment) < _GONE_GRACE_SECONDS:
            self._asked.pop(run.id)
            return
        self._gone_since.pop(run.id)
        self._enter_end(run, job)

    def _follow_live(self, run: RunFolder, state: RunState, job: Job) -> None:
        if state.state == "stopping":
            # A waiting job has nothing to save. A running one reads the stop from its state file; the signal only makes
            # it faster.
            waiting, job_id = job["JobState"] in _WAITING, job["JobId"]
            _call(["scancel", job_id] if waiting else ["scancel", "--batch", "--signal=TERM", job_id])
            if waiting:
                run.end("stopped", expected=state)
        elif job["JobState"] in _WAITING and state.state == "running":
            run.change({"running"}, "queued", expected=state, process=None)
        elif job["JobState"] in _RUNNING and state.state == "queued":
            run.change({"queued"}, "running", expected=state, started=state.started or now())

    def _enter_end(self, run: RunFolder, job: Job | None) -> None:
        state = run.read_state()
        if state.state == "stopping" or (job is not None and job["JobState"].startswith("CANCELLED")):
            run.end("stopped", expected=state)
        elif job is None:
            reason = f"Slurm does not know its job any more; continue with `recap runs resume {run.id}`"
            run.end("lost", reason, expected=state)
        else:
            why = job.get("Reason", "")
            end = f"{job['JobState']}, {why}" if why not in ("", "None") else job["JobState"]
            reason = f"Slurm ended its job ({end}); continue with `recap runs resume {run.id}`"
            run.end("failed", reason, expected=state)


def find_job(job: SlurmJob) -> Job | None:
    """The job as Slurm describes it; None if it is gone or its number belongs to a later job."""
    answer = read_job(job.job_id)
    if answer is None or not job.submitted:
        return answer
    # A requeued job has a new submit time; without a restart it is another job.
    return answer if answer.get("SubmitTime") == job.submitted or int(answer.get("Restarts") or 0) > 0 else None


def read_job(job_id: str) -> Job | None:
    """A job as scontrol describes it; None if Slurm does not know it. Raises RecapError if Slurm does not answer."""
    try:
        text = _call(["scontrol", "show", "job", "--oneliner", job_id])
    except SlurmError:
        return None
    return {"JobId": job_id, "JobState": "", **dict(word.partition("=")[::2] for word in text.split() if "=" in word)}


def requeue(run: RunFolder, attempt: int) -> bool:
    """Queue the job again when Slurm ends it (preemption, time limit). Returns False, with nothing done, outside a
    Slurm job or if the run is to be stopped.
    """
    job_id = os.environ.get("SLURM_JOB_ID", "")
    state = run.read_state()
    if state.slurm is None or state.slurm.job_id != job_id or state.state != "running":
        return False
    if run.change({"running"}, "queued", of_attempt=attempt, process=None) is None:
        return False
    try:
        job = read_job(job_id)
        if job is not None and job["JobState"] == "RUNNING":
            # Not yet requeued or cancelled: the time limit is near.
            _call(["scontrol", "requeue", job_id])
    except RecapError as error:
        print(f"the job could not be requeued from here ({error}); its followers will see its end", flush=True)
    return True


class SlurmError(RecapError):
    """One of Slurm's programs ended with an error."""


def _call(command: list[str], environment: dict[str, str] | None = None) -> str:
    if shutil.which(command[0]) is None:
        raise RecapError(f"{command[0]} is not on the PATH: runs go to Slurm from a machine where its programs are")
    try:
        answer = subprocess.run(  # noqa: S603 # an argument list, never a shell
            command,
            capture_output=True,
            text=True,
            timeout=_TIMEOUT_SECONDS,
            check=False,
            stdin=subprocess.DEVNULL,
            env=environment,
        )
    except subprocess.TimeoutExpired as error:
        raise RecapError(f"{command[0]} did not answer within {_TIMEOUT_SECONDS} s") from error
    if answer.returncode != 0:
        message = " ".join((answer.stderr or answer.stdout).split()) or f"code {answer.returncode}"
        raise SlurmError(f"{command[0]} refused: {message}")
    return answer.stdout
