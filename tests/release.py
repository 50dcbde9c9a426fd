"""Build wheel and sdist and try the wheel where nothing else of ours is, for `make release` and tests/e2e."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
import venv
from pathlib import Path
from typing import Final, NamedTuple

from tests.background import running, walking_dataset
from tests.tiny import EPOCHS, WORDS

ROOT: Final = Path(__file__).parents[1]
DIST: Final = ROOT / "dist"
PACKED: Final = ("recap", "recap_notebook", "analysis", "app", "checkpoints")
NEXT_TO_THEM: Final = ("pyproject.toml", "setup.py", "README.md", "LICENSE", "NOTICE")
LARGEST: Final = 25_000_000
"""Bytes of the wheel."""


class Installed(NamedTuple):
    """A virtual environment with the wheel, next to an empty home and an empty folder to start in."""

    environment: Path
    home: Path
    empty: Path

    @classmethod
    def make(cls, root: Path) -> "Installed":
        """The environment, still without the wheel."""
        found = cls(root / "Umgebung größer", root / "Zu Hause", root / "leerer Ordner")
        for folder in (found.home, found.empty):
            folder.mkdir(parents=True)
        venv.create(found.environment, symlinks=True, with_pip=False)
        return found

    @property
    def python(self) -> Path:
        return self.environment / "bin" / "python"

    @property
    def program(self) -> Path:
        return self.environment / "bin" / "recap"

    @property
    def city(self) -> Path:
        """The bundled city."""
        (found,) = self.environment.glob("lib/*/site-packages/recap/bundles/demo-city")
        return found

    @property
    def variables(self) -> dict[str, str]:
        """This process's environment without what leads back to the checkout or to another user folder."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("RECAP_", "PYTHON", "XDG_"))}
        return kept | {"HOME": str(self.home)}

    def run(self, *command: str | Path) -> str:
        """What a command prints that is started in the empty folder."""
        started = subprocess.run(
            [*command], cwd=self.empty, env=self.variables, capture_output=True, text=True, timeout=120, check=False
        )
        assert started.returncode == 0, started.stdout + started.stderr
        return started.stdout


def version() -> str:
    """The project's version."""
    return str(tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"])


def build(work: Path, out: Path) -> tuple[Path, Path]:
    """Wheel and sdist of this checkout, the wheel built of the sdist.

    They are made of a copy: a build leaves folders behind that a second one would pack.
    """
    skip = shutil.ignore_patterns("__pycache__", "*.egg-info")
    for name in PACKED:
        shutil.copytree(ROOT / name, work / name, ignore=skip)
    for name in NEXT_TO_THEM:
        shutil.copy(ROOT / name, work)
    code = f"from setuptools.build_meta import build_sdist; build_sdist({str(out)!r})"
    subprocess.run([sys.executable, "-c", code], cwd=work, check=True, stdout=subprocess.DEVNULL, timeout=300)
    (sdist,) = out.glob("recap_mobility-*.tar.gz")
    pip("wheel", "--no-build-isolation", "--no-deps", "--wheel-dir", out, sdist)
    (wheel,) = out.glob("recap_mobility-*.whl")
    assert wheel.stat().st_size <= LARGEST
    return wheel, sdist


def pip(*arguments: str | Path, offline: bool = True) -> None:
    """Pip without its cache and its news about itself, and without network."""
    command = [sys.executable, "-m", "pip", "--quiet", "--no-cache-dir", "--disable-pip-version-check", *arguments]
    environment = os.environ | ({"PIP_NO_INDEX": "1", "PIP_NO_INPUT": "1"} if offline else {})
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=1800, check=False)
    assert done.returncode == 0, done.stderr


def predict(installed: Installed) -> str:
    """The version is the project's; a case becomes a page; the next places of everybody are in a file."""
    assert installed.run(installed.program, "--version").strip() == version()
    data, page, places = (
        ("--data", installed.city / "dataset"),
        installed.home / "page.html",
        installed.home / "next.csv",
    )
    model = installed.city / "checkpoint"
    installed.run(installed.program, "explain", model, *data, "--case", "17", "--html", page)
    assert "<style>" in page.read_text(encoding="utf-8")
    installed.run(installed.program, "predict", model, *data, "--top", "3", "--out", places)
    rows = len(places.read_text(encoding="utf-8").splitlines()) - 1
    assert rows > 0 and rows % 3 == 0
    return f"explains a case, predicts {rows // 3:,} users"


def train(installed: Installed) -> str:
    """A tiny model is trained, and opens from Python."""
    data, model = installed.home / "data", installed.home / "model"
    walking_dataset().save(data)
    trained = json.loads(installed.run(installed.program, "train", data, "--out", model, *WORDS, "--json"))
    assert trained["epochs"] == EPOCHS
    code = f"import recap; print(len(recap.load({str(model)!r}).evaluate({str(data)!r})))"
    assert installed.run(installed.python, "-c", code) == "4\n"
    return f"trains {EPOCHS} epochs, evaluates from Python"


def open_app(installed: Installed) -> str:
    """The app answers its health check."""
    with running([installed.program, "app", "--port"], installed.variables, installed.empty):
        return "opens the app"


def run_doctests(installed: Installed) -> str:
    """The examples in the installed packages' docstrings are true."""
    return installed.run(installed.python, "-P", ROOT / "tests" / "doctests.py").strip()


def main() -> None:
    """Build into dist, install with dependencies in an empty environment elsewhere, and try each part."""
    changed = subprocess.run(["git", "status", "--porcelain"], cwd=ROOT, capture_output=True, text=True, check=True)
    if changed.stdout:
        raise SystemExit(f"a release is made of committed files; commit or remove:\n{changed.stdout.rstrip()}")
    shutil.rmtree(DIST, ignore_errors=True)
    DIST.mkdir()
    with tempfile.TemporaryDirectory() as work:
        wheel, sdist = build(Path(work), DIST)
    with tempfile.TemporaryDirectory() as root:
        installed = Installed.make(Path(root))
        print(f"Installing {wheel.name} with its dependencies")
        pip("--python", installed.python, "install", f"{wheel}[app]", offline=False)
        for attempt in (predict, train, open_app, run_doctests):
            print(f"The installed wheel: {attempt(installed)}", flush=True)
    print(f"Ready: {wheel.relative_to(ROOT)}, {sdist.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
