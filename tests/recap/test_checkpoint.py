"""Checkpoints: what is saved is what scores, named with all it holds, stored once."""

import json
import shutil
from pathlib import Path

import pytest
import torch

from recap.checkpoint import Checkpoint
from recap.data.dataset import Dataset
from recap.errors import ChecksumError
from recap.graph import TransitionGraph
from recap.model.recap import Recap
from recap.model.scorer import RecapScorer
from recap.storage.artifacts import write_sums
from recap.training.run import train
from recap.training.trainer import Trainer
from tests.spoiled import LISTED, change_one_byte
from tests.worlds import batch_of, small_city, small_training

CPU = torch.device("cpu")


def test_scores_before_saving_equal_scores_after(tmp_path: Path) -> None:
    """The trainer's model and the loaded checkpoint agree to the last bit, in float32 as trained and in float64."""
    dataset, config = small_city(), small_training(epochs=3)
    folder = tmp_path / "trained"
    folder.mkdir()
    trainer = Trainer(dataset, config, folder, CPU)
    trainer.run()
    assert train(dataset, config, tmp_path / "checkpoint", device=CPU) is not None
    loaded = Checkpoint.load(tmp_path / "checkpoint")
    assert loaded.manifest.best.epoch == 3, "only the last epoch of this curriculum has every part"
    stage, graph = config.curriculum.at(3), TransitionGraph.from_dataset(dataset)
    in_float64 = Recap.for_dataset(config.model, dataset, graph, torch.float64)
    in_float64.load_state_dict(trainer.model.state_dict())
    for model, dtype in ((trainer.model, torch.float32), (in_float64, torch.float64)):
        before = RecapScorer(model, stage).score(batch_of(dataset))
        after = RecapScorer(loaded.build_model(dataset, graph, dtype=dtype), loaded.stage).score(batch_of(dataset))
        assert list(before.parts) == list(after.parts) and before.total.dtype == dtype
        for name, part in before.parts.items():
            assert torch.equal(part, after.parts[name]), name
        assert torch.equal(before.total, after.total)


def test_names_what_it_holds(city_checkpoint: Path, city_folder: Path) -> None:
    """Manifest, summary and card: best and best overall with their epochs, the dataset, the numbers of the journal."""
    loaded = Checkpoint.load(city_checkpoint)
    lines = [json.loads(line) for line in (city_checkpoint / "training" / "metrics.jsonl").read_text().splitlines()]
    mrr = {line["epoch"]: line["val"]["all"]["mrr"] for line in lines}
    best = max((epoch for epoch in mrr if epoch >= 3), key=mrr.__getitem__)
    assert loaded.manifest.best.epoch == best
    assert loaded.manifest.best_overall.epoch == max(mrr, key=mrr.__getitem__)
    assert loaded.manifest.dataset_hash == Dataset.load(city_folder).hash
    assert loaded.inactive_parts == []
    summary = loaded.read_summary()
    assert summary["best_epoch"] == best and summary["val"]["mrr"] == mrr[best]
    assert summary["epochs"] == 6 and summary["reserved_gpu_bytes"] == 0 and summary["seconds"] > 0
    card = (city_checkpoint / "MODEL_CARD.md").read_text()
    assert f"kept epoch {best}" in card and "real check-ins: sensitive" in card
    assert sorted(path.name for path in city_checkpoint.iterdir() if path.is_file() and path.name != ".lock") == sorted(
        [*LISTED, "SHA256SUMS"]
    )


def test_one_model_is_stored_once(tmp_path: Path) -> None:
    """Where the kept epoch is the best of all, its weights lie there once; a list that names both copies is whole."""
    folder = tmp_path / "checkpoint"
    config = small_training(epochs=3, curriculum={"staged": False})  # every epoch has every part
    assert train(small_city(), config, folder, device=CPU) is not None
    loaded = Checkpoint.load(folder)
    assert loaded.manifest.best == loaded.manifest.best_overall
    assert [path.name for path in folder.glob("*.safetensors")] == ["model.safetensors"]
    assert "(`model.safetensors`)" in (folder / "MODEL_CARD.md").read_text()

    second = folder / "best_overall.safetensors"  # as earlier versions wrote it
    shutil.copy(folder / "model.safetensors", second)
    digest = write_sums(folder, list(LISTED))
    assert Checkpoint.load(folder).hash == digest
    second.unlink()
    assert Checkpoint.load(folder).hash == digest, "the list, which names the checkpoint, is the same"
    second.write_bytes(b"something else")
    with pytest.raises(ChecksumError, match="best_overall"):
        Checkpoint.load(folder)
    second.unlink()
    change_one_byte(folder / "model.safetensors")
    with pytest.raises(ChecksumError, match=r"model\.safetensors"):
        Checkpoint.load(folder)
