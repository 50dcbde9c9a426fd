"""Cities as lessons ask for them, without the app: the bundled one, and any dataset with a checkpoint or without."""

import json
from functools import cache
from pathlib import Path

import pandas as pd

from analysis.learn.world import World
from analysis.long_tail.ablations import ablation_table
from analysis.long_tail.lift import two_hop_lift
from analysis.records.causes import case_ablations
from analysis.records.kept_seeds import seed_tables
from analysis.workspace import Workspace
from analysis.records.named_scorer import NamedScorer
from recap.checkpoint import Checkpoint
from recap.dataset_statistics import hop_statistics
from recap.evaluation.scoring import score_cases
from recap.predictor import Predictor
from recap.storage.installed import bundles_folder

DEMO = bundles_folder() / "demo-city"


@cache
def demo_world() -> World:
    """The bundled city with its model and all that came with it; lifts over few cases, since none of them is tested."""
    return world_of(DEMO / "dataset", DEMO / "paper", bundle=DEMO)


def world_of(dataset: Path, checkpoint: Path | None, *, bundle: Path | None = None) -> World:
    """A city in folders."""
    opened = Workspace.open(dataset)
    found = None if checkpoint is None else Checkpoint.load(checkpoint)

    @cache
    def records(name: str) -> pd.DataFrame:
        return score_cases(NamedScorer.of_baseline(name, opened).scorer, opened.cases, opened.checkins)

    def ablations(metric: str, group: str) -> pd.DataFrame | None:
        path = None if bundle is None else bundle / "ablations.json"
        return None if path is None else ablation_table(json.loads(path.read_text(encoding="utf-8")), metric, group)

    @cache
    def predictor() -> Predictor:
        assert found is not None
        return Predictor(found, opened.dataset)

    @cache
    def of_cases() -> pd.DataFrame:
        assert found is not None
        rows = len(opened.cases)
        return case_ablations(opened.dataset.hash, found.hash, predictor, rows=rows, keep=False, bundle=bundle)

    def seeds() -> dict[int, pd.DataFrame]:
        assert found is not None
        return seed_tables(opened.dataset.hash, found.hash, rows=len(opened.cases), bundle=bundle)

    return World(
        opened=opened,
        records=records,
        hops=cache(lambda: pd.DataFrame(hop_statistics(opened.dataset, opened.graph))),
        lift=cache(lambda: two_hop_lift(opened, max_cases=40, samples=20)),
        ablations=ablations,
        find_predictor=None if found is None else predictor,
        find_case_ablations=None if found is None else of_cases,
        find_seeds=None if found is None else seeds,
    )
