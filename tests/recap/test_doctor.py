"""`recap doctor`: what it finds, what it misses, and that each missing thing comes with a command."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from recap import doctor
from recap.doctor import Check, examine
from tests.checkins import small_dataset
from tests.shell import recap, recap_json

ROWS = [("ann", poi, float(hour)) for hour, poi in enumerate("abababababab")]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty user's folder, away from the developer's own."""
    monkeypatch.setenv("RECAP_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(doctor, "BUNDLES", tmp_path / "bundles")
    return tmp_path / "home"


def by_name(checks: list[Check]) -> dict[str, Check]:
    return {check.name: check for check in checks}


def test_a_good_installation(home: Path) -> None:
    """Every declared library is there; without data it says how to get some; nothing is written."""
    checks = by_name(examine())
    assert {"python", "recap", "torch", "pyarrow", "cpu", "memory", "disk", "time zones"} <= checks.keys()
    assert [check for check in checks.values() if check.status == "missing"] == []
    assert "recap prepare" in checks["dataset"].mend and "recap train" in checks["checkpoint"].mend
    assert not home.exists()


def test_datasets_are_found_and_verified(home: Path) -> None:
    """In the user's folder and in places named; one edited by hand is missing, with the command to make it again."""
    dataset = small_dataset(ROWS)
    dataset.save(home / "datasets" / "good")
    dataset.save(home.parent / "elsewhere" / "bad")
    (home.parent / "elsewhere" / "bad" / "dataset.json").write_text("{}")
    checks = [check for check in examine([home.parent / "elsewhere"]) if check.name == "dataset"]
    assert sorted(check.status for check in checks) == ["missing", "ok"]
    bad = next(check for check in checks if check.status == "missing")
    assert "was changed" in bad.found and "recap prepare" in bad.mend and "bad" in bad.mend


def test_missing_and_old_libraries(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A library that is not there, one that is too old, and one that only developers need."""
    wanted = [
        "surely-not-installed>=1.2",
        "numpy>=999",
        'developers-only; extra == "dev"',
        "torch<2,>=1.0",
        "pandas<99",
    ]
    monkeypatch.setattr("importlib.metadata.requires", lambda name: wanted)
    checks = by_name(examine())
    assert checks["surely-not-installed"].mend == 'pip install "surely-not-installed>=1.2"'
    assert checks["numpy"].status == "missing" and "needs >=999" in checks["numpy"].found
    assert "developers-only" not in checks
    assert "needs <2,>=1.0" in checks["torch"].found and checks["pandas"].status == "ok"


WITHOUT = """\
import sys
missing, sys.argv = sys.argv[1:], ["recap", "doctor", "--json"]
class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in missing:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Missing())
from app.cli.main import run
run()
"""


LIBRARIES = ["psutil", "pandas", "numpy", "pyarrow", "scipy", "torch"]


@pytest.mark.parametrize(
    "missing", [LIBRARIES, *(pytest.param([name], marks=pytest.mark.slow) for name in LIBRARIES)], ids=",".join
)
def test_speaks_where_a_library_is_missing(home: Path, missing: list[str]) -> None:
    """All or one: what does not load is named with the command, or not needed here; the rest is still said."""
    environment = {name: value for name, value in os.environ.items() if name != "RECAP_HOME"}
    environment |= {"XDG_DATA_HOME": str(home)}
    result = subprocess.run([sys.executable, "-c", WITHOUT, *missing], capture_output=True, text=True, env=environment)
    assert "Traceback" not in result.stderr
    checks = {check["name"]: check for check in json.loads(result.stdout)["checks"]}
    assert {"python", "recap", "time zones"} <= checks.keys()
    needed = {"psutil", "torch"}.intersection(missing)
    assert result.returncode == 1 or not needed
    for library in needed:
        assert f"No module named '{library}'" in checks[library]["found"] and "make setup" in checks[library]["mend"]


def test_a_users_folder_that_is_a_file(tmp_path: Path, home: Path) -> None:
    """It is one of the things missing, with the command; the rest is said all the same, places that are none too."""
    home.write_text("a file")
    small_dataset(ROWS).save(tmp_path / "good")
    checks = by_name(examine([tmp_path / "nowhere"]))
    assert checks["user folder"].status == "missing" and "is a file" in checks["user folder"].found
    assert checks["user folder"].mend.startswith("export RECAP_HOME=")
    assert checks["folder"].status == "note" and "nowhere" in checks["folder"].found
    assert "folder" not in by_name(examine([tmp_path]))
    assert checks["dataset"].status == "ok" and "python" in checks


def test_the_command(home: Path) -> None:
    """Exit 0 and one object; exit 1 where something is missing."""
    assert recap_json("doctor")["ok"] is True
    (home / "datasets" / "broken").mkdir(parents=True)
    (home / "datasets" / "broken" / "dataset.json").write_text("{}")
    result = recap("doctor")
    assert result.returncode == 1 and "Something is missing" in result.stdout and "broken" in result.stdout
