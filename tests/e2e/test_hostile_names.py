"""A hostile city in a real browser: its names stay text, and nothing outside is asked for."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from app.settings import BUNDLES_VARIABLE
from tests.app.test_hostile_data import CASES, hostile_dataset
from tests.e2e.conftest import Page, running
from tests.shell import RECAP
from tests.untrained import write_untrained_checkpoint


@pytest.fixture(scope="module")
def hostile_address(chromium: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A running app on a city whose names are markup, addresses, emoji codes and formulae."""
    folder = tmp_path_factory.mktemp("hostile")
    dataset = hostile_dataset(*CASES["names that are markup"])
    dataset.save(folder / "data")
    checkpoint = write_untrained_checkpoint(dataset, folder / "checkpoint")
    command: list[str | Path] = [RECAP, "app", "--data", folder / "data", "--checkpoint", checkpoint, "--port"]
    with running(command, os.environ | {BUNDLES_VARIABLE: "/nonexistent"}) as url:
        yield url


@pytest.mark.parametrize("path", ["/?source=0123456789ab", "/walk?case=1", "/explain?case=1", "/long_tail", "/runs"])
def test_names_stay_text(open_page: Callable[..., Page], hostile_address: str, path: str) -> None:
    """No link, picture, formula or icon comes from the data; `open_page` fails where anything outside is asked for."""
    page = open_page(path, at=hostile_address)
    main = page.locator("[data-testid=stMain]")
    for foreign in ("a[href*='evil']", "a[href^=mailto]", "img[src*='evil']", ".katex", "b:text('nasty')"):
        assert main.locator(foreign).count() == 0, foreign
    assert main.locator("[data-testid=stMarkdownContainer] img").count() == 0
