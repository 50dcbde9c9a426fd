"""The experiments of several cities: curves learned without a city, in that city and with few of its users."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np

from analysis.compare.model_table import markdown_table
from analysis.experiments.results import ExperimentResult, markdown, number, value_at
from analysis.experiments.spec import ExperimentSpec
from recap import columns as c
from recap.data.cleaning import data_preset
from recap.data.dataset import Dataset
from recap.data.preparation import prepare_dataset
from recap.errors import ConfigError
from recap.pretrained.curves_file import PretrainedCurves
from recap.storage.atomic import replace_text
from recap.training.pretraining import pretrain

USER_NUMBERS: Final = (10, 30, 100, 300, 1000)
_FEW_USERS: Final = ("zero", "pretrained", "started")
"""Arms that are measured with few users."""
_EVERYWHERE: Final = ("visit_count_at_time", "pretrained", "pretrained_at_time", "recap", "recap_at_time")
_NEXT, _STEP = "every_next.all.mrr", "every_step.all.mrr"


class Measured(NamedTuple):
    """Result of each city, and of each table of the first city's users: their number, and the result."""

    cities: list[ExperimentResult]
    users: list[tuple[int, ExperimentResult]]

    @property
    def is_finished(self) -> bool:
        return all(result.finished for result in (*self.cities, *(result for _, result in self.users)))


def run_cities(
    spec: ExperimentSpec,
    datasets: Sequence[Dataset],
    packaged: PretrainedCurves,
    out: Path,
    run: Callable[..., ExperimentResult],
    log: Callable[[str], None],
    *,
    by_users: bool,
) -> Measured:
    """Measure each city with curves that did not see it.

    Args:
        by_users: then also tables of the first city's users, drawn by each seed; otherwise the other cities have only
            the arms of `_EVERYWHERE`.
        packaged: the package's curves; learned again without a city that is among theirs.
        run: `run_experiment` in ``out``, of a spec, a dataset and ``pretrained``.

    Raises:
        ConfigError: a city of the package's curves is missing among ``datasets``.
    """
    done = Measured([], [])
    without = partial(_curves_without, datasets=datasets, packaged=packaged, out=out, log=log)
    for dataset in datasets:
        whole = spec if by_users or dataset is datasets[0] else _everywhere(spec)
        named = whole.model_copy(update={"name": f"{spec.name}-{dataset.hash[:12]}"})
        done.cities.append(run(named, dataset, pretrained=without(dataset)))
        if not done.is_finished:
            return done
    if not by_users:
        return done
    few = {"arms": tuple(arm for arm in spec.arms if arm.name in _FEW_USERS), "compare": ()}
    for users, draw in (
        (users, draw) for users in USER_NUMBERS for draw in spec.seeds if users <= datasets[0].num_users
    ):
        drawn = spec.model_copy(update={**few, "name": f"{spec.name}-{users}-users-{draw}", "seeds": (draw,)})
        result = run(drawn, draw_users(datasets[0], users, draw), pretrained=without(datasets[0]))
        done.users.append((users, result))
        if not done.is_finished:
            return done
    replace_text(out / "cities.md", cities_markdown(done))
    return done


def _everywhere(spec: ExperimentSpec) -> ExperimentSpec:
    arms = tuple(arm for arm in spec.arms if arm.name in _EVERYWHERE)
    compare = tuple(pair for pair in spec.compare if {*pair} <= {arm.name for arm in arms})
    return spec.model_copy(update={"arms": arms, "compare": compare})


def _curves_without(
    dataset: Dataset, datasets: Sequence[Dataset], packaged: PretrainedCurves, out: Path, log: Callable[[str], None]
) -> PretrainedCurves:
    """The package's curves if they did not see a dataset, else learned without it and kept in ``out``."""
    by_hash = {each.hash: each for each in datasets}
    missing = [city.name for city in packaged.cities if city.dataset_hash not in by_hash]
    if missing:
        raise ConfigError(f"name each city that the curves were learned in by --data; missing: {', '.join(missing)}")
    left = [city.dataset_hash for city in packaged.cities if city.dataset_hash != dataset.hash]
    if len(left) == len(packaged.cities):
        return packaged
    path = out / f"pretrained-{'-'.join(key[:8] for key in left)}.json"
    if not path.is_file():
        log(f"Learning curves without {dataset.manifest.name}")
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_text(path, pretrain([by_hash[key] for key in left], log).as_text())
    return PretrainedCurves.load(path)


def draw_users(dataset: Dataset, users: int, draw: int) -> Dataset:
    """A dataset of so many users alone, with every place they went to; a draw's larger tables hold its smaller."""
    chosen = np.random.default_rng(draw).permutation(dataset.num_users)[:users]
    checkins = dataset.checkins[dataset.checkins[c.USER].isin(chosen)]
    raw = checkins.join(dataset.users, on=c.USER).join(dataset.pois, on=c.POI).reset_index(drop=True)
    facts = {"name": f"{users} users of {dataset.manifest.name}", "source_format": dataset.manifest.source_format}
    return prepare_dataset(raw[list(c.RAW_COLUMNS)], data_preset("every_place"), **facts)


def cities_markdown(done: Measured) -> str:
    """One table of all cities, one by number of users, then each city's own tables."""
    arms = {run.arm: run.label for run in done.cities[0].arms}
    few = {arm: label for arm, label in arms.items() if arm in _FEW_USERS}
    by_city = [
        [city.dataset_name, *(" / ".join(_mean([city], arm, key) for key in (_NEXT, _STEP)) for arm in arms)]
        for city in done.cities
    ]
    draws: dict[int, list[ExperimentResult]] = {}
    for users, result in sorted(done.users, key=lambda pair: pair[0]):
        draws.setdefault(users, []).append(result)
    by_users = [[f"{users:,} users", *(_mean(of, arm, _NEXT) for arm in few)] for users, of in draws.items()]
    parts = [
        "MRR, `every_next` / `every_step`, mean over seeds:",
        markdown_table(["", *arms.values()], by_city),
        f"Users of {done.cities[0].dataset_name}, MRR, `every_next`, mean over draws of users:",
        markdown_table(["", *few.values()], by_users),
    ]
    return "\n\n".join([*parts, *map(markdown, done.cities)])


def _mean(results: Sequence[ExperimentResult], arm: str, key: str) -> str:
    runs = [value_at(run.values, key) for result in results for run in result.arms if run.arm == arm]
    return number(float(np.mean([value for value in runs if value is not None])), 4)
