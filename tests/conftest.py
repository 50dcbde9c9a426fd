"""Settings shared by all tests."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# One thread per process, here and in the commands that tests start: several test processes share two cores.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# No deadline: a busy two-core machine is slow now and then, and that is no failure. Derandomised: the same examples on
# every machine, so that a red run can be repeated.
settings.register_profile(
    "recap", deadline=None, derandomize=True, max_examples=60, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("recap")


@pytest.fixture(autouse=True, scope="session")
def _own_user_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Datasets, caches and runs of tests never land in the real user's folder."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RECAP_HOME", str(tmp_path_factory.mktemp("home")))
        yield


@pytest.fixture(scope="session")
def city_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The small city as a dataset folder; do not change it."""
    from tests.worlds import small_city

    folder = tmp_path_factory.mktemp("city") / "data"
    small_city().save(folder)
    return folder


@pytest.fixture(scope="session")
def two_cities(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[Path, Path]]:
    """Two small cities whose lessons have other right answers: dataset and checkpoint of each; do not change them."""
    from tests.learn_worlds import trained_city

    return [trained_city(tmp_path_factory.mktemp("learn"), seed) for seed in (6, 12)]


@pytest.fixture(scope="session")
def city_checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkpoint trained on the small city for a second, every part active; copy it before changing it."""
    import torch

    from recap.training.run import train
    from tests.worlds import small_city, small_training

    folder = tmp_path_factory.mktemp("trained") / "checkpoint"
    assert train(small_city(), small_training(epochs=6), folder, device=torch.device("cpu")) is not None
    return folder
