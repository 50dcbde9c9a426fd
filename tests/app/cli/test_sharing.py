"""Shared files from the command line: coarse by default, exact by option."""

import html
import re
from pathlib import Path

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
