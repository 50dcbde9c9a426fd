"""One small set of invented check-ins as many tables: other names, orders, languages, layouts and files."""

import json
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
    """A table and what is expected of it.

    Attributes:
        name: of the file; its suffix says what it is, and dots in names of JSON's columns are objects in objects.
        spec: its columns in their order, each ``name=content`` or ``name=content as strftime writes it``.
        options: those of `to_csv`.
        point: as `--map` takes coordinates that are parts of one column.
        is_local: whether its times are local ones without a zone; None where the file names one.
        unit: what the times are rounded down to.
    """

    name: str
    spec: str
    options: dict[str, Any] = field(default_factory=dict)
    point: str = ""
    is_local: bool | None = True
    unit: str = "s"

    @property
    def mapping(self) -> dict[str, str]:
        """The column of each field; those of files without a header are numbered."""
        found = parse_mapping([self.point] if self.point else [])
        for number, (name, content, _) in enumerate(self._columns(), 1):
            fields = [name for name, contents in FIELDS.items() if content in contents]
            found |= dict.fromkeys(fields, name if self.options.get("header", True) else f"column{number}")
        return found

    def write(self, path: Path) -> None:
        made = {}
        for name, content, layout in self._columns():
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

    def _columns(self) -> list[tuple[str, str, str]]:
        """Name, content and layout of each."""
        found = []
        for part in self.spec.split("|"):
            name, _, content = part.partition("=")
            content, _, layout = content.partition(" ")
            found.append((name, content, layout))
        return found


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


EXAMPLES: Final = [
    Example(
        "portuguese.csv",
        "Data=day %d/%m/%Y|Hora=local %H:%M|Loja=p|Categoria=kind|Cliente=u|Latitude=lat|Longitude=lon",
        {"sep": ";", "decimal": ","},
        unit="min",
    ),
    Example(
        "dutch.csv",
        "winkel=p|klantnr=un|tijdstip=local %d-%m-%y %H:%M:%S|breedtegraad=lat|lengtegraad=lon",
        {"sep": "|"},
    ),
    Example(
        "italian.csv",
        "utente=u|luogo=pn|nome luogo=name|quando=local %d %b %Y %H:%M|latitudine=lat|longitudine=lon",
        unit="min",
    ),
    Example(
        "spanish.txt",
        "salida=later %Y/%m/%d %H:%M|entrada=local %Y/%m/%d %H:%M|persona=u|tienda=p|lng=lon|lat=lat|importe=amount",
        {"sep": "\t"},
        unit="min",
    ),
    Example(
        "japanese.csv",
        "来店日時=local %Y年%m月%d日 %H:%M|店舗コード=p|カテゴリ=kind|会員番号=un|緯度=lat|経度=lon",
        unit="min",
    ),
    Example(
        "russian.csv",
        "дата=local %d.%m.%Y %H:%M:%S|клиент=u|магазин=p|цена=price|широта=lat|долгота=lon",
        {"sep": ";"},
    ),
    Example("turkish.csv", "müşteri=u|mekân=p|tarih=day %d.%m.%Y|saat=local %H:%M:%S|enlem=lat|boylam=lon"),
    Example("polish.csv", "sklep=p|rodzaj=kind|użytkownik=u|czas=local %Y-%m-%d %H:%M:%S|szerokość=lat|długość=lon"),
    Example("chinese.jsonl", "时间=local %Y-%m-%d %H:%M|用户=u|店铺=p|位置.经度=lon|位置.纬度=lat", unit="min"),
    Example(
        "registry.csv",
        "row id=row|opened=local %m/%d/%Y %I:%M:%S %p|geo=point|outlet_id=p|postcode=postcode|member_no=u|"
        "member_age=age|stars=stars",
        point="lat=geo.1,lon=geo.2",
    ),
    Example(
        "wkt.tsv",
        "the_geom=wkt|t=local %Y%m%d%H%M%S|guest=un|spot=pn",
        {"sep": "\t"},
        point="lat=the_geom.2,lon=the_geom.1",
    ),
    Example("bare.txt", "a=lon|b=lat|c=un|d=local %Y-%m-%dT%H:%M:%S|e=pn|f=kind", {"sep": "\t", "header": False}),
    Example("blanks.txt", "a=u|b=day %Y-%m-%d|c=local %H:%M:%S|d=lat|e=lon|f=p", {"sep": " ", "header": False}),
    Example("nothing.csv", "a=stars|b=lon|c=pn|d=degrees|e=un|f=lat|g=local %a %d %b %Y %H:%M:%S|h=temperature"),
    Example(
        "people.csv",
        "traveller=u|traveller_home_lat=home_lat|traveller_home_lon=home_lon|session_id=session|gender=gender|born=born|"
        "venue_ref=p|venue_name=name|venue_city=half|venue_lat=lat|venue_lon=lon|logged=local %d.%m.%Y %H:%M|"
        "temperature=temperature",
        unit="min",
    ),
    Example(
        "clocks.csv",
        "uid=u|pid=p|time_utc=utc %Y-%m-%d %H:%M:%S|time_local=wall %Y-%m-%d %H:%M:%S|tz_hours=hours|X=lon|Y=lat",
        is_local=None,
    ),
    Example("offsets.csv", "subscriber=un|cell=pn|lon=lon|lat=lat|seen=iso", is_local=None),
    Example(
        "millis.jsonl",
        "_id=number|actor.ref=un|actor.device_version=version|target.key=p|target.kind=kind|target.pos.lng=lon|"
        "target.pos.lat=lat|at=millis",
        is_local=False,
    ),
    Example(
        "list.json",
        "driver=u|stop=p|when=utc %a, %d %b %Y %H:%M:%S GMT|location.longitude=lon|location.latitude=lat",
        is_local=False,
    ),
    Example(
        "typed.parquet",
        "day=typed_day|hour=typed_clock|where=record|passenger=un|station=coded",
        point="lat=where.lat,lon=where.lon",
    ),
    Example("zoned.parquet", "account=un|branch=pn|moment=zoned|phi=lat|lambda=lon|amount=amount", is_local=None),
    Example(
        "french.csv",
        "N° client=un|Jour=day %d/%m/%Y|Heure=local %Hh%M|Code magasin=p|Nom du magasin=name|Code postal=postcode|"
        "Long.=lon|Lat.=lat",
        {"sep": ";", "index": True, "decimal": ",", "encoding": "utf-8-sig"},
        unit="min",
    ),
    Example(
        "german.csv",
        "Abfahrt=later %d.%m.%Y um %H:%M Uhr|Ankunft=local %d.%m.%Y um %H:%M Uhr|Aufenthaltsdauer=seconds|"
        "Standort-ID=p|Branche=kind|Besucher=u|Geo-Breite=lat|Geo-Länge=lon",
        {"encoding": "utf-16"},
        unit="min",
    ),
    Example(
        "timeline.jsonl",
        "account=u|visit.location.placeId=p|visit.location.latitude=lat|visit.location.longitude=lon|"
        "visit.location.confidence=seconds|visit.duration.startTimestamp=utc %Y-%m-%dT%H:%M:%SZ|"
        "visit.duration.endTimestamp=later_utc %Y-%m-%dT%H:%M:%SZ",
        is_local=False,
    ),
    Example(
        "animals.csv",
        "event-id=row|timestamp=local %Y-%m-%d %H:%M:%S.000|location-long=lon|location-lat=lat|roost-site=p|"
        "tag-local-identifier=tag|individual-local-identifier=u",
    ),
    Example(
        "geodatabase.csv",
        "X=lon|Y=lat|OBJECTID=row|CUST_ID=u|SITE_ID=p|DATETIME=utc %Y/%m/%d %H:%M:%S+00",
        is_local=False,
    ),
    Example(
        "hours.csv",
        "bezoekersnummer=un|vestiging=p|datum=day %d-%m-%Y|uur=hour|breedtegraad=lat|lengtegraad=lon",
        {"sep": ";", "decimal": ","},
        unit="h",
    ),
    Example("calls.csv", "caller=un|cell_id=pn|call_date=day %Y%m%d|call_time=clock|lat=lat|lon=lon|seconds=seconds"),
    Example("short_years.csv", "uid=u|pid=p|when=local %y/%m/%d %H:%M:%S|lat=lat|lon=lon"),
]
