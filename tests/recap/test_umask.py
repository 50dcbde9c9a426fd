"""The umask decides who may see what lies on the disk: datasets, records, metrics, checkpoints, runs, kept tables."""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import torch

from recap.checkpoint import Checkpoint
from recap.evaluation.evaluate import evaluate
from recap.evaluation.records import write_records
from recap.graph import TransitionGraph
from recap.runs.store.run_store import RunStore
from recap.training.metrics_file import read_metrics
from recap.training.run import train
from tests.background import new_store, tiny_spec, walking_dataset


@contextmanager
def masked(mask: int) -> Iterator[None]:
    before = os.umask(mask)
    try:
        yield
    finally:
        os.umask(before)


@pytest.mark.parametrize(("mask", "folder_mode", "file_mode"), [(0o077, 0o700, 0o600), (0o022, 0o755, 0o644)])
def test_every_file_and_folder_honours_the_umask(
    mask: int, folder_mode: int, file_mode: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A mask of 077 keeps everything to its owner; one of 022 shows everything, the weights too."""
    monkeypatch.setenv("RECAP_HOME", str(tmp_path / "place" / "home"))
    place = tmp_path / "place"
    with masked(mask):
        place.mkdir()
        dataset = walking_dataset(users=3, days=20)
        dataset.save(place / "data")
        trained = place / "trained"
        spec = tiny_spec(place / "data", epochs=1)
        train(dataset, spec.train_config(), trained, device=torch.device("cpu"))
        checkpoint = Checkpoint.load(trained)
        graph = TransitionGraph.from_dataset(dataset)
        scorer = checkpoint.scorer(dataset, graph, torch.device("cpu"))
        write_records(evaluate(scorer, dataset, graph).records, place / "records.parquet", {"model": "recap"})
        (run,) = new_store(place / "home").add([spec])
        run.change({"queued"}, "stopped")
    assert len(RunStore(place / "home" / "runs").runs()) == 1
    found = [path for path in sorted(place.rglob("*")) if not path.is_symlink()]
    names = {path.name for path in found}
    assert {"dataset.json", "records.parquet", "metrics.jsonl", "model.safetensors", "spec.json", "state.json"} <= names
    assert read_metrics(next(path for path in found if path.name == "metrics.jsonl"))
    assert {path for path in found if path.is_dir() and stat.S_IMODE(path.stat().st_mode) != folder_mode} == set()
    assert {path for path in found if path.is_file() and stat.S_IMODE(path.stat().st_mode) != file_mode} == set()
