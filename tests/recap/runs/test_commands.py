"""`recap runs`: one JSON object on stdout, or one refusing line on stderr and exit code 2."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from app.cli import main
from recap.runs.store import RunStore
from tests.background import recap, recap_json, wait_until_over

Command = Callable[..., tuple[int, str, str]]


@pytest.fixture
def here(store: RunStore, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """Run a command in this process: exit code, stdout, stderr."""
    monkeypatch.setenv("RECAP_HOME", str(store.folder.parent))

    def run(*words: Any) -> tuple[int, str, str]:
        monkeypatch.setattr("sys.argv", ["recap", "runs", *map(str, words)])
        capsys.readouterr()
        with pytest.raises(SystemExit) as exit_info:
            main()
        out, err = capsys.readouterr()
        return int(str(exit_info.value.code)), out, err

    return run


def from_json(answer: tuple[int, str, str]) -> Any:
    code, out, err = answer
    assert code == 0 and out.count("\n") == 1, err
    return json.loads(out)


def test_from_submit_to_rm(here: Command, store: RunStore, dataset_folder: Path) -> None:
    """One run through every command, with the contract's keys; the first two as a shell runs them."""
    home = store.folder.parent
    queued = recap_json(home, "runs", "submit", dataset_folder, "--preset", "tiny", "--set", "batch_size=32")
    assert queued == {"id": "1", "state": "queued"}
    followed = recap(home, "runs", "logs", "-f", "1")
    assert followed.returncode == 0 and "epoch 4 of 4" in followed.stdout and "is finished" in followed.stderr
    shown = from_json(here("show", "1", "--json"))
    assert list(shown)[:14] == [
        *("id", "state", "spec", "created", "started", "ended", "epoch", "epochs", "metrics", "pid", "host", "device"),
        *("error", "checkpoint"),
    ]
    assert (shown["state"], shown["epoch"], shown["epochs"], len(shown["metrics"])) == ("finished", 4, 4, 4)
    assert shown["spec"]["overrides"] == ["batch_size=32"] and Path(shown["checkpoint"]).is_dir()
    (row,) = from_json(here("list", "--json"))["runs"]
    assert (row["id"], row["state"], row["title"]) == ("1", "finished", "tiny, batch_size=32, seed 3407")
    assert from_json(here("logs", "1", "--lines", "1", "--json"))["lines"][0].startswith("epoch 4")

    words = ("submit", dataset_folder, "--preset", "tiny", "--seed", "1", "--seed", "2", "--parent", "1", "--json")
    assert [entry["id"] for entry in from_json(here(*words))["runs"]] == ["2", "3"]
    stopped = from_json(here("stop", "2", "3", "--json"))["runs"]
    assert {entry["state"] for entry in stopped} <= {"stopped", "stopping"}
    assert {wait_until_over(store.get(run_id)) for run_id in "23"} == {"stopped"}
    assert from_json(here("compare", "1", "2", "--json"))["differing"] == ["batch_size", "seed"]
    assert from_json(here("rm", "2", "--json")) == {"id": "2", "state": "removed"}
    assert [entry["id"] for entry in from_json(here("list", "--json"))["runs"]] == ["1", "3"]
    for words, part in (
        (("list",), "tiny, batch_size=32"),
        (("show", "1"), "finished"),
        (("compare", "1", "3"), "batch_size"),
        (("logs", "1"), "epoch 1 of 4"),
    ):
        code, out, _ = here(*words)
        assert code == 0 and part in out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("submit", "DATA", "--preset", "huge"), "unknown training preset 'huge'"),
        (("submit", "DATA", "--preset", "tiny", "--set", "x"), "--set expects field=value, got 'x'"),
        (("submit", "missing", "--preset", "tiny"), "holds no dataset.json"),
        (("submit", "DATA", "--preset", "tiny", "--parent", "../1"), "a run is named by its number"),
        (("submit", "DATA", "--preset", "tiny", "--seed", "1", "--seed", "1"), "every seed runs once"),
        (("show", "7"), "there is no run 7"),
        (("show", "../../etc"), "a run is named by its number"),
        (("stop", "7"), "there is no run 7"),
        (("resume", "x"), "a run is named by its number"),
        (("rm", "7"), "there is no run 7"),
        (("logs", "7", "-f", "--json"), "use one of them"),
        (("compare", "7"), "there is no run 7"),
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
