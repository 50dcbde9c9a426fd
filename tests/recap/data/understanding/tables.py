"""One small set of invented check-ins as many tables: other names, orders, languages, layouts and files."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from recap import columns as c
from recap.data.synthetic import build_demo_city

ROWS: Final = 1000
ZONE: Final = "Europe/Berlin"
Frame = pd.DataFrame


@dataclass(frozen=True)
class Example:
    """A table and what is expected of it.

    Attributes:
        name: of the file.
        mapping: as `--map` takes it; other columns are expected to be left alone.
        write: writes the check-ins to a path.
        is_local: whether its times are local ones without a zone; None where the file names one.
        unit: what the times are rounded down to.
    """

    name: str
    mapping: str
    write: Callable[[Path], Any]
    is_local: bool | None = True
    unit: str = "s"


@cache
def checkins() -> Frame:
    """1,000 check-ins of 40 invented people in Berlin; un and pn are numbers of user and place."""
    city = build_demo_city(people=40).head(ROWS)
    local = city[c.TIME].dt.tz_localize(None)
    utc = local.dt.tz_localize(ZONE, ambiguous="NaT", nonexistent="shift_forward").dt.tz_convert("UTC")
    return pd.DataFrame(
        {
            "u": city[c.USER_ID],
            "p": city[c.POI_ID],
            "kind": city[c.CATEGORY],
            "name": city[c.POI_NAME],
            "lat": (city[c.LATITUDE] + 6.47).round(5),
            "lon": (city[c.LONGITUDE] + 29.4).round(5),
            "utc": utc,
            "local": utc.dt.tz_convert(ZONE).dt.tz_localize(None),
            "un": city[c.USER_ID].str[1:].astype(int),
            "pn": city[c.POI_ID].str[1:].astype(int) + 7000,
        }
    )


def noise(seed: int, low: int, high: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(low, high, ROWS)


def text(
    spec: str, separator: str = ",", header: bool = True, index: bool = False, **more: Any
) -> Callable[[Path], Any]:
    """Columns of text in their order, each ``name=column`` or ``name=column as strftime writes it``; those without a
    column are made by a function of their name, and other arguments are those of `to_csv`.
    """

    def write(path: Path) -> None:
        frame, made = checkins(), {}
        for name, _, column in (part.partition("=") for part in spec.split("|")):
            column, _, layout = column.partition(" ")
            values = frame[column] if column else more[name](frame)
            made[name] = values.dt.strftime(layout) if layout else values
        options = {name: value for name, value in more.items() if not callable(value)}
        pd.DataFrame(made).to_csv(path, sep=separator, header=header, index=index, **options)

    return write


def records(make: Callable[[Any], dict[str, Any]], lines: bool = True) -> Callable[[Path], Any]:
    def write(path: Path) -> None:
        found = [make(row) for row in checkins().itertuples()]
        path.write_text("\n".join(map(json.dumps, found)) if lines else json.dumps({"total": ROWS, "rows": found}))

    return write


def parquet(make: Callable[[Frame], dict[str, Any]]) -> Callable[[Path], Any]:
    return lambda path: pq.write_table(pa.table(make(checkins())), path)


def _later(frame: Frame) -> pd.Series:
    return frame["local"] + pd.to_timedelta(noise(3, 5, 200), unit="m")


def _zones(frame: Frame) -> pd.Series:
    return (frame["local"] - frame["utc"].dt.tz_localize(None)).dt.total_seconds() // 3600


EXAMPLES: Final = [
    Example(
        "portuguese.csv",
        "user=Cliente,poi=Loja,time=Hora,date=Data,lat=Latitude,lon=Longitude,category=Categoria",
        text(
            "Data=local %d/%m/%Y|Hora=local %H:%M|Loja=p|Categoria=kind|Cliente=u|Latitude=lat|Longitude=lon",
            ";",
            decimal=",",
        ),
        unit="min",
    ),
    Example(
        "dutch.csv",
        "user=klantnr,poi=winkel,time=tijdstip,lat=breedtegraad,lon=lengtegraad",
        text("winkel=p|klantnr=un|tijdstip=local %d-%m-%y %H:%M:%S|breedtegraad=lat|lengtegraad=lon", "|"),
    ),
    Example(
        "italian.csv",
        "user=utente,poi=luogo,time=quando,lat=latitudine,lon=longitudine,name=nome luogo",
        text("utente=u|luogo=pn|nome luogo=name|quando=local %d %b %Y %H:%M|latitudine=lat|longitudine=lon"),
        unit="min",
    ),
    Example(
        "spanish.txt",
        "user=persona,poi=tienda,time=entrada,lat=lat,lon=lng",
        text(
            "salida=|entrada=local %Y/%m/%d %H:%M|persona=u|tienda=p|lng=lon|lat=lat|importe=",
            "\t",
            salida=lambda f: _later(f).dt.strftime("%Y/%m/%d %H:%M"),
            importe=lambda f: noise(1, 100, 9000) / 100,
        ),
        unit="min",
    ),
    Example(
        "japanese.csv",
        "user=会員番号,poi=店舗コード,time=来店日時,lat=緯度,lon=経度,category=カテゴリ",
        text("来店日時=local %Y年%m月%d日 %H:%M|店舗コード=p|カテゴリ=kind|会員番号=un|緯度=lat|経度=lon"),
        unit="min",
    ),
    Example(
        "russian.csv",
        "user=клиент,poi=магазин,time=дата,lat=широта,lon=долгота",
        text(
            "дата=local %d.%m.%Y %H:%M:%S|клиент=u|магазин=p|цена=|широта=lat|долгота=lon",
            ";",
            цена=lambda f: noise(2, 50, 900),
        ),
    ),
    Example(
        "turkish.csv",
        "user=müşteri,poi=mekân,time=saat,date=tarih,lat=enlem,lon=boylam",
        text("müşteri=u|mekân=p|tarih=local %d.%m.%Y|saat=local %H:%M:%S|enlem=lat|boylam=lon"),
    ),
    Example(
        "polish.csv",
        "user=użytkownik,poi=sklep,time=czas,lat=szerokość,lon=długość,category=rodzaj",
        text("sklep=p|rodzaj=kind|użytkownik=u|czas=local %Y-%m-%d %H:%M:%S|szerokość=lat|długość=lon"),
    ),
    Example(
        "chinese.jsonl",
        "user=用户,poi=店铺,time=时间,lat=位置.纬度,lon=位置.经度",
        records(
            lambda r: {
                "时间": f"{r.local:%Y-%m-%d %H:%M}",
                "用户": r.u,
                "店铺": r.p,
                "位置": {"经度": r.lon, "纬度": r.lat},
            }
        ),
        unit="min",
    ),
    Example(
        "registry.csv",
        "user=member_no,poi=outlet_id,time=opened,lat=geo.1,lon=geo.2",
        text(
            "row id=|opened=local %m/%d/%Y %I:%M:%S %p|geo=|outlet_id=p|postcode=|member_no=u|member_age=|stars=",
            geo=lambda f: f["lat"].astype(str) + ", " + f["lon"].astype(str),
            postcode=lambda f: (f["lat"] * 50).astype(int) * 13 + 10115,
            member_age=lambda f: f["un"] % 60 + 18,
            stars=lambda f: noise(4, 1, 6),
            **dict[str, Any]({"row id": lambda f: range(len(f))}),
        ),
    ),
    Example(
        "wkt.tsv",
        "user=guest,poi=spot,time=t,lat=the_geom.2,lon=the_geom.1",
        text(
            "the_geom=|t=local %Y%m%d%H%M%S|guest=un|spot=pn",
            "\t",
            the_geom=lambda f: "SRID=4326;POINT (" + f["lon"].astype(str) + " " + f["lat"].astype(str) + ")",
        ),
    ),
    Example(
        "bare.txt",
        "user=column3,poi=column5,time=column4,lat=column2,lon=column1,category=column6",
        text("a=lon|b=lat|c=un|d=local %Y-%m-%dT%H:%M:%S|e=pn|f=kind", "\t", header=False),
    ),
    Example(
        "blanks.txt",
        "user=column1,poi=column6,time=column3,date=column2,lat=column4,lon=column5",
        text("a=u|b=local %Y-%m-%d|c=local %H:%M:%S|d=lat|e=lon|f=p", " ", header=False),
    ),
    Example(
        "nothing.csv",
        "user=e,poi=c,time=g,lat=f,lon=b",
        text(
            "a=|b=lon|c=pn|d=|e=un|f=lat|g=local %a %d %b %Y %H:%M:%S|h=",
            a=lambda f: noise(5, 1, 6),
            d=lambda f: (f["lat"] * 60).astype(int),
            h=lambda f: noise(6, 100, 999) / 10,
        ),
    ),
    Example(
        "people.csv",
        "user=traveller,poi=venue_ref,time=logged,lat=venue_lat,lon=venue_lon,name=venue_name",
        text(
            "traveller=u|traveller_home_lat=|traveller_home_lon=|session_id=|gender=|born=|venue_ref=p|venue_name=name|"
            "venue_city=|venue_lat=lat|venue_lon=lon|logged=local %d.%m.%Y %H:%M|temperature=",
            traveller_home_lat=lambda f: 52.4 + f["un"] / 997,
            traveller_home_lon=lambda f: 13.2 + f["un"] / 991,
            session_id=lambda f: f["u"] + f["local"].dt.strftime("%j"),
            gender=lambda f: f["un"] % 2,
            born=lambda f: pd.Timestamp("1991-02-03") + pd.to_timedelta(f["un"] * 50, unit="D"),
            venue_city=lambda f: np.where(f["lat"] > 52.5, "North", "South"),
            temperature=lambda f: noise(7, -50, 300) / 10,
        ),
        unit="min",
    ),
    Example(
        "clocks.csv",
        "user=uid,poi=pid,time=time_utc,lat=Y,lon=X,tz=tz_hours",
        text(
            "uid=u|pid=p|time_utc=utc %Y-%m-%d %H:%M:%S|time_local=local %Y-%m-%d %H:%M:%S|tz_hours=|X=lon|Y=lat",
            tz_hours=lambda f: _zones(f).astype(int),
        ),
        is_local=None,
    ),
    Example(
        "offsets.csv",
        "user=subscriber,poi=cell,time=seen,lat=lat,lon=lon",
        text(
            "subscriber=un|cell=pn|lon=lon|lat=lat|seen=",
            seen=lambda f: f["utc"].dt.tz_convert(ZONE).map(lambda time: time.isoformat()),
        ),
        is_local=None,
    ),
    Example(
        "millis.jsonl",
        "user=actor.ref,poi=target.key,time=at,lat=target.pos.lat,lon=target.pos.lng,category=target.kind",
        records(
            lambda r: {
                "_id": r.Index * 7919,
                "actor": {"ref": r.un, "device_version": r.un % 5},
                "target": {"key": r.p, "kind": r.kind, "pos": {"lng": r.lon, "lat": r.lat}},
                "at": int(r.utc.timestamp() * 1000),
            }
        ),
        is_local=False,
    ),
    Example(
        "list.json",
        "user=driver,poi=stop,time=when,lat=location.latitude,lon=location.longitude",
        records(
            lambda r: {
                "driver": r.u,
                "stop": r.p,
                "when": f"{r.utc:%a, %d %b %Y %H:%M:%S} GMT",
                "location": {"longitude": r.lon, "latitude": r.lat},
            },
            lines=False,
        ),
        is_local=False,
    ),
    Example(
        "typed.parquet",
        "user=passenger,poi=station,time=hour,date=day,lat=where.lat,lon=where.lon",
        parquet(
            lambda f: {
                "day": pa.array(f["local"].dt.date),
                "hour": pa.array(f["local"].dt.time, pa.time64("us")),
                "where": pa.array(f[["lat", "lon"]].to_dict("records")),
                "passenger": pa.array(f["un"]),
                "station": pa.array(f["p"]).dictionary_encode(),
            }
        ),
    ),
    Example(
        "zoned.parquet",
        "user=account,poi=branch,time=moment,lat=phi,lon=lambda",
        parquet(
            lambda f: {
                "account": pa.array(f["un"]),
                "branch": pa.array(f["pn"]),
                "moment": pa.array(f["utc"].dt.tz_convert(ZONE)),
                "phi": pa.array(f["lat"]),
                "lambda": pa.array(f["lon"]),
                "amount": pa.array(noise(8, 1, 500) / 4),
            }
        ),
        is_local=None,
    ),
    Example(
        "french.csv",
        "user=N° client,poi=Code magasin,time=Heure,date=Jour,lat=Lat.,lon=Long.,name=Nom du magasin",
        text(
            "N° client=un|Jour=local %d/%m/%Y|Heure=local %Hh%M|Code magasin=p|Nom du magasin=name|Code postal=|"
            "Long.=lon|Lat.=lat",
            ";",
            index=True,
            decimal=",",
            encoding="utf-8-sig",
            **dict[str, Any]({"Code postal": lambda f: (f["lat"] * 40).astype(int) * 17}),
        ),
        unit="min",
    ),
    Example(
        "german.csv",
        "user=Besucher,poi=Standort-ID,time=Ankunft,lat=Geo-Breite,lon=Geo-Länge,category=Branche",
        text(
            "Abfahrt=|Ankunft=local %d.%m.%Y um %H:%M Uhr|Aufenthaltsdauer=|Standort-ID=p|Branche=kind|Besucher=u|"
            "Geo-Breite=lat|Geo-Länge=lon",
            encoding="utf-16",
            Abfahrt=lambda f: _later(f).dt.strftime("%d.%m.%Y um %H:%M Uhr"),
            Aufenthaltsdauer=lambda f: noise(9, 5, 200),
        ),
        unit="min",
    ),
    Example(
        "timeline.jsonl",
        "user=account,poi=visit.location.placeId,time=visit.duration.startTimestamp,"
        "lat=visit.location.latitude,lon=visit.location.longitude",
        records(
            lambda r: {
                "account": r.u,
                "visit": {
                    "location": {"placeId": r.p, "latitude": r.lat, "longitude": r.lon, "confidence": r.Index % 97},
                    "duration": {
                        "startTimestamp": f"{r.utc:%Y-%m-%dT%H:%M:%S}Z",
                        "endTimestamp": f"{r.utc + pd.Timedelta(minutes=5 + r.Index % 90):%Y-%m-%dT%H:%M:%S}Z",
                    },
                },
            }
        ),
        is_local=False,
    ),
    Example(
        "animals.csv",
        "user=individual-local-identifier,poi=roost-site,time=timestamp,lat=location-lat,lon=location-long",
        text(
            "event-id=|timestamp=local %Y-%m-%d %H:%M:%S.000|location-long=lon|location-lat=lat|roost-site=p|"
            "tag-local-identifier=|individual-local-identifier=u",
            **dict[str, Any]({"event-id": lambda f: range(ROWS), "tag-local-identifier": lambda f: f["un"] + 400}),
        ),
    ),
    Example(
        "geodatabase.csv",
        "user=CUST_ID,poi=SITE_ID,time=DATETIME,lat=Y,lon=X",
        text("X=lon|Y=lat|OBJECTID=|CUST_ID=u|SITE_ID=p|DATETIME=utc %Y/%m/%d %H:%M:%S+00", OBJECTID=lambda f: f.index),
        is_local=False,
    ),
    Example(
        "hours.csv",
        "user=bezoekersnummer,poi=vestiging,time=uur,date=datum,lat=breedtegraad,lon=lengtegraad",
        text(
            "bezoekersnummer=un|vestiging=p|datum=local %d-%m-%Y|uur=|breedtegraad=lat|lengtegraad=lon",
            ";",
            decimal=",",
            uur=lambda f: f["local"].dt.hour,
        ),
        unit="h",
    ),
    Example(
        "calls.csv",
        "user=caller,poi=cell_id,time=call_time,date=call_date,lat=lat,lon=lon",
        text(
            "caller=un|cell_id=pn|call_date=local %Y%m%d|call_time=|lat=lat|lon=lon|seconds=",
            call_time=lambda f: f["local"].dt.strftime("%H%M%S").astype(int),
            seconds=lambda f: noise(10, 1, 900),
        ),
    ),
    Example(
        "short_years.csv",
        "user=uid,poi=pid,time=when,lat=lat,lon=lon",
        text("uid=u|pid=p|when=local %y/%m/%d %H:%M:%S|lat=lat|lon=lon"),
    ),
]
