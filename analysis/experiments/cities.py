"""The experiment `cities`: curves learned without a city, in that city and with few of its users."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

import numpy as np

from analysis.experiments.results import ExperimentResult, markdown, table, value_at
from analysis.experiments.spec import ExperimentSpec
from analysis.experiments.users_figure import users_figure
from recap import columns as c
from recap.data.dataset import Dataset
from recap.data.preparation import prepare_dataset
from recap.errors import CheckpointError, ConfigError
from recap.model.pretrained_curves import PretrainedCurves
from recap.presets import data_preset
from recap.storage.atomic import replace_text
from recap.training.pretraining import pretrain

USERS: Final = (10, 30, 100, 300, 1000)
_FEW_USERS: Final = ("zero", "pretrained", "started")
"""Arms that are measured with few users."""
_KEY: Final = "every_next.all.mrr"


class Run(Protocol):
    """`run_experiment` in one folder."""

    def __call__(self, spec: ExperimentSpec, dataset: Dataset, *, pretrained: PretrainedCurves) -> ExperimentResult: ...


@dataclass(frozen=True)
class CitiesResult:
    """Results by city, and those of the first city's users: number of users -> one result for each draw."""

    cities: list[ExperimentResult]
    users: dict[int, list[ExperimentResult]]
    finished: bool

    def accuracy(self, arm: str, users: int) -> float:
        """Mean MRR of next check-ins over the draws of so many users."""
        runs = [run for result in self.users[users] for run in result.arms if run.arm == arm]
        return float(np.mean([value_at(run.values, _KEY) or 0.0 for run in runs]))


def run_cities(
    spec: ExperimentSpec,
    datasets: Sequence[Dataset],
    packaged: PretrainedCurves,
    out: Path,
    run: Run,
    log: Callable[[str], None],
) -> CitiesResult:
    """Measure each city with the curves of the others, then the first city's users, few to many, in draws.

    Its curves are learned again without a city that they were learned in.

    Args:
        packaged: the package's curves.
        run: `run_experiment` in ``out``; gets the curves learned without the city.

    Raises:
        ConfigError: a city of the package's file is missing among ``datasets``.
    """
    cities: list[ExperimentResult] = []
    users: dict[int, list[ExperimentResult]] = {}
    first = curves_without(datasets[0], datasets, packaged, out, log)
    for dataset in datasets:
        named = spec.model_copy(update={"name": f"{spec.name}-{dataset.hash[:12]}"})
        cities.append(run(named, dataset, pretrained=curves_without(dataset, datasets, packaged, out, log)))
        if not cities[-1].finished:
            return CitiesResult(cities, users, finished=False)
    few = {"arms": tuple(arm for arm in spec.arms if arm.name in _FEW_USERS), "compare": ()}
    for number in [number for number in USERS if number <= datasets[0].num_users]:
        for draw in spec.seeds:
            name = f"{spec.name}-{number}-users-{draw}"
            drawn = spec.model_copy(update={**few, "name": name, "seeds": (draw,)})
            users.setdefault(number, []).append(run(drawn, draw_users(datasets[0], number, draw), pretrained=first))
            if not users[number][-1].finished:
                return CitiesResult(cities, users, finished=False)
    result = CitiesResult(cities, users, finished=True)
    replace_text(out / "cities.md", cities_markdown(result))
    few_labels = {label: arm for arm, label in _arms(result.cities[0]) if arm in _FEW_USERS}
    lines = {label: [result.accuracy(arm, number) for number in users] for label, arm in few_labels.items()}
    replace_text(out / "users.svg", users_figure(list(users), lines, "MRR of next check-ins by number of users"))
    return result


def curves_without(
    dataset: Dataset,
    datasets: Sequence[Dataset],
    packaged: PretrainedCurves,
    out: Path,
    log: Callable[[str], None],
) -> PretrainedCurves:
    """The package's curves, learned without a dataset; those learned here before are read from ``out``."""
    by_hash = {each.hash: each for each in datasets}
    missing = [city.name for city in packaged.cities if city.dataset_hash not in by_hash]
    if missing:
        raise ConfigError(f"name each city that the curves were learned in by --data; missing: {', '.join(missing)}")
    left = [city.dataset_hash for city in packaged.cities if city.dataset_hash != dataset.hash]
    if len(left) == len(packaged.cities):
        return packaged
    path = out / f"pretrained-without-{dataset.hash[:12]}.json"
    try:
        found = PretrainedCurves.load(path)
    except CheckpointError:
        found = None
    if found is None or [city.dataset_hash for city in found.cities] != left:
        log(f"curves without {dataset.manifest.name}")
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_text(path, pretrain([by_hash[key] for key in left], log).as_text())
    return PretrainedCurves.load(path)


def draw_users(dataset: Dataset, number: int, draw: int) -> Dataset:
    """A dataset of this many users alone, with every place they went to; a draw's larger tables hold its smaller."""
    chosen = np.random.default_rng(draw).permutation(dataset.num_users)[:number]
    checkins = dataset.checkins[dataset.checkins[c.USER].isin(chosen)]
    raw = checkins.join(dataset.users, on=c.USER).join(dataset.pois, on=c.POI).reset_index(drop=True)
    names = {"name": f"{number} users of {dataset.manifest.name}", "source_format": dataset.manifest.source_format}
    return prepare_dataset(raw[list(c.RAW_COLUMNS)], data_preset("every_place"), preset="every_place", **names)


def cities_markdown(result: CitiesResult) -> str:
    """One table of all cities, one by number of users, then each city's own tables."""
    heads = ["n", *(label for _, label in _arms(result.cities[0]))]
    rows = [
        (city.dataset_name, [_cases(city), *(_both(city, arm) for arm, _ in _arms(city))]) for city in result.cities
    ]
    shown = [(arm, label) for arm, label in _arms(result.cities[0]) if arm in _FEW_USERS]
    few = [
        (f"{number:,} users", [f"{result.accuracy(arm, number):.4f}" for arm, _ in shown]) for number in result.users
    ]
    parts = [
        "MRR, `every_next` / `every_step`, mean over seeds:",
        table(heads, rows),
        f"{result.cities[0].dataset_name}, `every_next` MRR by number of users, mean over draws of users:",
        table([label for _, label in shown], few),
    ]
    return "\n\n".join([*parts, *map(markdown, result.cities)])


def _arms(result: ExperimentResult) -> list[tuple[str, str]]:
    return list({run.arm: run.label for run in result.arms}.items())


def _cases(city: ExperimentResult) -> str:
    values = city.arms[0].values
    return f"{values['every_next']['all']['n']:,} / {values['every_step']['all']['n']:,}"


def _both(city: ExperimentResult, arm: str) -> str:
    runs = [run.values for run in city.arms if run.arm == arm]
    means = [np.mean([run[protocol]["all"]["mrr"] for run in runs]) for protocol in ("every_next", "every_step")]
    return " / ".join(f"{mean:.4f}".removeprefix("0") for mean in means)
