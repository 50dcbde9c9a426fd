"""`recap compare` as a shell sees it: kept seeds stand beside a checkpoint, counted once."""

from pathlib import Path

import pytest

from analysis.compare.side import side_of
from analysis.records.kept_seeds import seed_key
from analysis.workspace import Workspace
from recap.evaluation.records import write_records
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
    model = Workspace.open(city_folder, city_checkpoint)
    assert model.checkpoint is not None
    own = model.checkpoint.manifest.train.seed
    for seeds, tables in (([own], 1), ([own, own + 1], 2)):
        for seed in seeds:
            key = seed_key(model.dataset.hash, model.key, seed)
            write_records(model.records(), key.cached(), key.metadata)
        assert len(side_of(model, kept_seeds=True).tables) == tables
    assert side_of(model, [model], kept_seeds=True).label.endswith(" (3 seeds)")
