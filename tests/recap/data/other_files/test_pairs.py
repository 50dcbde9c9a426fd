"""Check-ins in one file, places in another: read where both are published, else joined first as the line says."""

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from recap import columns as c
from recap.errors import DataError
from tests.recap.data.other_files.reading import asked, assert_all_read, read
from tests.recap.data.understanding.tables import ROWS, checkins
from tests.shell import assert_refused, recap


def places() -> pd.DataFrame:
    return checkins()[["p", "lat", "lon", "kind"]].drop_duplicates("p")


def write_tist2015(folder: Path) -> Path:
    frame = checkins()
    times = frame["utc"].dt.strftime("%a %b %d %H:%M:%S +0000 %Y")
    visits = pd.DataFrame({"u": frame["u"], "p": frame["p"], "t": times, "m": frame["minutes"]})
    visits.to_csv(folder / "dataset_TIST2015_Checkins.txt", sep="\t", header=False, index=False)
    pois = places().assign(country="DE")
    pois.to_csv(folder / "dataset_TIST2015_POIs.txt", sep="\t", header=False, index=False)
    return folder


def test_tist2015_is_read_as_a_folder(tmp_path: Path) -> None:
    found = read(write_tist2015(tmp_path))
    assert_all_read(found)
    assert found.account.source_format == "tist2015"
    assert found.table[c.LATITUDE].tolist() == checkins()["lat"].tolist()
    assert found.table[c.CATEGORY].tolist() == checkins()["kind"].tolist()
    alone = tmp_path / "dataset_TIST2015_Checkins.txt"
    assert_refused(recap("prepare", alone, "--out", tmp_path / "out"), "name the folder")
    (tmp_path / "dataset_TIST2015_POIs.txt").unlink()
    with pytest.raises(DataError, match="must contain one tist2015_pois file, found none"):
        read(tmp_path)


@pytest.mark.parametrize(
    ("visits", "spots"),
    [
        ("review.json", "business.json"),
        ("visits.csv", "spots.csv"),
        ("visits.jsonl", "places.csv"),
        ("checkins.tsv", "venues.json"),
    ],
)
def test_the_line_joins_both(visits: str, spots: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It names the other file and the column in common; what it prints is run, and the result is read."""
    frame = checkins()
    mine, key = ("spot_id", "id") if visits == "visits.csv" else ("business_id", "business_id")
    rows = pd.DataFrame({"user_id": frame["u"], mine: frame["p"], "date": frame["utc"].astype(str)})
    theirs = places().rename(columns={"p": key, "lat": "latitude", "lon": "longitude", "kind": "categories"})

    def write(table: pd.DataFrame, name: str) -> None:
        if "json" in name:
            lines = [json.dumps(row) for row in table.to_dict("records")]
            (tmp_path / name).write_text("\n".join(lines))
        else:
            table.to_csv(tmp_path / name, sep="\t" if name.endswith("tsv") else ",", index=False)

    write(rows, visits)
    write(theirs, spots)
    question = asked(tmp_path / visits).question
    assert f"{spots} in the same folder has them, with {key} in common" in question.text
    monkeypatch.chdir(tmp_path)
    code: dict[str, Any] = {"pd": pd}
    exec(question.text.split("with pandas: ")[1], code)  # noqa: S102
    assert read(tmp_path / "joined.csv").account.rows_kept == ROWS
    assert_refused(recap("prepare", tmp_path / visits, "--out", tmp_path / "out"), f"{spots} in the same folder")


@pytest.mark.parametrize(
    ("spots", "mine", "key"),
    [
        ("towers.csv", "cell_id", "cell_id"),
        ("antennas.csv", "antenna_id", "id"),
        ("stations.tsv", "station", "station"),
        ("Filialen.json", "Filiale", "Filiale"),
        ("venues.parquet", "venueId", "venueId"),
    ],
)
def test_the_line_keeps_every_row(
    spots: str, mine: str, key: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where the other file has several rows for a place, or none, which is said."""
    frame = checkins()
    pd.DataFrame({"user": frame["u"], mine: frame["p"], "time": frame["utc"]}).to_csv(tmp_path / "own.csv", index=False)
    known = places().iloc[1:]
    theirs = pd.concat([known, known, known]).rename(columns={"p": key})
    if spots.endswith("parquet"):
        theirs.to_parquet(tmp_path / spots)
    elif spots.endswith("json"):
        theirs.to_json(tmp_path / spots, orient="records")
    else:
        theirs.to_csv(tmp_path / spots, sep="\t" if spots.endswith("tsv") else ",", index=False)
    question = asked(tmp_path / "own.csv").question
    lost = int((frame["p"] == places()["p"].iloc[0]).sum())
    assert f"{lost:,} of 1,000 rows have no match" in question.text
    monkeypatch.chdir(tmp_path)
    exec(question.text.split("with pandas: ")[1], {"pd": pd})  # noqa: S102
    assert len(pd.read_csv(tmp_path / "joined.csv")) == ROWS
    assert read(tmp_path / "joined.csv").account.rows_kept == ROWS - lost


def test_a_file_without_a_partner(tmp_path: Path) -> None:
    rows = pd.DataFrame({"review_id": range(ROWS), "user_id": checkins()["u"], "business_id": checkins()["p"]})
    rows.assign(date=checkins()["utc"].astype(str)).to_json(tmp_path / "review.json", orient="records", lines=True)
    question = asked(tmp_path / "review.json").question
    assert question is not None and "Yelp's business file has the coordinates" in question.text
