"""Kill preparing and training at random moments: a folder is whole or refused, and going on ends in the same bits.

    python -m tests.chaos.kills --kills 200

Commands run in processes forked from one that has imported torch. Prints one JSON object; exit code 1 where a state was
wrong: a damaged folder that opens, a refusal other than the library's own, or an end that differs.
"""

import argparse
import json
import multiprocessing
import os
import random
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from recap.checkpoint import Checkpoint
from recap.data.dataset import Dataset
from recap.errors import RecapError
from tests.background import walking_dataset
from tests.checkins import raw_table
from tests.cli_runner import recap_here
from tests.tiny import WORDS
from tests.worlds import habit_rows

FORKED = multiprocessing.get_context("forkserver")


@dataclass(frozen=True)
class Command:
    """What is killed, and how its folder is opened."""

    words: list[str]
    open: Callable[[Path], Dataset | Checkpoint]
    files: tuple[str, ...]

    def outcome(self, folder: Path) -> dict[str, bytes] | None:
        """The files that count of a whole folder; None of one that is refused as unfinished.

        Raises:
            Exception: it is neither.
        """
        try:
            self.open(folder)
        except RecapError:
            return None
        return {name: (folder / name).read_bytes() for name in self.files}


def commands(folder: Path) -> dict[str, Command]:
    """Preparing a table of some thousand rows, and a training that keeps its state after every step."""
    table, data = folder / "table.csv", folder / "data"
    raw_table(habit_rows(num_users=60, num_walks=60)).to_csv(table, index=False, date_format="%Y-%m-%dT%H:%M:%SZ")
    walking_dataset().save(data)
    prepare = [
        "prepare",
        str(table),
        "--timezone",
        "UTC",
        "--set",
        "min_poi_checkins=1",
        "--set",
        "min_user_checkins=1",
    ]
    train = ["train", str(data), *WORDS, "--device", "cpu", "--set", "save_every_seconds=0", "--resume"]
    tables = ("checkins.parquet", "pois.parquet", "users.parquet")
    weights = ("model.safetensors", "vocabulary.parquet")
    return {"prepare": Command(prepare, Dataset.load, tables), "train": Command(train, Checkpoint.load, weights)}


def start(command: Command, folder: Path) -> multiprocessing.process.BaseProcess:
    """The command in a process of its own."""
    process = FORKED.Process(target=_run, args=(command.words, str(folder)))
    process.start()
    return process


def _run(words: list[str], folder: str) -> None:
    result = recap_here(*words, "--out", folder)
    if result.returncode:
        raise SystemExit(result.stderr)


def kill_until(command: Command, home: Path, kills: int, choose: random.Random) -> dict[str, float]:
    """Start, kill, look, start again until done; then from the beginning in a new folder."""
    for name in ("first", "whole"):  # the first also imports what is imported late
        began = time.monotonic()
        process = start(command, home / name)
        process.join()
        assert process.exitcode == 0
        seconds = time.monotonic() - began
    expected = command.outcome(home / "whole")
    assert expected is not None
    counts = {"kills": 0, "seconds_uninterrupted": round(seconds, 2), "finished": 0, "wrong": 0}
    folder = home / "0"
    while counts["kills"] < kills:
        process = start(command, folder)
        process.join(choose.uniform(0, 1.1 * seconds))
        is_killed = process.is_alive()
        process.kill()
        process.join()
        counts["kills"] += is_killed
        try:
            found = command.outcome(folder)
            failed = not is_killed and (process.exitcode != 0 or found is None)
        except Exception as error:
            found, failed = None, True
            print(json.dumps({"wrong": f"{type(error).__name__}: {error}"[:300]}), file=sys.stderr)
        counts["wrong"] += failed or found not in (None, expected)
        if found is not None:
            counts["finished"] += 1
            folder = home / str(counts["finished"])
    return counts


def main() -> int:
    """Kill each kind of command so many times."""
    parser = argparse.ArgumentParser(description="Kill preparing and training at random moments.")
    parser.add_argument("--kills", type=int, default=200, help="of each kind")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = "1"
    FORKED.set_forkserver_preload(["tests.background", "tests.cli_runner", "tests.worlds"])
    choose = random.Random(options.seed)  # noqa: S311 # moments, no secrets
    with tempfile.TemporaryDirectory() as name:
        os.environ["RECAP_HOME"] = name + "/home"
        answer = {}
        for kind, command in commands(Path(name)).items():
            home = Path(name) / kind
            home.mkdir()
            answer[kind] = kill_until(command, home, options.kills, choose)
    print(json.dumps(answer | {"seed": options.seed}))
    return int(any(counts["wrong"] for counts in answer.values()))


if __name__ == "__main__":
    sys.exit(main())
