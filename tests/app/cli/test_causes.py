"""Ablations and checks as a shell sees them."""

from pathlib import Path

from tests.cli_runner import recap_here, recap_json_here

PAPER = {"history", "two_hops", "past_visits", "core", "correction", "graph_token"}


def test_ablations_in_long_tail(city_checkpoint: Path, city_folder: Path) -> None:
    """--full says what each group is worth and counts misses by kind; overview and `cases find` then know them too."""
    words = (city_checkpoint, "--data", city_folder)
    answer = recap_json_here("long-tail", *words, "--full")
    assert {row["ablation"] for row in answer["worth"]} == PAPER
    assert all(row["mrr_low"] <= row["mrr"] <= row["mrr_high"] for row in answer["worth"])
    found = recap_json_here("cases", "find", *words, "--show", "history")
    assert found["n"] == len(found["cases"])
    missed = recap_json_here("cases", "find", *words, "--show", "missed")
    assert sum(row["n"] for row in answer["misses"]) == missed["n"]
    cards = recap_json_here("overview", *words)["cards"]
    assert all(card["rank"] <= 20 < card["rank_without"] for card in cards if card["kind"] != "missed")
    assert "Accuracy lost without each part" in recap_here("long-tail", *words, "--full").stdout
    assert "worth" not in recap_json_here("long-tail", "--baseline", "markov", "--data", city_folder, "--full")


def test_an_explanation_with_checks(city_checkpoint: Path, city_folder: Path) -> None:
    """--checks adds the robustness checks, in JSON and in words."""
    asked = ("explain", city_checkpoint, "--data", city_folder, "--case", 3, "--checks")
    answer = recap_json_here(*asked)
    assert {"past visits", "core"} & {check["row"] for check in answer["checks"]}
    assert "Is it stable?" in recap_here(*asked).stdout
