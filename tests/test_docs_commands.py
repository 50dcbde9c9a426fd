"""Every command of the README and the docs works as printed, offline, on rows of the demo city.

The raw file that stands for NYC's holds check-ins of some users of the demo city in the Foursquare format.
"""

import os
import re
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pandas as pd
import pytest

from recap import columns as c
from recap.data.dataset import Dataset
from recap.runs.store.run_store import RunStore
from tests.background import new_store, runner_process, running, wait_for, wait_until_over
from tests.shell import RECAP

ROOT = Path(__file__).parents[1]
PAGES = ("README.md", "CONTRIBUTING.md", *sorted(str(page.relative_to(ROOT)) for page in ROOT.glob("docs/**/*.md")))
RAW: Final = "dataset_TSMC2014_NYC.txt"
NUM_USERS: Final = 14

NOT_RUN: Final = {
    "make app": "sets up from the network; its `recap app` is run for the README's own line and in tests/e2e",
    "make setup": "installs from the network; .ci/run starts with it",
    "make test": "would run this test in itself; .ci/run does it",
    "make check": "runs no code of ours; .ci/run does it",
    "make test-all": "would run this test in itself",
    "make chaos": "takes an hour; .ci/run fuzzes for a minute",
    "make release": "installs from the network; tests/e2e/test_wheel.py tries the wheel in the same way",
    "make docker": "needs Docker; tests/test_release.py reads the Dockerfile, `make check` lints it",
    "recap runs submit data/nyc --preset paper --slurm --device cuda --processes 4": (
        "needs Slurm and four GPUs; tests/slurm submits to a real one-node Slurm"
    ),
    "python benchmarks/scale.py 1_000_000 10_000_000": "takes an hour and gigabytes",
    "python benchmarks/scale.py 10_000_000 --format parquet --steps prepare train rank": "takes an hour and gigabytes",
}
"""Command -> why no test runs it. An entry that no page prints any more fails, and so does a new command that fails."""


def commands_of(page: str) -> list[str]:
    """The commands of a page's code blocks in their order, without comments: indented, or fenced as bash."""
    text = (ROOT / page).read_text(encoding="utf-8")
    fenced = [
        line for block in re.findall(r"```(?:bash|sh|console)\n(.*?)```", text, re.DOTALL) for line in block.split("\n")
    ]
    indented = re.findall(r"^ {4,}(\S.*)$", text, re.MULTILINE)
    lines = [line.strip().partition("  #")[0].partition(" # ")[0].strip() for line in [*indented, *fenced]]
    return [line for line in lines if re.match(r"(recap|make|python3?|pip|streamlit|bash)( [^/]|$)", line)]


COMMANDS: Final = {page: commands_of(page) for page in PAGES if commands_of(page)}


def demo_rows(users: int = NUM_USERS) -> pd.DataFrame:
    """Check-ins of the first users of the demo city, each with its place; the names of columns are ours."""
    city = Dataset.load(ROOT / "checkpoints" / "demo-city" / "dataset")
    rows = city.checkins[city.checkins[c.USER] < users].reset_index(drop=True)
    return rows.join(city.pois, on=c.POI)


def write_raw_rows(path: Path) -> None:
    """Check-ins of the first users of the demo city as a TSMC2014 file: local time is UTC plus minutes."""
    rows = demo_rows()
    table = rows[[c.USER, c.POI_ID, c.CATEGORY_ID, c.CATEGORY, c.LATITUDE, c.LONGITUDE, c.TZ_OFFSET_MINUTES]].assign(
        time=rows[c.TIME].dt.strftime("%a %b %d %H:%M:%S +0000 %Y")
    )
    table[c.USER] += 1
    table.to_csv(path, sep="\t", header=False, index=False, encoding="latin-1")


class Workplace:
    """An empty folder with the raw file, a user folder of its own, and a shell in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "work"
        self.folder.mkdir()
        self.store = new_store(folder / "home")
        self.environment = os.environ | {"RECAP_HOME": str(folder / "home"), "OMP_NUM_THREADS": "1"}
        write_raw_rows(self.folder / RAW)

    def start(self, command: str) -> "subprocess.Popen[str]":
        """The command as a shell would start it; FILE in the docs is the raw file."""
        words = [RAW if word == "FILE" else word for word in shlex.split(command)]
        program = [str(RECAP), *words[1:]] if words[0] == "recap" else words
        return subprocess.Popen(
            program,
            cwd=ROOT if words[0] == "make" else self.folder,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self, command: str) -> str:
        """What it prints, written to the file after ``>`` where there is one; it must end well."""
        command, _, file = command.partition(" > ")
        with self.start(command) as process:
            out, err = process.communicate(timeout=120)
        assert process.returncode == 0, f"{command}\n{out}\n{err}"
        if file:
            (self.folder / file).write_text(out, encoding="utf-8")
        return out

    def serve(self, command: str) -> None:
        """Start a server on a free port, wait until it answers, end it."""
        with running([RECAP, *shlex.split(command)[1:], "--port"], self.environment, self.folder):
            pass

    def follow(self, command: str) -> None:
        """Start a command that goes on until something ends; wait for its first line."""
        with self.start(command) as process:
            assert process.stdout is not None
            try:
                assert process.stdout.readline(), command
            finally:
                process.terminate()

    def do(self, command: str) -> None:
        """Run one command of the docs, as long as it needs to show that it works."""
        words = command.split()
        if words[:3] == ["recap", "runs", "rm"]:
            self.end_runs()  # a run that goes on is not removed
        if words[:2] == ["recap", "app"]:
            self.serve(command)
        elif words[:3] == ["recap", "runs", "logs"] and "-f" in words:
            self.follow(command)
        else:
            self.run(command)
        if words[:3] == ["recap", "runs", "stop"]:
            wait_until_over(self.store.get(words[3]))

    def remove_runs(self) -> None:
        """Leave no run, and let the next ones be 12 and 13, as the docs call them."""
        self.end_runs()
        for run in self.store.runs():
            self.store.remove(run)
        (self.store.folder / ".last_number").write_text("11")

    def end_runs(self) -> None:
        """Stop every run that is not over."""
        for run in self.store.runs():
            if run.read_state().state in ("queued", "running"):
                self.run(f"recap runs stop {run.id}")
            wait_until_over(run)


@pytest.fixture(scope="module")
def workplace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workplace]:
    """One for all pages: later ones use the dataset that the README's lines make."""
    place = Workplace(tmp_path_factory.mktemp("docs"))
    for command in COMMANDS["README.md"]:
        if command.startswith(("recap prepare", "recap train")):
            place.run(command)
    yield place
    place.end_runs()
    runner = runner_process(RunStore(place.store.folder))
    if runner is not None:
        wait_for(lambda: not runner.is_alive(), "the runner to leave", 60)


def test_every_exception_is_printed_somewhere() -> None:
    """The list above is not longer than it must be, and the pages are read at all."""
    printed = {command for commands in COMMANDS.values() for command in commands}
    assert set(NOT_RUN) - printed == set()
    assert {"README.md", "docs/data.md", "docs/operations.md"} <= COMMANDS.keys()
    assert len(printed - set(NOT_RUN)) >= 15


@pytest.mark.slow
@pytest.mark.parametrize("page", COMMANDS)
def test_the_commands_of_a_page_work(page: str, workplace: Workplace) -> None:
    """In the order of the page, each ends well; a server answers."""
    workplace.remove_runs()
    for command in COMMANDS[page]:
        is_done = page == "README.md" and command.startswith(("recap prepare", "recap train"))  # by the fixture
        if command not in NOT_RUN and not is_done:
            workplace.do(command)


def test_make_prints_its_targets() -> None:
    """Bare `make` starts nothing; every target that a page names is listed with a sentence."""
    outside = {
        name: value for name, value in os.environ.items() if not name.startswith("MAKE")
    }  # `make test` runs this
    result = subprocess.run(
        ["make"], env=outside, cwd=ROOT, capture_output=True, text=True, timeout=20, check=True
    ).stdout
    listed = dict(re.findall(r"^(make [a-z-]+) +(\S.*\.)$", result, re.MULTILINE))
    named = {command for commands in COMMANDS.values() for command in commands if command.startswith("make ")}
    assert named <= listed.keys() and len(listed) == result.count("\n")
