"""`recap compare` as a shell sees it; kept seeds are counted once."""

from pathlib import Path

import pytest

from analysis.compare.side import side_of
from analysis.records.kept_seeds import seed_key
from analysis.workspace import Workspace
from recap import columns as c
from recap.evaluation.records import write_records
from tests.cli_runner import recap_json_here
from tests.learn_worlds import DEMO


def test_the_demo_city_against_visit_count(home: Path) -> None:
    """The checkpoint's own numbers, with the four seeds that came along as the spread."""
    answer = recap_json_here("compare", "visit_count", DEMO / "checkpoint", "--data", DEMO / "dataset")
    assert [answer[side]["seeds"] for side in "ab"] == [1, 5]
    assert answer["headline"].startswith("RECAP beats visit count on rare transitions (+")
    every = next(row for row in answer["groups"] if row["group"] == "all")
    value = Workspace.open(DEMO / "dataset", DEMO / "checkpoint").records()[c.RANK].le(20).mean()
    assert every["b"] == pytest.approx(value, abs=1e-3) and every["verdict"] == "b"


def test_a_seed_whose_checkpoint_is_given_counts_once(city_folder: Path, city_checkpoint: Path, home: Path) -> None:
    """Ranks kept of the checkpoint's own seed add nothing, those of another one table."""
    model = Workspace.open(city_folder, city_checkpoint)
    assert model.checkpoint is not None
    own = model.checkpoint.manifest.train.seed
    for seeds, others in (([own], 0), ([own, own + 1], 1)):
        for seed in seeds:
            key = seed_key(model.dataset.hash, model.key, seed)
            write_records(model.records(), key.cached(), key.metadata)
        assert len(side_of(model).replicates) == others
    assert len(side_of(model, [model]).replicates) == 2
