"""`recap runs`: one JSON object on stdout, or one refusing line on stderr and exit code 2."""

from pathlib import Path
from typing import Any

import pytest

from recap.presets import DEFAULT_PRESET
from recap.runs.execution import control
from recap.runs.store.description import RunDescription
from recap.runs.store.run_store import RunStore
from tests.background import recap, recap_json, tiny_spec, wait_until_over
from tests.cli_runner import recap_here, recap_json_here
from tests.tiny import CHANGES, WORDS


@pytest.fixture(autouse=True)
def _own_runs(store: RunStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RECAP_HOME", str(store.folder.parent))


def test_without_a_preset_the_recommended_one_is_queued(
    store: RunStore, dataset_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(control, "ensure_runner", lambda _: False)
    assert recap_json_here("runs", "submit", dataset_folder)["id"] == "1"
    assert store.get("1").read_spec().preset == DEFAULT_PRESET


@pytest.mark.slow
def test_from_submit_to_rm(store: RunStore, dataset_folder: Path) -> None:
    """One run through every command, with the contract's keys; the first two as a shell runs them."""
    home = store.folder.parent
    queued = recap_json(home, "runs", "submit", dataset_folder, *WORDS, "--set", "batch_size=32")
    assert queued == {"id": "1", "state": "queued", "runs": [{"id": "1", "state": "queued"}]}
    followed = recap(home, "runs", "logs", "-f", "1")
    assert followed.returncode == 0 and "epoch 4 of 4" in followed.stdout and "is finished" in followed.stderr
    shown = recap_json_here("runs", "show", "1")
    assert shown.keys() == RunDescription.__annotations__.keys()
    assert (shown["state"], shown["epoch"], shown["epochs"], len(shown["metrics"])) == ("finished", 4, 4, 4)
    assert shown["spec"]["overrides"] == [*CHANGES, "batch_size=32"] and Path(shown["checkpoint"]).is_dir()
    (row,) = recap_json_here("runs", "list")["runs"]
    assert (row["id"], row["state"]) == ("1", "finished") and row["title"].endswith(", batch_size=32, seed 3407")
    assert recap_json_here("runs", "logs", "1")["lines"][-1].startswith("epoch 4")

    words = ("submit", dataset_folder, *WORDS, "--seed", "1", "--seed", "2")
    assert [entry["id"] for entry in recap_json_here("runs", *words)["runs"]] == ["2", "3"]
    stopped = recap_json_here("runs", "stop", "2", "3")["runs"]
    assert {entry["state"] for entry in stopped} <= {"stopped", "stopping"}
    assert {wait_until_over(store.get(run_id)) for run_id in "23"} == {"stopped"}
    assert recap_json_here("runs", "resume", "2")["state"] == "queued"
    recap_here("runs", "stop", "2")
    assert wait_until_over(store.get("2")) == "stopped"
    removed = {"id": "2", "state": "removed"}
    assert recap_json_here("runs", "rm", "2") == removed | {"runs": [removed]}
    assert [entry["id"] for entry in recap_json_here("runs", "list")["runs"]] == ["1", "3"]
    for shorter, part in ((("list",), "finished"), (("show", "1"), "finished"), (("logs", "1"), "epoch 1 of 4")):
        assert part in recap_here("runs", *shorter).stdout


def test_a_full_disk_blinds_nobody(store: RunStore, dataset_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where not even a lock can be written, list, show and logs still read; a remark goes to stderr."""
    run = store.add([tiny_spec(dataset_folder)])[0]
    run.log.write_text("epoch 1 of 4\n")

    def full(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("filelock.FileLock.acquire", full)
    (row,) = recap_json_here("runs", "list")["runs"]
    assert row["state"] == "queued" and recap_json_here("runs", "show", "1")["id"] == "1"
    logs = recap_here("runs", "logs", "1")
    assert (logs.returncode, logs.stdout) == (0, "epoch 1 of 4\n") and "No space left on device" in logs.stderr
