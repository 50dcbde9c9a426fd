"""One small set of invented check-ins as many tables: other names, orders, languages, layouts and files."""

import json
import tomllib
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Final

import numpy as np
import pandas as pd

from recap import columns as c
from recap.data.parsing.options import parse_mapping
from recap.synthetic import build_demo_city

ROWS: Final = 1000
ZONE: Final = "Europe/Berlin"


@cache
def checkins() -> pd.DataFrame:
    """1,000 check-ins of 40 invented people in Berlin; un and pn are numbers of user and place."""
    city = build_demo_city(people=40).head(ROWS)
    wall = city[c.TIME].dt.tz_localize(None)
    utc = wall.dt.tz_localize(ZONE, ambiguous="NaT", nonexistent="shift_forward").dt.tz_convert("UTC")
    local = utc.dt.tz_convert(ZONE).dt.tz_localize(None)
    return pd.DataFrame(
        {
            "u": city[c.USER_ID],
            "p": city[c.POI_ID],
            "kind": city[c.CATEGORY],
            "name": city[c.POI_NAME],
            "lat": (city[c.LATITUDE] + 6.47).round(5),
            "lon": (city[c.LONGITUDE] + 29.4).round(5),
            "utc": utc,
            "local": local,
            "minutes": ((local - utc.dt.tz_localize(None)).dt.total_seconds() // 60).astype(int),
            "un": city[c.USER_ID].str[1:].astype(int),
            "pn": city[c.POI_ID].str[1:].astype(int) + 7000,
        }
    )


def own_table(**columns: Any) -> pd.DataFrame:
    """The check-ins as a table of your own; columns are replaced, added, or left out where None."""
    frame = checkins()
    own = {"user": frame["u"], "place": frame["p"], "lat": frame["lat"], "lon": frame["lon"], "time": frame["local"]}
    table = pd.DataFrame(own | columns).reset_index(drop=True)
    return table.drop(columns=[name for name, values in columns.items() if values is None])


FIELDS: Final = {
    "user": ["u", "un"],
    "poi": ["p", "pn", "coded"],
    "time": ["local", "utc", "zoned", "iso", "millis", "hour", "clock", "typed_clock"],
    "date": ["day", "typed_day"],
    "lat": ["lat"],
    "lon": ["lon"],
    "category": ["kind"],
    "name": ["name"],
    "tz": ["hours"],
}
"""Field -> the contents that are mapped to it; all other contents are expected to be left alone."""


@cache
def contents() -> pd.DataFrame:
    """The check-ins with their values in other forms, and with columns that are no part of a check-in."""
    frame, rng = checkins(), np.random.default_rng(1)
    lat, lon, user, local = frame["lat"], frame["lon"], frame["un"], frame["local"]
    zoned, stay = frame["utc"].dt.tz_convert(ZONE), pd.to_timedelta(rng.integers(5, 200, ROWS), unit="min")
    return frame.assign(
        day=local,
        hour=local.dt.hour,
        clock=local.dt.strftime("%H%M%S").astype(int),
        typed_day=local.dt.date,
        typed_clock=local.dt.time,
        zoned=zoned,
        iso=zoned.map(lambda time: time.isoformat()),
        millis=frame["utc"].map(lambda time: int(time.timestamp() * 1000)),
        hours=frame["minutes"] // 60,
        wall=local,
        later=local + stay,
        later_utc=frame["utc"] + stay,
        born=pd.Timestamp("1991-02-03") + pd.to_timedelta(user * 50, unit="D"),
        coded=frame["p"].astype("category"),
        point=lat.astype(str) + ", " + lon.astype(str),
        wkt="SRID=4326;POINT (" + lon.astype(str) + " " + lat.astype(str) + ")",
        record=pd.Series(frame[["lat", "lon"]].to_dict("records")),
        postcode=(lat * 50).astype(int) * 13 + 10115,
        degrees=(lat * 60).astype(int),
        half=np.where(lat > 52.5, "North", "South"),
        home_lat=52.4 + user / 997,
        home_lon=13.2 + user / 991,
        row=np.arange(ROWS),
        number=np.arange(ROWS) * 7919,
        session=frame["u"] + local.dt.strftime("%j"),
        age=user % 60 + 18,
        gender=user % 2,
        version=user % 5,
        tag=user + 400,
        stars=rng.integers(1, 6, ROWS),
        seconds=rng.integers(5, 200, ROWS),
        price=rng.integers(50, 900, ROWS),
        amount=rng.integers(100, 9000, ROWS) / 100,
        temperature=rng.integers(-50, 300, ROWS) / 10,
    )


@dataclass(frozen=True)
class Example:
    """A table of examples.toml and what is expected of it; dots in names of JSON's columns are objects in objects."""

    name: str
    columns: list[str]
    options: dict[str, Any] = field(default_factory=dict)
    point: str = ""
    times: str = "local"
    unit: str = "s"

    @property
    def mapping(self) -> dict[str, str]:
        """The column of each field; those of files without a header are numbered."""
        found = parse_mapping([self.point] if self.point else [])
        for number, (name, content, _) in enumerate(self._contents(), 1):
            fields = [name for name, contents in FIELDS.items() if content in contents]
            found |= dict.fromkeys(fields, name if self.options.get("header", True) else f"column{number}")
        return found

    def write(self, path: Path) -> None:
        made = {}
        for name, content, layout in self._contents():
            values = contents()[content]
            made[name] = values.dt.strftime(layout) if layout else values
        table = pd.DataFrame(made)
        if path.suffix == ".parquet":
            table.to_parquet(path, index=False)
        elif path.suffix == ".jsonl":
            path.write_text("\n".join(map(json.dumps, _nested(table))))
        elif path.suffix == ".json":
            path.write_text(json.dumps({"total": ROWS, "rows": _nested(table)}))
        else:
            table.to_csv(path, **{"index": False, **self.options})

    def _contents(self) -> list[tuple[str, str, str]]:
        """Name, content and layout of each column."""
        parts = [(name, *content.partition(" ")) for name, _, content in (text.partition("=") for text in self.columns)]
        return [(name, content, layout) for name, content, _, layout in parts]


def _nested(table: pd.DataFrame) -> list[dict[str, Any]]:
    records: list[dict[str, Any]] = []
    for row in table.to_dict("records"):
        records.append({})
        for name, value in row.items():
            *outer, last = str(name).split(".")
            inner = records[-1]
            for part in outer:
                inner = inner.setdefault(part, {})
            inner[last] = value
    return records


_LISTED = tomllib.loads(Path(__file__).with_name("examples.toml").read_text(encoding="utf-8"))
EXAMPLES: Final = [Example(name, **values) for name, values in _LISTED.items()]
