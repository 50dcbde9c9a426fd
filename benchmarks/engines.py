"""Engines for tables beyond memory, on the heavy part of `recap prepare`: minimum counts, order, write.

    python -m benchmarks.engines FILE.parquet [--memory 2] [--threads 2] [--engines duckdb polars dask]

The file has the columns of `recap.columns` (`benchmarks/scale.py --format parquet` makes one). Every engine runs in a
process of its own, with a limit on its memory where it knows one, and writes the same rows in the same order, which is
checked at the end. One JSON line each: wall and processor seconds, peak resident memory, rows.
"""

import argparse
import json
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

import pyarrow.parquet as pq

from benchmarks.scale import measure

MINIMUM = 10

DUCKDB = """\
import sys, duckdb
source, out, memory, threads = sys.argv[1:5]
db = duckdb.connect(config={"memory_limit": memory + "GB", "threads": int(threads), "temp_directory": out + ".tmp",
                            "preserve_insertion_order": False})
raw = f"(SELECT user_id, poi_id, time, file_row_number AS row FROM read_parquet('{source}', file_row_number=true))"
db.execute(f"CREATE TEMP TABLE pois AS SELECT poi_id FROM {raw} GROUP BY poi_id HAVING count(*) >= MINIMUM")
db.execute(f"CREATE TEMP TABLE users AS SELECT user_id FROM {raw} SEMI JOIN pois USING (poi_id) "
           "GROUP BY user_id HAVING count(*) >= MINIMUM")
db.execute(f"COPY (SELECT * FROM {raw} SEMI JOIN pois USING (poi_id) SEMI JOIN users USING (user_id) "
           f"ORDER BY user_id, time, row) TO '{out}' (FORMAT parquet, COMPRESSION zstd)")
"""

POLARS = """\
import sys, polars as pl
source, out, memory, threads = sys.argv[1:5]
raw = pl.scan_parquet(source).select("user_id", "poi_id", "time").with_row_index("row")
pois = raw.group_by("poi_id").len().filter(pl.col("len") >= MINIMUM).select("poi_id")
kept = raw.join(pois, on="poi_id", how="semi")
users = kept.group_by("user_id").len().filter(pl.col("len") >= MINIMUM).select("user_id")
kept = kept.join(users, on="user_id", how="semi").sort("user_id", "time", "row")
kept.select("user_id", "poi_id", "time", "row").sink_parquet(out, compression="zstd", engine="streaming")
"""

DASK = """\
import sys, dask, dask.dataframe as dd
source, out, memory, threads = sys.argv[1:5]
dask.config.set(scheduler="threads", num_workers=int(threads))
raw = dd.read_parquet(source, columns=["user_id", "poi_id", "time"], split_row_groups=True)
raw["row"] = 1
raw["row"] = raw["row"].cumsum() - 1
counts = raw.poi_id.value_counts().compute()
kept = raw[raw.poi_id.isin(counts.index[counts >= MINIMUM].tolist())]
counts = kept.user_id.value_counts().compute()
kept = kept[kept.user_id.isin(counts.index[counts >= MINIMUM].tolist())]
kept = kept.sort_values("user_id").map_partitions(lambda part: part.sort_values(["user_id", "time", "row"]))
kept.to_parquet(out, compression="zstd", write_index=False)
"""

PROGRAMS = {"duckdb": DUCKDB, "polars": POLARS, "dask": DASK}


def main() -> None:
    """Run every engine over the file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("--memory", type=float, default=2.0, help="GB an engine may use, where it can be told")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--engines", nargs="+", choices=tuple(PROGRAMS), default=list(PROGRAMS))
    arguments = parser.parse_args()
    first = None
    with tempfile.TemporaryDirectory(prefix="recap-engines-") as folder:
        for engine in arguments.engines:
            out = Path(folder) / f"{engine}.parquet"
            program = PROGRAMS[engine].replace("MINIMUM", str(MINIMUM))
            command = [sys.executable, "-c", program, str(arguments.file), str(out)]
            line = {"benchmark": "engines", "engine": engine, "version": version(engine)}
            try:
                result = measure([*command, f"{arguments.memory:g}", str(arguments.threads)])
            except RuntimeError as error:
                print(json.dumps(line | {"error": str(error)[-300:]}), flush=True)
                continue
            del result["output"]
            found = pq.read_table(out, columns=["row"])["row"].to_numpy()
            first = found if first is None else first
            equal = len(first) == len(found) and bool((first == found).all())
            print(json.dumps(line | result | {"rows": len(found), "as_the_first": equal}), flush=True)


if __name__ == "__main__":
    main()
