"""`recap runs`: one JSON object on stdout, or one refusing line on stderr and exit code 2."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from app.cli.main import run as run_command
from recap.presets import DEFAULT_PRESET
from recap.runs.execution import control
from recap.runs.store.run_store import RunStore
from recap.runs.store.types import RunDescription
from tests.background import (
    recap,
    recap_json,
    tiny_spec,
    wait_until_over,
)
from tests.cli_runner import strict_json
from tests.tiny import CHANGES, WORDS

Command = Callable[..., tuple[int, str, str]]


@pytest.fixture
def here(store: RunStore, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """Run a command in this process: exit code, stdout, stderr."""
    monkeypatch.setenv("RECAP_HOME", str(store.folder.parent))

    def run(*words: Any) -> tuple[int, str, str]:
        monkeypatch.setattr("sys.argv", ["recap", "runs", *map(str, words)])
        capsys.readouterr()
        with pytest.raises(SystemExit) as exit_info:
            run_command()
        out, err = capsys.readouterr()
        return int(str(exit_info.value.code)), out, err

    return run


def from_json(answer: tuple[int, str, str]) -> Any:
    code, out, err = answer
    assert code == 0 and out.count("\n") == 1, err
    return strict_json(out)


def test_without_a_preset_the_recommended_one_is_queued(
    here: Command, store: RunStore, dataset_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And a number of hops, which the curves alone do not follow, is refused."""
    monkeypatch.setattr(control, "ensure_runner", lambda _: False)
    assert from_json(here("submit", dataset_folder, "--json"))["id"] == "1"
    assert store.get("1").read_spec().preset == DEFAULT_PRESET
    code, out, err = here("submit", dataset_folder, "--preset", "feature_curves", "--grid", "model.num_hops=1,2,3")
    assert (code, out) == (2, "") and "no graph token" in err and len(store.runs()) == 1


def test_from_submit_to_rm(here: Command, store: RunStore, dataset_folder: Path) -> None:
    """One run through every command, with the contract's keys; the first two as a shell runs them."""
    home = store.folder.parent
    queued = recap_json(home, "runs", "submit", dataset_folder, *WORDS, "--set", "batch_size=32")
    assert queued == {"id": "1", "state": "queued", "runs": [{"id": "1", "state": "queued"}]}
    followed = recap(home, "runs", "logs", "-f", "1")
    assert followed.returncode == 0 and "epoch 4 of 4" in followed.stdout and "is finished" in followed.stderr
    shown = from_json(here("show", "1", "--json"))
    assert shown.keys() == RunDescription.__annotations__.keys()
    assert (shown["state"], shown["epoch"], shown["epochs"], len(shown["metrics"])) == ("finished", 4, 4, 4)
    assert shown["spec"]["overrides"] == [*CHANGES, "batch_size=32"] and Path(shown["checkpoint"]).is_dir()
    (row,) = from_json(here("list", "--json"))["runs"]
    assert (row["id"], row["state"]) == ("1", "finished") and row["title"].endswith(", batch_size=32, seed 3407")
    assert from_json(here("logs", "1", "--lines", "1", "--json"))["lines"][0].startswith("epoch 4")

    words = ("submit", dataset_folder, *WORDS, "--seed", "1", "--seed", "2", "--json")
    assert [entry["id"] for entry in from_json(here(*words))["runs"]] == ["2", "3"]
    stopped = from_json(here("stop", "2", "3", "--json"))["runs"]
    assert {entry["state"] for entry in stopped} <= {"stopped", "stopping"}
    assert {wait_until_over(store.get(run_id)) for run_id in "23"} == {"stopped"}
    assert from_json(here("resume", "2", "--json"))["state"] == "queued"
    here("stop", "2")
    assert wait_until_over(store.get("2")) == "stopped"
    removed = {"id": "2", "state": "removed"}
    assert from_json(here("rm", "2", "--json")) == removed | {"runs": [removed]}
    assert [entry["id"] for entry in from_json(here("list", "--json"))["runs"]] == ["1", "3"]
    for shorter, part in (
        (("list",), "finished"),
        (("show", "1"), "finished"),
        (("logs", "1"), "epoch 1 of 4"),
    ):
        code, out, _ = here(*shorter)
        assert code == 0 and part in out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("submit", "DATA", "--preset", "huge"), "unknown preset 'huge'"),
        (("submit", "DATA", "--preset", "paper", "--seed", "1", "--seed", "1"), "every seed runs once"),
        (("show", "../../etc"), "a run is named by its number"),
        (("resume", "x"), "a run is named by its number"),
        (("rm", "7"), "there is no run 7"),
        (("logs", "7", "-f", "--json"), "use either --json or -f"),
    ],
)
def test_refuses_in_one_line(
    here: Command, store: RunStore, dataset_folder: Path, words: tuple[str, ...], message: str
) -> None:
    """Exit code 2, nothing on stdout, nothing queued."""
    code, out, err = here(*(str(dataset_folder) if word == "DATA" else word for word in words))
    assert (code, out) == (2, "")
    assert err.startswith("recap: ") and err.count("\n") == 1 and message in err
    assert store.runs() == []


def test_a_full_disk_blinds_nobody(
    here: Command, store: RunStore, dataset_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where not even a lock can be written, list, show and logs still read; a remark goes to stderr."""
    run = store.add([tiny_spec(dataset_folder)])[0]
    run.log.write_text("epoch 1 of 4\n")

    def full(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("filelock.FileLock.acquire", full)
    (row,) = from_json(here("list", "--json"))["runs"]
    assert row["state"] == "queued" and from_json(here("show", "1", "--json"))["id"] == "1"
    code, out, err = here("logs", "1")
    assert (code, out) == (0, "epoch 1 of 4\n") and "No space left on device" in err
