"""Saved cases and shared files from the command line: coarse by default, exact by option."""

import html
import json
import re
from pathlib import Path

import pytest

from recap.privacy import EXACT_NOTE
from tests.cli_runner import recap_here, recap_json_here
from tests.shell import assert_refused


def explain(checkpoint: Path, data: Path, *options: object) -> str:
    result = recap_here("explain", checkpoint, "--data", data, "--case", "3,5", *options)
    assert result.returncode == 0, result.stderr
    return result.stdout


def test_a_page_is_coarse_and_may_hide_every_place(city_checkpoint: Path, city_folder: Path, tmp_path: Path) -> None:
    """Two cases: a page without dates, in a new folder."""
    page = tmp_path / "new" / "page.html"
    answer = explain(city_checkpoint, city_folder, "--html", page)
    assert "matches exactly one user" in answer or "users match each shared case" in answer
    text = page.read_text()
    assert "2012-" not in text and text.count("<article") == 2 and "What was masked" in text and "--link" not in text
    explain(city_checkpoint, city_folder, "--html", page, "--hide-places")
    assert "a place in cell" in page.read_text().lower()


def test_the_link_of_an_exact_page_opens_the_same_numbers_or_says_which_hash_differs(
    city_checkpoint: Path, city_folder: Path, tmp_path: Path
) -> None:
    page = tmp_path / "page.html"
    answer = explain(city_checkpoint, city_folder, "--html", page, "--exact")
    text = page.read_text()
    assert EXACT_NOTE in " ".join(answer.split())
    assert EXACT_NOTE in text and "2012-" in text and "Test case 3" in text and "User 0" in text
    link = html.unescape(re.findall(r'--link "([^"]+)"', text)[0])
    opened = recap_json_here("explain", city_checkpoint, "--data", city_folder, "--link", link)
    straight = recap_json_here("explain", city_checkpoint, "--data", city_folder, "--case", 3)
    for key in ("case", "target", "target_rank", "candidates", "dataset_hash", "checkpoint_hash"):
        assert opened[key] == straight[key]
    hashed = opened["dataset_hash"][:12]
    other = ("--link", link.replace(hashed, hashed[::-1]))
    assert_refused(
        recap_here("explain", city_checkpoint, "--data", city_folder, *other), f"dataset {hashed[::-1]}", hashed
    )


def test_a_collection_is_one_page(city_checkpoint: Path, city_folder: Path, tmp_path: Path, home: Path) -> None:
    both = ("--data", city_folder, "--checkpoint", city_checkpoint)
    for case in (5, 3):
        saved = recap_here("cases", "save", case, *both, "--note", f"note {case}", "--collection", "Tuesday")
        assert saved.returncode == 0, saved.stderr
    page = tmp_path / "tuesday.html"
    assert recap_here("cases", "share", *both, "--collection", "Tuesday", "--html", page).returncode == 0
    text = page.read_text()
    assert "<h1>Tuesday</h1>" in text and text.count("<article") == 2 and "as written" in text
    assert text.index("note 5") < text.index("note 3") and "2012-" not in text


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
