"""What the bundle ships is what its models say."""

import json

import numpy as np
import pandas as pd
import pytest

from analysis.explain.curves import learned_curves, replicate_curves
from analysis.records.accuracy import is_known
from analysis.records.evaluation_records import records_key
from analysis.records.imported import SHIPPED_PREDICTIONS, find_predictions
from analysis.records.kept_seeds import seed_tables
from analysis.records.table_cache import kept_table
from analysis.workspace import Workspace
from benchmarks.demo_city.build import bundle_card
from benchmarks.demo_city.published import BUNDLED_PUBLISHED
from recap import columns as c
from recap.asking.predictor import Predictor
from recap.baselines import COUNTING_BASELINES
from recap.checkpoint import Checkpoint
from recap.evaluation.metrics import metrics_by_group
from recap.storage.artifacts import sha256_of, verify_sums
from tests.learn_worlds import DEMO


@pytest.fixture(scope="module")
def opened() -> Workspace:
    return Workspace.open(DEMO / "dataset")


def shipped_records(opened: Workspace, model: str) -> pd.DataFrame:
    return kept_table(
        records_key(opened.dataset.hash, model),
        lambda: pytest.fail("the bundle ships no records of it"),
        rows=len(opened.cases),
        bundle=DEMO,
    )


@pytest.mark.parametrize("name", ["recap", *COUNTING_BASELINES])
def test_shipped_records_are_fresh(name: str, opened: Workspace) -> None:
    """Ranks, parts and best places equal a new evaluation of the shipped checkpoint, up to rounding."""
    model = opened.with_model(DEMO / "checkpoint" if name == "recap" else name)
    shipped, fresh = shipped_records(opened, model.key), model.score()
    later = [c.FIRST_PROBABILITY, c.LOG_LIKELIHOOD, c.LIST_90]  # which records of before lack
    assert [name for name in fresh if name in shipped or name not in later] == list(shipped)
    # Another processor may round scores otherwise and swap neighbours: never more than a few.
    assert (shipped["rank"] == fresh["rank"]).mean() > 0.995
    assert np.allclose(shipped["score"], fresh["score"], atol=1e-3)
    assert abs(shipped["reciprocal_rank"].mean() - fresh["reciprocal_rank"].mean()) < 1e-3


def test_the_bundles_are_small() -> None:
    """At most 25 MB of bundles in the repository and in every wheel, and no weights stored twice."""
    files = [path for path in DEMO.parent.rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in files) <= 25_000_000
    weights = [sha256_of(path) for path in files if path.suffix == ".safetensors" and path.stem == "model"]
    assert len(weights) == len(set(weights)) == 2


def test_the_curves_of_four_more_seeds_are_shipped(opened: Workspace) -> None:
    """Each has curves of its own for every feature, close to the shipped model's but not the same."""
    checkpoint = Checkpoint.load(DEMO / "checkpoint")
    own = learned_curves(Predictor(checkpoint, opened.dataset))
    replicates = replicate_curves(checkpoint)
    assert len(replicates) == 4
    for curves in replicates:
        assert [curve.name for curve in curves] == [curve.name for curve in own]
        knots = [np.concatenate([curve.knots for curve in found]) for found in (curves, own)]
        points = [np.concatenate([curve.points for curve in found]) for found in (curves, own)]
        np.testing.assert_allclose(knots[0], knots[1], atol=1e-6)
        assert 0 < np.abs(points[0] - points[1]).max() < 0.2


def test_published_models_are_shipped_as_records(opened: Workspace) -> None:
    """LoTNext and the strongest by validation of the card's others: sealed, every place ranked, as the card says."""
    shipped = [item for item in find_predictions(opened.dataset.hash) if item.shipped]
    verify_sums(DEMO / SHIPPED_PREDICTIONS, [item.path.name for item in shipped])
    assert {path.name for path in (DEMO / SHIPPED_PREDICTIONS).iterdir()} == {
        "SHA256SUMS",
        *(item.path.name for item in shipped),
    }
    card = (DEMO / "MODEL_CARD.md").read_text(encoding="utf-8").split("## Published models trained here")[1]
    table = [[cell.strip() for cell in line.split("|")[1:-1]] for line in card.splitlines() if line.startswith("| ")]
    rows = {cells[0]: cells for cells in table[1:]}
    assert len(rows) == len(BUNDLED_PUBLISHED) == 6
    others = [name for name in rows if not name.startswith("LoTNext")]
    strongest = max(others, key=lambda name: float(rows[name][2]))
    assert {item.described for item in shipped} == {strongest, "LoTNext, as published"}
    assert {item.described for item in shipped} == {name for name, cells in rows.items() if cells[3] == "yes"}
    for item in shipped:
        records = item.read(len(opened.cases))
        assert records["case"].equals(opened.cases["case"]) and is_known(records, "ndcg20")
        assert item.label == item.name == f"{item.described.split(',')[0]}, trained here"
        metrics = metrics_by_group(records)
        answer = [metrics["all"]["hr1"], metrics["all"]["hr20"], metrics["all"]["mrr"], metrics["tail"]["hr20"]]
        assert [float(cell) for cell in rows[item.described][4:]] == pytest.approx(answer, abs=6e-5)
        assert answer[2] == pytest.approx(float(rows[item.described][2]), abs=0.02), "test is near validation"


def test_shipped_card_is_what_the_template_says(opened: Workspace) -> None:
    """The card in the bundle is the one made from its dataset, checkpoint and ablations; what checks found follows."""
    ablations = json.loads((DEMO / "ablations.json").read_text(encoding="utf-8"))
    made = bundle_card(opened.dataset, Checkpoint.load(DEMO / "checkpoint"), ablations)
    assert (DEMO / "MODEL_CARD.md").read_text(encoding="utf-8").startswith(made)


@pytest.mark.parametrize("name", ["checkpoint", "paper"])
def test_seed_replicates_are_shipped_as_tables(name: str, opened: Workspace) -> None:
    """Ablations with the records' ranks, and four further seeds of both models, of the same cases and format."""
    checkpoint = Checkpoint.load(DEMO / name)
    digests, rows = (opened.dataset.hash, checkpoint.hash), len(opened.cases)
    own = opened.with_model(DEMO / name).kept_ablations()
    seeds = seed_tables(*digests, rows=rows, bundle=DEMO)
    seed = checkpoint.manifest.train.seed
    assert own is not None and (own["rank"] == shipped_records(opened, checkpoint.hash)["rank"]).all()
    assert list(seeds) == [seed + 1, seed + 2, seed + 3, seed + 4]
    for table in seeds.values():
        assert set(table) <= set(own) and table["case"].equals(own["case"])
        assert not table["rank"].equals(own["rank"]), "another seed ranks otherwise"
        assert abs((table["rank"] <= 20).mean() - (own["rank"] <= 20).mean()) < 0.02
