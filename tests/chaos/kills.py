"""Kill preparing, training and `predict --out` at random moments: what is there is whole or refused, never half.

    python -m tests.chaos.kills --kills 200
    python -m tests.chaos.kills --kills 200 --kinds train

Preparing replaces a dataset; it is also killed at its changes of names. Commands run in processes forked from one that
has imported what they need. Prints one JSON line of each kind; exit code
1 where a state was wrong: a damaged folder that opens, a refusal other than the library's own, half a file, or an end
that differs.
"""

import argparse
import json
import multiprocessing
import os
import random
import shutil
import signal
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

from recap.checkpoint import WEIGHTS, Checkpoint
from recap.data.dataset import Dataset
from recap.errors import RecapError
from recap.storage.frames import SUFFIXES
from tests.background import walking_dataset
from tests.checkins import raw_table
from tests.cli_runner import recap_here
from tests.tiny import WORDS
from tests.untrained import write_untrained_checkpoint
from tests.worlds import habit_rows

FORKED = multiprocessing.get_context("forkserver")
IMPORTED_LATE = (
    *("recap.data.reading", "recap.history.statistics", "torch._dynamo"),
    *("recap.asking.counterfactuals", "recap.asking.predictor", "analysis.compare.with_pretrained"),
    "app.cli.inspection_text",
)
"""What commands import only when they need it, the seconds that no kill should be spent on."""
_RENAMES = 8
"""At most so many times a command changes a name."""
Look = Callable[[Path], list[bytes] | None]
"""The content that counts; None of what is missing or refused as unfinished. Other errors are wrong states."""


@dataclass(frozen=True)
class Command:
    """What is killed, how its result is looked at, how the result's name ends, in turn, and the folder it replaces."""

    words: list[str]
    look: Look
    endings: tuple[str, ...] = ("",)
    replaces: Path | None = None


def in_folder(load: Callable[[Path], Dataset | Checkpoint], *names: str) -> Look:
    def look(folder: Path) -> list[bytes] | None:
        try:
            load(folder)
        except RecapError:
            return None
        return [(folder / name).read_bytes() for name in names]

    return look


def in_file(path: Path) -> list[bytes] | None:
    """The file's bytes; of a workbook its sheets, since it also holds the time of writing."""
    if not path.exists() or path.suffix != ".xlsx":
        return [path.read_bytes()] if path.exists() else None
    with zipfile.ZipFile(path) as workbook:
        return [workbook.read(name) for name in workbook.namelist() if name.startswith("xl/worksheets/")]


def commands(folder: Path) -> dict[str, Command]:
    """Preparing some thousand rows, a training that keeps its state after every step, and predictions for 400 users."""
    table, data, many, checkpoint = (folder / name for name in ("table.csv", "data", "many", "checkpoint"))
    raw_table(habit_rows(num_users=60, num_walks=60)).to_csv(table, index=False, date_format="%Y-%m-%dT%H:%M:%SZ")
    walking_dataset(days=20).save(data)
    users = walking_dataset(users=400, days=10)
    users.save(many)
    write_untrained_checkpoint(users, checkpoint)
    prepare = f"prepare {table} --timezone UTC --set min_poi_checkins=1 --set min_user_checkins=1".split()
    train = f"train {data} --epochs 2 --device cpu --set save_every_seconds=0 --resume".split()
    whole = in_folder(Dataset.load, "checkins.parquet", "pois.parquet", "users.parquet")
    return {
        "prepare": Command(prepare, whole, replaces=data),
        "train": Command([*train[:2], *WORDS, *train[2:]], in_folder(Checkpoint.load, WEIGHTS, "vocabulary.parquet")),
        "predict": Command(f"predict {checkpoint} --data {many} --why".split(), in_file, SUFFIXES),
    }


def start(command: Command, out: Path, renames: int | None = None) -> BaseProcess:
    """The command in a process of its own, which ends before its change of names of this number."""
    process = FORKED.Process(target=_run, args=(command.words, str(out), renames))
    process.start()
    return process


def _run(words: list[str], out: str, left: int | None) -> None:
    def count(event: str, arguments: tuple[Any, ...]) -> None:
        nonlocal left
        if event in ("os.rename", "os.rmdir") and str(Path(out).parent) in str(arguments[0]):
            left = (left or 0) - 1
            if left < 0:
                os.kill(os.getpid(), signal.SIGKILL)

    if left is not None:
        sys.addaudithook(count)
    result = recap_here(*words, "--out", out)
    if result.returncode:
        raise SystemExit(result.stderr)


def kill_until(command: Command, home: Path, kills: int, choose: random.Random) -> dict[str, float]:
    """Start, kill, look, start again until done; then from the beginning under a new name."""
    expected: dict[str, list[bytes] | None] = {}
    for name in ("first", "whole"):  # the first also waits for the imports
        for ending in command.endings:
            began = time.monotonic()
            process = start(command, home / f"{name}{ending}")
            process.join()
            assert process.exitcode == 0
            seconds = time.monotonic() - began
            expected[ending] = command.look(home / f"{name}{ending}")
            assert expected[ending] is not None
    counts = {"kills": 0, "between": 0, "finished": 0, "wrong": 0}
    is_new = True
    began, longest = time.monotonic(), seconds
    while counts["kills"] < kills:
        ending = command.endings[counts["finished"] % len(command.endings)]
        out = home / f"{counts['finished']}{ending}"
        earlier = None
        if command.replaces is not None:
            if is_new:
                shutil.copytree(command.replaces, out)
            earlier = command.look(command.replaces)
        renames = choose.randrange(_RENAMES) if earlier is not None and choose.random() < 0.5 else None
        process = start(command, out, renames)
        process.join(choose.uniform(0, longest) if renames is None else None)
        is_killed = process.is_alive() or process.exitcode == -signal.SIGKILL
        if renames is None:
            longest *= 1.1 if is_killed else 0.8  # follows how busy the machine is; about 7 of 10 are killed
        process.kill()
        process.join()
        counts["between"] += is_killed and not out.exists()
        counts["kills"] += is_killed
        try:
            found = command.look(out)
            failed = not is_killed and (process.exitcode != 0 or found is None)
        except Exception as error:
            found, failed = None, True
            print(json.dumps({"wrong": f"{type(error).__name__}: {error}"[:300]}), file=sys.stderr)
        counts["wrong"] += failed or found not in (earlier, expected[ending])
        is_new = found == expected[ending]
        counts["finished"] += is_new
    return {**counts, "seconds_uninterrupted": round(seconds, 2), "seconds": round(time.monotonic() - began)}


def main() -> int:
    """Kill each kind of command so many times."""
    parser = argparse.ArgumentParser(description="Kill preparing, training and predicting at random moments.")
    parser.add_argument("--kills", type=int, default=200, help="of each kind")
    parser.add_argument("--kinds", nargs="+", default=["prepare", "train", "predict"])
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = "1"
    FORKED.set_forkserver_preload(["tests.background", "tests.cli_runner", "tests.worlds", *IMPORTED_LATE])
    choose = random.Random(options.seed)  # noqa: S311 # moments, no secrets
    with tempfile.TemporaryDirectory() as name:
        os.environ["RECAP_HOME"] = name + "/home"
        is_wrong = False
        known = commands(Path(name))
        for kind in options.kinds:
            home = Path(name) / f"{kind}s"
            home.mkdir()
            counts = kill_until(known[kind], home, options.kills, choose)
            print(json.dumps({"kind": kind, **counts, "seed": options.seed}), flush=True)
            is_wrong |= counts["wrong"] > 0
    return int(is_wrong)


if __name__ == "__main__":
    sys.exit(main())
