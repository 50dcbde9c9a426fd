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
from functools import partial
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, Final
from unittest.mock import patch

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

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
    "\ud7ff\ufffe\u0000".replace("\u0000", "") + "\r\n\tend",
    "",
    "Zoë 寿司 🍣",
)
_ODD_VALUES: Final[tuple[Any, ...]] = (None, -7, 9, 10**9, 2**40, "x", np.nan, -1.5)
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
MULTILINE: Final = ["--text", "multiline=true"]
LENIENT_SET: Final = ["--set", "min_poi_checkins=1", "--set", "min_user_checkins=1"]


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


def damaged_source(originals: Originals, folder: Path, rng: np.random.Generator) -> Case:
    """One to three kinds of damage to one file of a source, a personal export or later check-ins."""
    name = str(rng.choice(list(originals.sources)))
    path, zone = originals.sources[name]
    copy = folder / path.name
    shutil.copytree(path, copy) if path.is_dir() else shutil.copy(path, copy)
    files = [copy] if copy.is_file() else sorted(copy.iterdir())
    victim = files[int(rng.integers(0, len(files)))]
    of_json = [change_json] * 12 if path.suffix == ".json" else []  # other damage leaves no document
    damages = PARQUET_DAMAGES if name == "parquet" else [*DAMAGES, *of_json]
    what = f"{name} {victim.name}: {', '.join(_damage(victim, damages, rng))}"
    form = name.partition(" ")[0] if rng.random() < 0.6 else "auto"
    skip = ["--skip-bad-rows"] if rng.random() < 0.6 else []
    read = [str(copy), "--format", form, *zone]
    match int(rng.integers(0, 3)):
        case 0:
            return Case(what, ["inspect", *read, *(["--json"] if rng.random() < 0.5 else [])])
        case 1:
            out = folder / "out"
            return Case(what, ["prepare", *read, "--out", str(out), *LENIENT_SET, *skip], out)
    out = folder / f"out{rng.choice(SUFFIXES)}"
    model = str(rng.choice(["visit_count", "pretrained", str(originals.checkpoint)]))
    later = ["--checkins", *read, *skip, "--out", str(out)]
    return Case(what, ["predict", model, "--data", str(originals.data), *later, *_odd_moment(rng)], out)


def _damage(victim: Path, damages: Sequence[Damage], rng: np.random.Generator) -> list[str]:
    """Damage a file up to three times; returns how."""
    done = []
    for _ in range(int(rng.integers(1, 4))):
        damage = damages[int(rng.integers(0, len(damages)))]
        try:
            victim.write_bytes(damage(victim.read_bytes(), rng))
        except Exception:  # nothing is left to damage
            break
        done.append(damage.__name__)
    return done


def _odd_moment(rng: np.random.Generator) -> list[str]:
    """Now and then an option of `predict` with a value that may mean nothing."""
    odd = {"--as-of": ODD_TIMES, "--at": ODD_TIMES, "--user": NAMES, "--shard": ("2/3", "0/0", "9/8", "x")}
    return [word for name in odd if rng.random() < 0.05 for word in (name, str(rng.choice(odd[name])))]


def damaged_pretrained(originals: Originals, folder: Path, rng: np.random.Generator) -> Case:
    """The package's file of pretrained curves, damaged."""
    curves = folder / "pretrained.json"
    shutil.copy(curves_file.data_path("recap", "pretrained.json"), curves)
    what = f"pretrained.json: {', '.join(_damage(curves, [flip_bytes, cut, *[change_json] * 4], rng))}"
    data = ["pretrained", "--data", str(originals.data)]
    out = folder / f"out{rng.choice(SUFFIXES)}"
    if rng.random() < 0.4:
        return Case(what, ["predict", *data, "--out", str(out), *_odd_moment(rng)], out, curves=curves)
    commands = (["evaluate", *data], ["explain", *data, "--case", "1"], ["curves", *data])
    return Case(what, commands[int(rng.integers(0, len(commands)))], curves=curves)


def prediction_link(originals: Originals, folder: Path, rng: np.random.Generator) -> Case:
    """A link of Next with one or two fields changed."""
    params = dict(PREDICTION_LINKS[int(rng.integers(0, len(PREDICTION_LINKS)))])
    for name in rng.choice(list(params), int(rng.integers(1, 3))):
        odd = [*NAMES, *ODD_STOPS, params[name][:-1]]
        params[name] = str(rng.choice(odd))
    page = Page("next", originals.data, originals.checkpoint, params)
    return Case(f"link of Next {ascii(params)[:200]}", ["app", "next"], page=page)


def forged_folder(originals: Originals, folder: Path, rng: np.random.Generator) -> Case:
    """A dataset or checkpoint with a change, its hashes written again most of the time, given to any command."""
    data, checkpoint = folder / "data", folder / "checkpoint"
    shutil.copytree(originals.data, data)
    shutil.copytree(originals.checkpoint, checkpoint)
    victim = data if rng.random() < 0.65 else checkpoint
    changes: list[Callable[[Path, np.random.Generator], str]] = [_forge_table] * 2 if victim == data else []
    changes += [_forge_manifest, partial(_damage_one, flip_bytes), partial(_damage_one, cut)]
    change = changes[int(rng.integers(0, len(changes)))]
    what = f"{victim.name}: {change(victim, rng)}"
    if rng.random() < 0.85:
        write_sums(victim, [path.name for path in victim.iterdir() if path.name != "SHA256SUMS"])
        what += ", hashes written again"
    commands: tuple[tuple[str, ...], ...] = (
        ("stats", str(data)),
        ("evaluate", "--data", str(data), "markov", "--records", str(folder / "r.parquet")),
        ("evaluate", str(checkpoint), "--data", str(data), "--records", str(folder / "r.parquet")),
        ("explain", str(checkpoint), "--data", str(data), "--case", "1"),
        ("long-tail", str(checkpoint), "--data", str(data), "--full"),
        ("compare", "visit_count", str(checkpoint), "--data", str(data)),
        ("curves", str(checkpoint), "--data", str(data)),
        ("overview", str(checkpoint), "--data", str(data)),
    )
    return Case(what, list(commands[int(rng.integers(0, len(commands)))]))


def _with_hostile_names(rng: np.random.Generator) -> pd.DataFrame:
    """A raw table whose ids and names want to be markup, formulas or control sequences."""
    raw = raw_table(habit_rows(num_users=4, num_walks=6))
    for column in (c.USER_ID, c.POI_ID, c.CATEGORY, c.CATEGORY_ID):
        names = [str(rng.choice(NAMES)) + (str(i) if column in (c.USER_ID, c.POI_ID) else "") for i in range(40)]
        raw[column] = pd.Categorical([names[code % len(names)] for code in raw[column].cat.codes])
    return raw


def _save(raw: pd.DataFrame, name: str, folder: Path) -> None:
    """The raw table as a dataset with a checkpoint."""
    dataset = prepare_dataset(raw, LENIENT, name=f"city {name}", source_format="test")
    dataset.save(folder / "data")
    write_untrained_checkpoint(dataset, folder / "checkpoint")


def hostile_page(originals: Originals, folder: Path, rng: np.random.Generator) -> Case:
    """A view of the app on hostile names, opened by a link that may name what is not there."""
    _save(_with_hostile_names(rng), str(rng.choice(NAMES))[:80], folder)
    view = PAGES[int(rng.integers(0, len(PAGES)))].name
    params = {name: str(rng.choice([*NAMES, "0", "-1", "9" * 30])) for name in LINK_FIELDS if rng.random() < 0.2}
    page = Page(view, folder / "data", folder / "checkpoint", params)
    return Case(f"hostile names on {view}, link {sorted(params)}", ["app", view], page=page)


def hostile_names(originals: Originals, folder: Path, rng: np.random.Generator) -> Case:
    """Names, ids, columns and paths that want to be markup, formulas or control sequences, end to end."""
    raw = _with_hostile_names(rng)
    place = folder / "[bold]x[" / "] \x1b[31m"
    place.mkdir(parents=True)
    source = place / f"own{rng.integers(0, 9)}[/b].csv".replace("/", "")
    column = str(rng.choice(NAMES))[:60].replace(",", " ").strip() or "k"
    frame = raw.astype(dict.fromkeys((c.USER_ID, c.POI_ID, c.CATEGORY, c.CATEGORY_ID), str))
    frame = frame.rename(columns={c.TZ_OFFSET_MINUTES: "tz", c.CATEGORY: column})
    frame.to_csv(source, index=False, date_format="%Y-%m-%d %H:%M:%S", errors="replace")
    name = str(rng.choice(NAMES))[:80].replace("\0", "")
    if rng.random() < 0.5:
        out = place / "out"
        mapping = ["--map", f"category={column}"] if rng.random() < 0.5 else []
        arguments = ["prepare", str(source), "--out", str(out), "--name", name, *LENIENT_SET, *MULTILINE, *mapping]
        return Case("hostile names through prepare", arguments, out)
    if rng.random() < 0.3:
        return Case("hostile names through inspect", ["inspect", str(source), *MULTILINE])
    _save(raw, name, place)
    both = [str(place / "checkpoint"), "--data", str(place / "data")]
    commands = (
        ["explain", *both, "--case", "0", "--html", str(place / "e.html")],
        ["explain", *both, "--case", "0", "--json"],
        ["overview", *both],
        ["long-tail", *both],
        ["cases", "find", *both],
        ["stats", str(place / "data")],
    )
    return Case("hostile names through the explanations", commands[int(rng.integers(0, len(commands)))])


FAMILIES: Final = (damaged_source, damaged_pretrained, forged_folder, hostile_names, hostile_page, prediction_link)
SHARES: Final = (0.45, 0.1, 0.27, 0.12, 0.03, 0.03)


def make_case(originals: Originals, folder: Path, rng: np.random.Generator) -> Case:
    """A case of any family; pages, the slowest, are the fewest."""
    family = FAMILIES[int(rng.choice(len(FAMILIES), p=SHARES))]
    return family(originals, folder, rng)


def _forge_table(folder: Path, rng: np.random.Generator) -> str:
    """A table with another value, column, type or order, the content hash brought up to date."""
    dataset = Dataset.load(folder)
    tables = {name: getattr(dataset, name).copy() for name in ("checkins", "pois", "users")}
    name = str(rng.choice(list(tables)))
    table = tables[name]
    column = str(rng.choice(table.columns))
    kind = int(rng.integers(0, 7))
    row = int(rng.integers(0, len(table)))
    match kind:
        case 0:
            table = table.drop(columns=column)
        case 1:
            table = table.iloc[rng.permutation(len(table))].reset_index(drop=True)
        case 2:
            values = table[column].astype(object)
            values.iloc[row] = _ODD_VALUES[int(rng.integers(0, len(_ODD_VALUES)))]
            table[column] = values if rng.random() < 0.5 else pd.to_numeric(values, errors="coerce")
        case 3:
            table[column] = table[column].astype(str)
        case 4:
            table = table.head(int(rng.integers(0, 2)))
        case 5:
            table["more"] = [[1]] * len(table) if rng.random() < 0.5 else "more"
        case 6:
            table = pd.concat([table] * int(rng.integers(2, 4)), ignore_index=True)
    tables[name] = table
    try:
        pq.write_table(pa.Table.from_pandas(table, preserve_index=False), folder / f"{name}.parquet")
        digest = hash_tables(*tables.values())
    except (pa.ArrowException, ValueError, TypeError, AttributeError):
        return f"{name}.{column} change {kind}, not written"
    manifest = json.loads((folder / "dataset.json").read_text()) | {"dataset_hash": digest}
    (folder / "dataset.json").write_text(json.dumps(manifest))
    return f"{name}.{column} change {kind}"


def _forge_manifest(folder: Path, rng: np.random.Generator) -> str:
    path = next(folder.glob("dataset.json" if (folder / "dataset.json").exists() else "checkpoint.json"))
    path.write_bytes(change_json(path.read_bytes(), rng))
    return f"{path.name} changed"


def change_json(data: bytes, rng: np.random.Generator) -> bytes:
    """A document with another value somewhere, or one fewer."""
    values: Any = json.loads(data)
    odd: list[Any] = [None, -1, 10**9, 1e308, float("nan"), "x\x1b[31m", [], {}, True, "9" * 5000]
    level: Any = values
    for _ in range(int(rng.integers(1, 7))):
        keys = list(level) if isinstance(level, dict) else range(len(level))
        key = keys[int(rng.integers(0, len(keys)))]
        if not isinstance(level[key], dict | list) or not level[key] or rng.random() < 0.2:
            level[key] = odd[int(rng.integers(0, len(odd)))]
            break
        level = level[key]
    else:
        del level[next(iter(level)) if isinstance(level, dict) else 0]
    text = json.dumps(values, ensure_ascii=False)
    if rng.random() < 0.05:
        text = text.replace("{", '{"deep":' + "[" * 5000 + "]" * 5000 + ",", 1)
    return text.encode()


def _damage_one(damage: Damage, folder: Path, rng: np.random.Generator) -> str:
    path = sorted(folder.iterdir())[int(rng.integers(0, len(list(folder.iterdir()))))]
    path.write_bytes(damage(path.read_bytes(), rng))
    return f"{path.name}: {damage.__name__}"


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


def look_for_findings(case: Case, folder: Path, number: int) -> list[str]:
    """Run a case and say what must not have happened."""
    outside: list[str] = []
    found: list[str] = []
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    try:
        with _time_limit(), _no_network(outside):
            if case.page is not None:
                found += findings_on(case.page)
                return found + _findings_of(outside, before)
            own = number % OWN_PROCESS_EVERY == 0 and case.curves is None
            with _pretrained_from(case.curves):
                result = _own_process(case.arguments) if own else recap_here(*case.arguments)
    except TooSlowError:
        return [f"more than {MOST_CPU_SECONDS} s of the processor, or {MOST_SECONDS} s in all"]
    except Exception:
        return ["traceback: " + traceback.format_exc(limit=-3).replace("\n", " | ")[-600:]]
    if result.returncode not in (0, 2):
        found.append(f"exit code {result.returncode}: {result.stderr[-300:]}")
    if "No such" in result.stderr and "(see `recap" in result.stderr:
        found.append(f"no command of today: {result.stderr[:200]}")
    if "Traceback" in result.stderr:
        found.append(f"traceback: {result.stderr[-400:]}")
    if result.returncode == 2 and not (result.stderr.startswith("recap: ") and result.stderr.count("\n") == 1):
        found.append(f"not one line: {result.stderr[:300]!r}")
    if len(result.stderr) > 4000:
        found.append(f"a refusal of {len(result.stderr):,} characters")
    if CONTROLS.search(result.stdout + result.stderr):
        found.append("control character on the terminal")
    return found + _findings_of(outside, before) + list(_bad_files(case, folder, result.returncode))


def _own_process(arguments: list[str]) -> "subprocess.CompletedProcess[str]":
    return subprocess.run([RECAP, *arguments], capture_output=True, text=True, check=False)  # ended by the time limit


def _peak_kilobytes() -> int:
    return max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))


def _findings_of(outside: list[str], before: int) -> list[str]:
    """Requests to the network, and more memory than before a case and than allowed."""
    peak = _peak_kilobytes()
    too_much = [f"{peak:,} KB"] if peak > max(MOST_KILOBYTES, before) else []
    return [*(f"outside request: {address}" for address in outside), *too_much]


def _bad_files(case: Case, folder: Path, code: int) -> Iterator[str]:
    """Half-written folders, left-over temporary ones, pages that would act."""
    for path in folder.rglob("*"):
        if path.name.startswith(".") and path.name not in (".cache",):
            yield f"left over: {path.name}"
        if path.suffix == ".html":
            page = path.read_text(encoding="utf-8")
            parts = _ActiveParts()
            parts.feed(page)
            if parts.found:
                yield f"{path.name} holds active HTML: {parts.found[0]}"
            if CONTROLS.search(page):
                yield f"{path.name} holds a control character"
    if case.out is None or not case.out.exists():
        if case.out is not None and code == 0:
            yield "nothing written after exit code 0"
        return
    if code != 0:
        yield f"something written in spite of exit code {code}"
    if case.out.is_file():
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

    limits = (
        (signal.SIGPROF, signal.ITIMER_PROF, MOST_CPU_SECONDS),
        (signal.SIGALRM, signal.ITIMER_REAL, MOST_SECONDS),
    )
    for number, timer, seconds in limits:
        signal.signal(number, stop)
        signal.setitimer(timer, seconds)
    try:
        yield
    finally:
        for _, timer, _ in limits:
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
    parser.add_argument("--cases", type=int, default=1_000_000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = "1"
    root = Path(tempfile.mkdtemp(prefix="recap-fuzz-"))
    os.environ["RECAP_HOME"] = str(root / "home")
    counts: Counter[str] = Counter()
    ends = time.monotonic() + 60 * options.minutes
    findings = number = 0
    try:
        originals = Originals(root / "originals")
        os.chdir(root)
        for number in range(options.first, options.first + options.cases):
            if time.monotonic() > ends:
                break
            rng = np.random.default_rng([options.seed, number])
            folder = root / "case"
            folder.mkdir()
            case = make_case(originals, folder, rng)
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
    took = time.monotonic() - ends + 60 * options.minutes
    print(json.dumps(facts | {"seconds": round(took), "peak_megabytes": _peak_kilobytes() >> 10}))
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
