"""The `recap` command as a shell sees it: exit codes, one JSON object on stdout, refusals of one line on stderr."""

import contextlib
import gzip
import io
import shlex
import socket
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import typer
from packaging.requirements import Requirement

from app.cli.console import print_json
from app.cli.examples import COMMAND_EXAMPLES, epilog
from app.cli.main import app
from recap.data.dataset import Dataset
from recap.runs.execution import control
from recap.runs.store.run_store import RunStore
from tests.checkins import foursquare_lines, raw_table, small_dataset, write_foursquare
from tests.cli_runner import recap_here, recap_json_here, strict_json
from tests.learn_worlds import DEMO
from tests.shell import RECAP, assert_refused, files_limited_to, recap
from tests.tiny import WORDS
from tests.worlds import habit_rows

ROOT = Path(__file__).parents[3]
ROWS = [
    (user, poi, hour + 5 * shift)
    for shift, user in enumerate(["ann", "bob", "cy"])
    for hour, poi in ((float(24 * day + step), poi) for day in range(12) for step, poi in enumerate(["home", "work"]))
]
"""Three users at two POIs, twice a day for twelve days: 72 rows that the default protocol keeps."""


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A good file, alone in its folder."""
    return write_foursquare(tmp_path / "city.txt", ROWS)


def test_prepares_and_describes(source: Path, tmp_path: Path) -> None:
    """A good file: JSON with the promised keys, a folder that loads, and a second run with the same hash."""
    summary = recap_json_here("prepare", source, "--format", "foursquare", "--out", tmp_path / "out")
    assert summary["raw"] == summary["checkins"] + sum(summary["dropped"].values()) == 72
    reasons = {"rare_poi", "rare_user", "exact_duplicate", "short_trajectory", "unseen_user", "unseen_poi"}
    assert set(summary["dropped"]) == reasons
    assert {"kept", "users", "pois", "category_ids", "category_names", "cases", "transitions"} <= summary.keys()
    dataset = Dataset.load(tmp_path / "out")
    assert dataset.hash == summary["dataset_hash"]
    assert summary["cases"] == {name: len(dataset.cases(i)) for i, name in enumerate(("train", "val", "test"))}
    statistics = recap_json_here("stats", tmp_path / "out")
    drawn = recap_json_here("evaluate", "visit_count", "--data", tmp_path / "out", "--cases", 2)
    assert (drawn["all"]["n"], drawn["drawn_from"]) == (2, summary["cases"]["test"])
    assert drawn["records"].endswith("-test-every_step-2.parquet"), "never taken for the records of all cases"
    assert [row["n"] for row in statistics["hops"]] == [1, 2, 3, 4, 5]
    again = recap("prepare", source, "--out", tmp_path / "out", "--set", "min_poi_checkins=5")
    assert again.returncode == 0 and "recap train" in " ".join(again.stdout.split())


def test_prepares_under_another_protocol(source: Path, tmp_path: Path) -> None:
    """Options of the split reach the dataset's configuration; what they are not given for stays the preset's."""
    fields = {"merge_seconds": 45, "split_by": "trajectory_end", "trajectory_gap_hours": 6}
    fields |= {"min_trajectory_length": 2, "history": "cases_only"}
    options = [word for name, value in fields.items() for word in ("--set", f"{name}={value}")]
    summary = recap_json_here("prepare", source, "--out", tmp_path / "out", *options)
    config = Dataset.load(tmp_path / "out").manifest.config.model_dump()
    assert {name: config[name] for name in fields} == fields and config["removal_order"] == "short_first"
    assert summary["dropped"]["merged"] == 0 and summary["history_only"] == 0
    found = recap_json_here("stats", tmp_path / "out")["fingerprint"]
    assert found["steps"] == summary["cases"]["test"] and found["checkins"] == summary["checkins"]
    assert "Fingerprint" in recap("stats", tmp_path / "out").stdout


GOOD = foursquare_lines(ROWS)


ONE_INSTANT = "\n".join(line.rsplit("\t", 1)[0] + "\tTue Apr 03 18:00:09 +0000 2012" for line in GOOD)
BAD_FILES: dict[str, tuple[bytes, list[str]]] = {
    "empty": (b"", ["empty"]),
    "cut-off gz": (gzip.compress("\n".join(GOOD * 50).encode("latin-1"))[:-300], ["cut off", "copy it again"]),
    "noise": (np.random.default_rng(3).bytes(50_000), ["bad.txt"]),
    "noise with tabs": (b"\t".join([np.random.default_rng(4).bytes(9)] * 8).replace(b"\n", b"") + b"\n", ["bad.txt"]),
    "all in one instant": (ONE_INSTANT.encode("latin-1"), ["2012-04-03 18:00:09"]),
    "time": (("\n".join([*GOOD[:6], GOOD[6] + "x", *GOOD[7:]]) + "\n").encode("latin-1"), ["line 7", "time", "2012x'"]),
    "no poi left": (("\n".join(GOOD[:9]) + "\n").encode("latin-1"), ["no POI", "min_poi_checkins"]),
}


@pytest.mark.parametrize("kind", BAD_FILES)
def test_refuses_a_bad_file(tmp_path: Path, kind: str) -> None:
    """Each bad file: one line that names it, and no output folder, not even a temporary one."""
    content, parts = BAD_FILES[kind]
    (tmp_path / "bad.txt").write_bytes(content)
    result = recap("prepare", tmp_path / "bad.txt", "--out", tmp_path / "out", "--json")
    assert_refused(result, *parts)
    assert [path.name for path in tmp_path.iterdir()] == ["bad.txt"]


def test_what_is_there_is_left_alone(source: Path, tmp_path: Path) -> None:
    """A bad run empties no older folder; a folder that is no dataset and a file in the way are not written over."""
    summary = recap_json_here("prepare", source, "--out", tmp_path / "out")
    (tmp_path / "bad.txt").write_text("\n".join([*GOOD[:6], "only one", *GOOD[6:]]))
    assert_refused(recap("prepare", tmp_path / "bad.txt", "--out", tmp_path / "out"), "line 7", "8 columns", "got 1")
    assert Dataset.load(tmp_path / "out").hash == summary["dataset_hash"]
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "chapter.tex").write_text("dear")
    for taken in ("thesis", "city.txt"):
        assert_refused(recap("prepare", source, "--out", tmp_path / taken), taken, "choose another folder")
    assert (tmp_path / "thesis" / "chapter.tex").read_text() == "dear"


def test_a_disk_that_fills_up_leaves_nothing(source: Path, tmp_path: Path) -> None:
    """The write fails half-way: one line, no folder, and an older dataset in its place stays whole."""
    prepare = ("prepare", source, "--out", tmp_path / "out")
    with files_limited_to(1000):
        assert_refused(recap(*prepare), "out", "nothing was kept")
    assert [path.name for path in tmp_path.iterdir()] == ["city.txt"]
    summary = recap_json_here(*prepare)
    with files_limited_to(1000):
        assert_refused(recap(*prepare), "out")
    assert Dataset.load(tmp_path / "out").hash == summary["dataset_hash"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["city.txt", "out"]


def commands_of(command: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """Every command that does something, with its full name."""
    if not hasattr(command, "commands"):
        yield name, command
        return
    for child, inner in command.commands.items():
        yield from commands_of(inner, f"{name} {child}".strip())


def test_there_are_few_commands_and_options() -> None:
    """At most 22 commands and 176 arguments and options, `recap --version` among them."""
    root = typer.main.get_command(app)
    owners = [root, *dict(commands_of(root)).values()]
    assert len(owners) <= 1 + 22
    assert sum(len([one for one in owner.params if one.name != "help"]) for owner in owners) <= 176


@pytest.mark.slow
def test_the_library_works_without_the_app() -> None:
    """Where the app's packages are missing, a case is explained as ever; the app says in one line what to install."""
    packages = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]["app"]
    names = [{"pillow": "PIL"}.get(name, name) for name in (Requirement(text).name for text in packages)]
    hidden = f"import sys; sys.modules.update(dict.fromkeys({names})); from app.cli.main import run; run()"
    city = ("explain", DEMO / "checkpoint", "--data", DEMO / "dataset", "--case", "17")
    explained, opened = (
        subprocess.run([sys.executable, "-c", hidden, *words], capture_output=True, text=True, check=False)
        for words in (city, ["app"])
    )
    assert explained.returncode == 0
    assert_refused(opened, "recap-mobility[app]")


@pytest.mark.slow
def test_commands_load_no_more_than_they_need(city_folder: Path) -> None:
    """`recap predict` nothing that trains; `recap --help` neither torch nor pandas nor Streamlit."""
    words = ["predict", "pretrained", "--data", str(city_folder)]
    code = f"import sys; from app.cli.main import run; sys.argv[1:] = {words!r}; run()"
    result = subprocess.run([sys.executable, "-Ximporttime", "-c", code], capture_output=True, text=True, check=False)
    assert "recap.asking.predictor" in result.stderr and "recap.training.trainer" not in result.stderr
    code = "import sys, app.cli.main; print([m for m in ('torch', 'pandas', 'streamlit') if m in sys.modules])"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]" and RECAP.is_file()


def test_no_command_prints_nan(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
    """Undefined numbers are null in every command's JSON, at any depth; this dataset has no rare cases."""
    capture = io.StringIO()
    with contextlib.redirect_stdout(capture):
        print_json({"rows": [{"mrr": float("nan"), "n": 0}, (float("inf"), 1.5)]})
    assert strict_json(capture.getvalue()) == {"rows": [{"mrr": None, "n": 0}, [None, 1.5]]}
    monkeypatch.setattr(control, "start_runner", lambda _: 0)
    data, model, theirs, table = (tmp_path / name for name in ("data", "model", "theirs.csv", "table.csv"))
    small_dataset(ROWS).save(data)
    raw_table(ROWS).to_csv(table, index=False)
    theirs.write_text("case,poi_id,score\n0,home,2\n0,work,1\n")
    (tmp_path / "spec.toml").write_text(
        'name = "x"\ntitle = "X"\nquestion = "?"\n[[arms]]\nname = "a"\nlabel = "A"\nbaseline = "visit_count"\n'
    )
    of = f"--data {data}"
    counted = f"markov {of}"
    parsed = {
        "inspect": f"{table}",
        "prepare": f"{table} --out {tmp_path / 'prepared'}",
        "stats": f"{data}",
        "import-predictions": f"{theirs} {of} --name theirs --missing-as-miss",
        "train": f"{data} {' '.join(WORDS)} --out {model}",
        "evaluate": counted,
        "experiment run": f"{tmp_path / 'spec.toml'} {of} --out {tmp_path / 'results'}",
        "predict": f"markov {of}",
        "overview": counted,
        "long-tail": f"{counted} --full",
        "explain": f"{model} {of} --case 0",
        "curves": f"{model} {of}",
        "compare": f"visit_count markov {of}",
        "runs submit": f"{data}",
        "runs list": "",
        "runs show": "1",
        "runs logs": "1",
        "runs stop": "1",
        "runs resume": "1",
        "runs rm": "1",
        "cases find": f"{counted} --show missed",
    }
    commands = commands_of(typer.main.get_command(app))
    assert parsed.keys() == {name for name, command in commands if any("--json" in one.opts for one in command.params)}
    for name, words in parsed.items():
        if name == "runs rm":
            control.stop(RunStore(tmp_path / "home" / "runs"), RunStore(tmp_path / "home" / "runs").get("1"))
        assert recap_json_here(*name.split(), *words.split()), name


def test_own_tables_show_how_they_were_read(tmp_path: Path) -> None:
    """Columns are in the JSON and in the text; a refusal says which option to add."""
    lines = [f"{user},{poi},{1_333_440_000 + int(3600 * hour)},40.7,-74.0" for user, poi, hour in ROWS]
    source = tmp_path / "own.csv"
    source.write_text("\n".join(["person,place,visited_at,lat,lng", *lines]))
    out = tmp_path / "out"
    assert_refused(recap("prepare", source, "--out", out), "own.csv", "--timezone")
    summary = recap_json_here("prepare", source, "--out", out, "--timezone", "America/New_York")
    mapping = {"user": "person", "poi": "place", "time": "visited_at", "lat": "lat", "lon": "lng"}
    assert summary["format"] == "csv" and summary["reading"]["columns"] == mapping
    named = recap("prepare", source, "--out", out, "--timezone", "UTC", "--map", "user=person,poi=place")
    assert named.returncode == 0 and "--map user=person,poi=place,time=visited_at" in named.stdout.replace("\n", "")
    assert_refused(recap("prepare", source, "--out", out, "--map", "user=who"), "--map user=who")
    source.write_text("\n".join(["a,b,c,d,e", *lines]))
    assert_refused(recap("prepare", source, "--out", out), "Name it with --map", "its columns: a, b, c, d, e")
    assert "--map" in recap("prepare", "--help").stdout


def test_accuracy_of_each_user(city_folder: Path, tmp_path: Path) -> None:
    """By own id, with users without cases; the mean over cases is that of all."""
    words = ("evaluate", "visit_count", "--data", city_folder, "--records", tmp_path / "records.parquet", "--by-user")
    users = (found := recap_json_here(*words))["users"]
    assert len(users) == len({row["user_name"] for row in users}) and users[0]["user_name"].startswith("User ")
    mean = sum(row["n"] * row["hr20"] for row in users if row["n"]) / sum(row["n"] for row in users)
    assert mean == pytest.approx(found["all"]["hr20"])


def test_every_command_has_a_sentence_and_examples() -> None:
    """One sentence above the options, and under them examples that the command's own parser takes."""
    found = dict(commands_of(typer.main.get_command(app)))
    assert set(COMMAND_EXAMPLES) <= set(found)
    for name, command in found.items():
        help_text = " ".join(str(command.help).split())
        assert help_text.endswith(".") and ". " not in help_text and help_text.count(" ") < 19, name
        assert command.epilog == epilog(name), name
        for example in COMMAND_EXAMPLES[name]:
            words = shlex.split(example.partition(" > ")[0])
            start = 1 + len(name.split())
            assert words[:start] == ["recap", *name.split()], example
            command.make_context(name, words[start:])


_GROUPS = tomllib.loads(Path(__file__).with_name("refusals.toml").read_text(encoding="utf-8"))
REFUSED = [(f"{begin} {end}".strip(), part) for begin, ends in _GROUPS.items() for end, part in ends.items()]


@pytest.fixture(scope="module")
def words(city_folder: Path, city_checkpoint: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What stands for the words in capitals."""
    table = write_foursquare(tmp_path_factory.mktemp("table") / "city.txt", habit_rows())
    places = {"DATA": city_folder, "MODEL": city_checkpoint, "TABLE": table}
    return {"TINY": shlex.join(WORDS), **{name: shlex.quote(str(place)) for name, place in places.items()}}


@pytest.mark.parametrize(("command", "part"), REFUSED)
def test_a_refusal_is_one_line(
    command: str, part: str, words: dict[str, str], home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(home.parent)
    for name, meant in words.items():
        command = command.replace(name, meant)
    assert_refused(recap_here(*shlex.split(command)), part)
    assert [path for path in home.parent.rglob("*") if path.is_file() and home / "cache" not in path.parents] == []


def test_a_port_in_use_is_refused() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        assert_refused(
            recap_here("app", "--port", port), f"127.0.0.1:{port}", "another program uses this port", "--port"
        )


def test_an_app_that_others_reach_trains_only_if_asked() -> None:
    """Before anything is served; read-only or with the option it would start."""
    refused = recap_here("app", "--address", "0.0.0.0", "--port", 8598)  # noqa: S104
    assert_refused(refused, "0.0.0.0", "--read-only", "--allow-training")  # noqa: S104


def test_a_path_below_the_root_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STREAMLIT_SERVER_BASE_URL_PATH", "lab")
    assert_refused(
        recap_here("app", "--port", 8599), "STREAMLIT_SERVER_BASE_URL_PATH", "let the web server remove the path"
    )
