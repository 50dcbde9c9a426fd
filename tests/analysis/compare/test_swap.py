"""Parts exchanged: with itself a scorer is what it was; with another, the sums are those of the stored parts."""

from pathlib import Path

import pandas as pd
import pytest
import torch

from analysis.compare.comparison import PairedCases
from analysis.compare.scorers import of_checkpoint, open_scorer, with_seeds
from analysis.compare.swap import SwappedScorer, swap_table
from analysis.records.loaded_dataset import LoadedDataset
from analysis.records.named_scorer import NamedScorer
from recap import columns as c
from recap.checkpoint import Checkpoint
from recap.errors import ConfigError
from recap.scores import CaseBatch
from recap.training.run import train
from tests.worlds import small_training


@pytest.fixture(scope="module")
def city(city_folder: Path) -> LoadedDataset:
    """The small city."""
    return LoadedDataset.load(city_folder)


@pytest.fixture(scope="module")
def sibling(city: LoadedDataset, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The small checkpoint's configuration under another seed."""
    folder = tmp_path_factory.mktemp("sibling") / "seed-other"
    config = small_training(epochs=6)
    train(city.dataset, config.override([f"seed={config.seed + 1}"]), folder, device=torch.device("cpu"))
    return folder


def test_a_scorer_with_its_own_parts_is_itself(city: LoadedDataset, city_checkpoint: Path) -> None:
    """A = B is the identity: every record is the same, to the last digit."""
    model = NamedScorer.of_checkpoint(Checkpoint.load(city_checkpoint), city)
    mixed = NamedScorer("mixed", "mixed", SwappedScorer(model.scorer, model.scorer), probabilistic=True)
    pd.testing.assert_frame_equal(mixed.score(city), model.score(city))


def test_the_sum_is_of_one_core_and_the_others_rest(city: LoadedDataset, city_checkpoint: Path, sibling: Path) -> None:
    """A's core + B's prior + B's correction at every place, and both exchanges rank every case."""
    first, second = (
        NamedScorer.of_checkpoint(Checkpoint.load(folder), city).scorer for folder in (city_checkpoint, sibling)
    )
    batch = CaseBatch(city.checkins, torch.tensor(city.cases[c.ROW].to_numpy()[:9]))
    a, b, mixed = first.score(batch), second.score(batch), SwappedScorer(first, second).score(batch)
    torch.testing.assert_close(mixed.total, a.core + b.prior + b.correction)
    assert not torch.allclose(mixed.total, a.total) and not torch.allclose(mixed.total, b.total)
    sides = [of_checkpoint(Checkpoint.load(folder), city) for folder in (city_checkpoint, sibling)]
    table = swap_table(PairedCases(city.cases), city, sides[0], sides[1], "mrr")
    assert list(zip(table["core_of"], table["rest_of"], strict=True)) == [*zip("ABAB", "ABBA", strict=True)]
    assert table["against_a"].iloc[0] == 0.0 and (table["n"] == len(city.cases)).all()


def test_nothing_is_kept_where_nothing_may_be(
    city: LoadedDataset, city_checkpoint: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ranking anew, with parts exchanged too, leaves an empty home empty."""
    monkeypatch.setenv("RECAP_HOME", str(tmp_path))
    side = of_checkpoint(Checkpoint.load(city_checkpoint), city, keep=False)
    swap_table(PairedCases(city.cases), city, side, side, "hr1", keep=False)
    assert not list(tmp_path.iterdir())


def test_only_checkpoints_have_parts_to_exchange(city: LoadedDataset, city_checkpoint: Path) -> None:
    """A counter is refused by name."""
    model = of_checkpoint(Checkpoint.load(city_checkpoint), city)
    with pytest.raises(ConfigError, match="Markov is none"):
        swap_table(PairedCases(city.cases), city, model, open_scorer("markov", city), "hr1")
    counter = NamedScorer.of_baseline("markov", city).scorer
    batch = CaseBatch(city.checkins, torch.tensor(city.cases[c.ROW].to_numpy()[:2]))
    with pytest.raises(ConfigError, match="no part named core"):
        SwappedScorer(counter, counter).score(batch)


def test_further_seeds_join_their_side(city: LoadedDataset, city_checkpoint: Path, sibling: Path) -> None:
    """The sibling stands beside the checkpoint as a second seed; beside a counter it belongs to nobody."""
    model, other = (of_checkpoint(Checkpoint.load(folder), city) for folder in (city_checkpoint, sibling))
    counter = open_scorer("visit_count", city)
    several, alone = with_seeds([model, counter], [other])
    assert several.label == "RECAP (2 seeds)" and len(several.tables) == 2 and len(alone.tables) == 1
    with pytest.raises(ConfigError, match="no further seed of A or B"):
        with_seeds([counter, counter], [other])
