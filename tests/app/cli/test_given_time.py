"""Commands about cases with the time given, and `explain --at`."""

from pathlib import Path

import pandas as pd

from recap.evaluation.records import read_records
from tests.cli_runner import recap_here, recap_json_here
from tests.learn_worlds import DEMO

DATA, MODEL = DEMO / "dataset", DEMO / "checkpoint"


def test_two_models_need_the_same_information() -> None:
    """Except one model with and without the time; what cannot know the time is refused in one line."""
    found = recap_json_here("compare", MODEL, MODEL, "--data", DATA, "--given-time")
    assert found["headline"].startswith("What knowing the time is worth: RECAP with the time given beats RECAP ")
    assert (found["a"]["label"], found["b"]["label"]) == ("RECAP", "RECAP, time given")
    for other, given in (("visit_count", ["--given-time"]), ("visit_count_at_time", [])):
        refused = recap_here("compare", MODEL, other, "--data", DATA, *given)
        assert refused.returncode == 2 and "time" in refused.stderr and refused.stderr.count("\n") == 1


def test_the_counter_that_reads_the_time_is_the_only_baseline() -> None:
    rows = recap_json_here("compare", "--all", MODEL, "--data", DATA, "--given-time")["models"]
    assert {row["model"] for row in rows} == {"RECAP, time given", "Visit count, time given"}
    rows = recap_json_here("overview", MODEL, "--data", DATA, "--given-time")["groups"]
    assert {row["model"] for row in rows} == {"RECAP, time given", "Visit count, time given"}


def test_imports_that_knew_the_time_say_so(home: Path, tmp_path: Path) -> None:
    """The same lists with and without the mark are two imports that never meet."""
    cases = recap_json_here("cases", "find", "visit_count", "--data", DATA)["n"]
    pd.DataFrame({"case": range(cases), "poi": 0, "score": 1.0}).to_csv(tmp_path / "theirs.csv", index=False)
    plain, marked = (
        recap_json_here("import-predictions", tmp_path / "theirs.csv", "--data", DATA, *given)
        for given in ([], ["--given-time"])
    )
    assert marked["name"] == f"{plain['name']}, time given" and marked["key"] != plain["key"]
    assert recap_here("compare", marked["key"], "visit_count", "--data", DATA).returncode == 2
    assert (
        recap_here("compare", marked["key"], "visit_count_at_time", "--data", DATA, "--metric", "hr1").returncode == 0
    )


def test_predict_and_explain_say_the_time() -> None:
    """With its date; everyone's places are no visits."""
    asked = ["predict", MODEL, "--data", DATA, "--at", "2024-10-28T18:00"]
    one, many, places = (recap_here(*asked, *more).stdout for more in (["--user", "w0408"], [], ["--by-place"]))
    assert one.startswith("On Mon 28 Oct at 18:00 user w0408 will most likely be at ") and ", at Mon 28 Oct 2024" in one
    assert many.startswith("At Mon 28 Oct 2024, 18:00, if they check in then:\nw0001: ")
    assert "At Mon 28 Oct 2024, 18:00, if they check in then: " in places and "visits" not in places
    found = recap_json_here("explain", MODEL, "--data", DATA, "--user", "w0408", "--at", "mon 18:00")
    assert found["at"].endswith("T18:00") and found["time_given"] == f"{found['at']}:00"
    assert recap_here("explain", MODEL, "--data", DATA, "--case", "5", "--at", "mon 18:00").returncode == 2
    early = recap_here("explain", MODEL, "--data", DATA, "--user", "w0408", "--at", "2001-01-01T18:00")
    assert early.returncode == 2 and "before the last check-in" in early.stderr


def test_records_say_the_question(home: Path) -> None:
    """Two files under two hashes, of which one says that the time was given."""
    asked = ["evaluate", MODEL, "--data", DATA, "--cases", "30"]
    files = [recap_json_here(*asked, *given)["records"] for given in ([], ["--given-time"])]
    said = [read_records(Path(file))[1] for file in files]
    assert [one.get("given_time") for one in said] == [None, "true"]
    assert len(set(files)) == len({one["checkpoint_hash"] for one in said}) == 2
