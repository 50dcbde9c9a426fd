"""The front door: `import recap` is light, frames are read as files are, and models answer with frames."""

import gc
import importlib
import subprocess
import sys
import tempfile
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import torch
from shapely.geometry import Point

import recap
from recap import columns as c
from recap.data.dataset import Dataset
from recap.errors import CaseError, ConfigError, DataError, RecapError
from recap.evaluation.scoring import evaluate
from recap.history.graph import TransitionGraph
from recap.training.baselines import build_baseline
from tests.background import walking_dataset
from tests.checkins import START
from tests.tiny import CHANGES, EPOCHS, PRESET

LENIENT = {"min_poi_checkins": 1, "min_user_checkins": 1, "min_trajectory_length": 1}
SETTINGS = dict(change.split("=") for change in CHANGES)
USERS, DAYS = 6, 30


def visits() -> pd.DataFrame:
    """Six users in Zurich, each with three places of their own, as in GPS data, and one that all share."""
    random = np.random.default_rng(7)
    rows = []
    for user in range(USERS):
        for step in range(3 * DAYS):
            spot = int(random.integers(4))
            place = "all" if spot == 3 else f"{user}-{spot}"
            east, north = (0, 0) if spot == 3 else (user + 1, spot + 1)
            time = START + pd.Timedelta(hours=8 * step, minutes=7 * user)
            rows.append((user, place, time, 8.501234 + 0.01123 * east, 47.351234 + 0.01123 * north))
    return pd.DataFrame(rows, columns=["user_id", "place_id", "time", "lon", "lat"])


def trackintel() -> pd.DataFrame:
    """Its staypoints with locations: an index named id, shapes, two zoned times, nullable ids."""
    table = visits()
    found = table[["user_id"]].assign(
        started_at=table["time"],
        finished_at=table["time"] + pd.to_timedelta(np.arange(len(table)) % 50 + 5, unit="min"),
        geom=[Point(x, y) for x, y in zip(table["lon"], table["lat"], strict=True)],
        location_id=table["place_id"].astype("category").cat.codes.astype("Int64"),
    )
    return found.rename_axis("id")


def scikit_mobility() -> pd.DataFrame:
    """Its stops mapped to a tessellation: naive times, and tiles as text."""
    names = {"time": "datetime", "lon": "lng", "user_id": "uid", "place_id": "tile_ID"}
    table = visits().rename(columns=names)
    table["datetime"] = table["datetime"].dt.tz_localize(None)
    return table.assign(leaving_datetime=table["datetime"] + pd.to_timedelta(np.arange(len(table)) % 50, "min"))


def by_time() -> pd.DataFrame:
    """Times as the index, ids as categories, and columns that no file has."""
    table = visits().astype({"user_id": "category", "place_id": "category"}).set_index("time")
    week = pd.DatetimeIndex(table.index).tz_localize(None).to_period("W")
    mixed = pd.Series([1, "two", None] * (len(table) // 3), index=table.index)
    return table.assign(week=week, mixed=mixed, wait=pd.Timedelta("1h"))


def test_the_import_loads_nothing_heavy() -> None:
    """Neither torch nor pandas nor numpy; five names are offered, another one is an error; types are marked."""
    code = (
        "import sys, recap; before = {'torch', 'pandas', 'numpy', 'recap.api'} & set(sys.modules);"
        "print(sorted(before), [name for name in dir(recap) if name in recap.__all__], hasattr(recap, 'recommend'));"
        "print(recap.prepare.__name__, 'torch' in sys.modules)"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60).stdout
    assert out.splitlines() == [f"[] {['Dataset', 'Model', 'load', 'prepare', 'train']} False", "prepare True"]
    assert Path(recap.__file__).with_name("py.typed").is_file()


@pytest.mark.parametrize("frame", [visits, trackintel, scikit_mobility, by_time])
def test_a_frame_is_read_as_its_file(frame: Callable[[], pd.DataFrame], tmp_path: Path) -> None:
    """The same rows come out, whatever library made the frame; the frame stays as it is."""
    given = frame()
    data = recap.prepare(given, timezone="Europe/Zurich", settings=LENIENT)
    visits().to_csv(tmp_path / "visits.csv", index=False)
    expected = recap.prepare(tmp_path / "visits.csv", timezone="Europe/Zurich", settings=LENIENT)
    pd.testing.assert_frame_equal(given, frame())
    assert len(data.checkins) == USERS * 3 * DAYS and data.num_users == USERS and data.num_pois == 3 * USERS + 1
    for column in (c.USER, c.TIME, c.TZ_OFFSET_MINUTES, c.SPLIT, c.TRAJECTORY):
        assert data.checkins[column].tolist() == expected.checkins[column].tolist(), column
    place, other = (d.pois[[c.LATITUDE, c.LONGITUDE]].to_numpy()[d.checkins[c.POI]] for d in (data, expected))
    np.testing.assert_allclose(place, other, atol=1e-9)
    assert data.manifest.name == "DataFrame" and expected.manifest.name == "visits"


def test_tables_of_arrow_are_read_and_polars_through_it() -> None:
    tables: list[Any] = [visits(), pa.Table.from_pandas(visits())]
    if find_spec("polars") is not None:
        tables.append(importlib.import_module("polars").from_arrow(tables[1]))
    assert len({recap.prepare(table, timezone="Europe/Zurich", settings=LENIENT).hash for table in tables}) == 1


def test_columns_can_be_named_and_the_dataset_saved(tmp_path: Path) -> None:
    """Names that say nothing are refused with the argument that helps; the folder opens like any other."""
    frame = visits().rename(columns={"user_id": "a", "place_id": "b"}).assign(a=lambda table: "n" + table["a"].map(str))
    columns = {"user": "a", "poi": "b"}
    data = recap.prepare(frame, columns=columns, timezone="Europe/Zurich", out=tmp_path / "mine")
    assert data.manifest.name == "mine" and (tmp_path / "mine" / "CARD.md").is_file()
    assert Dataset.load(tmp_path / "mine").hash == data.hash
    assert recap.load("visit_count").evaluate(str(tmp_path / "mine")).equals(recap.load("visit_count").evaluate(data))


@pytest.mark.parametrize(
    ("call", "kind", "text"),
    [
        (lambda: recap.prepare(visits().drop(columns="time")), DataError, "Name it with columns={'time': 'COLUMN'}"),
        (lambda: recap.prepare(visits()), DataError, "timezone='Europe/Zurich'"),
        (lambda: recap.prepare(visits(), timezone="Zurich"), ConfigError, "timezone expects an IANA name"),
        (lambda: recap.prepare(visits(), columns={"usr": "user_id"}), ConfigError, "columns knows no field 'usr'"),
        (lambda: recap.prepare(visits(), colums={}), ConfigError, "unknown field 'colums'"),  # type: ignore[call-arg]
        (lambda: recap.prepare(visits().iloc[:0]), DataError, "DataFrame"),
        (lambda: recap.prepare([1, 2]), DataError, "must be a DataFrame of pandas or polars, or a path, got list"),
        (lambda: recap.prepare(visits().set_index("user_id", drop=False)), DataError, "an index named 'user_id'"),
        (
            lambda: recap.prepare(type("LazyFrame", (), {"__module__": "polars.lazyframe"})()),
            DataError,
            "got polars.LazyFrame",
        ),
        (lambda: predicted(users=["nobody"]), CaseError, "no user 'nobody'; users takes ids"),
        (lambda: predicted(as_of="soon"), ConfigError, "as_of expects a time"),
        (lambda: predicted(as_of="1999-01-01"), CaseError, "choose a later as_of"),
        (lambda: predicted(timezone="UTC"), ConfigError, "need checkins"),
        (lambda: predicted(top=0), ConfigError, "top must be a whole number of at least 1, got 0"),
        (lambda: predicted(top=2.5), ConfigError, "got 2.5"),
        (lambda: predicted(users=7), ConfigError, "got 7: write users=[7]"),
        (lambda: recap.load("visit_count").evaluate(walking_dataset(), split="tset"), ConfigError, "unknown split"),
    ],
)
def test_errors_are_the_librarys_and_name_arguments(call: Callable[[], Any], kind: type[RecapError], text: str) -> None:
    """One line of the library's own, which names no option of the command line."""
    with pytest.raises(kind) as found:
        call()
    assert text in str(found.value) and "--" not in str(found.value) and "\n" not in str(found.value)


def predicted(**options: Any) -> pd.DataFrame:
    """What visit counts predict for users who walk around."""
    return recap.load("visit_count").predict(walking_dataset(), **options)


def test_predictions_are_for_each_user_the_best_places() -> None:
    """Ranks, ids as given, and users as text, numbers or one alone."""
    data = recap.prepare(visits(), timezone="Europe/Zurich", settings=LENIENT)
    model = recap.load("visit_count")
    everyone = model.predict(data)
    assert everyone["user_id"].unique().tolist() == [str(user) for user in range(USERS)]
    assert everyone.groupby("user_id").size().unique().tolist() == [data.num_pois]  # fewer than 20
    counted = visits().value_counts(["user_id", "place_id"]).groupby("user_id").max()
    best = everyone[everyone["rank"] == 1].set_index("user_id")["visits"]
    assert best.to_dict() == {str(user): counted[user] for user in range(USERS)}
    two = model.predict(data, np.array([3, 1]), 2)
    assert two[["user_id", "rank"]].to_numpy().tolist() == [["3", 1], ["3", 2], ["1", 1], ["1", 2]]
    pd.testing.assert_frame_equal(model.predict(data, "3", 2), two.head(2))


def test_as_of_and_new_places_and_added_checkins(caplog: pytest.LogCaptureFixture) -> None:
    """Later rows are left out, known places hidden, a frame's rows added; the log says so."""
    data = recap.prepare(visits(), timezone="Europe/Zurich", settings=LENIENT)
    model = recap.load("visit_count")
    moment = START + pd.Timedelta(days=10)
    early = model.predict(data, as_of=moment)
    assert early["as_of"].max() <= moment and "has seen this time" in caplog.text
    assert not model.predict(data, new_places=True)["visited"].any()
    closed = early["poi_id"].iloc[0]
    assert closed not in set(model.predict(data, without=closed)["poi_id"]) and "choose as before" in caplog.text
    later = visits().tail(3).assign(user_id="new", time=lambda table: table["time"] + pd.Timedelta(days=30))
    found = model.predict(data, ["new"], 1, checkins=later, timezone="Europe/Zurich")
    assert found["as_of"].tolist() == [later["time"].max()] and found["visits"].item() >= 1
    assert "Added 3 check-ins and 1 new user" in caplog.text
    with pytest.raises(DataError, match="none of the 270 check-ins is later"):
        model.predict(data, checkins=visits().groupby("user_id").head(45), timezone="Europe/Zurich")


@pytest.mark.parametrize(
    ("name", "protocol"), [("markov", "every_step"), ("markov", "every_next"), ("visit_count_at_time", "every_next")]
)
def test_a_table_of_metrics_is_the_evaluation(name: str, protocol: Any) -> None:
    """One row for each group, in its order, with the evaluation's numbers."""
    data = walking_dataset()
    graph = TransitionGraph.from_dataset(data)
    metrics = evaluate(build_baseline(name, data, graph), data, graph, protocol=protocol).metrics
    found = recap.load(name).evaluate(data, protocol=protocol, given_time=name != "markov").set_index("group")
    assert found.index.tolist() == list(metrics) and found.columns.tolist() == [*metrics["all"]]
    assert found.loc["all", "mrr"] == metrics["all"]["mrr"]


def test_a_trained_model_lasts_as_long_as_its_variable(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Without a folder the checkpoint goes with the model, or with the error; with one it opens again. Whoever trains
    or fits keeps their own random numbers; a fit is said.
    """
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    data, random = walking_dataset(), torch.get_rng_state()
    recap.load("feature_curves").predict(data)
    assert torch.equal(torch.get_rng_state(), random) and "Fitting the curves to small, once" in caplog.text
    steps: list[Any] = []
    recap.train(data, PRESET, out=tmp_path / "kept", epochs=EPOCHS, seed=5, settings=SETTINGS, watch=steps.append)
    model = recap.train(data, PRESET, epochs=EPOCHS, seed=5, settings=SETTINGS)
    assert steps and list((tmp_path / "temporary").glob("recap-*")) == [model.name]
    table, opened = model.predict(data), recap.load(str(tmp_path / "kept"))
    assert set(table.columns) >= {"user_id", "as_of", "rank", "poi_id", "score", "probability"}
    pd.testing.assert_frame_equal(opened.predict(data), table)
    pd.testing.assert_frame_equal(opened.evaluate(data), model.evaluate(data))
    assert torch.equal(torch.get_rng_state(), random)
    del model
    gc.collect()
    assert list((tmp_path / "temporary").glob("recap-*")) == []
    with pytest.raises(DataError, match="no validation case"):
        recap.train(walking_dataset(users=1, days=1), PRESET, epochs=EPOCHS, settings=SETTINGS)
    gc.collect()
    assert list((tmp_path / "temporary").glob("recap-*")) == []
