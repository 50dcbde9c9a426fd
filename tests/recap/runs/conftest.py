"""A run that waits."""

from pathlib import Path

import pytest

from recap.runs.store.run_store import RunFolder, RunStore
from tests.background import tiny_spec


@pytest.fixture
def run(store: RunStore, dataset_folder: Path) -> RunFolder:
    return store.add([tiny_spec(dataset_folder)])[0]
