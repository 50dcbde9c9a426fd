"""Stands in for sbatch, scontrol and scancel: jobs are JSON files in $FAKE_SLURM; `start` runs one."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

FOLDER = Path(os.environ.get("FAKE_SLURM", "."))


def job_file(job_id: str) -> Path:
    return FOLDER / f"{job_id}.json"


def read(job_id: str) -> dict | None:
    return json.loads(job_file(job_id).read_text()) if job_file(job_id).is_file() else None


def write(job: dict) -> None:
    temporary = FOLDER / f".{job['id']}.{os.getpid()}"
    temporary.write_text(json.dumps(job))
    temporary.replace(job_file(job["id"]))


def start(job_id: str) -> subprocess.Popen[bytes]:
    """Run a pending job the way slurmd would: the batch script with its arguments, output appended to --output."""
    job = read(job_id)
    assert job is not None and job["state"] == "PENDING"
    output = next(word.partition("=")[2] for word in job["options"] if word.startswith("--output="))
    with Path(output).open("ab") as log:
        environment = os.environ | {"SLURM_JOB_ID": job_id, "SLURM_RESTART_COUNT": str(job["restarts"])}
        process = subprocess.Popen(
            ["sh", *job["command"]], stdout=log, stderr=log, start_new_session=True, env=environment
        )
    write(job | {"state": "RUNNING", "pid": process.pid})
    return process


def main(program: str, words: list[str]) -> int:
    with (FOLDER / "calls").open("a") as calls:
        calls.write(json.dumps([program, *words]) + "\n")
    options = [word for word in words if word.startswith("--")]
    if program == "sbatch":
        if (FOLDER / "refuse").is_file():
            print("sbatch: error: Invalid account", file=sys.stderr)
            return 1
        rest = words[next(index for index, word in enumerate(words) if not word.startswith("--")) :]
        number = str(100 + len(list(FOLDER.glob("[0-9]*.json"))))
        write({"id": number, "state": "PENDING", "restarts": 0, "options": options, "command": rest, "pid": None})
        print(number)
        return 0
    job_id = words[-1]
    job = read(job_id)
    if job is None:
        print("slurm error: Invalid job id specified", file=sys.stderr)
        return 1
    if program == "scontrol" and words[0] == "requeue":
        write(job | {"state": "PENDING", "restarts": job["restarts"] + 1})
    elif program == "scontrol":
        submitted = job.get("submitted", "2030-01-01T00:00:00")
        print(f"JobId={job_id} JobState={job['state']} Reason=None Restarts={job['restarts']} SubmitTime={submitted}")
    elif program == "scancel":
        if "--signal=TERM" in options:
            os.kill(job["pid"], signal.SIGTERM)
        else:
            write(job | {"state": "CANCELLED"})
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[0]).name, sys.argv[1:]))
