"""Core and prior weighed anew: only the promised numbers move, to where the loss is least; the rest is refused."""

import json
import math
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

from analysis.compare.scorers import is_sibling
from analysis.explain.seed_replicates import train_replicates
from app.cached.comparisons import _siblings
from recap import columns as c
from recap.checkpoint import WEIGHTS, Checkpoint, CheckpointManifest
from recap.data.dataset import Dataset
from recap.errors import CheckpointError, ConfigError, FolderInUseError, RecapError, VocabularyError
from recap.evaluation.evaluate import evaluate
from recap.graph import TransitionGraph
from recap.history import CheckinTensors
from recap.model.scorer import RecapScorer
from recap.rivals.configs import rival_config
from recap.scores import CaseBatch
from recap.storage.tensors import load_tensors, load_weights
from recap.training.rebalancing import fit_balance, prior_numbers, rebalance
from recap.training.run import train
from tests.cli_runner import recap_here, recap_json_here
from tests.worlds import small_city, small_training

CPU = torch.device("cpu")


@pytest.fixture(scope="module")
def pair(city_checkpoint: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Checkpoint, Checkpoint]:
    """A checkpoint and the one made from it."""
    before = Checkpoint.load(city_checkpoint)
    return before, rebalance(before, small_city(), tmp_path_factory.mktemp("new") / "rebalanced")


def objective(before: Checkpoint, after: Checkpoint, name: str = "", factor: float = 1.0) -> tuple[float, float]:
    """Mean cross-entropy of the validation cases and, with what pulls to the trained numbers, what is least; ``name``
    is multiplied first."""
    dataset = small_city()
    tensors = {
        key: tensor * (factor if name and key.startswith(name) else 1.0)
        for key, tensor in load_tensors(after.folder / WEIGHTS)[0].items()
    }
    model = after.build_model(dataset, TransitionGraph.from_dataset(dataset))
    load_weights(model, tensors, "tensors")
    batch = CaseBatch(CheckinTensors.from_dataset(dataset), torch.from_numpy(dataset.cases(c.VAL)))
    total_BP = RecapScorer(model, after.stage).score(batch).total
    loss = float(torch.nn.functional.cross_entropy(total_BP, batch.target_B))
    old = load_tensors(before.folder / WEIGHTS)[0]
    core_factor = float(tensors["core.output.weight"].norm() / old["core.output.weight"].norm())
    moved = [math.log(core_factor), *(float(tensors[key] - old[key]) for key in old if key.startswith("prior."))]
    return loss, loss + sum(step**2 for step in moved) / (2 * 2.0**2 * len(batch))


def test_nothing_else_moves(pair: tuple[Checkpoint, Checkpoint]) -> None:
    """The core's output is the factor times what it was, the prior is as told, every other tensor equal."""
    before, after = pair
    fitted = after.manifest.rebalanced
    assert fitted is not None and fitted.protocol == "every_step" and fitted.cases == len(small_city().cases(c.VAL))
    old, new = (load_tensors(checkpoint.folder / WEIGHTS)[0] for checkpoint in pair)
    assert old.keys() == new.keys()
    for name, tensor in old.items():
        if name.startswith("core.output."):
            assert torch.equal(new[name], fitted.core_factor * tensor)
        elif not name.startswith("prior.") or name == "prior.scale":
            assert torch.equal(new[name], tensor), name
    assert fitted.prior_before == prior_numbers(old) and fitted.prior_after == prior_numbers(new)
    assert fitted.prior_after != fitted.prior_before and fitted.core_factor != 1.0
    assert before.manifest.rebalanced is None and before.manifest.train == after.manifest.train


def test_it_is_the_best(pair: tuple[Checkpoint, Checkpoint]) -> None:
    """The loss is as told and below the old one; with any number a fifth more or less the objective is worse."""
    before, after = pair
    fitted = after.manifest.rebalanced
    assert fitted is not None
    loss, least = objective(before, after)
    assert fitted.loss_before == pytest.approx(objective(before, before)[0], abs=1e-4)
    assert fitted.loss_after == pytest.approx(loss, abs=1e-4) and loss < fitted.loss_before
    for name in ("core.output", "prior.count_weight", "prior.window_weight", "prior.log_recency_steps"):
        for factor in (0.8, 1.25):
            assert objective(before, after, name, factor)[1] > least, (name, factor)


def test_a_core_five_times_too_sure_is_taken_back(pair: tuple[Checkpoint, Checkpoint]) -> None:
    """The factor found for it is about a fifth of the other; few cases pull it towards 1."""
    before, after = pair
    fitted, dataset = after.manifest.rebalanced, small_city()
    assert fitted is not None
    model = before.build_model(dataset, TransitionGraph.from_dataset(dataset))
    model.core.output.weight.data.mul_(5.0)
    model.core.output.bias.data.mul_(5.0)
    found = fit_balance(model, before.stage, dataset, CheckinTensors.from_dataset(dataset), "every_step")
    assert 1.0 < 5.0 * found.core_factor / fitted.core_factor < 2.0
    assert found.loss_after == pytest.approx(fitted.loss_after, abs=0.05)


def test_its_numbers_are_the_new_models(pair: tuple[Checkpoint, Checkpoint]) -> None:
    """Validation and test metrics of manifest, summary and card are measured again; the baselines stand beside them."""
    before, after = pair
    dataset = small_city()
    graph = TransitionGraph.from_dataset(dataset)
    scorer = after.scorer(dataset, graph)
    summary = after.read_summary()
    assert summary["test"] == evaluate(scorer, dataset, graph).metrics != before.read_summary()["test"]
    val = evaluate(scorer, dataset, graph, split=c.VAL).metrics["all"]
    assert {name: val[name] for name in after.manifest.best.val} == after.manifest.best.val == summary["val"]
    assert after.manifest.best == after.manifest.best_overall
    assert summary["baselines"] == before.read_summary()["baselines"]
    card = (after.folder / "MODEL_CARD.md").read_text()
    assert "weighed anew on" in card and "weighed anew on" not in (before.folder / "MODEL_CARD.md").read_text()


def test_the_app_says_so(pair: tuple[Checkpoint, Checkpoint]) -> None:
    """The model card's facts name it; a checkpoint as trained has no such line."""
    from app.components.card import _parts

    before, after = (_parts(checkpoint) for checkpoint in pair)
    assert after.pop("Core and prior").startswith("weighed anew on") and after == before


def test_it_is_no_seed_of_the_training(pair: tuple[Checkpoint, Checkpoint], tmp_path: Path) -> None:
    """With another seed it is not among the plain ones' seeds, nor they among its own; it has no replicates."""
    before, after = pair
    folders = []
    for number, checkpoint in enumerate((before, before, after, after)):
        folders.append(tmp_path / f"{number}")
        folders[-1].mkdir()
        values = json.loads((checkpoint.folder / "checkpoint.json").read_text())
        values["train"]["seed"] += number
        (folders[-1] / "checkpoint.json").write_text(json.dumps(values))
    opened = [
        Checkpoint(folder, CheckpointManifest.parse(json.loads((folder / "checkpoint.json").read_text())), folder.name)
        for folder in folders
    ]
    found = [(a.folder.name, b.folder.name) for a in opened for b in opened if is_sibling(a, b)]
    assert found == [("0", "1"), ("1", "0"), ("2", "3"), ("3", "2")]
    groups = _siblings([SimpleNamespace(checkpoint_folder=folder) for folder in folders])  # type: ignore[misc]
    assert [[item.checkpoint_folder.name for item in group] for group in groups] == [["0", "1"], ["2", "3"]]  # type: ignore[union-attr]
    with pytest.raises(ConfigError, match="rebalanced after training"):
        train_replicates(after, small_city(), 2, CPU, print)


def test_what_cannot_be_rebalanced(pair: tuple[Checkpoint, Checkpoint], tmp_path: Path) -> None:
    """Each with its reason, and nothing written."""
    before, after = pair
    dataset = small_city()
    out = tmp_path / "out"
    rival = train(dataset, rival_config("sasrec").with_epochs(1), tmp_path / "rival", device=CPU)
    plain = train(dataset, small_training(model={"use_history": False}), tmp_path / "plain", device=CPU)
    assert rival is not None and plain is not None
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine.txt").write_text("mine")
    cases: list[tuple[Checkpoint, Dataset, Path, type[RecapError], str]] = [
        (rival, dataset, out, CheckpointError, "name a checkpoint of RECAP"),
        (plain, dataset, out, ConfigError, "no active revisit prior"),
        (after, dataset, out, ConfigError, "rebalanced already"),
        (before, dataset, tmp_path / "full", FolderInUseError, "not empty"),
        (before, small_city(seed=5), out, VocabularyError, "was trained on"),
    ]
    for checkpoint, data, folder, error, words in cases:
        with pytest.raises(error, match=words):
            rebalance(checkpoint, data, folder)
    with pytest.raises(ConfigError, match="unknown protocol"):
        rebalance(before, dataset, out, protocol="nowhere")  # type: ignore[arg-type]
    assert not out.exists() and [path.name for path in (tmp_path / "full").iterdir()] == ["mine.txt"]


def test_curves_are_refused(tmp_path: Path, city_folder: Path) -> None:
    """They are fitted with the core; the command says so in one line."""
    assert recap_here("train", city_folder, "--out", tmp_path / "weighed").returncode == 0
    result = recap_here("rebalance", tmp_path / "weighed", "--data", city_folder, "--out", tmp_path / "new")
    assert result.returncode == 2 and "has no active revisit prior" in result.stderr and not (tmp_path / "new").exists()


def test_the_command(city_checkpoint: Path, city_folder: Path, tmp_path: Path) -> None:
    """One object with what was fitted, before and after; the new folder is a checkpoint like any other."""
    out = tmp_path / "new"
    line = recap_json_here("rebalance", city_checkpoint, "--data", city_folder, "--out", out)
    after = Checkpoint.load(out)
    assert after.manifest.rebalanced is not None
    assert line.items() >= after.manifest.rebalanced.model_dump().items()
    assert line["val"]["mrr"] == after.manifest.best.val["mrr"]
    shown = recap_here("rebalance", city_checkpoint, "--data", city_folder, "--out", tmp_path / "other").stdout
    assert "rebalanced" in shown and "The core counts" in shown
    assert recap_json_here("evaluate", out, "--data", city_folder)["all"] == after.read_summary()["test"]["all"]
