"""A published model from dataset to checkpoint: the one loop, exact resume, a sealed folder, the docs' example."""

import json
import re
from pathlib import Path

import pytest
import torch

from recap import columns as c
from recap.checkpoint import CHECKPOINT_MANIFEST, Checkpoint
from recap.errors import CheckpointError, VocabularyError
from recap.history.graph import TransitionGraph
from recap.history.tensors import CheckinTensors, Histories
from recap.presets import training_preset
from recap.published import registry
from recap.published.configs import PUBLISHED, PublishedConfig, published_config
from recap.published.network import City, PublishedScorer
from recap.storage.tensors import load_tensors
from recap.training.loop import StepReport
from recap.training.published_trainer import PublishedTrainer
from recap.training.run import train
from tests.checkins import small_dataset
from tests.cli_runner import recap_here, recap_json_here
from tests.recap.published.variants import shaken, shaken_in, small_config, table, variant_id, variants
from tests.worlds import batch_of, habit_rows, small_city

CPU = torch.device("cpu")


def trained(config: PublishedConfig, out: Path) -> Checkpoint:
    checkpoint = train(small_city(), config, out, device=CPU)
    assert checkpoint is not None
    return checkpoint


@pytest.mark.parametrize("name", PUBLISHED)
def test_a_cut_training_ends_in_the_same_bits(name: str, tmp_path: Path) -> None:
    """An epoch, whole and cut after one step; the checkpoint opens, and says what it is."""
    default = published_config(name)
    assert type(default) is PUBLISHED[name] and default.network == name == default.preset
    assert training_preset(name) == default == PUBLISHED[name].parse(json.loads(default.model_dump_json()))
    config = small_config(name).with_epochs(1).override(["batch_size=64"])
    whole = trained(config, tmp_path / "whole")
    seen: list[StepReport] = []
    assert train(small_city(), config, tmp_path / "cut", device=CPU, watch=seen.append, stop=lambda: bool(seen)) is None
    assert train(small_city(), config, tmp_path / "cut", device=CPU, resume=True) is not None
    first, second = (load_tensors(tmp_path / name / "model.safetensors")[0] for name in ("whole", "cut"))
    assert first.keys() == second.keys()
    assert all(torch.equal(first[name], second[name]) for name in first)

    assert (whole.manifest.model, whole.options, whole.label) == (config.network, config.options, config.label)
    assert whole.manifest.train == config and whole.manifest.best.stage is None and not whole.inactive_parts
    dataset, graph = small_city(), TransitionGraph.from_dataset(small_city())
    scores = whole.scorer(dataset, graph).score(batch_of(dataset))
    assert list(scores.parts) == ["logits"] and scores.total.dtype == torch.float64 and scores.total.isfinite().all()
    assert whole.label in (tmp_path / "whole" / "MODEL_CARD.md").read_text()


@pytest.mark.parametrize("config", variants(), ids=variant_id)
def test_every_weight_learns(config: PublishedConfig) -> None:
    """One loss reaches every parameter that is not held fixed, and is a number."""
    city = small_city()
    model = shaken_in(City.of(city), config)
    model.train()
    examples = model.examples(city, batch_of(city).checkins)
    model.zero_grad()
    loss = model.loss(examples.batch(torch.arange(min(8, len(examples)))))
    loss.backward()
    assert loss.isfinite()
    stuck = [name for name, p in model.named_parameters() if p.requires_grad and (p.grad is None or not p.grad.any())]
    assert stuck == []


def test_the_learning_rate_waits_for_validation(tmp_path: Path) -> None:
    """With patience 1 and a rate too small to improve anything, the rate falls after each validation but the first."""
    config = small_config("flashback", patience=1, learning_rate=1e-12, decay_factor=0.5, decay_epochs=(), epochs=3)
    trained(config, tmp_path / "out")
    lines = (tmp_path / "out" / "training" / "metrics.jsonl").read_text().splitlines()
    assert [json.loads(line)["learning_rate"]["all"] / 1e-12 for line in lines] == pytest.approx([1.0, 1.0, 0.5])


def test_the_commands_of_a_published_model(tmp_path: Path, city_folder: Path) -> None:
    """`recap train --preset`, `recap evaluate`: the target's time stands in checkpoint, output and records."""
    out = tmp_path / "out"
    fields = ["--set", "dim=6", "--set", "target_time=true"]
    line = recap_json_here("train", city_folder, "--preset", "replay", "--epochs", 1, *fields, "--out", out)
    assert (line["model"], line["options"]) == ("replay", {"target_time": True})
    manifest = json.loads((out / CHECKPOINT_MANIFEST).read_text())
    assert (manifest["format_version"], manifest["model"], manifest["train"]["target_time"]) == (4, "replay", True)
    found = recap_json_here("evaluate", out, "--data", city_folder)
    assert (found["model"], found["options"]) == ("REPLAY, time given", {"target_time": True})
    assert found["all"] == Checkpoint.load(out).read_summary()["test"]["all"]
    shown = recap_here("evaluate", out, "--data", city_folder)
    assert "given the time of each next check-in" in shown.stdout
    explained = recap_json_here("explain", out, "--data", city_folder, "--case", 3, "--edit", "hour:11:30")
    assert explained["model"] == "REPLAY, time given" and explained["what_if"]["target"]["rank"] >= 1
    answer = recap_here("explain", out, "--data", city_folder, "--case", 3)
    assert answer.returncode == 0 and "no contributions" in " ".join(answer.stdout.split())


def test_a_published_model_opens_with_later_checkins(tmp_path: Path) -> None:
    """Of the same users and places, also in format 2; a new user or place is refused; its weights build no RECAP."""
    rows = habit_rows()
    checkpoint = trained(small_config("flashback").with_epochs(1), tmp_path / "out")
    dataset, graph = small_city(), TransitionGraph.from_dataset(small_city())
    with pytest.raises(CheckpointError, match="Flashback, which gives one score for each place"):
        checkpoint.build_model(dataset, graph)
    assert isinstance(checkpoint.scorer(dataset, graph).model, type(shaken(small_config("flashback"))))
    later = small_dataset([*rows, ("user1", "zoo", 2000.0)])
    checkpoint.scorer(later, TransitionGraph.from_dataset(later))
    for more in (("adam", "zoo", 5.0), ("user1", "new", 5.0)):
        with pytest.raises(VocabularyError, match="a published model opens only with later check-ins"):
            checkpoint.match(small_dataset([*rows, more]))
    (checkpoint.folder / "users.parquet").unlink()
    assert checkpoint.match(later) is not None
    with pytest.raises(VocabularyError, match="a published model"):
        checkpoint.match(small_dataset([*rows, ("adam", "zoo", 5.0)]))


PAGE = (Path(__file__).parents[3] / "docs" / "published-models.md").read_text(encoding="utf-8")


def test_the_example_of_the_docs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Executed as printed and put into the table of networks, it learns to beat chance and never looks ahead."""
    (code,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    names: dict[str, type] = {}
    exec(code, names)  # noqa: S102 - our own page
    config = names["BigramConfig"]()
    monkeypatch.setitem(registry._NETWORKS, config.network, names["Bigram"])
    city = small_city()
    trainer = PublishedTrainer(city, config, tmp_path, torch.device("cpu"))
    assert trainer.run() and trainer.progress.best is not None
    assert trainer.progress.best.val["hr1"] > 2 / city.num_pois
    own, row = CheckinTensors.from_dataset(city), int(city.cases(c.TEST)[0])
    changed = table(city, poi=torch.where(torch.arange(len(own.poi_T)) > row, 0, own.poi_T))
    model = registry.build_published(config, City.of(city, TransitionGraph.from_dataset(city)), torch.float64)
    scores = [
        PublishedScorer(model).score(Histories(checkins, torch.tensor([row]))).total for checkins in (own, changed)
    ]
    assert torch.equal(*scores)


def test_the_page_names_every_published_model() -> None:
    assert re.findall(r"^\*\*`(\w+)`\*\*", PAGE, re.MULTILINE) == list(PUBLISHED)
