"""`recap compare` as a shell sees it: kept seeds stand beside a checkpoint, counted once."""

from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from analysis.compare.scorers import of_checkpoint
from analysis.workspace import Workspace
from recap.checkpoint import Checkpoint
from tests.cli_runner import recap_json_here

BUNDLE = Path(__file__).parents[3] / "checkpoints" / "demo-city"


def test_kept_seeds_of_the_bundled_city(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The checkpoint stands with the four seeds that were shipped, the counter alone; without the option each alone."""
    monkeypatch.setenv("RECAP_HOME", str(tmp_path))
    words = ("compare", "markov", BUNDLE / "checkpoint", "--data", BUNDLE / "dataset")
    alone, several = recap_json_here(*words), recap_json_here(*words, "--kept-seeds")
    assert [alone[side]["seeds"] for side in "ab"] == [1, 1]
    assert [several[side]["seeds"] for side in "ab"] == [1, 5]
    assert several["b"]["label"] == f"{alone['b']['label']} (5 seeds)"
    assert several["b"]["key"] == f"{alone['b']['key']}-seeds"
    assert several["finding"] != alone["finding"] or several["groups"] != alone["groups"]


def test_a_seed_whose_checkpoint_is_given_counts_once(city_folder: Path, city_checkpoint: Path) -> None:
    """Ranks kept of the checkpoint's own seed add nothing, those of another one table."""
    opened = Workspace.open(city_folder)
    checkpoint = Checkpoint.load(city_checkpoint)
    seed = checkpoint.manifest.train.seed
    model = of_checkpoint(checkpoint, opened)
    ranks: pd.DataFrame = model.records()
    kept = replace(model, ranked_seeds=lambda: {seed: ranks, seed + 1: ranks})
    assert len(kept.side(kept_seeds=True).tables) == 2
    assert len(replace(model, ranked_seeds=lambda: {seed: ranks}).side(kept_seeds=True).tables) == 1
    assert kept.side([replace(model, key="other")], kept_seeds=True).label.endswith(" (3 seeds)")
