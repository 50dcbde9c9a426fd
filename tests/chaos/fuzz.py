"""A fuzzer over mutated inputs, forged folders and hostile names, from the file to terminal, HTML, log and page.

    python -m tests.chaos.fuzz --minutes 5
    python -m tests.chaos.fuzz --seed 7 --first 123 --cases 1      # one case again

Commands run in this process, one in 200 in its own; pages are opened as the app's tests open them. Prints one JSON line
for each finding and one at the end; exit code 1 where there was a finding: a traceback, another exit code, a control
character, an outside request, a half-written folder, more than 1 GB, more than 30 s of the processor or ten minutes in
all.
"""

import argparse
import json
import os
import resource
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, Final, TypeVar
from unittest.mock import patch

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.random import Generator

from app.pages import PAGES
from recap import columns as c
from recap.data.dataset import Dataset, hash_tables
from recap.data.preparation import prepare_dataset
from recap.data.reading import SOURCE_FORMATS
from recap.errors import RecapError
from recap.pretrained import curves_file
from recap.pretrained.curves_file import PretrainedCurves
from recap.storage.artifacts import write_sums
from recap.storage.frames import SUFFIXES
from tests.chaos.fuzz_pages import CONTROLS, Page, findings_on
from tests.checkins import LENIENT, raw_table
from tests.cli_runner import recap_here
from tests.recap.data.other_files.test_exports import EXPORTS
from tests.recap.data.test_mutations import DAMAGES, PARQUET_DAMAGES, Damage, cut, flip_bytes
from tests.shell import RECAP
from tests.sources import write_source
from tests.untrained import write_untrained_checkpoint
from tests.worlds import habit_rows

Choice = TypeVar("Choice")
NAMES: Final = (
    "\x1b]0;owned\x07\x1b[31m",
    "\x9b2J\u202e\u2066\u2028",
    "<script>alert(1)</script><img src=https://evil.example/a.png>",
    "![x](https://evil.example/b.png) [y](javascript:alert(1)) www.evil.example a@evil.example",
    "[bold]x[/bold] [/nope] :smile: $x^2$",
    "=cmd|' /C calc'!A0",
    "{{ 7 * 7 }} {% raw %} %s %(x)s {0}",
    "../../etc/passwd",
    "x" * 3000,
    "\ud7ff\ufffe\r\n\tend",
    "",
    "Zoë 寿司 🍣",
)
LINK_FIELDS: Final = (
    *("source", "dataset", "checkpoint", "case", "cases", "about", "metric", "answers", "at", "cell", "collection"),
    *("edits", "lesson", "list", "open", "place", "ready", "run", "search", "show", "upload", "predictions"),
    *("part", "user", "row", "stops", "days", "new", "happened"),
)
"""What links of the app carry."""
PREDICTION_LINKS: Final = (
    {"part": "one", "user": "3", "row": "57", "stops": "x1,m0.-15,9.30", "happened": "true", "place": "4"},
    {"part": "try", "stops": "3.30,9.45,0.600", "new": "true"},
    {"part": "everyone", "days": "3", "place": "4"},
)
"""Links of Next."""
ODD_TIMES: Final = ("2012-04-09", "2012-04-09T12:47+99:00", "0001-01-01", "9999-12-31T23:59:59", "soon", "", "1e99")
ODD_STOPS: Final = ("0", "-1", "9" * 30, "9" * 9, "٣", "x999999", "m0.999999", "0.0," * 20, "1.5.5")
ODD_OPTIONS: Final = {"--as-of": ODD_TIMES, "--at": ODD_TIMES, "--user": NAMES, "--shard": ("2/3", "0/0", "9/8", "x")}
"""Options of `predict` with values that may mean nothing."""
ODD_JSON: Final[tuple[Any, ...]] = (None, -1, 10**9, 1e308, float("nan"), "x\x1b[31m", [], {}, True, "9" * 5000)
ODD_CELLS: Final = (None, -7, 9, 10**9, 2**40, "x", np.nan, -1.5)
MULTILINE: Final = ["--text", "multiline=true"]
LENIENT_SET: Final = ["--set", "min_poi_checkins=1", "--set", "min_user_checkins=1"]
ON_FORGED: Final = (
    "stats {data}",
    "evaluate --data {data} markov --records {folder}/r.parquet",
    "evaluate {checkpoint} --data {data} --records {folder}/r.parquet",
    "explain {checkpoint} --data {data} --case 1",
    "long-tail {checkpoint} --data {data} --full",
    "compare visit_count {checkpoint} --data {data}",
    "curves {checkpoint} --data {data}",
    "overview {checkpoint} --data {data}",
)
ON_HOSTILE: Final = (
    *("explain {both} --case 0 --html {folder}/e.html", "explain {both} --case 0 --json", "overview {both}"),
    *("long-tail {both}", "cases find {both}", "stats {data}"),
)


@dataclass(frozen=True)
class Case:
    """A command line, the dataset folder or file of predictions that it may write, and what replaces the package's
    pretrained curves; or a page of the app, whose command line is ``app`` and the view's name."""

    what: str
    arguments: list[str]
    out: Path | None = None
    page: Page | None = None
    curves: Path | None = None


class Originals:
    """Good sources, a dataset and a checkpoint, written once."""

    def __init__(self, folder: Path) -> None:
        self.sources: dict[str, tuple[Path, list[str]]] = {}
        for name in SOURCE_FORMATS:
            place = folder / name
            place.mkdir(parents=True)
            path, options = write_source(place, name)
            self.sources[name] = (path, ["--timezone", options.timezone or "UTC"])
        for name, (export, text) in EXPORTS.items():
            path = folder / name
            path.write_text(text(), encoding="utf-8")
            self.sources[f"{export} {name}"] = (path, ["--timezone", "Europe/Berlin"])
        later = raw_table([(user, poi, hour + 9000) for user, poi, hour in habit_rows()])
        later.rename(columns={c.TZ_OFFSET_MINUTES: "tz"}).to_csv(folder / "later.csv", index=False)
        self.sources["csv later"] = (folder / "later.csv", [])
        self.data, self.checkpoint = folder / "data", folder / "checkpoint"
        _save(raw_table(habit_rows()), "", folder)


def _save(raw: pd.DataFrame, name: str, folder: Path) -> None:
    """The raw table as a dataset with a checkpoint."""
    dataset = prepare_dataset(raw, LENIENT, name=f"city {name}", source_format="test")
    dataset.save(folder / "data")
    write_untrained_checkpoint(dataset, folder / "checkpoint")


def pick(rng: Generator, options: Sequence[Choice]) -> Choice:
    return options[int(rng.integers(0, len(options)))]


def maybe(rng: Generator, share: float, *words: str) -> list[str]:
    """These words with this probability, else none."""
    return [*words] if rng.random() < share else []


def damaged(rng: Generator, victim: Path, damages: Sequence[Damage], most: int = 3) -> str:
    """Damage a file up to three times; returns how."""
    done = [f"{victim.name}:"]
    for damage in (pick(rng, damages) for _ in range(int(rng.integers(1, most + 1)))):
        try:
            victim.write_bytes(damage(victim.read_bytes(), rng))
        except Exception:  # nothing is left to damage
            break
        done.append(damage.__name__)
    return " ".join(done)


def filled(template: str, **places: str | Path) -> list[str]:
    """A command line with the places filled in, which may hold blanks."""
    return [part for word in template.split() for part in word.format(**places).split("\0")]


def damaged_source(originals: Originals, folder: Path, rng: Generator) -> Case:
    """One to three kinds of damage to one file of a source, a personal export or later check-ins."""
    name = pick(rng, [*originals.sources])
    path, zone = originals.sources[name]
    copy = folder / path.name
    shutil.copytree(path, copy) if path.is_dir() else shutil.copy(path, copy)
    victim = pick(rng, [copy] if copy.is_file() else sorted(copy.iterdir()))
    of_json = [change_json] * 12 if path.suffix == ".json" else []  # other damage leaves no document
    what = f"{name} {damaged(rng, victim, PARQUET_DAMAGES if name == 'parquet' else [*DAMAGES, *of_json])}"
    form = name.partition(" ")[0] if rng.random() < 0.6 else "auto"
    read, skip = [str(copy), "--format", form, *zone], maybe(rng, 0.6, "--skip-bad-rows")
    match pick(rng, ("inspect", "prepare", "predict")):
        case "inspect":
            return Case(what, ["inspect", *read, *maybe(rng, 0.5, "--json")])
        case "prepare":
            out = folder / "out"
            return Case(what, ["prepare", *read, "--out", str(out), *LENIENT_SET, *skip], out)
    out = folder / f"out{pick(rng, SUFFIXES)}"
    model = pick(rng, ["visit_count", "pretrained", str(originals.checkpoint)])
    later, odd = ["--checkins", *read, *skip, "--out", str(out)], _odd_options(rng)
    return Case(what, ["predict", model, "--data", str(originals.data), *later, *odd], out)


def _odd_options(rng: Generator) -> list[str]:
    return [word for name, odd in ODD_OPTIONS.items() for word in maybe(rng, 0.05, name, pick(rng, odd))]


def damaged_pretrained(originals: Originals, folder: Path, rng: Generator) -> Case:
    """The package's file of pretrained curves, damaged."""
    curves = folder / "pretrained.json"
    shutil.copy(curves_file.data_path("recap", "pretrained.json"), curves)
    what = damaged(rng, curves, [flip_bytes, cut, *[change_json] * 4])
    data = ["pretrained", "--data", str(originals.data)]
    if rng.random() < 0.4:
        out, odd = folder / f"out{pick(rng, SUFFIXES)}", _odd_options(rng)
        return Case(what, ["predict", *data, "--out", str(out), *odd], out, curves=curves)
    command = pick(rng, (["evaluate", *data], ["explain", *data, "--case", "1"], ["curves", *data]))
    return Case(what, command, curves=curves)


def prediction_link(originals: Originals, folder: Path, rng: Generator) -> Case:
    """A link of Next with one or two fields changed."""
    params = dict(pick(rng, PREDICTION_LINKS))
    for name in rng.choice(list(params), int(rng.integers(1, 3))):
        params[name] = pick(rng, [*NAMES, *ODD_STOPS, params[name][:-1]])
    page = Page("next", originals.data, originals.checkpoint, params)
    return Case(f"link of Next {ascii(params)[:200]}", ["app", "next"], page=page)


def forged_folder(originals: Originals, folder: Path, rng: Generator) -> Case:
    """A dataset or checkpoint with a change, its hashes written again most of the time, given to any command."""
    data, checkpoint = folder / "data", folder / "checkpoint"
    shutil.copytree(originals.data, data)
    shutil.copytree(originals.checkpoint, checkpoint)
    victim, manifest = (data, "dataset.json") if rng.random() < 0.65 else (checkpoint, "checkpoint.json")
    changes: list[Callable[[], str]] = [lambda: _forge_table(data, rng)] * 2 if victim == data else []
    changes.append(lambda: damaged(rng, victim / manifest, [change_json], most=1))
    changes += [lambda: damaged(rng, pick(rng, sorted(victim.iterdir())), [flip_bytes, cut], most=1)] * 2
    what = f"{victim.name}: {pick(rng, changes)()}"
    if rng.random() < 0.85:
        write_sums(victim, [path.name for path in victim.iterdir() if path.name != "SHA256SUMS"])
        what += ", hashes written again"
    return Case(what, filled(pick(rng, ON_FORGED), data=data, checkpoint=checkpoint, folder=folder))


def _with_hostile_names(rng: Generator) -> pd.DataFrame:
    """A raw table whose ids and names want to be markup, formulas or control sequences."""
    raw = raw_table(habit_rows(num_users=4, num_walks=6))
    for column in (c.USER_ID, c.POI_ID, c.CATEGORY, c.CATEGORY_ID):
        names = [pick(rng, NAMES) + (str(i) if column in (c.USER_ID, c.POI_ID) else "") for i in range(40)]
        raw[column] = pd.Categorical([names[code % len(names)] for code in raw[column].cat.codes])
    return raw


def hostile_page(originals: Originals, folder: Path, rng: Generator) -> Case:
    """A view of the app on hostile names, opened by a link that may name what is not there."""
    _save(_with_hostile_names(rng), pick(rng, NAMES)[:80], folder)
    view = pick(rng, PAGES).name
    params = {name: pick(rng, [*NAMES, "0", "-1", "9" * 30]) for name in LINK_FIELDS if rng.random() < 0.2}
    page = Page(view, folder / "data", folder / "checkpoint", params)
    return Case(f"hostile names on {view}, link {sorted(params)}", ["app", view], page=page)


def hostile_names(originals: Originals, folder: Path, rng: Generator) -> Case:
    """Names, ids, columns and paths that want to be markup, formulas or control sequences, end to end."""
    raw, name = _with_hostile_names(rng), pick(rng, NAMES)[:80]
    place = folder / "[bold]x[" / "] \x1b[31m"
    place.mkdir(parents=True)
    if rng.random() < 0.35:
        _save(raw, name, place)
        both = f"{place / 'checkpoint'}\0--data\0{place / 'data'}"
        arguments = filled(pick(rng, ON_HOSTILE), both=both, data=place / "data", folder=place)
        return Case("hostile names through the explanations", arguments)
    source = place / f"own{pick(rng, range(9))}[b].csv"
    column = pick(rng, NAMES)[:60].replace(",", " ").strip() or "k"
    frame = raw.astype(dict.fromkeys((c.USER_ID, c.POI_ID, c.CATEGORY, c.CATEGORY_ID), str))
    frame = frame.rename(columns={c.TZ_OFFSET_MINUTES: "tz", c.CATEGORY: column})
    frame.to_csv(source, index=False, date_format="%Y-%m-%d %H:%M:%S", errors="replace")
    if rng.random() < 0.2:
        return Case("hostile names through inspect", ["inspect", str(source), *MULTILINE])
    out = place / "out"
    options = [*LENIENT_SET, *MULTILINE, *maybe(rng, 0.5, "--map", f"category={column}")]
    arguments = ["prepare", str(source), "--out", str(out), "--name", name, *options]
    return Case("hostile names through prepare", arguments, out)


FAMILIES: Final = (damaged_source, damaged_pretrained, forged_folder, hostile_names, hostile_page, prediction_link)
SHARES: Final = (0.45, 0.1, 0.27, 0.12, 0.03, 0.03)
"""How often each is drawn; pages, the slowest, are the fewest."""


def _forge_table(folder: Path, rng: Generator) -> str:
    """A table with another value, column, type or order, the content hash brought up to date."""
    dataset = Dataset.load(folder)
    tables = {name: getattr(dataset, name).copy() for name in ("checkins", "pois", "users")}
    name = pick(rng, [*tables])
    column = str(pick(rng, [*tables[name].columns]))
    change = pick(rng, TABLE_CHANGES)
    tables[name] = change(tables[name], column, rng)
    what = f"{name}.{column} {change.__name__}"
    try:
        pq.write_table(pa.Table.from_pandas(tables[name], preserve_index=False), folder / f"{name}.parquet")
        digest = hash_tables(*tables.values())
    except (pa.ArrowException, ValueError, TypeError, AttributeError):
        return f"{what}, not written"
    manifest = json.loads((folder / "dataset.json").read_text()) | {"dataset_hash": digest}
    (folder / "dataset.json").write_text(json.dumps(manifest))
    return what


def _other_value(table: pd.DataFrame, column: str, rng: Generator) -> pd.DataFrame:
    values = table[column].astype(object)
    values.iloc[pick(rng, range(len(table)))] = pick(rng, ODD_CELLS)
    return table.assign(**{column: values if rng.random() < 0.5 else pd.to_numeric(values, errors="coerce")})


def _other_rows(table: pd.DataFrame, column: str, rng: Generator) -> pd.DataFrame:
    shuffled = table.iloc[rng.permutation(len(table))].reset_index(drop=True)
    twice, thrice = (pd.concat([table] * times, ignore_index=True) for times in (2, 3))
    return pick(rng, (shuffled, table.head(0), table.head(1), twice, thrice))


def _other_columns(table: pd.DataFrame, column: str, rng: Generator) -> pd.DataFrame:
    as_text = table.assign(**{column: table[column].astype(str)})
    more = table.assign(more=pd.Series([[1]] * len(table)) if rng.random() < 0.5 else "more")
    return pick(rng, (table.drop(columns=column), as_text, more))


TABLE_CHANGES: Final = (_other_value, _other_rows, _other_rows, _other_columns, _other_columns)


def change_json(data: bytes, rng: Generator) -> bytes:
    """A document with another value somewhere, or one fewer."""
    values: Any = json.loads(data)
    level: Any = values
    for _ in range(int(rng.integers(1, 7))):
        key = pick(rng, list(level) if isinstance(level, dict) else range(len(level)))
        if not isinstance(level[key], dict | list) or not level[key] or rng.random() < 0.2:
            level[key] = pick(rng, ODD_JSON)
            break
        level = level[key]
    else:
        del level[next(iter(level)) if isinstance(level, dict) else 0]
    text = json.dumps(values, ensure_ascii=False)
    if rng.random() < 0.05:
        text = text.replace("{", '{"deep":' + "[" * 5000 + "]" * 5000 + ",", 1)
    return text.encode()


MOST_CPU_SECONDS: Final = 30
MOST_SECONDS: Final = 600
MOST_KILOBYTES: Final = 1 << 20
OWN_PROCESS_EVERY: Final = 200
ACTIVE_TAGS: Final = ("script", "img", "iframe", "object", "embed", "link", "base", "a", "form")


class _ActiveParts(HTMLParser):
    """What in a page would run or ask for something, as a browser takes its tags apart."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        acting = [name for name, _ in attrs if name.startswith("on") or name in ("src", "href")]
        if tag in ACTIVE_TAGS or acting:
            self.found.append(f"<{tag}> {acting}")


class TooSlowError(BaseException):
    """Past every `except Exception` and `except OSError` of the code under test."""


def look_for_findings(case: Case, folder: Path, number: int) -> Iterator[str]:
    """Run a case and say what must not have happened."""
    outside: list[str] = []
    before = _peak_kilobytes()
    try:
        with _time_limit(), _no_network(outside), _pretrained_from(case.curves):
            if case.page is not None:
                yield from list(findings_on(case.page))
            elif number % OWN_PROCESS_EVERY == 0 and case.curves is None:  # ended by the time limit
                command = [str(RECAP), *case.arguments]
                done = subprocess.run(command, capture_output=True, text=True, check=False)
            else:
                done = recap_here(*case.arguments)
    except TooSlowError:
        yield f"more than {MOST_CPU_SECONDS} s of the processor, or {MOST_SECONDS} s in all"
        return
    except Exception:
        yield "traceback: " + traceback.format_exc(limit=-3).replace("\n", " | ")[-600:]
        return
    yield from (f"outside request: {address}" for address in outside)
    if _peak_kilobytes() > max(MOST_KILOBYTES, before):
        yield f"{_peak_kilobytes():,} KB"
    if case.page is None:
        yield from _bad_answers(done)
        yield from _bad_files(case, folder, done.returncode)


def _bad_answers(done: "subprocess.CompletedProcess[str]") -> Iterator[str]:
    """Anything but an answer or a refusal in one line of text."""
    if done.returncode not in (0, 2):
        yield f"exit code {done.returncode}: {done.stderr[-300:]}"
    if "No such" in done.stderr and "(see `recap" in done.stderr:
        yield f"no command of today: {done.stderr[:200]}"
    if "Traceback" in done.stderr:
        yield f"traceback: {done.stderr[-400:]}"
    if done.returncode == 2 and not (done.stderr.startswith("recap: ") and done.stderr.count("\n") == 1):
        yield f"not one line: {done.stderr[:300]!r}"
    if len(done.stderr) > 4000:
        yield f"a refusal of {len(done.stderr):,} characters"
    if CONTROLS.search(done.stdout + done.stderr):
        yield "control character on the terminal"


def _peak_kilobytes() -> int:
    return max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))


def _bad_files(case: Case, folder: Path, code: int) -> Iterator[str]:
    """Half-written folders, left-over temporary ones, pages that would act."""
    for path in folder.rglob("*"):
        if path.name.startswith(".") and path.name not in (".cache",):
            yield f"left over: {path.name}"
        if path.suffix == ".html":
            page, parts = path.read_text(encoding="utf-8"), _ActiveParts()
            parts.feed(page)
            yield from (f"{path.name} holds active HTML: {part}" for part in parts.found[:1])
            if CONTROLS.search(page):
                yield f"{path.name} holds a control character"
    if case.out is not None and case.out.exists() != (code == 0):
        yield f"{'something' if code else 'nothing'} written after exit code {code}"
    if case.out is None or not case.out.is_dir():
        return
    try:
        Dataset.load(case.out)
    except RecapError as error:
        yield f"half-written folder: {error}"
    card = case.out / "CARD.md"
    if card.is_file() and "](" in card.read_text(encoding="utf-8").replace("\\]\\(", ""):
        yield "the card holds a link or picture"


@contextmanager
def _time_limit() -> Iterator[None]:
    def stop(*_: Any) -> None:
        raise TooSlowError

    limits = {
        signal.ITIMER_PROF: (signal.SIGPROF, MOST_CPU_SECONDS),
        signal.ITIMER_REAL: (signal.SIGALRM, MOST_SECONDS),
    }
    for timer, (number, seconds) in limits.items():
        signal.signal(number, stop)
        signal.setitimer(timer, seconds)
    try:
        yield
    finally:
        for timer in limits:
            signal.setitimer(timer, 0)


@contextmanager
def _pretrained_from(file: Path | None) -> Iterator[None]:
    """Another file in the place of the package's pretrained curves."""
    if file is None:
        yield
        return
    PretrainedCurves.packaged.__func__.cache_clear()  # type: ignore[attr-defined]
    try:
        with patch.object(curves_file, "data_path", lambda package, name: file):
            yield
    finally:
        PretrainedCurves.packaged.__func__.cache_clear()  # type: ignore[attr-defined]


@contextmanager
def _no_network(outside: list[str]) -> Iterator[None]:
    real = socket.socket.connect

    def connect(self: socket.socket, address: Any) -> None:
        if self.family != socket.AF_UNIX:
            outside.append(str(address))
            raise OSError("the fuzzer lets nothing out")
        real(self, address)

    with patch.object(socket.socket, "connect", connect):
        yield


def main() -> int:
    """Run until the time or the cases are over."""
    parser = argparse.ArgumentParser(description="Fuzz the recap command.")
    parser.add_argument("--minutes", type=float, default=5.0)
    for name, default in (("--cases", 1_000_000), ("--first", 0), ("--seed", 0)):
        parser.add_argument(name, type=int, default=default)
    options = parser.parse_args()
    root = Path(tempfile.mkdtemp(prefix="recap-fuzz-"))
    os.environ |= {"OMP_NUM_THREADS": "1", "RECAP_HOME": str(root / "home")}
    counts: Counter[str] = Counter()
    began, findings = time.monotonic(), 0
    try:
        originals = Originals(root / "originals")
        os.chdir(root)
        for number in range(options.first, options.first + options.cases):
            if time.monotonic() > began + 60 * options.minutes:
                break
            rng, folder = np.random.default_rng([options.seed, number]), root / "case"
            folder.mkdir()
            family = FAMILIES[int(rng.choice(len(FAMILIES), p=SHARES))]
            case = family(originals, folder, rng)
            counts[case.arguments[0]] += 1
            for finding in look_for_findings(case, folder, number):
                findings += 1
                answer = {"seed": options.seed, "case": number, "what": case.what, "command": case.arguments[0]}
                print(json.dumps(answer | {"finding": finding}), flush=True)
            shutil.rmtree(folder)
    finally:
        os.chdir("/")
        shutil.rmtree(root, ignore_errors=True)
    facts = {"cases": sum(counts.values()), "findings": findings, "seed": options.seed, "commands": dict(counts)}
    took = round(time.monotonic() - began)
    print(json.dumps(facts | {"seconds": took, "peak_megabytes": _peak_kilobytes() >> 10}))
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
