"""`recap cases`: today's listing under find, the old form refused, and the library from the command line."""

import json
from pathlib import Path

import pytest

from analysis.cases.recipes import RECIPES
from app.cli.cases import link_of_first
from recap.checkpoint import Checkpoint
from tests.cli_runner import recap_here, recap_json_here


@pytest.fixture(autouse=True)
def _own_home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("RECAP_HOME", str(tmp_path / "home"))


def test_the_old_form_refuses_with_a_hint(city_folder: Path, city_checkpoint: Path) -> None:
    """One line and exit code 2, whichever word came first."""
    for words in ((city_checkpoint, "--data", city_folder), ("--data", city_folder, city_checkpoint)):
        result = recap_here("cases", *words)
        assert result.returncode == 2 and "recap cases find" in result.stderr and result.stderr.count("\n") == 1


def test_recipes_with_counts(city_folder: Path, city_checkpoint: Path) -> None:
    """Every recipe with its count; one recipe alone has the same cases; without removals causes are coincidences."""
    shown = recap_json_here("cases", "recipes", city_checkpoint, "--data", city_folder)
    assert [entry["recipe"] for entry in shown["recipes"]] == list(RECIPES)
    assert not shown["causes"]
    one = recap_json_here("cases", "recipes", city_checkpoint, "--data", city_folder, "--recipe", "own_visits")
    assert one["recipes"] == [entry for entry in shown["recipes"] if entry["recipe"] == "own_visits"]
    assert one["recipes"][0]["label"].startswith("Coincides")
    assert (
        "unknown recipe"
        in recap_here("cases", "recipes", city_checkpoint, "--data", city_folder, "--recipe", "bliss").stderr
    )


def test_save_list_export_import(
    city_folder: Path, city_checkpoint: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A case goes into the library and a new collection, is found again, and moves to another library."""
    made = recap_json_here(
        *("cases", "save", 3, "--data", city_folder, "--checkpoint", city_checkpoint, "--note", "look", "--tag", "a"),
        *("--collection", "Tuesday", "--edits", "hour:5"),
    )
    assert json.loads(Path(made["file"]).read_text())["note"] == "look"
    again = recap_here("cases", "save", 3, "--data", city_folder, "--checkpoint", city_checkpoint, "--edits", "hour:5")
    assert again.returncode == 2 and "already" in again.stderr
    listed = recap_json_here("cases", "list", "--search", "LOOK", "--collection", "tuesday")
    assert (listed["n"], listed["cases"][0]["name"], listed["damaged"]) == (1, made["name"], [])
    assert recap_json_here("cases", "list", "--search", "nobody")["n"] == 0
    out = tmp_path / "out.json"
    assert recap_here("cases", "export", "--collection", "Tuesday", "--out", out).returncode == 0
    monkeypatch.setenv("RECAP_HOME", str(tmp_path / "second"))
    assert len(recap_json_here("cases", "import", out)["added"]) == 2
    assert recap_json_here("cases", "list")["cases"] == listed["cases"]
    refused = recap_here("cases", "export", "nobody")
    assert refused.returncode == 2 and "recap cases list" in refused.stderr


def test_the_address_of_a_presentation_says_what_it_was_made_with(city_folder: Path, city_checkpoint: Path) -> None:
    """Otherwise its first screen would have to say that it does not know."""
    checkpoint = Checkpoint.load(city_checkpoint)
    said = link_of_first(city_folder, city_checkpoint)
    assert said["source"] == said["checkpoint"] == checkpoint.hash[:12]
    assert said["dataset"] == checkpoint.manifest.dataset_hash[:12]


def test_present_refuses_before_it_serves() -> None:
    """Two things at once, an unknown recipe, and a collection that is not there."""
    for words, part in (
        (("--case", 1, "--recipe", "both"), "one thing"),
        (("--recipe", "bliss"), "unknown recipe"),
        (("--collection", "Tuesday"), "no collection"),
    ):
        result = recap_here("cases", "present", *words)
        assert result.returncode == 2 and part in result.stderr
