"""Tables in many spellings, all understood without a hint, and kinds of them that are easily read wrongly."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from functools import cache
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from recap import columns as c
from recap.data.intake import prepare_input
from recap.data.parsing.options import ReadOptions
from recap.data.reading import read_checkins, understand
from recap.data.reading_frames import as_file
from recap.data.understanding import Understanding
from recap.errors import DataError
from tests.recap.data.other_files.reading import inspected, problems, read
from tests.recap.data.understanding.tables import EXAMPLES, ROWS, ZONE, Example, checkins, own_table

BERLIN = {"timezone": "Europe/Berlin", "local_times": True}


def understood(path: Path, table: pd.DataFrame, **options: Any) -> Understanding:
    sep = {".tsv": "\t", ".txt": ";"}.get(path.suffix, ",")
    table.to_csv(path, index=False, sep=sep)
    return understand(path, options=ReadOptions.parse(options or BERLIN))


def asked(path: Path, table: pd.DataFrame, **options: Any) -> str:
    question = understood(path, table, **options).question
    assert question is not None
    return question.text


@cache
def trips() -> pd.DataFrame:
    """Each next check-in of a user within the day as the end of a trip from the one before."""
    frame = checkins().sort_values(["u", "local"], kind="stable")
    after = frame.shift(-1).add_prefix("to_")
    both = pd.concat([frame, after], axis=1)[(frame["u"] == after["to_u"]).to_numpy()]
    both["arrival"] = both["to_local"] - pd.Timedelta(seconds=1)
    return both.reset_index(drop=True)


TRIPS = {
    "taxi.csv": "medallion=un|pickup_datetime=local|dropoff_datetime=arrival|PULocationID=pn|DOLocationID=to_pn|"
    "pickup_latitude=lat|pickup_longitude=lon|dropoff_latitude=to_lat|dropoff_longitude=to_lon",
    "metro.csv": "cardId=u|entryStation=p|entryTime=local|exitStation=to_p|exitTime=arrival|entryLat=lat|entryLon=lon|"
    "exitLat=to_lat|exitLon=to_lon",
    "fahrten.txt": "Kunde=u|Abfahrt=local|Ankunft=arrival|Start Haltestelle=p|Ziel Haltestelle=to_p|Start Breite=lat|"
    "Start Länge=lon|Ziel Breite=to_lat|Ziel Länge=to_lon",
    "bus.csv": "tapInStops=p|tapInStopsName=name|tapInStopsLat=lat|tapInStopsLon=lon|tapOutStops=to_p|"
    "tapOutStopsName=to_name|tapOutStopsLat=to_lat|tapOutStopsLon=to_lon|tapInTime=local|tapOutTime=arrival|card=u",
    "viajes.tsv": "usuario=u|origen=p|destino=to_p|hora_salida=local|hora_llegada=arrival|origen_lat=lat|"
    "origen_lon=lon|destino_lat=to_lat|destino_lon=to_lon",
    "od.csv": "arr_time=arrival|dep_time=local|d_lat=to_lat|d_lon=to_lon|o_lat=lat|o_lon=lon|d_zone=to_p|o_zone=p|"
    "person=u",
    "numbered.csv": "rider=u|station1=p|lat1=lat|lng1=lon|time1=local|station2=to_p|lat2=to_lat|lng2=to_lon|"
    "time2=arrival",
    "中文.csv": "用户=u|起点站=p|终点站=to_p|出发时间=local|到达时间=arrival|起点纬度=lat|起点经度=lon|"
    "终点纬度=to_lat|终点经度=to_lon",
}


def trip_table(spec: str) -> pd.DataFrame:
    return pd.DataFrame({name: trips()[content] for name, content in (part.split("=") for part in spec.split("|"))})


@pytest.mark.parametrize("name", TRIPS)
def test_a_trip_is_two_check_ins(name: str, tmp_path: Path) -> None:
    """The origin when the trip begins, the destination when it ends, with their own coordinates."""
    found = understood(tmp_path / name, trip_table(TRIPS[name]))
    assert found.question is None, found.question
    got = read_checkins(tmp_path / name, "csv", found.options).table
    assert len(got) == 2 * len(trips()) and "to_poi" in found.options.columns
    for at, prefix, time in ((0, "", "local"), (1, "to_", "arrival")):
        part = got.iloc[at::2]
        place = "pn" if name == "taxi.csv" else "p"
        assert (
            part[c.POI_ID].astype(str).tolist()
            == trips()[f"{prefix}{place}"].astype(str).str.removesuffix(".0").tolist()
        )
        assert part[c.LATITUDE].tolist() == trips()[f"{prefix}lat"].tolist()
        local = (part[c.TIME] + pd.to_timedelta(part[c.TZ_OFFSET_MINUTES], unit="min")).dt.tz_localize(None)
        assert (local.to_numpy() == trips()[time].dt.floor("s").to_numpy()).all()


@pytest.mark.parametrize(
    "names", ["origin destination", "from_stop to_stop", "von nach", "board_stn alight_stn", "起点 终点"]
)
def test_a_trip_with_one_time_is_asked(names: str, tmp_path: Path) -> None:
    """Both ends are named; each answer takes place and coordinates of one end."""
    origin, destination = names.split()
    ends = {"p": origin, "lat": f"{origin}_lat", "lon": f"{origin}_lon", "to_p": destination}
    ends |= {"to_lat": f"{destination}_lat", "to_lon": f"{destination}_lon"}
    table = trips()[["u", "local", *ends]].rename(columns={**ends, "u": "user", "local": "day and time"})
    found = understood(tmp_path / "own.csv", table)
    assert found.question is not None and origin in found.question.text and destination in found.question.text
    first, second = found.question.answers.values()
    assert {first.columns[field] for field in ("poi", "lat", "lon")} == {*[*ends.values()][:3]}
    assert {second.columns[field] for field in ("poi", "lat", "lon")} == {*[*ends.values()][3:]}


@pytest.mark.parametrize("names", ["origin destination|", "Einstieg Ausstieg|", "board_stn alight_stn|to_"])
def test_a_trip_with_the_coordinates_of_one_end_is_read_there(names: str, tmp_path: Path) -> None:
    ends, prefix = names.split("|")
    spec = "user=u|day and time=local|{}=p|{}=to_p|lat={}lat|lon={}lon"
    question = understood(tmp_path / "own.csv", trip_table(spec.format(*ends.split(), prefix, prefix))).question
    place = ends.split()[prefix == "to_"]
    assert question is not None and f"Only “{place}” has coordinates." in question.text
    assert [answer.columns["poi"] for answer in question.answers.values()] == [place]


def test_equal_times_are_said_to_be_equal(tmp_path: Path) -> None:
    assert "“time” is there, but all of its times are equal" in asked(
        tmp_path / "a.csv", own_table().assign(time="2023-03-01")
    )


@pytest.mark.parametrize("name", ["first_name", "recordedBy", "observer", "Beobachter", "collected by"])
def test_one_persons_file_is_not_the_only_answer(name: str, tmp_path: Path) -> None:
    table = (
        own_table().rename(columns={"user": name}).assign(**{name: checkins()["un"].map("Ann {}".format).to_numpy()})
    )
    question = understood(tmp_path / "a.csv", table).question
    assert question is None or [*question.answers] == [name, "one person's file"]


def test_one_end_named_takes_nothing_of_the_other(tmp_path: Path) -> None:
    found = understood(tmp_path / "own.csv", trip_table(TRIPS["od.csv"]), columns={"poi": "d_zone"}, **BERLIN)
    want = {"poi": "d_zone", "lat": "d_lat", "lon": "d_lon", "time": "arr_time", "user": "person"}
    assert found.options.columns == want
    assert {item.reason for item in found.columns if item.name in ("o_lat", "o_zone", "dep_time")} == {
        "the other end of the trip, not used"
    }


GROUPS = "household_id person_id {}|hh member_no P{}|Haushalt Person {:02}|agency rider {}|foyer personne p{}"


@pytest.mark.parametrize("names", [*GROUPS.split("|"), "survey_wave respondent {}"])
def test_people_numbered_in_each_group(names: str, tmp_path: Path) -> None:
    """Asked, with both columns and both counts; the first answer joins them."""
    group, person, form = names.split()
    number = checkins()["un"].rank(method="dense").astype(int) - 1
    people = (number % 4 + 1).map(form.format)
    found = understood(tmp_path / "own.csv", own_table(user=None, **{group: number // 4 + 100, person: people}))
    assert found.question is not None and group in found.question.text and person in found.question.text
    first = next(iter(found.question.answers.values()))
    assert first.columns["user"] == f"{group}+{person}"
    got = read_checkins(tmp_path / "own.csv", "csv", understand(tmp_path / "own.csv", options=first).options)
    assert got.table[c.USER_ID].nunique() == number.nunique()


def test_groups_that_hold_whole_people_are_not_asked(tmp_path: Path) -> None:
    """A household of its own, and the city of the place, which everybody visits."""
    number = checkins()["un"]
    city = np.where(checkins()["lat"] > 52.5, "North", "South")
    found = understood(tmp_path / "own.csv", own_table(user=number, household=number // 3, city=city))
    assert found.question is None and found.options.columns["user"] == "user"


STAYS = (
    *("check_in check_out booked_at", "arrival departure created", "Anreise Abreise gebucht_am"),
    *("entrada salida reservado", "start_date end_date payment_time", "check-in check-out inserted"),
)


@pytest.mark.parametrize("names", STAYS)
def test_stays_by_date_next_to_a_booking(names: str, tmp_path: Path) -> None:
    """The first day of the stay counts, not the clock of a booking weeks earlier, or it is asked."""
    begin, end, booked = names.split()
    day = checkins()["local"].dt.normalize()
    times = {
        begin: day.dt.date,
        end: (day + pd.Timedelta(days=2)).dt.date,
        booked: checkins()["local"] - pd.Timedelta(days=30),
    }
    found = understood(tmp_path / "own.csv", own_table(time=None, **times))
    answers = [found.options] if found.question is None else [*found.question.answers.values()]
    assert any(answer.columns.get("time") == begin for answer in answers)
    assert found.question is not None or found.options.columns["time"] == begin


@pytest.mark.parametrize("names", ["x y", "lon lat", "grid_x grid_y", "cell_x cell_y", "经度 纬度", "X Y"])
def test_cells_of_a_grid_are_no_degrees(names: str, tmp_path: Path) -> None:
    x, y = names.split()
    frame = checkins()
    cells = {x: (frame["lon"] * 100 - 1250).astype(int) % 180, y: (frame["lat"] * 100).astype(int) % 90}
    text = asked(tmp_path / "own.csv", own_table(**{"lat": None, "lon": None} | cells))
    assert "cells of a grid" in text and x in text and y in text
    assert problems(tmp_path / "own.csv", columns={"lat": y, "lon": x}, **BERLIN)["whole_degrees"] == ROWS


@pytest.mark.parametrize("name", ["destination", "next_place", "Ziel", "lugar siguiente", "次の店"])
def test_a_second_place_is_named(name: str, tmp_path: Path) -> None:
    """Also where the dataset is prepared without a look at the columns."""
    table = own_table(**{name: checkins()["p"].shift(-1).fillna("P0")})
    table.to_csv(tmp_path / "own.csv", index=False)
    _, dataset = prepare_input(tmp_path / "own.csv", options=ReadOptions.parse(BERLIN))
    assert dataset.manifest.reading is not None
    assert [note for note in dataset.manifest.reading.notes if f"“{name}”" in note and "not used" in note]


SPRING = [datetime(2024, 3, 1, 12) + timedelta(hours=7 * at) for at in range(60)]
MIXED: dict[str, Callable[[int], Any]] = {
    "offsets": lambda at: SPRING[at].replace(tzinfo=timezone(timedelta(hours=at % 3))),
    "zones": lambda at: SPRING[at].replace(tzinfo=ZoneInfo(["Europe/Berlin", "Asia/Tokyo"][at % 2])),
    "pandas": lambda at: pd.Timestamp(SPRING[at], tz=["UTC", "America/New_York"][at % 2]),
    "text": lambda at: SPRING[at].replace(tzinfo=timezone(timedelta(minutes=90 * (at % 2)))).isoformat(),
    "an offset and UTC": lambda at: SPRING[at].replace(tzinfo=UTC if at % 2 else timezone(timedelta(hours=9))),
}


@pytest.mark.parametrize("name", MIXED)
def test_offsets_that_differ_in_one_column(name: str) -> None:
    """Each time of a DataFrame is the instant that it is; naive ones among them are refused."""
    times = [MIXED[name](at) for at in range(60)]
    place = np.arange(60) % 4
    columns = {"user": np.arange(60) % 5, "poi": place, "lat": 52.5 + place / 100, "lon": 13.4 + place / 100}
    frame = pd.DataFrame(columns | {"time": pd.Series(times, dtype=object)})
    with as_file(frame, {}) as (path, form, options):
        got = read_checkins(path, form, options.model_copy(update={"columns": {field: field for field in frame}}))
    assert got.table[c.TIME].tolist() == [pd.Timestamp(time).tz_convert("UTC") for time in times]
    frame.loc[7, "time"] = str(SPRING[7]) if name == "text" else SPRING[7]
    with pytest.raises(DataError), as_file(frame, {}) as (path, form, options):
        read_checkins(path, form, options.model_copy(update={"columns": {field: field for field in frame}}))


@pytest.mark.parametrize("name", ["Place name", "venue", "Filiale", "店名", "name"])
def test_one_name_at_several_places(name: str, tmp_path: Path) -> None:
    """It is named, and split by position on request."""
    frame = checkins()
    chain = frame["p"].map("Shop {}".format).where(frame["pn"] % 9 != 0, "Star Coffee")
    table = own_table(place=None, **{name: chain})
    understood(tmp_path / "own.csv", table, columns={"poi": name}, **BERLIN)
    (problem,) = (item for item in inspected(tmp_path / "own.csv", columns={"poi": name}, **BERLIN).problems
                  if item.kind == "moving_places")  # fmt: skip
    assert "Star Coffee" in problem.examples[0] and "ids=split" in problem.advice
    split = read(tmp_path / "own.csv", columns={"poi": name}, ids="split", **BERLIN).table
    assert split[c.POI_ID].nunique() == frame["p"].nunique()
    assert split.groupby(c.POI_ID, observed=True)[c.LATITUDE].nunique().max() == 1


@pytest.mark.parametrize("name", ["event-id", "checkin_id", "row", "punkt", "记录"])
def test_places_that_occur_once_each(name: str, tmp_path: Path) -> None:
    own_table(place=None, **{name: np.arange(ROWS) + 10_000}).to_csv(tmp_path / "own.csv", index=False)
    found = problems(tmp_path / "own.csv", columns={"poi": name}, **BERLIN)
    assert found["single_visits"] == ROWS
    own_table().to_csv(tmp_path / "own.csv", index=False)
    assert "single_visits" not in problems(tmp_path / "own.csv", **BERLIN)


PEOPLE = "card_id|Card number|MMSI|imei|vessel|vehicle_id|Kartennummer|phone|konto|pasajero|卡号"


@pytest.mark.parametrize("name", PEOPLE.split("|"))
def test_ids_of_the_kind_people_use(name: str, tmp_path: Path) -> None:
    found = understood(tmp_path / "own.csv", own_table(user=None, **{name: checkins()["un"] + 90_000}))
    assert found.question is None and found.options.columns["user"] == name


@pytest.mark.parametrize("name", ["user", "device", "phone", "cliente", "用户"])
def test_the_word_is_offered_first(name: str, tmp_path: Path) -> None:
    """Where values do not look like users, such as one a day, the column is the first answer."""
    each = checkins()["u"] + checkins()["local"].dt.strftime("%j%H%M")
    found = understood(tmp_path / "own.csv", own_table(**{"user": None, name: each}))
    assert found.question is not None and [*found.question.answers] == [name, "one person's file"]


FOLDERS = {
    "months": lambda frame: {f"{month}.csv": part for month, part in frame.groupby(frame["time"].dt.strftime("%Y-%m"))},
    "hive": lambda frame: {
        f"user={user}/part-0.csv": part.drop(columns="user") for user, part in frame.groupby("user")
    },
    "people": lambda frame: {f"{user}.csv": part.drop(columns="user") for user, part in frame.groupby("user")},
    "parquet": lambda frame: {f"year=2024/{at}.parquet": frame.iloc[at::3] for at in range(3)},
    "gz": lambda frame: {f"chunk_{at}.csv.gz": frame.iloc[at::4] for at in range(4)},
    "lines": lambda frame: {f"day{at}.jsonl": frame.iloc[at::2] for at in range(2)},
    "persons": lambda frame: {f"{user}/2024.csv": part.drop(columns="user") for user, part in frame.groupby("user")},
}


def write_folder(folder: Path, files: dict[str, pd.DataFrame]) -> Path:
    for name, part in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        if name.endswith("parquet"):
            part.to_parquet(folder / name, index=False)
        elif name.endswith("jsonl"):
            part.astype({"time": str}).to_json(folder / name, orient="records", lines=True)
        else:
            part.to_csv(folder / name, index=False)
    return folder


@pytest.mark.parametrize("name", FOLDERS)
def test_a_folder_of_equal_files_is_one_table(name: str, tmp_path: Path) -> None:
    folder = write_folder(tmp_path / name, FOLDERS[name](own_table()))
    (folder / "README.md").write_text("about")
    got = read(folder, **BERLIN)
    assert got.account.rows_kept == ROWS
    assert set(got.table[c.USER_ID].astype(str)) == set(checkins()["u"])


def test_files_of_other_columns_are_refused(tmp_path: Path) -> None:
    table = own_table()
    folder = write_folder(tmp_path / "own", {"a.csv": table, "b.csv": table[["place", "lat", "lon"]]})
    with pytest.raises(DataError, match=r"different columns \(a.csv: user, place.*; b.csv: place"):
        understand(folder)


@pytest.mark.parametrize(
    "names",
    [
        "train.csv val.csv test.csv",
        "tr.csv va.csv te.csv",
        "nyc_training.csv nyc_dev.csv nyc_testing.csv",
        "a-train.parquet a-valid.parquet a-test.parquet",
        "Train.jsonl Validation.jsonl Test.jsonl",
        "split/train-0.csv split/validation-0.csv split/test-0.csv",
    ],
)
def test_files_of_train_validation_and_test(names: str, tmp_path: Path) -> None:
    ordered = own_table().sort_values("time", kind="stable")
    parts = (ordered.iloc[:800], ordered.iloc[800:900], ordered.iloc[900:])
    folder = write_folder(tmp_path / "own", dict(zip(names.split(), parts, strict=True)))
    (folder / "all.txt").write_text("a,b,c\n1,2,3\n")
    write_folder(folder, {f"more{Path(names.split()[0]).suffix}": parts[0]})
    got = read(folder, **BERLIN)
    assert got.table[c.SPLIT].value_counts().sort_index().tolist() == [800, 100, 100]
    assert got.account.notes[0].startswith(
        "1 of the files are not read, since their names say no part of a split: more"
    )


OTHERS = {
    "a.gpkg": (b"SQLite format 3\0" + bytes(52) + b"GPKG", "GeoPackage"),
    "a.db": (b"SQLite format 3\0" + bytes(100), "SQLite"),
    "a.shp": (b"\0\0\x27\x0a" + bytes(90), "shapefile"),
    "a.pkl": (b"\x80\x05\x95" + bytes(90), "pickle"),
    "a.csv.bz2": (b"BZh91AY&SY" + bytes(90), "compressed"),
    "a.csv.xz": (b"\xfd7zXZ\0" + bytes(90), "compressed"),
    "a.html": (b"<!DOCTYPE html><html><table>", "web page"),
    "a.h5": (b"\x89HDF\r\n\x1a\n" + bytes(90), "HDF5"),
    "a.npy": (b"\x93NUMPY" + bytes(90), "NumPy"),
    "a.pdf": (b"%PDF-1.7" + bytes(90), "PDF"),
    "a.dta": (b"<stata_dta><header>", "Stata"),
    "a.rds": (b"X\n\0\0\0\3" + bytes(90), "file of R"),
}


@pytest.mark.parametrize("name", OTHERS)
def test_other_kinds_are_named(name: str, tmp_path: Path) -> None:
    content, kind = OTHERS[name]
    (tmp_path / name).write_bytes(content)
    with pytest.raises(DataError, match=f"{kind}.*save "):
        understand(tmp_path / name)


@pytest.mark.parametrize("name", ["own.feather", "own.arrow", "own.arrows", "own.orc", "own"])
def test_arrow_and_orc_are_read(name: str, tmp_path: Path) -> None:
    table = pa.Table.from_pandas(own_table(), preserve_index=False)
    if name.endswith("orc"):
        pa.orc.write_table(table, tmp_path / name)
    else:
        new = pa.ipc.new_stream if name.endswith("arrows") else pa.ipc.new_file
        with new(str(tmp_path / name), table.schema) as writer:
            writer.write_table(table)
    assert read(tmp_path / name, **BERLIN).account.rows_kept == ROWS


CELLS = {
    "geohash": (["u281wz8", "u28607y", "u33dc1r"], "pygeohash"),
    "h3": (["89283082803ffff", "89283082807ffff", "8928308280bffff"], "h3.cell_to_latlng"),
    "pluscode": (["8FWH4HX8+9C", "8FWH4HX7+2V", "8FWH4HXC+RM"], "openlocationcode"),
    "tile": (["120210233222", "120210233223", "120210233232"], "quadkey"),
    "mgrs": (["32UPU9199034", "32UPU9188034", "32UPU9177034"], "mgrs"),
}


@pytest.mark.parametrize("name", CELLS)
def test_cells_are_said_to_be_cells(name: str, tmp_path: Path) -> None:
    values, tool = CELLS[name]
    cell = np.array(values)[np.arange(ROWS) % 3]
    text = asked(tmp_path / "own.csv", own_table(lat=None, lon=None, **{name: cell}))
    assert f"“{name}” holds cells" in text and tool in text


@pytest.mark.parametrize("names", ["x y", "easting northing", "Rechtswert Hochwert", "lon lat", "geom"])
def test_metres_name_their_reference_system(names: str, tmp_path: Path) -> None:
    x, y = checkins()["lon"] * 111_319.49, checkins()["lat"] * 130_000
    columns: dict[str, Any] = dict(zip(names.split(), (x, y), strict=False))
    if names == "geom":
        columns = {"geom": [f"SRID=25833;POINT ({a:.2f} {b:.2f})" for a, b in zip(x, y, strict=True)]}
    text = asked(tmp_path / "own.csv", own_table(**{"lat": None, "lon": None} | columns))
    assert "to_crs(4326)" in text and ("EPSG:25833" if names == "geom" else "EPSG:3857") in text


@pytest.mark.parametrize("drop", [[], ["kind"], ["is_activity"], ["id"], ["finished_at"]])
def test_stays_without_places_name_the_tool(drop: list[str], tmp_path: Path) -> None:
    frame = checkins()
    table = pd.DataFrame({"id": range(ROWS), "user_id": frame["u"], "started_at": frame["utc"], "is_activity": True})
    table["finished_at"] = frame["utc"] + pd.Timedelta(minutes=9)
    table["geom"] = [
        f"POINT ({lon} {lat})" for lat, lon in zip(frame["lat"] + np.arange(ROWS) / 1e6, frame["lon"], strict=True)
    ]
    table["kind"] = "gps"
    try:
        text = asked(tmp_path / "own.csv", table.drop(columns=drop))
    except DataError as error:
        text = str(error)
    assert "generate_locations" in text and "cluster" in text


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_it_is_understood(example: Example, tmp_path: Path) -> None:
    """Columns, rows, coordinates and every instant; where the file names no zone, that of the place is proposed."""
    path = tmp_path / example.name
    example.write(path)
    found = understand(path)
    assert found.options.columns == example.mapping
    options = found.options
    if example.times == "named":
        assert found.question is None
    else:
        assert found.question.about == "timezone"
        options = next(iter(found.question.answers.values()))
        assert (options.timezone, options.local_times) == (ZONE, example.times == "local")
    read = read_checkins(path, found.source_format, options)
    truth = checkins()
    assert read.account.rows_in == read.account.rows_kept == ROWS
    np.testing.assert_allclose(read.table[[c.LATITUDE, c.LONGITUDE]], truth[["lat", "lon"]])
    assert (read.table[c.TIME].to_numpy() == truth["utc"].dt.floor(example.unit).to_numpy()).all()
    assert read.table[c.TZ_OFFSET_MINUTES].tolist() == truth["minutes"].tolist()
