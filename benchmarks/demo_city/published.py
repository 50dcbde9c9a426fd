"""Published models on the demo city: trained here, shipped as records without weights."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from analysis.records.imported import SHIPPED_PREDICTIONS, ship_predictions
from benchmarks.demo_city.cards import fill_template
from recap.checkpoint import Checkpoint
from recap.data.dataset import Dataset
from recap.evaluation.scoring import evaluate
from recap.history.graph import TransitionGraph
from recap.presets import preset_title, training_preset
from recap.published.configs import PublishedConfig
from recap.storage.artifacts import write_sums

ALWAYS: Final = "lotnext"
"""The paper's opponent, always shipped."""
BUNDLED_PUBLISHED: Final[dict[str, tuple[int, tuple[str, ...]]]] = {
    "lotnext": (15, ("dim=32",)),
    "replay": (10, ("dim=32",)),
    "flashback": (10, ("dim=32",)),
    "dprl": (20, ()),
    "sasrec": (20, ("objective=softmax",)),
    "melt": (60, ()),
}
"""Models that train in minutes: name -> epochs, and changes to the published values."""


def published_training(name: str) -> PublishedConfig:
    epochs, changes = BUNDLED_PUBLISHED[name]
    config = training_preset(name)
    assert isinstance(config, PublishedConfig)
    return config.with_epochs(epochs).override(list(changes))


def ship_published(bundle: Path, dataset: Dataset, train_one: Callable[[PublishedConfig, str], Checkpoint]) -> str:
    """Train all of `BUNDLED_PUBLISHED`; ship `ALWAYS` and the strongest of the others by validation MRR.

    Args:
        train_one: finishes the training of a configuration in a folder of this name.

    Returns:
        Their section of the model card.
    """
    trained = {name: train_one(published_training(name), f"published model-{name}") for name in BUNDLED_PUBLISHED}
    strongest = max((name for name in BUNDLED_PUBLISHED if name != ALWAYS), key=lambda name: mrr_of(trained[name]))
    names = [_ship(bundle, dataset, trained[name]) for name in (ALWAYS, strongest)]
    write_sums(bundle / SHIPPED_PREDICTIONS, names)
    return published_card(list(trained.values()), [trained[ALWAYS], trained[strongest]])


def mrr_of(checkpoint: Checkpoint) -> float:
    """Validation MRR of the kept epoch."""
    return checkpoint.manifest.best.val["mrr"]


def published_card(trained: Sequence[Checkpoint], shipped: Sequence[Checkpoint]) -> str:
    rows = []
    for checkpoint in sorted(trained, key=mrr_of, reverse=True):
        config, test = checkpoint.manifest.train, checkpoint.read_summary()["test"]
        numbers = [test["all"]["hr1"], test["all"]["hr20"], test["all"]["mrr"], test["tail"]["hr20"]]
        cells = [f"{number:.4f}" if number is not None else "–" for number in numbers]
        is_shipped = "yes" if checkpoint in shipped else ""
        rows.append([checkpoint.label, str(config.epochs), f"{mrr_of(checkpoint):.4f}", is_shipped, *cells])
    return fill_template("published_card.md.j2", rows=rows, num=len(trained))


def _ship(bundle: Path, dataset: Dataset, trained: Checkpoint) -> str:
    graph = TransitionGraph.from_dataset(dataset)
    records = evaluate(trained.scorer(dataset, graph), dataset, graph).records
    name = f"{preset_title(trained.manifest.model)}, trained here"
    return ship_predictions(records, dataset.hash, name, trained.label, trained.hash, bundle).path.name
