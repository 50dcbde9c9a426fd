"""Whether a change of the code changes a measured value: keep what the commands print before and after, then compare.

    python benchmarks/equality.py keep BEFORE --nyc FILE --checkout OLD
    python benchmarks/equality.py keep AFTER --nyc FILE --checkpoint BEFORE/work/recap
    python benchmarks/equality.py compare BEFORE AFTER

`keep` runs the commands of a checkout (the folder it is started in, or --checkout) on one thread, in a user folder of
its own. On the demo city: the commands of equality.toml, trainings among them. On NYC: `prepare`, `stats`, `evaluate`
of the counters, of `feature_curves` and of a small RECAP with the paper's parts, `explain` of 50 test cases.
FOLDER/demo and FOLDER/nyc hold what they print (.json), records and tables (.parquet), weights (.safetensors);
FOLDER/work holds NYC's rows. With --checkpoint NYC's model is read and not trained again, with --bundle the demo city
of an earlier checkout is used: both show that old files can still be read. Without, that trainings are equal is shown.

`compare` prints each JSON path, table column and tensor that differs, and exits with 1 if any does. Equal are JSON
values and columns of one type and value (NaN equals NaN), and tensors bit for bit, but for what equality.toml lists as
times, versions and the machine; folders inside a text are named. Only `keep`s of one machine and its libraries compare:
others may sum in another order. Without NYC both fail unless told --demo-only.
"""

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.compute as pc
import pyarrow.parquet as pq
import torch
from safetensors.torch import load_file

COMMANDS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
NOT_COMPARED = COMMANDS["not_compared"]
WAIT_SECONDS = 900.0
SHOWN_PER_FILE = 12
LIST_COMMANDS = """
import json, typer
from typer.main import get_command
def walk(command, name):
    for child, inner in sorted(getattr(command, "commands", {}).items()):
        yield from walk(inner, f"{name} {child}".strip())
    if not hasattr(command, "commands"):
        yield name, {option: str(p.default) for p in command.params for option in (*p.opts, *p.secondary_opts)}
typer.Typer.__call__ = lambda app, *_, **__: print(json.dumps(dict(walk(get_command(app), ""))))
"""
"""Put before the entry point, it prints every command's options and defaults in place of running one."""


class Product:
    """The `recap` command of a checkout; ``kept`` gets its output, ``work`` its files, ``places`` fills in braces."""

    def __init__(self, checkout: Path, kept: Path, work: Path) -> None:
        self.kept, self.work, self.home = kept, work, work / "home"
        self.places: dict[str, object] = {"work": work}
        self.said: set[str] = set()
        self.seconds: dict[str, float] = {}
        for folder in (kept, self.home, work / "elsewhere"):
            folder.mkdir(parents=True)
        script = tomllib.loads((checkout / "pyproject.toml").read_text(encoding="utf-8"))["project"]["scripts"]["recap"]
        module, _, function = script.partition(":")
        self.entry = f"import sys; from {module} import {function}; sys.argv[0] = 'recap'; {function}()"
        others = {name: value for name, value in os.environ.items() if not name.startswith("RECAP_")}
        own = {"PYTHONPATH": str(checkout), "RECAP_HOME": str(self.home), "CUDA_VISIBLE_DEVICES": ""}
        self.environment = others | own | {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
        found = self.python("import recap; print(recap.__file__)").strip()
        if not Path(found).is_relative_to(checkout):
            sys.exit(f"equality: {checkout} should run, but Python imports {found}; use that checkout's environment")

    def run_all(self, commands: dict[str, str]) -> None:
        """Run commands and keep what each prints as NAME.json."""
        for name, words in commands.items():
            started = time.perf_counter()
            extra = ["--records", str(self.kept / f"{name}.parquet")] if words.startswith("evaluate ") else []
            payload = self.ask(words, *extra)
            self.keep_json(name, payload)
            self.said.add(" ".join(words.split()[: 2 if words.startswith(("runs ", "experiment ")) else 1]))
            self.seconds[name] = round(time.perf_counter() - started, 1)
            print(f"{self.kept.name} {name}: {self.seconds[name]} s", file=sys.stderr, flush=True)

    def ask(self, words: str, *extra: str) -> Any:
        """What a command prints with --json."""
        small = " ".join(f"--set {setting}" for setting in COMMANDS["small"])
        spelt = [word.format(**self.places) for word in words.replace("{small}", small).split()]
        return json.loads(self.python(self.entry, *spelt, *extra, "--json"))

    def wait(self, run: str, state: str) -> None:
        """Wait until a background run is in a state; exit if it ended in another."""
        deadline = time.monotonic() + WAIT_SECONDS
        while (now := self.ask(f"runs show {run}"))["state"] != state:
            if now["state"] in ("finished", "failed", "lost") or time.monotonic() > deadline:
                sys.exit(f"equality: run {run} should become {state}, it is {now['state']} ({now['error']})")
            time.sleep(0.5)

    def keep_json(self, name: str, payload: Any) -> None:
        text = json.dumps(payload, indent=1, ensure_ascii=False)
        (self.kept / f"{name}.json").write_text(text + "\n", encoding="utf-8")

    def keep_checkpoint(self, name: str, folder: Path) -> None:
        for weights in ("model", "best_overall"):
            file = folder / f"{weights}.safetensors"
            # The best of all epochs may be the kept one: then there is one file.
            source = file if file.is_file() else folder / "model.safetensors"
            shutil.copyfile(source, self.kept / f"{name}-{weights}.safetensors")
        for part in ("checkpoint", "summary"):
            self.keep_json(f"{name}-{part}", json.loads((folder / f"{part}.json").read_text(encoding="utf-8")))

    def keep_cache(self, labels: dict[str, Path]) -> None:
        """Keep the tables of the user's cache; in names, labels replace checkpoint hashes."""
        sums = {label: (folder / "SHA256SUMS").read_bytes() for label, folder in labels.items()}
        for file in sorted((self.home / "cache").rglob("*.parquet")):
            name = file.name
            for label, text in sums.items():
                name = name.replace(hashlib.sha256(text).hexdigest()[:24], label)
            shutil.copyfile(file, self.kept / f"cache-{name}")

    def python(self, code: str, *arguments: str) -> str:
        command = [sys.executable, "-P", "-c", code, *arguments]
        done = subprocess.run(  # noqa: S603 # an argument list of our own words
            command, env=self.environment, cwd=self.work / "elsewhere", capture_output=True, text=True
        )
        if done.returncode:
            last = (done.stderr.strip() or "no word on stderr").splitlines()[-1]
            sys.exit(f"equality: `recap {' '.join(arguments)}` ended with {done.returncode}: {last}")
        return done.stdout


def keep_demo(recap: Product, bundle: Path) -> None:
    """Every command on the bundled city."""
    data, model, paper, work = bundle / "dataset", bundle / "checkpoint", bundle / "paper", recap.work
    recap.places |= {"bundle": bundle, "data": data, "model": model, "paper": paper, "raw": work / "raw"}
    recap.places["mapping"] = write_raw(data, work / "raw")
    experiment = COMMANDS["experiment"].replace("{small}", json.dumps(COMMANDS["small"]))
    (work / "equality.toml").write_text(experiment, encoding="utf-8")
    todo = COMMANDS["demo"]
    recap.keep_json("commands", json.loads(recap.python(LIST_COMMANDS + recap.entry)))
    recap.run_all(todo["submit"])  # they train meanwhile
    recap.run_all(todo["data"] | COMMANDS["counters"] | todo["models"])
    records = pq.read_table(recap.kept / "evaluate-demo.parquet", columns=["case", "rank", "target"])
    hits = records.filter(pc.field("rank") <= 3).to_pylist()[:4]
    recap.places |= {"fifty": spread(len(records), 50), "hits": ",".join(str(row["case"]) for row in hits), **hits[0]}
    recap.run_all(todo["cases"])
    for name in ("foursquare", "own"):
        recap.keep_json(f"prepared-{name}", json.loads((work / name / "dataset.json").read_text(encoding="utf-8")))
        for table in ("checkins", "pois", "users"):
            shutil.copyfile(work / name / f"{table}.parquet", recap.kept / f"prepared-{name}-{table}.parquet")
    for name in ("paper", "default"):
        recap.keep_checkpoint(name, work / name)
        lines = (work / name / "training" / "metrics.jsonl").read_text(encoding="utf-8").splitlines()
        recap.keep_json(f"{name}-metrics", [json.loads(line) for line in lines])
    for number, file in enumerate(sorted((work / "experiments").glob("trainings/*/training/*.parquet"))):
        shutil.copyfile(file, recap.kept / f"experiment-records-{number}.parquet")
    keep_runs(recap, todo)
    recap.keep_cache({"demo": model, "bundled-paper": paper} | {f"run-{run}": work / f"run-{run}" for run in "123"})


def keep_runs(recap: Product, todo: dict[str, dict[str, str]]) -> None:
    """Background runs: two trained to their end, one stopped in between, resumed and removed."""
    runs = recap.home / "runs"
    recap.wait("1", "finished")
    recap.wait("2", "finished")
    recap.run_all(todo["trained"])
    recap.wait("3", "running")
    recap.run_all(todo["stop"])
    recap.wait("3", "stopped")
    recap.run_all(todo["resume"])
    recap.wait("3", "finished")
    recap.run_all(todo["resumed"])
    for run in "123":
        checkpoint = shutil.copytree(runs / run / "checkpoints" / f"run-{run}", recap.work / f"run-{run}")
        recap.keep_checkpoint(f"run-{run}", checkpoint)
    recap.run_all(todo["remove"])


def keep_nyc(recap: Product, raw: Path, checkpoint: Path | None) -> None:
    """The paper's first data set."""
    model = recap.work.parent / "recap" if checkpoint is None else checkpoint
    recap.places |= {"raw": raw, "data": recap.work / "nyc", "model": model}
    todo = COMMANDS["nyc"]
    recap.run_all(todo["data"])
    if checkpoint is None:
        recap.ask(todo["train"]["train"])
    recap.run_all(COMMANDS["counters"])
    recap.keep_checkpoint("recap", model)
    recap.places["fifty"] = spread(pq.read_metadata(recap.kept / "evaluate-markov.parquet").num_rows, 50)
    recap.run_all(todo["model"])


def spread(number: int, wanted: int) -> str:
    """Evenly spread case numbers, with commas."""
    return ",".join(str(case) for case in np.unique(np.linspace(0, number - 1, wanted).astype(int)))


def write_raw(dataset: Path, folder: Path) -> str:
    """Write the city's check-ins as a Foursquare file and as an own table; returns the latter's column mapping."""
    folder.mkdir()
    tables = {name: pq.read_table(dataset / f"{name}.parquet").to_pandas() for name in ("checkins", "pois", "users")}
    rows = tables["checkins"].join(tables["pois"], on="poi").join(tables["users"], on="user").sort_values("source_row")
    rows["clock"] = rows["time"].dt.strftime("%a %b %d %H:%M:%S +0000 %Y")
    columns = ["user_id", "poi_id", "category_id", "category", "latitude", "longitude", "tz_offset_minutes", "clock"]
    rows[columns].to_csv(folder / "foursquare.txt", sep="\t", header=False, index=False)
    own = {"user_id": "who", "poi_id": "where", "time": "when", "latitude": "y", "longitude": "x", "poi_name": "called"}
    rows[list(own)].rename(columns=own).to_csv(folder / "own.csv", index=False)
    return "user=who,poi=where,time=when,lat=y,lon=x,name=called"


def keep(options: argparse.Namespace) -> int:
    """Run the commands and keep their output; demo city and NYC run in parallel, each on one thread."""
    folder, checkout = options.folder.absolute(), options.checkout.absolute()
    if not (checkout / "pyproject.toml").is_file():
        sys.exit(f"equality: {checkout} holds no pyproject.toml; start it in a checkout, or name one with --checkout")
    if folder.exists() and any(folder.iterdir()):
        sys.exit(f"equality: {folder} is not empty; choose another folder or remove it")
    if not options.demo_only and (options.nyc is None or not options.nyc.is_file()):
        given = "none was named" if options.nyc is None else f"{options.nyc} is not there"
        sys.exit(f"equality: the NYC file is needed, {given}; give --nyc FILE or set RECAP_NYC, or choose --demo-only")
    started = time.perf_counter()
    bundle = checkout / "checkpoints" / "demo-city" if options.bundle is None else options.bundle.absolute()
    replaced = {str(bundle): "<bundle>", str(checkout): "<checkout>", str(folder): "<folder>"}
    products = {part: Product(checkout, folder / part, folder / "work" / part) for part in options.parts}
    with ThreadPoolExecutor(len(products)) as pool:
        futures = [pool.submit(keep_demo, products["demo"], bundle)]
        if not options.demo_only:
            checkpoint = None if options.checkpoint is None else options.checkpoint.absolute()
            replaced |= {str(checkpoint or folder / "work" / "recap"): "<recap>"}
            futures.append(pool.submit(keep_nyc, products["nyc"], options.nyc.absolute(), checkpoint))
        for future in futures:
            future.result()
    facts = {"replaced": replaced, "seconds": {part: product.seconds for part, product in products.items()}}
    (folder / "kept.json").write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")
    commands = json.loads((folder / "demo" / "commands.json").read_text(encoding="utf-8")).items()
    line = {
        "kept": str(folder),
        "files": sum(len(list((folder / part).iterdir())) for part in products),
        "commands_with_json_not_run": sorted({n for n, known in commands if "--json" in known} - products["demo"].said),
        "seconds": round(time.perf_counter() - started, 1),
    }
    print(json.dumps(line))
    return 0


def compare(options: argparse.Namespace) -> int:
    """Print what differs; 1 if anything does."""
    kept = [read_kept(folder) for folder in (options.before, options.after)]
    counted = {"files": 0, "json_values": 0, "table_cells": 0, "tensor_elements": 0}
    different = 0
    for part in options.parts:
        folders = [folder / part for folder in (options.before, options.after)]
        for folder in folders:
            if not folder.is_dir():
                sys.exit(f"equality: {folder} is not there; keep it with --nyc FILE, or choose --demo-only")
        for name in sorted({file.name for folder in folders for file in folder.iterdir()}):
            files = [folder / name for folder in folders]
            missing = [str(file) for file in files if not file.is_file()]
            if missing:
                lines = [f"{missing[0]} is missing"]
            elif name.endswith(".json"):
                one, other = (read_json(file, facts) for file, facts in zip(files, kept, strict=True))
                lines = list(json_differences(name.removesuffix(".json"), one, other, counted))
            elif name.endswith(".parquet"):
                lines = list(table_differences(files[0], files[1], counted))
            else:
                lines = list(tensor_differences(files[0], files[1], counted))
            counted["files"] += not missing
            different += len(lines)
            for line in lines[:SHOWN_PER_FILE]:
                print(f"{part}/{name}: {line}")
            if len(lines) > SHOWN_PER_FILE:
                print(f"{part}/{name}: and {len(lines) - SHOWN_PER_FILE} more differences")
    print(json.dumps({"different": different, "compared": counted}))
    return int(different > 0)


def read_kept(folder: Path) -> dict[str, str]:
    """Replacements in the texts of a folder; the longest folder first."""
    try:
        replaced: dict[str, str] = json.loads((folder / "kept.json").read_text(encoding="utf-8"))["replaced"]
    except (OSError, ValueError, KeyError):
        sys.exit(f"equality: {folder} was not kept to its end; keep it again")
    return dict(sorted(replaced.items(), key=lambda item: -len(item[0])))


def read_json(file: Path, replaced: dict[str, str]) -> Any:
    """A kept value with replaced folders."""
    text = file.read_text(encoding="utf-8")
    for path, name in replaced.items():
        text = text.replace(path, name)
    return json.loads(text)


def json_differences(stem: str, before: Any, after: Any, counted: dict[str, int]) -> Iterator[str]:
    """Plain values that are not in both, or differ in type or value; NaN equals NaN."""
    sides = [dict(leaves(value, stem)) for value in (before, after)]
    for address in dict.fromkeys([*sides[0], *sides[1]]):
        one, other = (repr(side[address]) if address in side else "nothing" for side in sides)
        if "nothing" not in (one, other) and any(fnmatchcase(address, pattern) for pattern in NOT_COMPARED):
            continue
        counted["json_values"] += 1
        if one != other:
            yield f"{address.removeprefix(stem)}: {one} became {other}"


def leaves(value: Any, address: str) -> Iterator[tuple[str, Any]]:
    """Every plain value with its path; an empty list or object is one."""
    if isinstance(value, dict) and value:
        for key, inner in value.items():
            yield from leaves(inner, f"{address}.{key}")
    elif isinstance(value, list) and value:
        for number, inner in enumerate(value):
            yield from leaves(inner, f"{address}[{number}]")
    else:
        yield address, value


def table_differences(before: Path, after: Path, counted: dict[str, int]) -> Iterator[str]:
    """Columns that are not in both or differ, with the first differing row; then metadata."""
    sides = [pq.read_table(path) for path in (before, after)]
    if sides[0].num_rows != sides[1].num_rows:
        yield f"{sides[0].num_rows} rows became {sides[1].num_rows}"
        return
    for name in dict.fromkeys([*sides[0].column_names, *sides[1].column_names]):
        if not all(name in side.column_names for side in sides):
            yield f"column {name} is only in {before if name in sides[0].column_names else after}"
            continue
        columns = [side[name] for side in sides]
        if columns[0].type != columns[1].type:
            yield f"column {name}: {columns[0].type} became {columns[1].type}"
        else:
            counted["table_cells"] += len(columns[0])
            if columns[0].equals(columns[1]):
                continue
            # NaN differs from itself, its text does not.
            pairs = list(zip(*(map(repr, column.to_pylist()) for column in columns), strict=True))
            rows = [row for row, (one, other) in enumerate(pairs) if one != other]
            if rows:
                values = " became ".join(pairs[rows[0]])
                yield f"column {name}: {len(rows)} of {len(pairs)} rows differ, first row {rows[0]}: {values}"
    said = [{k.decode(): v.decode() for k, v in (side.schema.metadata or {}).items()} for side in sides]
    for key in sorted({*said[0], *said[1]} - {"pandas", "checkpoint_hash"}):  # pandas writes its version there
        counted["json_values"] += 1
        if said[0].get(key) != said[1].get(key):
            yield f"metadata {key}: {said[0].get(key)!r} became {said[1].get(key)!r}"


def tensor_differences(before: Path, after: Path, counted: dict[str, int]) -> Iterator[str]:
    """Tensors that are not in both, or differ in a bit."""
    sides = [load_file(path) for path in (before, after)]
    for name in dict.fromkeys([*sides[0], *sides[1]]):
        if name not in sides[0] or name not in sides[1]:
            yield f"tensor {name} is only in {before if name in sides[0] else after}"
            continue
        one, other = (side[name].contiguous().flatten() for side in sides)
        shapes = [f"{side[name].dtype}{list(side[name].shape)}" for side in sides]
        counted["tensor_elements"] += one.numel()
        if shapes[0] != shapes[1]:
            yield f"tensor {name}: {shapes[0]} became {shapes[1]}"
        elif not torch.equal(one.view(torch.uint8), other.view(torch.uint8)):
            bits = [side.view(torch.uint8).view(len(one), -1) for side in (one, other)]
            at = (bits[0] != bits[1]).any(dim=1).nonzero().flatten().tolist()
            values = f"{one[at[0]].item()!r} became {other[at[0]].item()!r}"
            yield f"tensor {name}: {len(at)} of {len(one)} elements differ, first element {at[0]}: {values}"


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    keeping = commands.add_parser("keep", help="run the commands of a checkout and keep what they say")
    keeping.add_argument("folder", type=Path, help="an empty or new folder")
    nyc = os.environ.get("RECAP_NYC")
    keeping.add_argument("--nyc", type=Path, default=nyc and Path(nyc), metavar="FILE", help="the raw NYC file")
    keeping.add_argument("--checkpoint", type=Path, help="the model of an earlier keep, FOLDER/work/recap")
    keeping.add_argument("--bundle", type=Path, help="the demo city of an earlier checkout; its own by default")
    keeping.add_argument("--checkout", type=Path, default=Path.cwd(), help="the code to run; the current folder")
    comparing = commands.add_parser("compare", help="print what differs between two kept folders")
    comparing.add_argument("before", type=Path)
    comparing.add_argument("after", type=Path)
    for command, act in ((keeping, keep), (comparing, compare)):
        command.add_argument("--demo-only", action="store_true", help="leave NYC out")
        command.set_defaults(act=act)
    options = parser.parse_args(arguments)
    options.parts = ("demo",) if options.demo_only else ("demo", "nyc")
    return int(options.act(options))


if __name__ == "__main__":
    sys.exit(main())
