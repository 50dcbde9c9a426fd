"""The experiment `cities`: each city left out of the curves, and few of the first city's users."""

from functools import partial
from pathlib import Path

import pytest
import torch

from analysis.experiments import cities
from analysis.experiments.running import run_experiment
from analysis.experiments.spec import ExperimentSpec, load_spec
from recap import columns as c
from recap.checkpoint import Checkpoint
from recap.data.dataset import Dataset
from recap.errors import ConfigError
from recap.model.pretrained_curves import PretrainedCurves
from recap.training.pretraining import pretrain
from tests.worlds import small_city

ARMS = ("visit_count", "feature_curves", "zero", "pretrained", "started")


@pytest.fixture(scope="module")
def packaged() -> PretrainedCurves:
    return pretrain([small_city(), small_city(1)])


def run(
    packaged: PretrainedCurves, out: Path, datasets: list[Dataset], stop_after: int | None = None
) -> cities.Measured:
    steps = 0

    def stop() -> bool:
        nonlocal steps
        steps += 1
        return stop_after is not None and steps >= stop_after

    shipped = load_spec("cities")
    arms = tuple(arm for arm in shipped.arms if arm.name in ARMS)
    compare = tuple(pair for pair in shipped.compare if set(pair) <= set(ARMS))
    spec = ExperimentSpec.model_validate(shipped.model_copy(update={"arms": arms, "compare": compare, "seeds": (1,)}))
    one = partial(run_experiment, out=out, device=torch.device("cpu"), command="x", log=lambda line: None, stop=stop)
    return cities.run_cities(spec, datasets, packaged, out, one, lambda line: None)


def test_no_city_meets_curves_that_saw_it(
    packaged: PretrainedCurves, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A city of the file gets the curves of the others, another city the file; stopped, it continues."""
    monkeypatch.setattr(cities, "USERS", (5, 10_000))
    datasets = [small_city(), small_city(1), small_city(2)]
    assert not run(packaged, tmp_path, datasets, stop_after=30).is_finished
    done = run(packaged, tmp_path, datasets)
    assert done.is_finished and [users for users, _ in done.users] == [5]
    without = [PretrainedCurves.load(path) for path in sorted(tmp_path.glob("pretrained-*.json"))]
    learned = {tuple(city.dataset_hash for city in curves.cities) for curves in without}
    assert learned == {(datasets[1].hash,), (datasets[0].hash,)}
    starts = {}
    for result in done.cities:
        [started] = [arm for arm in result.arms if arm.arm == "started"]
        manifest = Checkpoint.load(tmp_path / "trainings" / started.digest).manifest
        starts[result.dataset_hash] = manifest.started_from
        assert started.values["cost"]["processor_seconds"] > 0
    seen_by = {curves.hash: {city.dataset_hash for city in curves.cities} for curves in [*without, packaged]}
    assert all(start is not None and city not in seen_by[start] for city, start in starts.items())
    assert starts[datasets[2].hash] == packaged.hash
    text, figure = (tmp_path / "cities.md").read_text(), (tmp_path / "users.svg").read_text()
    assert text.count("## Curves learned in other cities") == 3 and "| 5 users | ." in text
    assert figure.count("<polyline") == 3 + 3
    with pytest.raises(ConfigError, match="missing: small"):
        run(packaged, tmp_path / "other", datasets[1:])


def test_drawn_users_keep_their_checkins() -> None:
    """Every place of theirs stays, and a larger table of one draw holds the smaller."""
    dataset = small_city()
    few, more = (cities.draw_users(dataset, number, 1) for number in (4, 8))
    assert few.num_users == 4 and set(few.users[c.USER_ID]) < set(more.users[c.USER_ID])
    known = dataset.checkins[c.USER].map(dataset.users[c.USER_ID]).isin(few.users[c.USER_ID])
    assert len(few.checkins) <= known.sum() and len(few.checkins) > 0.9 * known.sum()
