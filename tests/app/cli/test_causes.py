"""`recap causes`, `recap sanity` and `recap cases --show` as a shell sees them."""

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


def test_sanity_in_json_words_and_a_card(city_checkpoint: Path, city_folder: Path, tmp_path: Path) -> None:
    """Without siblings it says so; the card's section is the table."""
    card = tmp_path / "card.md"
    told = recap_json_here("sanity", city_checkpoint, "--data", city_folder, "--cases", 3, "--out", card)
    assert told["n"] == 3 and told["seeds"] == 1 and told["placebos"] == 200
    assert all(row["holds"] is None for row in told["rows"])
    assert "seeds not measured" in card.read_text(encoding="utf-8")
    text = recap_here("sanity", city_checkpoint, "--data", city_folder, "--cases", 2)
    assert text.returncode == 0 and "Does it hold?" in text.stdout
    assert_refused(recap_here("sanity", city_checkpoint, "--data", city_folder, "--train-seeds", 1), "train-seeds")
    words = ("sanity", city_checkpoint, "--data", city_folder, "--cases", 2, "--out", tmp_path / "none" / "card.md")
    assert_refused(recap_here(*words), "nothing was kept")


def test_an_explanation_with_checks(city_checkpoint: Path, city_folder: Path) -> None:
    """--checks adds ranks without each source and stamps, in JSON and in words."""
    told = recap_json_here("explain", city_checkpoint, "--data", city_folder, "--case", 3, "--full", "--checks")
    assert set(told["checks"]["without"]) == set(SOURCES) and told["checks"]["stamps"]
    text = recap_here("explain", city_checkpoint, "--data", city_folder, "--case", 3, "--full", "--checks")
    assert "Explained exactly" in text.stdout and "seeds not measured" in text.stdout
