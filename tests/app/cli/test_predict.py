"""`recap predict`: tables, lines, JSON and files say what the library says."""

import json
import re
from pathlib import Path

import pandas as pd
import pytest

from recap import columns as c
from recap.asking.open_model import open_model
from recap.asking.prediction import ASSUMED, choose, expected_visits, predict
from recap.data.dataset import Dataset
from tests.checkins import small_dataset
from tests.cli_runner import recap_here, recap_json_here
from tests.learn_worlds import DEMO

ROOT = Path(__file__).parents[3]
LINES = (
    "user,place,time,lat,lon,category\n"
    "user0,a0,2013-05-01T10:00:00-04:00,40.4,-73.6,kind a\n"
    "user0,a1,2001-05-01T10:00:00-04:00,40.4,-73.6,kind a\n"
    "stranger,elsewhere,2013-05-01T11:00:00-04:00,40.5,-73.5,kind q\n"
    "stranger,a0,2013-05-01T12:00:00-04:00,40.4,-73.6,kind a\n"
)


@pytest.fixture(scope="module")
def known(city_folder: Path) -> pd.DataFrame:
    """The library's rows for every user, by curves."""
    model = open_model("feature_curves", Dataset.load(city_folder))
    return pd.concat(list(predict(model, choose(model))), ignore_index=True)


@pytest.mark.parametrize("ending", ["csv", "parquet", "jsonl"])
def test_a_file_holds_the_rows_of_every_user(
    ending: str, city_folder: Path, tmp_path: Path, known: pd.DataFrame
) -> None:
    """Times with and without a zone, numbers to the last digit, whatever the format; a counter has no probability."""
    out = tmp_path / "new" / f"next.{ending}"
    asked = ("--data", city_folder, "--out", out)
    said = recap_json_here("predict", "feature_curves", *asked)
    assert said["rows"] == len(known) and said["users"] == 8 and said["out"] == str(out)
    found = read_file(out)
    for name in ("as_of", "as_of_local"):
        found[name] = pd.to_datetime(found[name])
    pd.testing.assert_frame_equal(found, known, check_dtype=False, rtol=0, atol=1e-9)
    assert [path.name for path in out.parent.iterdir()] == [out.name]
    assert "Wrote 136 rows for 8 users" in recap_here("predict", "markov", *asked).stdout
    unknown = read_file(out)["probability"]
    assert (unknown.isna() | (unknown == "")).all()


def read_file(path: Path) -> pd.DataFrame:
    if path.suffix == ".jsonl":
        return pd.DataFrame([json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()])
    return pd.read_csv(path, keep_default_na=False) if path.suffix == ".csv" else pd.read_parquet(path)


def test_up_to_five_users_are_tables_and_more_are_lines(city_folder: Path) -> None:
    """At most fifty lines, whatever the data set."""
    words = ("predict", "feature_curves", "--data", city_folder)
    table = recap_here(*words, "--user", "user3", "--user", "user1", "--top", 2).stdout
    assert table.index("User user3 will most likely go to") < table.index("User user1 will most likely go to")
    assert "probability" in table and " %" in table
    assert "probability" not in recap_here("predict", "markov", "--data", city_folder, "--user", "user3").stdout
    lines = recap_here(*words).stdout.splitlines()
    assert len(lines) == 8 and all(line.startswith(f"user{n}: ") for n, line in enumerate(lines))
    demo = ("predict", DEMO / "checkpoint", "--data", DEMO / "dataset")
    lines, readme = recap_here(*demo).stdout.splitlines(), (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(lines) == 51 and lines[-1] == "483 more users: write all with --out FILE."
    assert len(said := re.findall(r"^ {4}(w\d+: .+)$", readme, re.MULTILINE)) == 4 and lines[:4] == said
    assert "No new place is likely for user w0001" in recap_here(*demo, "--user", "w0001", "--new-places").stdout


def test_contributions_have_explains_words(city_folder: Path, tmp_path: Path) -> None:
    words = ("predict", "feature_curves", "--data", city_folder, "--why")
    [row, *_] = recap_json_here(*words, "--user", "user3")["predictions"]
    groups = ["Past visits", "Time of day and week", "Transitions from here", "Popularity and distance"]
    assert set(groups) < set(row) and "Two-hop paths" in row
    assert sum(value for name, value in row.items() if name[0].isupper()) == pytest.approx(row["score"], abs=1e-9)
    assert "what adds up to the score" in recap_here(*words, "--user", "user3").stdout
    assert recap_here(*words, "--out", tmp_path / "why.csv").returncode == 0
    assert set(groups) < set(pd.read_csv(tmp_path / "why.csv"))


def test_expected_visits_by_place_and_shard(city_folder: Path) -> None:
    """Counted in the past, with how many users have a later check-in; shards are partial sums."""
    model = open_model("feature_curves", Dataset.load(city_folder))
    first = model.dataset.checkins[model.dataset.checkins[c.SPLIT] == c.TEST][c.TIME].min()
    words = ("predict", "feature_curves", "--data", city_folder, "--by-place", "--as-of", first.isoformat())
    said = recap_json_here(*words)
    assert said["users_with_later_checkin"] == sum(row["counted"] for row in said["places"])
    places, columns = pd.DataFrame(said["places"]).set_index("poi_id"), ["expected", "expected_counted", "counted"]
    assert places["expected"].sum() == pytest.approx(said["users"])
    assert places["expected_counted"].sum() == pytest.approx(said["users_with_later_checkin"])
    assert 0 < said["users_with_later_checkin"] < said["users"]
    shards = pd.concat(pd.DataFrame(recap_json_here(*words, "--shard", shard)["places"]) for shard in ("1/2", "2/2"))
    sums = shards.groupby("poi_id")[columns].sum().loc[places.index]
    assert sums.to_numpy() == pytest.approx(places[columns].to_numpy(), abs=1e-9)
    printed = recap_here(*words, "--top", 3).stdout
    assert "expected visits" in printed and "Counted: the next check-ins of" in printed
    everywhere = expected_visits(model, choose(model))
    assert recap_json_here(*words[:5])["places"][0]["poi_id"] == everywhere["poi_id"][0]


def test_a_closed_place_by_place(city_folder: Path) -> None:
    """In the table the places that change most come first; the assumption is said; an unknown id is refused."""
    words = ("predict", "feature_curves", "--data", city_folder, "--by-place", "--without")
    said = recap_json_here(*words, "zoo", "--without", "a0")
    assert ASSUMED in said["notes"] and abs(sum(row["change"] for row in said["places"])) < 1e-9
    assert {row["poi_id"] for row in said["places"] if row["expected"] == 0 < row["expected_before"]} == {"zoo", "a0"}
    ended = recap_here(*words, "a0", "--top", 3)
    rows = [line.replace("│", "").split() for line in ended.stdout.splitlines() if "kind" in line]
    assert len(rows) == 3 and rows[0][-2:] == ["0.0000", f"-{rows[0][-3]}"], ended.stdout
    refused = recap_here(*words, "nowhere")
    assert refused.returncode == 2 and refused.stderr.count("\n") == 1 and "no place 'nowhere'" in refused.stderr


def test_check_ins_of_a_file_are_added(city_folder: Path, tmp_path: Path) -> None:
    """Understood as `prepare` does; what was ignored is one line."""
    file = tmp_path / "later.csv"
    file.write_text(LINES, encoding="utf-8")
    words = ("predict", "feature_curves", "--data", city_folder, "--checkins", file)
    said = recap_json_here(*words, "--user", "stranger", "--user", "user0")
    assert said["notes"] == [
        "Added 3 check-ins and 1 new user; ignored 1 row up to their user's last known check-in; 1 visit to 1 "
        "place outside the data set, which only models with curves predict."
    ]
    assert {row["as_of"] for row in said["predictions"]} == {"2013-05-01T14:00:00+00:00", "2013-05-01T16:00:00+00:00"}


@pytest.mark.parametrize(
    ("model", "stops", "without"),
    [
        ("visit_count", ["abababab", "babababa"], "2 users: they have"),
        ("markov", ["aabbaabb", "abbaabba", "abababab"], "3 users: they have"),
        ("feature_curves", ["abcdabcd", "dcbadcba", "abababab"], "2 users: they have"),
        ("pretrained", ["abcabcabc", "cbacbacba", "bcbcbcbc"], "2 users: they have"),
    ],
)
def test_no_new_place_is_left(model: str, stops: list[str], without: str, tmp_path: Path) -> None:
    """For users who have been everywhere; the others' lists hold what they do not know."""
    rows = [(f"user {at}", poi, hour + at / 9) for at, places in enumerate(stops) for hour, poi in enumerate(places)]
    small_dataset(rows).save(tmp_path / "city")
    words = ("predict", model, "--data", tmp_path / "city", "--new-places")
    assert f"Nothing is left for {without} been to every place." in " ".join(recap_here(*words).stdout.split())
    listed = {(row["user_id"], row["poi_id"]) for row in recap_json_here(*words)["predictions"]}
    pois = {poi for places in stops for poi in places}
    assert listed == {(f"user {at}", poi) for at, places in enumerate(stops) for poi in pois - {*places}}
