"""Cases of the fuzzer: a folder made hostile, and the command to run on it. Each follows from one random generator."""

import json
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from app.pages import PAGES
from recap import columns as c
from recap.data.dataset import Dataset, hash_tables
from recap.data.preparation import prepare_dataset
from recap.data.reading import SOURCE_FORMATS
from recap.model.pretrained_curves import FILE
from recap.storage.artifacts import write_sums
from recap.storage.frames import SUFFIXES
from tests.chaos.fuzz_pages import Page
from tests.checkins import LENIENT, raw_table
from tests.recap.data.other_files.test_exports import EXPORTS
from tests.recap.data.test_mutations import DAMAGES, PARQUET_DAMAGES, Damage, cut, flip_bytes
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
    shutil.copy(FILE, curves)
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
        ("evaluate", "--data", str(data), "--baseline", "markov", "--records", str(folder / "r.parquet")),
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
