"""Settings shared by all tests."""

import os
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from filelock import FileLock
from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    from recap.runs.store.run_store import RunStore

# One thread per process, here and in the commands that tests start: several test processes share two cores.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("STREAMLIT_BROWSER_GATHER_USAGE_STATS", "false")  # as the app has it

# No deadline: a busy two-core machine is slow now and then, and that is no failure. Derandomised: the same examples on
# every machine, so that a red run can be repeated.
settings.register_profile(
    "recap", deadline=None, derandomize=True, max_examples=20, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("recap")


@pytest.fixture(autouse=True, scope="session")
def _own_user_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Datasets, caches and runs of tests never land in the real user's folder, and need not outlive a power cut."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda descriptor: None)
        patch.setenv("RECAP_HOME", str(tmp_path_factory.mktemp("home")))
        yield


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user's folder of the test's own; it does not exist yet."""
    monkeypatch.setenv("RECAP_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def made_once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], object]) -> Path:
    """A folder that the first worker in need of it makes and that all workers of this run read; do not change it."""
    parallel = "PYTEST_XDIST_WORKER" in os.environ
    root = factory.getbasetemp().parent if parallel else factory.getbasetemp()
    folder = root / "shared" / name
    with FileLock(root / f"{name}.lock"):
        if not folder.exists():
            draft = root / f"{name}.draft"
            draft.mkdir()
            make(draft)
            folder.parent.mkdir(exist_ok=True)
            draft.rename(folder)
    return folder


@pytest.fixture(scope="session")
def two_cities(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[Path, Path]]:
    """Two small cities whose lessons have other right answers: dataset and checkpoint of each."""
    from tests.worlds import train_city

    folders = [made_once(tmp_path_factory, f"city-{seed}", partial(train_city, seed=seed)) for seed in (6, 12)]
    return [(folder / "data", folder / "checkpoint") for folder in folders]


@pytest.fixture(scope="session")
def city_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The small city as a dataset folder; do not change it."""
    from tests.worlds import small_city

    return made_once(tmp_path_factory, "city", lambda folder: small_city().save(folder / "data")) / "data"


@pytest.fixture(scope="session")
def city_checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkpoint trained on the small city for a second, every part active; copy it before changing it."""
    from tests.worlds import train_city

    return made_once(tmp_path_factory, "city-0", train_city) / "checkpoint"


@pytest.fixture(scope="session")
def dataset_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A few users who walk around, to train on in seconds; do not change it."""
    from tests.background import walking_dataset

    return made_once(tmp_path_factory, "walking", lambda folder: walking_dataset().save(folder / "small")) / "small"


@pytest.fixture
def store(tmp_path: Path) -> Iterator["RunStore"]:
    """A runs folder of the test's own; its runner has left when the test is over."""
    from tests.background import new_store, runner_process, wait_for

    store = new_store(tmp_path / "home")
    yield store
    runner = runner_process(store)
    if runner is not None:
        wait_for(lambda: not runner.is_alive(), "the runner to leave", 60)
