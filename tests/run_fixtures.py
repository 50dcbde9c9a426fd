"""One dataset on disk for all tests of runs."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from recap.runs.store.run_store import RunStore
from tests.background import new_store, runner_process, wait_for, walking_dataset


@pytest.fixture(scope="session")
def dataset_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data") / "small"
    walking_dataset().save(folder)
    return folder


@pytest.fixture
def store(tmp_path: Path) -> Iterator[RunStore]:
    """A runs folder of the test's own; its runner has left when the test is over."""
    store = new_store(tmp_path / "home")
    yield store
    runner = runner_process(store)
    if runner is not None:
        wait_for(lambda: not runner.is_alive(), "the runner to leave", 60)
