"""A disk that is full: runs on a six-megabyte file system (root only, Linux).

    python -m tests.chaos.full_disk

Prints one JSON line for each moment the disk fills up. Earlier epochs and checkpoints must be intact, the state must
name the reason, and with room again the run must finish. While the disk has neither a block nor a file left,
`recap runs list`, `show` and `logs` must still answer.
"""

import json
import os
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

from recap.runs.execution import control
from recap.runs.store.run_store import RunStore
from recap.storage.tensors import load_tensors
from tests.background import new_store, tiny_spec, wait_for_epoch, wait_until_over, walking_dataset
from tests.shell import recap


def fill(folder: Path, leave: int) -> Path:
    """Take all room of a file system but ``leave`` bytes."""
    filler = folder / "filler"
    with suppress(OSError), filler.open("wb", buffering=0) as file:
        while file.write(b"x" * 4096):
            pass
    if filler.exists():
        os.truncate(filler, max(0, filler.stat().st_size - leave))
    return filler


def take_every_file(folder: Path) -> list[Path]:
    """Create empty files until the file system has no place for another."""
    made: list[Path] = []
    with suppress(OSError):
        while True:
            path = folder / f"node{len(made)}"
            path.touch()
            made.append(path)
    return made


def answers(home: Path, *words: str) -> bool:
    """Whether a command that reads runs does so, in a process of its own."""
    result = recap("runs", *words, "--json", env=os.environ | {"RECAP_HOME": str(home)})
    return result.returncode == 0 and '"1"' in result.stdout


def one(disk: Path, data: Path, leave: int) -> dict[str, object]:
    """Train, fill the disk after two epochs, and see what is left."""
    store = new_store(disk / f"home{leave}")
    spec = tiny_spec(data, epochs=60, overrides=["validate_every=10", "save_every_seconds=0.1"])
    (run,) = control.submit(store, [spec])
    wait_for_epoch(run, 12)
    filler = fill(disk, leave)
    state = wait_until_over(run)
    error = json.loads((run.path / "state.json").read_text())["error"]
    nodes = take_every_file(disk)
    seen = [answers(store.folder.parent, *words) for words in (("list",), ("show", "1"), ("logs", "1"))]
    for node in nodes:
        node.unlink()
    epochs = [line["epoch"] for line in run.read_metrics()]
    intact = all(load_tensors(path)[0] for path in (run.checkpoint / "training").glob("*.safetensors"))
    filler.unlink(missing_ok=True)
    control.resume(RunStore(store.folder), run)
    again = wait_until_over(run, 600)
    return {
        "bytes_left": leave,
        "state": state,
        "error": error,
        "epochs_kept": len(epochs) >= 12 and epochs == list(range(1, len(epochs) + 1)),
        "files_intact": intact,
        "answers": all(seen),
        "after_resume": again,
        "epochs": len(run.read_metrics()),
    }


def main() -> int:
    good = True
    with tempfile.TemporaryDirectory() as name:
        data, disk = Path(name) / "data", Path(name) / "disk"
        walking_dataset().save(data)
        for leave in (0, 2_000, 20_000, 150_000):
            disk.mkdir(exist_ok=True)
            subprocess.run(["mount", "-t", "tmpfs", "-o", "size=6m,nr_inodes=200", "tmpfs", str(disk)], check=True)
            try:
                result = one(disk, data, leave)
            finally:
                subprocess.run(["umount", "-l", str(disk)], check=True)
            print(json.dumps(result), flush=True)
            good &= result["state"] == "failed" and "space" in str(result["error"]) and bool(result["epochs_kept"])
            good &= bool(result["answers"])
            good &= bool(result["files_intact"]) and result["after_resume"] == "finished" and result["epochs"] == 60
    return int(not good)


if __name__ == "__main__":
    sys.exit(main())
