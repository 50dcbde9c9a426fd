"""`recap cases`: the library of saved cases from the command line."""

import json
from pathlib import Path

import pytest

from tests.cli_runner import recap_here, recap_json_here
from tests.shell import assert_refused


def test_save_export_import(
    city_folder: Path, city_checkpoint: Path, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A case goes into the library and a new collection, is found again, and moves to another library."""
    made = recap_json_here(
        *("cases", "save", 3, "--data", city_folder, "--checkpoint", city_checkpoint, "--note", "look", "--tag", "a"),
        *("--collection", "Tuesday", "--edits", "hour:5"),
    )
    assert json.loads(Path(made["file"]).read_text())["note"] == "look"
    again = ("cases", "save", 3, "--data", city_folder, "--checkpoint", city_checkpoint, "--edits", "hour:5")
    assert_refused(recap_here(*again), "already")
    exported = recap_here("cases", "export", "--collection", "tuesday")
    assert exported.returncode == 0 and made["name"] in exported.stdout
    out = tmp_path / "out.json"
    out.write_text(exported.stdout)
    monkeypatch.setenv("RECAP_HOME", str(tmp_path / "second"))
    assert len(recap_json_here("cases", "import", out)["added"]) == 2
    assert recap_here("cases", "export", "--collection", "Tuesday").stdout == exported.stdout
