"""`recap causes` and `recap cases --show` as a shell sees them."""

from pathlib import Path

from analysis.records.score_rows import SOURCES
from tests.cli_runner import recap_here, recap_json_here
from tests.shell import assert_refused


def test_causes_in_json_and_words(city_checkpoint: Path, city_folder: Path, tmp_path: Path) -> None:
    """Counts by source, one case's ranks, the cases of one source, and the whole table; all from one kept table."""
    out = tmp_path / "removals.csv"
    told = recap_json_here("causes", city_checkpoint, "--data", city_folder, "-k", 3, "--out", out)
    assert [row["source"] for row in told["sources"]] == list(SOURCES)
    assert len(out.read_text().splitlines()) == told["n"] + 1
    counts = {row["source"]: row for row in told["sources"]}
    assert not counts["distance"]["available"] and counts["own_revisits"]["available"]
    one = recap_json_here("causes", city_checkpoint, "--data", city_folder, "--case", 2)
    assert one["case"] == 2 and set(one["without"]) == set(SOURCES) and one["without"]["distance"] is None
    by = recap_json_here("causes", city_checkpoint, "--data", city_folder, "-k", 3, "--source", "own_revisits")
    assert by["n"] == counts["own_revisits"]["recovered"] == len(by["cases"])
    listed = recap_json_here("cases", "find", city_checkpoint, "--data", city_folder, "--k", 3, "--show", "history")
    assert listed["cases"] == by["cases"]
    cards = recap_json_here("overview", city_checkpoint, "--data", city_folder)
    assert cards["notable_are_causes"]
    assert all(card["rank"] <= 20 < card["rank_without"] for card in cards["notable"] if card["kind"] != "missed")
    text = recap_here("causes", city_checkpoint, "--data", city_folder)
    assert text.returncode == 0 and "not in this model" in text.stdout
    before, words = out.read_bytes(), ("causes", city_checkpoint, "--data", city_folder, "--out", out)
    assert_refused(recap_here(*words, "--source", "luck"), "unknown source of evidence")
    assert_refused(recap_here(*words, "--case", 9999), "no test case 9999")
    assert out.read_bytes() == before, "what is refused writes nothing"
    assert_refused(recap_here(*words[:-1], tmp_path / "none" / "t.csv"), "nothing was kept")


def test_an_explanation_with_checks(city_checkpoint: Path, city_folder: Path) -> None:
    """--checks adds the robustness checks, in JSON and in words."""
    asked = ("explain", city_checkpoint, "--data", city_folder, "--case", 3, "--full", "--checks")
    told = recap_json_here(*asked)
    assert {"own_visits", "core"} & {check["row"] for check in told["checks"]}
    assert "Is it stable?" in recap_here(*asked).stdout
    assert_refused(recap_here(*asked, "--seeds", 1), "--seeds")
