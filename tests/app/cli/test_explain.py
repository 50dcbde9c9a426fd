"""`recap explain` as a shell sees it."""

from pathlib import Path

import pytest

from analysis.explain.explanation import explain_fully
from analysis.explain.links import CaseLink
from analysis.explain.types import CaseExplanation
from analysis.formatting import signed
from recap.errors import RecapError
from recap.predictor import Predictor
from tests.cli_runner import recap_here, recap_json_here
from tests.shell import assert_refused

CONTRACT = {
    "case",
    "user",
    "source",
    "target",
    "target_rank",
    "transition_count",
    "in_history",
    "within_two_hops",
    "two_step_walk",
    "inactive",
    "candidates",
    "paths",
    "a2_source_target",
}
CANDIDATE = (
    "poi name category rank probability core count recency window clip_loss prior gate correction total residual"
)
PATH = "middle count_in count_out p_in p_out product share"


def test_json_keeps_its_keys(city_checkpoint: Path, city_folder: Path) -> None:
    """The promised keys, the target among the candidates, several cases as a list; --full only adds."""
    plain = recap_json_here("explain", city_checkpoint, "--data", city_folder, "--case", 3)
    assert CONTRACT <= plain.keys() == set(CaseExplanation.model_fields)
    assert all(set(CANDIDATE.split()) == entry.keys() for entry in plain["candidates"])
    assert all(set(PATH.split()) <= entry.keys() for entry in plain["paths"])
    assert plain["target"] in [entry["poi"] for entry in plain["candidates"]]
    assert [e["case"] for e in recap_json_here("explain", city_checkpoint, "--data", city_folder, "--case", "5,1")] == [
        5,
        1,
    ]
    full = recap_json_here("explain", city_checkpoint, "--data", city_folder, "--case", 3, "--full")
    rival = {"candidates"}
    assert {name: full[name] for name in plain.keys() - rival} == {name: plain[name] for name in plain.keys() - rival}
    assert full["leave_one_out"] and full["sentences"] and full["contrast"]["parts"]


def test_each_path_tells_its_addend() -> None:
    """With its sign, the number of the JSON; a model without additive evidence has none."""
    bundle = Path(__file__).parents[3] / "checkpoints" / "demo-city"
    asked = ("explain", bundle / "checkpoint", "--data", bundle / "dataset", "--case", 2417)
    told = [path["addend"] for path in recap_json_here(*asked)["paths"]]
    lines = [line for line in recap_here(*asked).stdout.splitlines() if line.startswith("  via ")]
    assert len(lines) == len(told) > 2 and min(told) < -0.01
    assert all(line.endswith(f", addend {signed(addend, 2)}") for line, addend in zip(lines, told, strict=True))


def test_edits_replay_from_the_command_line(city_checkpoint: Path, city_folder: Path, tmp_path: Path) -> None:
    """--edit, the same edits in a link, and Python give one ranking; the page is written whole."""
    edits = ("remove:1", "hour:5")
    flags = [word for edit in edits for word in ("--edit", edit)]
    page = tmp_path / "page.html"
    by_flags = recap_json_here("explain", city_checkpoint, "--data", city_folder, "--case", 3, *flags, "--html", page)
    predictor = Predictor.load(city_checkpoint, city_folder)
    link = CaseLink.to(predictor, 3, edits=";".join(edits))
    by_link = recap_json_here("explain", city_checkpoint, "--data", city_folder, "--link", link.query, "--full")
    assert by_flags == by_link and by_link["edits"] == "remove:1;hour:05:00"
    assert by_link["what_if"]["target"]["rank"] == by_link["target_rank"]
    assert "What the edits do" in page.read_text(encoding="utf-8")
    assert explain_fully(predictor, 3).what_if is None


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
    text = recap_here("explain", city_checkpoint, "--data", city_folder, "--case", 3, "--full", "--edit", "hour:5")
    assert text.returncode == 0 and "Edits hour:05:00" in text.stdout


def test_a_page_that_cannot_be_written(city_checkpoint: Path, city_folder: Path, tmp_path: Path) -> None:
    """The disk's refusal is one line; nothing is left."""
    (tmp_path / "file").write_text("not a folder")
    result = recap_here(
        "explain", city_checkpoint, "--data", city_folder, "--case", 3, "--html", tmp_path / "file" / "page.html"
    )
    assert result.returncode == 2 and issubclass(RecapError, Exception)
