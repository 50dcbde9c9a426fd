"""A wheel installed elsewhere is whole: it runs from there, and shows the demo city with logo and theme."""

import json
import sysconfig
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tests import release
from tests.background import running
from tests.e2e.conftest import DARK, Page, playwright_api

pytestmark = pytest.mark.slow

expect = playwright_api.expect


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> release.Installed:
    """The wheel in an environment of its own, which sees the libraries of this one but not its editable checkout.

    A `.pth` file names the folder of the libraries; the `.pth` files inside that folder, such as the one that leads to
    the checkout, are not read.
    """
    wheel, _ = release.build(tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("wheels"))
    found = release.Installed.make(tmp_path_factory.mktemp("wheel") / "Käufer und Läden")
    (packages,) = found.environment.glob("lib/python3*/site-packages")
    libraries = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib"), str(Path(np.__file__).parents[1])}
    (packages / "libraries.pth").write_text("\n".join(libraries), encoding="utf-8")
    release.pip("--python", found.python, "install", "--no-index", "--no-deps", wheel)
    return found


def test_it_runs_from_there(installed: release.Installed) -> None:
    """Every package, template, experiment and bundle is the wheel's."""
    answer = installed.run(
        installed.python,
        "-c",
        "import json, recap, analysis, app, analysis.sharing.page\n"
        "from analysis.experiments.names import EXPERIMENTS, SPECS\n"
        "from app.pages import ASSETS\n"
        "from recap.storage.user_folder import bundles_folder\n"
        "packages = [*recap.__path__, *analysis.__path__, *app.__path__]\n"
        "print(json.dumps([[*packages, *map(str, (SPECS, ASSETS, bundles_folder()))], EXPERIMENTS]))",
    )
    places, specs = json.loads(answer)
    assert len(places) == 6
    for place in places:
        assert Path(place).is_relative_to(installed.environment) and Path(place).is_dir(), place
    assert specs == sorted(path.stem for path in (release.ROOT / "analysis" / "experiments" / "specs").glob("*.toml"))


@pytest.mark.parametrize("attempt", [release.predict, release.train, release.run_doctests])
def test_it_works(installed: release.Installed, attempt: Callable[[release.Installed], str]) -> None:
    assert attempt(installed)


def test_it_opens_with_logo_theme_and_city(open_page: Callable[..., Page], installed: release.Installed) -> None:
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
