"""The toy town in its lesson: its map, and small models that train in it while the learner watches."""

import tempfile
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, Literal

import numpy as np
import pandas as pd
import torch

from analysis.compare.paired import ComparisonRow, compare_means, comparison_rows
from analysis.formatting import percent, signed
from analysis.learn.charts import Bar, Bars, Dots, PlaceMap, Way
from analysis.learn.lesson import Handle, Report, Scene, Training
from analysis.learn.toy_town import (
    MAX_SHARE,
    TOWN_PLACES,
    ToyTown,
    build_toy_town,
    kind_of_place,
    map_position,
    place_name,
)
from analysis.records.accuracy import metric_values
from analysis.workspace import Workspace
from recap import columns as c
from recap.evaluation.cases import describe_cases
from recap.evaluation.scoring import rank_cases
from recap.model.scorer import RecapScorer
from recap.training.trainer import Trainer
from recap.training_config import TrainConfig

LeftOut = Literal["graph", "history"]
"""What a variant leaves out: the graph token, or past visits."""

EPOCHS: Final = 8
_SIZES: Final[dict[str, Any]] = {
    "poi_dim": 16,
    "category_dim": 2,
    "hidden_dim": 32,
    "num_layers": 1,
    "num_heads": 2,
    "feedforward_dim": 32,
    "graph_dim": 32,
    "calibration_dim": 8,
    "suffix_length": 1,
    "embedding_dropout": 0.7,
    "output_dropout": 0.1,
}
SHARES: Final = (0.0, 0.1, 0.2, 0.3, 0.4, MAX_SHARE)
TOWNS: Final = 5
BY_CHANCE: Final = 0.06
"""How far HR@1 without a part differs between trainings in towns where nothing needs the part; intervals over users
are widened by it.
"""
PART_WORDS: Final[dict[LeftOut, str]] = {"graph": "Without the graph token", "history": "Without past visits"}
_VERDICTS: Final[dict[LeftOut, tuple[str, str, str]]] = {
    "graph": (
        "The graph token helps here.",
        "The graph token does harm here.",
        "The graph token makes no clear difference here.",
    ),
    "history": ("Past visits help here.", "Past visits do harm here.", "Past visits make no clear difference here."),
}


@lru_cache(maxsize=16)
def toy_town(two_hop: float, returns: float, seed: int) -> ToyTown:
    return build_toy_town(two_hop, returns, seed)


@lru_cache(maxsize=4)
def opened_town(two_hop: float, returns: float, seed: int) -> Workspace:
    return Workspace.of(toy_town(two_hop, returns, seed).dataset)


def poi_of(opened: Workspace, place: int) -> int:
    """The dataset's index of a planted place."""
    return int(np.flatnonzero(opened.dataset.pois[c.POI_NAME].to_numpy() == place_name(place))[0])


def town_map(
    opened: Workspace, seed: int, says: str, ways: tuple[Way, ...], source: int, target: int, chosen: int | None = None
) -> PlaceMap:
    """The town with a transition's ends and the chosen middle place; places are the dataset's indices."""
    kinds = {kind: [poi_of(opened, place) for place in range(TOWN_PLACES) if kind_of_place(place) == kind] for kind in
             ("House", "Stop", "Square")}  # fmt: skip
    dots = [Dots(f"{kind}s", tuple(places), "baseline", size) for (kind, places), size in
            zip(kinds.items(), (9, 11, 15), strict=True)]  # fmt: skip
    dots += [
        *([] if chosen is None else [Dots("Chosen place in between", (chosen,), "paths", 15)]),
        Dots("Start", (source,), "ink", 15),
        Dots("End", (target,), "truth", 19, ring=True),
    ]
    names = dict(enumerate(opened.labels))
    latitude, longitude = opened.latitude.copy(), opened.longitude.copy()
    for place in range(TOWN_PLACES):
        poi = poi_of(opened, place)
        latitude[poi], longitude[poi] = map_position(place, seed)
    return PlaceMap(says, latitude, longitude, tuple(dots), ways, names, clickable=chosen is not None)


def parts_training() -> Training:
    """Train the whole model and without each part, in a town of the learner's choice."""
    shares = tuple(percent(share) for share in SHARES)
    handles = (
        Handle("two_hop", "Transitions that only a path explains", shares, len(SHARES) - 1),
        Handle("returns", "Transitions back to a favourite place", shares, 0),
        Handle("town", "Town", tuple(str(number + 1) for number in range(TOWNS)), 0),
    )
    return Training(
        "Train three small models",
        "Build a town and train in it: the whole model, one without the graph token, and one without past visits.",
        handles,
        lambda positions, report: _train_parts(SHARES[positions[0]], SHARES[positions[1]], positions[2], report),
    )


def _train_parts(two_hop: float, returns: float, seed: int, report: Report) -> Scene:
    town = toy_town(two_hop, returns, seed)
    names = ["Whole", *PART_WORDS.values()]
    ranked = []
    for number, lacks in enumerate((None, *PART_WORDS)):

        def show(epoch: int, hr1: float, number: int = number) -> None:
            words = f"{names[number]}: epoch {epoch} of {EPOCHS}, {percent(hr1)} ranked first"
            report(number * EPOCHS + epoch, len(names) * EPOCHS, words)

        ranked.append(train_in_town(town, toy_config(lacks=lacks, seed=seed), show))
    worths = {part: worth_of_part(ranked[0], table) for part, table in zip(PART_WORDS, ranked[1:], strict=True)}
    whole = worths["graph"]["value"]
    bars = [Bar("Whole", whole, percent(whole, 1), "model")]
    bars += [
        Bar(PART_WORDS[part], one["baseline"], percent(one["baseline"], 1), "baseline") for part, one in worths.items()
    ]
    finding = " ".join(verdict(part, worth) for part, worth in worths.items())
    changes = " ".join(
        f"{PART_WORDS[part]}: {signed(-worth['difference'])} [{', '.join(map(signed, change_without(worth)))}]."
        for part, worth in worths.items()
    )
    return Scene(
        finding,
        (Bars.of(finding, "True place ranked first", bars, 1.0),),
        f"{changes} 95 % intervals over users, wider by {BY_CHANCE:g} for the chance of training.",
    )


def change_without(worth: ComparisonRow) -> tuple[float, float]:
    """95 % interval of what HR@1 changes without a part: over users, wider by the chance of training."""
    return -worth["high"] - BY_CHANCE, BY_CHANCE - worth["low"]


def verdict(part: LeftOut, worth: ComparisonRow) -> str:
    """Clear exactly where the interval excludes 0."""
    low, high = change_without(worth)
    helps, harms, unclear = _VERDICTS[part]
    return helps if high < 0 else harms if low > 0 else unclear


def toy_config(*, lacks: LeftOut | None = None, seed: int = 0, epochs: int = EPOCHS) -> TrainConfig:
    """The configuration of a toy model.

    All parts act from the first epoch. Only the graph reads the first quarter of the training transitions, so the model
    cannot learn the closed houses by heart (see `analysis.learn.toy_town`).
    """
    model = _SIZES | {"use_graph": lacks != "graph", "use_history": lacks != "history"}
    return TrainConfig.parse(
        {
            "preset": "toy town",
            "epochs": epochs,
            "batch_size": 64,
            "seed": seed,
            "validate_every": epochs,
            "latest_share": 0.75,
            "model": model,
            "curriculum": {"staged": False, "warm_weight": 0.0},
            "optimiser": {"learning_rate": 5e-3, "prior_learning_rate": 5e-2},
        }
    )


def train_in_town(
    town: ToyTown, config: TrainConfig, report: Callable[[int, float], None] | None = None
) -> pd.DataFrame:
    """Train, and rank the town's test transitions after the last epoch, see `recap.evaluation.scoring.rank_cases`.

    Args:
        report: receives each epoch that has ended, and HR@1 over the town's test transitions.
    """
    with tempfile.TemporaryDirectory(prefix="recap-toy-") as folder:
        trainer = Trainer(town.dataset, config, Path(folder), torch.device("cpu"))
        cases = describe_cases(town.dataset, trainer.graph, c.TEST)
        ranked = cases

        def end_epoch(trainer: Trainer, epoch: int) -> None:
            nonlocal ranked
            scorer = RecapScorer(trainer.model, config.curriculum.at(epoch))
            ranked = rank_cases(scorer, cases, trainer.checkins)
            trainer.model.train()
            if report is not None:
                report(epoch, float(metric_values(ranked, "hr1").mean()))

        trainer.run(after_epoch=end_epoch)
    return ranked


def worth_of_part(whole: pd.DataFrame, without: pd.DataFrame) -> ComparisonRow:
    """HR@1 with a part (``value``) and without it (``baseline``), over the same test transitions."""
    (row,) = comparison_rows(compare_means([whole], [without], metrics=("hr1",), groups=("all",)))
    return row
