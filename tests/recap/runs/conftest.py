"""One dataset on disk, one runs folder and one waiting run for all tests of runs."""

from pathlib import Path

import pytest

from recap.runs.store.run_folder import RunFolder
from recap.runs.store.run_store import RunStore
from tests.background import tiny_spec
from tests.run_fixtures import dataset_folder as dataset_folder
from tests.run_fixtures import store as store


@pytest.fixture
def run(store: RunStore, dataset_folder: Path) -> RunFolder:
    return store.add([tiny_spec(dataset_folder)])[0]
