"""One small good dataset written in every format that can be read."""

import json
from pathlib import Path
from typing import Any

from recap.data.parsing.options import ReadOptions
from tests.checkins import raw_table, write_foursquare

ROWS = [
    (user, poi, hour + 3 * shift)
    for shift, user in enumerate(["11", "12", "13"])
    for hour, poi in ((float(24 * day + 2 * step), poi) for day in range(8) for step, poi in enumerate("abc"))
]
"""Three users, three places, 72 rows over eight days."""

GETNEXT_HEADER = (
    "user_id,POI_id,POI_catid,POI_catid_code,POI_catname,latitude,longitude,timezone,UTC_time,local_time,day_of_week,"
    "norm_in_day_time,trajectory_id,norm_day_shift,norm_relative_time"
)
ZONED = ReadOptions(timezone="America/New_York")


def write_source(folder: Path, source_format: str) -> tuple[Path, ReadOptions]:
    """Write `ROWS` in a format.

    Returns:
        the path to name on the command line, and the options that the format needs.
    """
    table = raw_table(ROWS)
    rows: list[Any] = list(table.itertuples(index=False))
    iso = [row.time.strftime("%Y-%m-%dT%H:%M:%SZ") for row in rows]
    places = {row.poi_id: row for row in rows}
    city = folder / ("CITY" if source_format == "getnext" else "city")
    if source_format in ("getnext", "libcity", "recbole"):
        city.mkdir()
    if source_format == "foursquare":
        return write_foursquare(folder / "city.txt", ROWS), ReadOptions()
    if source_format == "gowalla":
        lines = [f"{r.user_id}\t{t}\t{r.latitude}\t{r.longitude}\t{r.poi_id}" for r, t in zip(rows, iso, strict=True)]
        return write(folder / "gowalla.txt", lines[::-1]), ZONED
    if source_format == "getnext":
        lines = [
            f"{r.user_id},{r.poi_id},{r.category_id},0,{r.category},{r.latitude},{r.longitude},-240,"
            f"{r.time.strftime('%a %b %d %H:%M:%S +0000 %Y')},{t},0,0.5,{r.user_id}_{i // 3},0,0.5"
            for i, (r, t) in enumerate(zip(rows, iso, strict=True))
        ]
        for part, chosen in (("train", lines[:54]), ("val", lines[54:63]), ("test", lines[63:])):
            write(city / f"CITY_{part}.csv", [GETNEXT_HEADER, *chosen])
        return city, ReadOptions()
    if source_format == "libcity":
        geo = [f'{name},Point,"[{p.longitude},{p.latitude}]",{p.category}' for name, p in places.items()]
        write(city / "city.geo", ["geo_id,type,coordinates,venue_category_name", *geo])
        dyna = [f"{i},trajectory,{t},{r.user_id},{r.poi_id}" for i, (r, t) in enumerate(zip(rows, iso, strict=True))]
        write(city / "city.dyna", ["dyna_id,type,time,entity_id,location", *dyna])
        (city / "config.json").write_text(json.dumps({"info": {"geo_file": "city"}}))
        return city, ZONED
    if source_format == "recbole":
        item = [f"{name}\t{p.category}\t{p.latitude}\t{p.longitude}" for name, p in places.items()]
        write(city / "city.item", ["venue_id:token\tvenue_category_name:token\tlatitude:float\tlongitude:float", *item])
        inter = [f"{r.user_id}\t{r.poi_id}\t-240\t{int(r.time.timestamp())}.0" for r in rows]
        write(city / "city.inter", ["user_id:token\tvenue_id:token\ttimezone_offset:float\ttimestamp:float", *inter])
        return city, ReadOptions()
    frame = table.rename(columns={"tz_offset_minutes": "tz"}).astype({"user_id": str, "poi_id": str})
    path = folder / {"csv": "own.csv", "json": "own.jsonl", "parquet": "own.parquet"}[source_format]
    if source_format == "csv":
        frame.to_csv(path, index=False, date_format="%Y-%m-%d %H:%M:%S")
    elif source_format == "json":
        frame.to_json(path, orient="records", lines=True, date_format="iso")
    else:
        frame.to_parquet(path, index=False)
    return path, ReadOptions()


def write(path: Path, lines: list[str]) -> Path:
    """Write lines as UTF-8."""
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path
