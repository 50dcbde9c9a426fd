"""A wheel installed elsewhere is whole: it runs from there, and shows the demo city with logo and theme."""

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.background import walking_dataset
from tests.e2e.conftest import DARK, Page, playwright_api, running
from tests.tiny import EPOCHS, WORDS

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
expect = playwright_api.expect


class Installed(NamedTuple):
    """A virtual environment with the wheel, next to an empty home and an empty folder to start in."""

    environment: Path
    home: Path
    empty: Path

    @property
    def program(self) -> Path:
        return self.environment / "bin" / "recap"

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
        assert started.returncode == 0, started.stderr
        return started.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this checkout, built in a copy: a build leaves folders behind that a second one would pack."""
    source, out = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("wheels")
    skip = shutil.ignore_patterns("__pycache__", "*.egg-info")
    for name in ("recap", "analysis", "app", "checkpoints"):
        shutil.copytree(ROOT / name, source / name, ignore=skip)
    for name in ("pyproject.toml", "setup.py", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    _pip("wheel", "--no-build-isolation", "--no-deps", "--wheel-dir", out, source)
    (found,) = out.glob("recap_mobility-*.whl")
    assert found.stat().st_size <= 25_000_000
    return found


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """The wheel in an environment of its own, which sees the libraries of this one but not its editable checkout.

    A `.pth` file names the folder of the libraries; the `.pth` files inside that folder, such as the one that leads to
    the checkout, are not read.
    """
    root = tmp_path_factory.mktemp("wheel") / "Käufer und Läden"
    found = Installed(root / "Umgebung größer", root / "Zu Hause", root / "leerer Ordner")
    for folder in (found.home, found.empty):
        folder.mkdir(parents=True)
    venv.create(found.environment, symlinks=True, with_pip=False)
    (packages,) = found.environment.glob("lib/python3*/site-packages")
    libraries = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
    (packages / "libraries.pth").write_text("\n".join(libraries), encoding="utf-8")
    _pip("--python", found.environment / "bin" / "python", "install", "--no-index", "--no-deps", wheel)
    return found


def test_it_runs_from_there(installed: Installed) -> None:
    """Every package, template, experiment and bundle is the wheel's."""
    answer = installed.run(
        installed.environment / "bin" / "python",
        "-c",
        "import json, recap, analysis, app, analysis.sharing.page\n"
        "from analysis.experiments.spec import SPECS, list_specs\n"
        "from app.pages import ASSETS\n"
        "from recap.storage.installed import bundles_folder\n"
        "packages = [*recap.__path__, *analysis.__path__, *app.__path__]\n"
        "print(json.dumps([[*packages, *map(str, (SPECS, ASSETS, bundles_folder()))], list_specs()]))",
    )
    places, specs = json.loads(answer)
    assert len(places) == 6
    for place in places:
        assert Path(place).is_relative_to(installed.environment) and Path(place).is_dir(), place
    assert specs == sorted(path.stem for path in (ROOT / "analysis" / "experiments" / "specs").glob("*.toml"))


def test_the_commands_work(installed: Installed) -> None:
    """The version is the project's, a case becomes a page, a model trains."""
    assert installed.run(installed.program, "--version") == (
        installed.run(
            sys.executable,
            "-c",
            f"import tomllib; print(tomllib.load(open({str(ROOT / 'pyproject.toml')!r}, 'rb'))['project']['version'])",
        )
    )
    (city,) = installed.environment.glob("lib/*/site-packages/recap/bundles/demo-city")
    installed.run(
        *(installed.program, "explain", city / "checkpoint", "--data", city / "dataset", "--case", "17"),
        *("--html", installed.empty / "page.html"),
    )
    assert "<style>" in (installed.empty / "page.html").read_text(encoding="utf-8")
    (installed.empty / "page.html").unlink()
    walking_dataset().save(installed.home / "data")
    folders = installed.home / "data", "--out", installed.home / "model"
    assert json.loads(installed.run(installed.program, "train", *folders, *WORDS, "--json"))["epochs"] == EPOCHS


def test_it_opens_with_logo_theme_and_city(open_page: Callable[..., Page], installed: Installed) -> None:
    """`recap app` in an empty folder: the finding on the demo city, the logo's picture, the dark theme's ground."""
    with running([installed.program, "app", "--port"], installed.variables, installed.empty) as url:
        page = open_page("/", theme="dark", at=url)
        expect(page.locator("h1")).to_contain_text("RECAP")
        page.get_by_text("the city is invented").first.wait_for()
        ground = page.evaluate("getComputedStyle(document.querySelector('[data-testid=stApp]')).backgroundColor")
        assert ground == DARK
        logo = page.get_by_test_id("stHeaderLogo").first
        assert logo.evaluate("image => image.naturalWidth") > 0
        page.close()


def _pip(*arguments: str | Path) -> None:
    """Pip without network, its cache and its news about itself."""
    command = [sys.executable, "-m", "pip", "--quiet", "--no-cache-dir", "--disable-pip-version-check", *arguments]
    offline = {"PIP_NO_INDEX": "1", "PIP_NO_INPUT": "1"}
    built = subprocess.run(command, env=os.environ | offline, capture_output=True, text=True, timeout=300, check=False)
    assert built.returncode == 0, built.stderr
