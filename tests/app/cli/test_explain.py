"""`recap explain` as a shell sees it."""

from pathlib import Path

import pytest

from analysis.explain.explanation import CaseExplanation, explain_case
from analysis.explain.links import CaseLink
from recap.errors import RecapError
from recap.predictor import Predictor
from tests.cli_runner import recap_here, recap_json_here
from tests.shell import assert_refused


def test_json_holds_the_explanation(city_checkpoint: Path, city_folder: Path) -> None:
    """The same as in Python; several cases are a list."""
    plain = recap_json_here("explain", city_checkpoint, "--data", city_folder, "--case", 3)
    assert CaseExplanation.parse(plain) == explain_case(Predictor.load(city_checkpoint, city_folder), 3)
    several = recap_json_here("explain", city_checkpoint, "--data", city_folder, "--case", "5,1")
    assert [told["case"] for told in several] == [5, 1]


def test_edits_replay_from_the_command_line(city_checkpoint: Path, city_folder: Path, tmp_path: Path) -> None:
    """--edit, the same edits in a link, and Python give one ranking; the page is written whole."""
    edits = ("remove:1", "hour:5")
    flags = [word for edit in edits for word in ("--edit", edit)]
    page = tmp_path / "page.html"
    by_flags = recap_json_here("explain", city_checkpoint, "--data", city_folder, "--case", 3, *flags, "--html", page)
    predictor = Predictor.load(city_checkpoint, city_folder)
    link = CaseLink.to(predictor, 3, edits=";".join(edits))
    by_link = recap_json_here("explain", city_checkpoint, "--data", city_folder, "--link", link.query)
    assert by_flags == by_link and by_link["edits"] == "remove:1;hour:05:00"
    assert by_link["what_if"]["target"]["rank"] == by_link["target_rank"]
    assert "What the edits do" in page.read_text(encoding="utf-8")
    assert explain_case(predictor, 3).what_if is None


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["--case", "100000"], "there is no test case 100000"),
        (["--case", "x"], "--case expects numbers"),
        ([], "give --case"),
        (["--case", "3", "--against", "9999"], "there is no POI 9999"),
        (["--case", "3", "--edit", "edge:1-2:-1"], "edge weight -1"),
        (["--case", "3", "--edit", "remove:9999"], "there is no visit 9999"),
        (["--case", "3", "--split", "future"], "unknown split 'future'"),
        (["--link", "case=3&checkpoint=0123456789ab"], "this link was made with checkpoint 0123456789ab"),
        (["--link", "case=three"], "case"),
        (["--case", "3", "--link", "case=3"], "leave --case"),
    ],
)
def test_refusals(city_checkpoint: Path, city_folder: Path, arguments: list[str], part: str) -> None:
    """One line, exit code 2, nothing on stdout."""
    assert_refused(recap_here("explain", city_checkpoint, "--data", city_folder, *arguments, "--json"), part)


def test_an_edit_that_removes_all_history(city_checkpoint: Path, city_folder: Path) -> None:
    """The last visit before the source cannot go."""
    predictor = Predictor.load(city_checkpoint, city_folder)
    visits = int(predictor.case(3)["position"])
    flags = [word for visit in range(visits) for word in ("--edit", f"remove:{visit}")]
    assert_refused(
        recap_here("explain", city_checkpoint, "--data", city_folder, "--case", 3, *flags), "would remove all history"
    )


def test_edits_in_words(city_checkpoint: Path, city_folder: Path) -> None:
    text = recap_here("explain", city_checkpoint, "--data", city_folder, "--case", 3, "--edit", "hour:5")
    assert text.returncode == 0 and "Edits hour:05:00" in text.stdout


def test_a_page_that_cannot_be_written(city_checkpoint: Path, city_folder: Path, tmp_path: Path) -> None:
    """The disk's refusal is one line; nothing is left."""
    (tmp_path / "file").write_text("not a folder")
    result = recap_here(
        "explain", city_checkpoint, "--data", city_folder, "--case", 3, "--html", tmp_path / "file" / "page.html"
    )
    assert result.returncode == 2 and issubclass(RecapError, Exception)
