"""Build the bundled demo city: dataset, basemap, checkpoints, ablations, published models' records, model card.

    python -m benchmarks.demo_city.build checkpoints/demo-city

trains for hours in runs/demo-city; started again, it continues and builds only what is missing.
"""

import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pandas as pd
import torch

from analysis.compare.paired import ComparisonRow, compare_means, comparison_rows
from analysis.explain.curves import REPLICATE_CURVES
from analysis.explain.seed_replicates import measure_replicates, train_replicates
from analysis.records.ablations import describe_ablations
from analysis.records.causes import ablations_key
from analysis.records.evaluation_records import records_key
from analysis.records.kept_seeds import replicate_folders, replicates_folder, seed_key
from analysis.records.table_cache import SHIPPED
from analysis.workspace import Workspace
from benchmarks.demo_city.basemap import build_basemap
from benchmarks.demo_city.cards import fill_template
from benchmarks.demo_city.published import ship_published
from recap import columns as c
from recap.baselines import AT_TIME, COUNTING_BASELINES, FEATURE_CURVES
from recap.checkpoint import TRAINING_FOLDER, WEIGHTS, Checkpoint, library_versions
from recap.data.cleaning import data_preset
from recap.data.dataset import Dataset
from recap.data.inspection import dataset_card
from recap.data.preparation import prepare_dataset
from recap.evaluation.metrics import SHOWN_METRICS
from recap.evaluation.records import write_records
from recap.evaluation.scoring import evaluate
from recap.history.graph import TransitionGraph
from recap.history.statistics import dataset_statistics
from recap.model.curves import KNOTS, STEPS
from recap.presets import train_preset
from recap.storage.atomic import replace_text
from recap.storage.tensors import load_tensors, save_tensors
from recap.synthetic import PINNED_SEED, build_demo_city
from recap.training.baselines import build_baseline
from recap.training.run import train
from recap.training_config import AnyTraining

_CITY: Final = "Saltmere"
_SEEDS: Final = 5
_Log = Callable[[str], None]

PAPER: Final = (
    "epochs=8",
    "select_on=every_step",
    "label_smoothing=0.2",
    "model.poi_dim=64",
    "model.category_dim=16",
    "model.hidden_dim=128",
    "model.feedforward_dim=256",
    "model.graph_dim=128",
    "model.calibration_dim=64",
    "model.embedding_dropout=0.6",
    "model.output_dropout=0.5",
    "model.prior.count_weight=1.6",
    "model.prior.recency_steps=30",
    "curriculum.graph_epoch=1",
    "curriculum.graph_ramp_epochs=2",
    "curriculum.prior_epoch=1",
    "curriculum.correction_epoch=2",
    "curriculum.warm_epoch=2",
    "curriculum.warm_ramp_epochs=3",
    "curriculum.backbone_lr_scale=1",
    "optimiser.learning_rate=5e-4",
    "optimiser.prior_learning_rate=5e-3",
    "optimiser.calibration_learning_rate=3e-3",
)
"""The paper's equations in a size for a small city."""

_ABLATIONS: Final[dict[str, list[str]]] = {
    "w/o Graph": ["model.use_graph=false"],
    "w/o History": ["model.use_history=false"],
    "w/o Shortcut": ["curriculum.warm_weight=0"],
    "w/o core": ["model.core_scope=nowhere"],
    "with Correction": ["model.use_correction=true"],
    "N = 1": ["model.num_hops=1"],
    "N = 3": ["model.num_hops=3"],
    "N = 4": ["model.num_hops=4"],
    "N = 5": ["model.num_hops=5"],
}
"""Name -> changes to the full model, which has N = 2."""


Ablations = dict[str, Any]
"""Content of ``ablations.json``: the full model over the test cases, and each variant's differences to it."""


def build_demo_bundle(out: Path, work: Path, *, log: _Log, seed: int = PINNED_SEED, seeds: int = _SEEDS) -> Ablations:
    """Build everything of the bundle that is missing in ``out``.

    Args:
        work: folder of trainings; interrupted ones continue, finished ones are reused.
        seeds: seeds of each shipped model for robustness checks, including its own.

    Returns:
        The content of ``ablations.json``.
    """
    dataset = _dataset(out / "dataset", seed, log)
    _write_json(out / "basemap.json", build_basemap(), compact=True)
    full = _trained(dataset, train_preset("recap"), work / "full", log)
    _copy_artifact(full.folder, out / "checkpoint")
    paper = _trained(dataset, train_preset("paper").override([*PAPER]), work / "paper", log)
    _copy_artifact(paper.folder, out / "paper")
    ablations = _ablations(dataset, full, work, log)
    _write_json(out / "ablations.json", ablations)
    replace_text(out / "MODEL_CARD.md", bundle_card(dataset, full, ablations))
    log("Ranking the test cases for the app")
    ship_tables(out)
    for trained in (full, paper) if seeds > 1 else ():
        ship_seeds(out, trained, dataset, seeds=seeds, log=log)
    ship_replicate_curves(full, out / "checkpoint")
    card = ship_published(out, dataset, lambda config, name: _trained(dataset, config, work / name, log))
    replace_text(out / "MODEL_CARD.md", "\n".join([bundle_card(dataset, full, ablations), card]))
    return ablations


def ship_seeds(bundle: Path, trained: Checkpoint, dataset: Dataset, *, seeds: int, log: _Log) -> None:
    """Add the tables of a model's seed replicates to a bundle.

    Args:
        trained: the model; its replicates are trained next to it.
    """
    train_replicates(trained, dataset, seeds, torch.device("cpu"), log)
    for asked in (trained, trained.given_time) if trained.target_time == "can" else (trained,):
        for seed, table in measure_replicates(asked, dataset).items():
            key = seed_key(dataset.hash, asked.hash, seed)
            write_records(table, key.shipped_in(bundle), key.metadata)


def ship_replicate_curves(checkpoint: Checkpoint, target: Path) -> None:
    """Copy only the curves of a checkpoint's seed replicates to ``target``."""
    for folder in replicate_folders(checkpoint.folder):
        tensors, _ = load_tensors(folder / WEIGHTS)
        shipped = replicates_folder(target) / REPLICATE_CURVES.replace("*", folder.name)
        shipped.parent.mkdir(exist_ok=True)
        save_tensors({name: tensors[name] for name in (KNOTS, STEPS)}, shipped)


def ship_tables(bundle: Path) -> None:
    """Add the tables that views read to a bundle: records of the model and the counters, and ablations."""
    shutil.rmtree(bundle / SHIPPED, ignore_errors=True)
    opened = Workspace.open(bundle / "dataset")
    trained = [opened.with_model(bundle / name) for name in ("checkpoint", "paper")]
    trained.append(opened.with_model(bundle / "checkpoint", given_time=True))
    counted = [opened.with_model(name) for name in (*COUNTING_BASELINES, FEATURE_CURVES, AT_TIME)]
    for model in (*trained, *counted):
        key = records_key(opened.dataset.hash, model.key)
        write_records(model.score(), key.shipped_in(bundle), key.metadata)
    for model in trained:
        key = ablations_key(opened.dataset.hash, model.key)
        write_records(describe_ablations(model.predictor, model.cases), key.shipped_in(bundle), key.metadata)


def _dataset(folder: Path, seed: int, log: _Log) -> Dataset:
    if folder.exists():
        return Dataset.load(folder)
    log(f"Generating {_CITY} (seed {seed})")
    dataset = prepare_dataset(
        build_demo_city(seed),
        data_preset("default"),
        name=_CITY,
        source_format="synthetic",
        preset="default",
        synthetic=True,
    )
    dataset.save(folder, card=dataset_card(dataset))
    return dataset


def _trained(dataset: Dataset, config: AnyTraining, folder: Path, log: _Log) -> Checkpoint:
    if (folder / "SHA256SUMS").is_file():
        checkpoint = Checkpoint.load(folder)
        if checkpoint.manifest.train == config and checkpoint.manifest.dataset_hash == dataset.hash:
            return checkpoint
        shutil.rmtree(folder)
    log(f"Training {folder.name}")
    trained = train(dataset, config, folder, device=torch.device("cpu"), resume=folder.exists())
    assert trained is not None
    return trained


def _folder_name(variant: str) -> str:
    return "".join(letter if letter.isalnum() else "-" for letter in variant.lower())


def _copy_artifact(source: Path, target: Path) -> None:
    """Copy a finished checkpoint and its metrics.jsonl, without the resume state and event files."""
    if target.exists():
        shutil.rmtree(target)
    shutil.copytree(source, target, ignore=shutil.ignore_patterns(TRAINING_FOLDER, ".lock"))
    (target / TRAINING_FOLDER).mkdir()
    shutil.copy(source / TRAINING_FOLDER / "metrics.jsonl", target / TRAINING_FOLDER / "metrics.jsonl")


def _ablations(dataset: Dataset, full: Checkpoint, work: Path, log: _Log) -> Ablations:
    graph = TransitionGraph.from_dataset(dataset)

    def records_of(checkpoint: Checkpoint) -> pd.DataFrame:
        return evaluate(checkpoint.scorer(dataset, graph), dataset, graph).records

    base = records_of(full)
    baselines = {
        name: comparison_rows(
            compare_means(
                [base], [evaluate(build_baseline(name, dataset, graph), dataset, graph).records], metrics=SHOWN_METRICS
            )
        )
        for name in COUNTING_BASELINES
    }
    variants: dict[str, dict[str, Any]] = {}
    for name, changes in _ABLATIONS.items():
        config = train_preset("recap").override([*changes, "given_time=false"])
        checkpoint = _trained(dataset, config, work / _folder_name(name), log)
        log(f"Comparing {name}")
        variants[name] = {
            "changes": changes,
            "best_epoch": checkpoint.manifest.best.epoch,
            "against_full": comparison_rows(compare_means([records_of(checkpoint)], [base], metrics=SHOWN_METRICS)),
        }
    return {
        "dataset_hash": dataset.hash,
        "checkpoint_hash": full.hash,
        "protocol": "every_step",
        "preset": "recap",
        "seed": full.manifest.train.seed,
        "interval": "95 % over users, 1,000 paired draws",
        "versions": library_versions(),
        "full": full.read_summary()["test"],
        "full_against_baselines": baselines,
        "variants": variants,
        "hops": dataset_statistics(dataset)["hops"],
    }


def _write_json(path: Path, content: Any, *, compact: bool = False) -> None:
    text = json.dumps(content, separators=(",", ":")) if compact else json.dumps(content, indent=1)
    replace_text(path, text + "\n")


def bundle_card(dataset: Dataset, full: Checkpoint, ablations: Ablations) -> str:
    return fill_template(
        "model_card.md.j2",
        city=_CITY,
        dataset=dataset,
        generator_seed=PINNED_SEED,
        train=full.manifest.train,
        best_epoch=full.manifest.best.epoch,
        baselines=list(ablations["full_against_baselines"]),
        accuracies=_accuracy_rows(ablations["full_against_baselines"]),
        metrics=SHOWN_METRICS,
        ablations=_ablation_rows(ablations["variants"]),
        num_cases=len(dataset.cases(c.TEST)),
    )


def _accuracy_rows(against: dict[str, list[ComparisonRow]]) -> list[list[str]]:
    """Group, metric, RECAP's value, and each baseline's value with the difference and its interval."""
    tables = [_by_group_and_metric(rows) for rows in against.values()]
    rows = []
    for key in ((group, metric) for group in ("all", "tail") for metric in SHOWN_METRICS):
        found = [table[key] for table in tables]
        cells = [f"{row['baseline']:.4f} ({_with_interval(row)})" for row in found]
        rows.append([*key, f"{found[-1]['value']:.4f}", *cells])
    return rows


def _ablation_rows(variants: dict[str, dict[str, Any]]) -> list[list[str]]:
    shown = [*(("all", metric) for metric in SHOWN_METRICS), ("tail", "hr20"), ("tail", "mrr")]
    rows = []
    for name, variant in variants.items():
        table = _by_group_and_metric(variant["against_full"])
        rows.append([name, *(_with_interval(table[key]) for key in shown)])
    return rows


def _by_group_and_metric(rows: list[ComparisonRow]) -> dict[tuple[str, str], ComparisonRow]:
    return {(row["group"], row["metric"]): row for row in rows}


def _with_interval(row: ComparisonRow) -> str:
    return f"{row['difference']:+.4f} [{row['low']:+.4f}, {row['high']:+.4f}]"


if __name__ == "__main__":
    Path(sys.argv[1]).mkdir(parents=True, exist_ok=True)
    build_demo_bundle(Path(sys.argv[1]), Path("runs/demo-city"), log=print)
