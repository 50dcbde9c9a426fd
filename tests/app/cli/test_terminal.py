"""What commands send to a terminal when ids, names, columns and paths are hostile: text, no control sequences."""

from pathlib import Path

import pandas as pd
import pytest

from app.cli.main import run
from recap import columns as c
from recap.data.preparation import prepare_dataset
from tests.chaos.fuzz_pages import CONTROLS
from tests.checkins import LENIENT, raw_table
from tests.cli_runner import recap_here
from tests.untrained import write_untrained_checkpoint
from tests.worlds import habit_rows

ESCAPES = "\x1b]0;owned\x07\x1b[31m\x9b2J\u202e[bold]x[/bold] [/nope] :smile:"


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder `[bold]x[/] [/nope]` with a dataset and a checkpoint whose names drive terminals."""
    folder = tmp_path_factory.mktemp("hostile") / "[bold]x[" / "] [" / "nope] \x1b[31m"
    for part in ("own[", "new[", "no[", "home["):
        (folder / part).mkdir(parents=True)
    raw = raw_table(habit_rows())
    for column in (c.USER_ID, c.POI_ID, c.CATEGORY, c.CATEGORY_ID):
        raw[column] = pd.Categorical(raw[column].astype(str) + ESCAPES)
    dataset = prepare_dataset(raw, LENIENT, name=f"city {ESCAPES}", source_format="test")
    dataset.save(folder / "data")
    (folder / "[bold]").symlink_to(folder / "data")
    write_untrained_checkpoint(dataset, folder / "checkpoint")
    frame = raw.astype(dict.fromkeys((c.USER_ID, c.POI_ID, c.CATEGORY, c.CATEGORY_ID), str))
    frame = frame.rename(columns={c.TZ_OFFSET_MINUTES: "tz", c.CATEGORY: f"category {ESCAPES}"})
    frame.to_csv(folder / "own[/b].csv", index=False, date_format="%Y-%m-%d %H:%M:%S")
    return folder


COMMANDS = {
    "inspect": ["inspect", "own[/b].csv", "--map", f"category=category {ESCAPES}"],
    "inspect --json": ["inspect", "own[/b].csv", "--map", f"category=category {ESCAPES}", "--json"],
    "prepare": ["prepare", "own[/b].csv", "--out", "new[/b]", "--set", "min_poi_checkins=1", "--name", ESCAPES],
    "prepare: no such column": ["prepare", "own[/b].csv", "--out", "other", "--map", f"user={ESCAPES}"],
    "stats": ["stats", "[bold]"],
    "evaluate": ["evaluate", "checkpoint", "--data", "data", "--records", "[/r].parquet"],
    "explain": ["explain", "checkpoint", "--data", "data", "--case", "1", "--html", "[/e].html"],
    "overview": ["overview", "checkpoint", "--data", "data"],
    "cases find": ["cases", "find", "checkpoint", "--data", "data"],
    "runs list": ["runs", "list"],
    "an unknown option": ["stats", "data", f"--{ESCAPES}"],
    "a missing folder": ["stats", f"no[/b]{ESCAPES}"],
}


@pytest.mark.parametrize("name", COMMANDS)
def test_no_control_character_reaches_the_terminal(name: str, hostile: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the command says, on both streams; a refusal is one line."""
    monkeypatch.chdir(hostile)
    monkeypatch.setenv("RECAP_HOME", str(hostile / "home[/b]"))
    (hostile / "[").mkdir(exist_ok=True)
    result = recap_here(*COMMANDS[name])
    assert not CONTROLS.search(result.stdout + result.stderr), repr(result.stdout + result.stderr)
    assert result.returncode in (0, 2), result.stderr
    if result.returncode == 2:
        assert result.stderr.count("\n") == 1 and "Traceback" not in result.stderr
        assert name in ("prepare: no such column", "an unknown option", "a missing folder"), result.stderr
    if name == "stats":
        assert "Transitions of [bold]" in " ".join(result.stdout.split()), "square brackets are part of the name"


def test_a_refusal_keeps_nothing_open(monkeypatch: pytest.MonkeyPatch) -> None:
    """Python leaves without the traceback of what was refused, whose frames hold half-read files and their threads."""
    monkeypatch.setattr("sys.argv", ["recap", "stats", "nowhere"])
    with pytest.raises(SystemExit) as leaving:
        run()
    assert leaving.value.code == 2 and leaving.value.__context__ is None
