"""Ablations and checks as a shell sees them."""

from pathlib import Path

from analysis.records.score_rows import SOURCES

from tests.cli_runner import recap_here, recap_json_here
from tests.shell import assert_refused


def test_ablations_in_long_tail(city_checkpoint: Path, city_folder: Path) -> None:
    """--full counts cases by ablation and misses by kind; overview and `cases find` then know them too."""
    words = (city_checkpoint, "--data", city_folder)
    told = recap_json_here("long-tail", *words, "--full")
    counts = {row["source"]: row for row in told["causes"]}
    assert list(counts) == list(SOURCES)
    assert not counts["distance"]["available"] and counts["own_revisits"]["available"]
    found = recap_json_here("cases", "find", *words, "--show", "history")
    assert found["n"] == counts["own_revisits"]["recovered"] == len(found["cases"])
    missed = recap_json_here("cases", "find", *words, "--show", "missed")
    assert sum(row["n"] for row in told["misses"]) == missed["n"]
    cards = recap_json_here("overview", *words)
    assert cards["notable_are_causes"]
    assert all(card["rank"] <= 20 < card["rank_without"] for card in cards["notable"] if card["kind"] != "missed")
    assert "causes" in recap_here("long-tail", *words, "--full").stdout
    assert "causes" not in recap_json_here("long-tail", "--baseline", "markov", "--data", city_folder, "--full")


def test_an_explanation_with_checks(city_checkpoint: Path, city_folder: Path) -> None:
    """--checks adds the robustness checks, in JSON and in words."""
    asked = ("explain", city_checkpoint, "--data", city_folder, "--case", 3, "--full", "--checks")
    told = recap_json_here(*asked)
    assert {"own_visits", "core"} & {check["row"] for check in told["checks"]}
    assert "Is it stable?" in recap_here(*asked).stdout
    assert_refused(recap_here(*asked, "--seeds", 1), "--seeds")
