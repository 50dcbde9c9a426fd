"""Lists of visits inside records, JSON and Parquet: one row per visit, or refused with the names of the lists."""

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from recap.data.parsing import table_source
from recap.errors import DataError
from tests.recap.data.other_files.reading import assert_all_read, read
from tests.recap.data.understanding.tables import ROWS, checkins


def visits() -> pd.DataFrame:
    frame = checkins()
    frame = frame.assign(when=frame["utc"].dt.strftime("%Y-%m-%dT%H:%M:%SZ"), day=frame.index // 4)
    return frame.rename(columns={"u": "user", "p": "place"})


def records() -> list[dict[str, Any]]:
    """250 records of four visits; the user of each is the visit's, because people alternate."""
    columns = ["user", "place", "lat", "lon", "when"]
    return [{"day": day, "stops": rows[columns].to_dict("records")} for day, rows in visits().groupby("day")]


def parallel() -> list[dict[str, Any]]:
    return [
        {
            "people": [stop["user"] for stop in record["stops"]],
            "places": [stop["place"] for stop in record["stops"]],
            "times": [stop["when"] for stop in record["stops"]],
            "position": [[stop["lat"], stop["lon"]] for stop in record["stops"]],
        }
        for record in records()
    ]


def write(path: Path, found: list[Any]) -> Path:
    if path.suffix == ".parquet":
        pq.write_table(pa.Table.from_pylist(found), path)
    elif path.suffix == ".json":
        path.write_text(json.dumps({"version": 3, "found": found}))
    else:
        path.write_text("\n".join(map(json.dumps, found)))
    return path


@pytest.mark.parametrize("name", ["own.jsonl", "own.json", "own.parquet"])
@pytest.mark.parametrize("make", [records, parallel])
def test_a_row_for_each_visit(make: Any, name: str, tmp_path: Path) -> None:
    """A list of records, or lists of one length; with the record's own values next to each visit."""
    found = read(write(tmp_path / name, make()))
    assert_all_read(found)
    assert found.account.columns["lat"] in ("stops.lat", "position.1")


@pytest.mark.parametrize("name", ["own.json", "own.jsonl", "own.parquet"])
def test_each_person_with_visits(name: str, tmp_path: Path) -> None:
    """The user is the record's own value; a person without visits gives no row."""
    people = [
        {"name": user, "history": {"visits": rows[["place", "lat", "lon", "when"]].to_dict("records")}}
        for user, rows in visits().groupby("user")
    ]
    empty = {"name": "nobody", "history": {"visits": []}}
    found = read(write(tmp_path / name, [*people, empty]))
    assert found.account.rows_in == found.account.rows_kept == ROWS
    assert found.table["user_id"].nunique() == checkins()["u"].nunique()


def test_an_item_that_is_no_record_is_one_bad_row(tmp_path: Path) -> None:
    rows = visits()[["place", "lat", "lon", "when"]].to_dict("records")
    document = {"user": "u1", "count": 3, "visits": [*rows, 5, None]}
    (tmp_path / "own.json").write_text(json.dumps(document))
    found = read(tmp_path / "own.json")
    assert found.account.dropped() == {"not_a_checkin": 2} and found.account.rows_kept == ROWS


def test_many_rows_of_parquet_without_visits(tmp_path: Path) -> None:
    """Whole blocks of rows give no visit."""
    people = [*parallel(), *[{name: [] if isinstance(value, list) else value for name, value in parallel()[0].items()}]]
    found = read(write(tmp_path / "own.parquet", [*people, *people[-1:] * 40_000]))
    assert_all_read(found)


def test_lists_of_other_lengths_in_a_later_block(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Parquet whose first rows do not show it: a visit without a place is one bad row."""
    monkeypatch.setattr(table_source, "_NESTED_ROWS", 100)
    people = parallel()
    people[-1]["places"].pop()
    found = read(write(tmp_path / "own.parquet", people))
    assert found.account.dropped() == {"poi_id": 1} and found.account.rows_kept == ROWS - 1


def test_columns_of_one_document(tmp_path: Path) -> None:
    """One list for each column, or pandas' object of row numbers, or its names and rows."""
    table = visits()[["user", "place", "lat", "lon", "when"]]
    (tmp_path / "a.json").write_text(json.dumps(table.to_dict("list")))
    table.to_json(tmp_path / "b.json")
    table.to_json(tmp_path / "c.json", orient="split")
    for name in ("a.json", "b.json", "c.json"):
        assert_all_read(read(tmp_path / name))


@pytest.mark.parametrize(
    "around",
    [
        lambda by: by,
        lambda by: {"version": 1, "people": by},
        lambda by: {user: {"city": "Berlin", "visits": rows} for user, rows in by.items()},
        lambda by: {str(number): rows for number, rows in enumerate(by.values())},
    ],
)
def test_a_document_by_user(around: Any, tmp_path: Path) -> None:
    """Its keys become the column of users."""
    by = {user: rows[["place", "lat", "lon", "when"]].to_dict("records") for user, rows in visits().groupby("user")}
    (tmp_path / "own.json").write_text(json.dumps(around(by)))
    found = read(tmp_path / "own.json")
    assert found.account.rows_kept == ROWS
    assert found.table["user_id"].value_counts().tolist() == checkins()["u"].value_counts().tolist()


def test_lists_that_describe_a_visit_make_no_rows(tmp_path: Path) -> None:
    """Tags, photos with their times and a venue's categories belong to one check-in."""
    extra = {"tags": ["a", "b", "c"], "photos": [{"takenAt": "2024-01-01T00:00:00Z"}] * 2, "kinds": [{"id": 1}] * 3}
    rows = [visit | extra for visit in visits()[["user", "place", "lat", "lon", "when"]].to_dict("records")]
    for name in ("own.jsonl", "own.parquet"):
        assert_all_read(read(write(tmp_path / name, rows)))


@pytest.mark.parametrize(
    ("change", "part"),
    [
        (lambda record: {**record, "calls": [{"at": stop["when"]} for stop in record["stops"]]}, "stops and calls"),
        (lambda record: {"user": "a", "days": [record]}, "days.stops"),
        (
            lambda record: {"times": [1, 2, 3], "places": ["a", "b", "c", "d"]},
            "times and places have different lengths",
        ),
    ],
)
@pytest.mark.parametrize("name", ["own.jsonl", "own.json", "own.parquet"])
def test_several_lists_are_refused_by_name(change: Any, part: str, name: str, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=part):
        read(write(tmp_path / name, [change(record) for record in records()]))


@pytest.mark.parametrize("names", [("places", "visits"), ("stays", "stops")])
def test_a_document_with_two_lists(names: tuple[str, str], tmp_path: Path) -> None:
    places = checkins()[["p", "lat", "lon"]].drop_duplicates("p").to_dict("records")
    (tmp_path / "own.json").write_text(json.dumps(dict(zip(names, (places, records()[0]["stops"]), strict=True))))
    with pytest.raises(DataError, match=" and ".join(names)):
        read(tmp_path / "own.json")
