"""Checkpoints: whatever was changed, lost or mistaken is refused in one line, and nothing is half-written."""

import json
import math
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from recap.checkpoint import Checkpoint
from recap.data.dataset import Dataset
from recap.errors import (
    CheckpointError,
    FormatVersionError,
    MissingTensorError,
    RecapError,
    ScoreError,
)
from recap.evaluation.evaluate import evaluate
from recap.graph import TransitionGraph
from recap.history import Histories
from recap.scores import Scores
from recap.storage.tensors import load_tensors, save_tensors
from recap.training.loop import StepReport
from recap.training.run import train
from tests.checkins import small_dataset
from tests.cli_runner import recap_here, recap_json_here
from tests.shell import assert_refused, files_limited_to
from tests.spoiled import LISTED, change_one_byte, change_weights, write_sums_again
from tests.tiny import WORDS, tiny
from tests.worlds import small_city, small_training

CPU = torch.device("cpu")


@pytest.fixture
def checkpoint(city_checkpoint: Path, tmp_path: Path) -> Path:
    """A copy of the trained checkpoint that a test may spoil."""
    return Path(shutil.copytree(city_checkpoint, tmp_path / "checkpoint"))


@pytest.mark.parametrize("name", [*LISTED, "SHA256SUMS"])
def test_refuses_a_changed_byte_in_any_file(name: str, checkpoint: Path, city_folder: Path) -> None:
    """One flipped bit in the middle of a file is one line on stderr, for both evaluate and explain."""
    change_one_byte(checkpoint / name)
    for arguments in (["evaluate", checkpoint], ["explain", checkpoint, "--case", 0]):
        assert_refused(recap_here(*arguments, "--data", city_folder, "--json"), "checkpoint")


@pytest.fixture(scope="module")
def spoiled(city_checkpoint: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy that the examples of one test spoil and mend; other processes read the shared one meanwhile."""
    return Path(shutil.copytree(city_checkpoint, tmp_path_factory.mktemp("spoiled") / "checkpoint"))


@settings(max_examples=150)
@given(st.sampled_from([*LISTED, "SHA256SUMS"]), st.floats(0, 1, exclude_max=True), st.integers(1, 255))
def test_refuses_any_changed_byte(spoiled: Path, name: str, where: float, flip: int) -> None:
    """Wherever it is, and whatever it becomes."""
    path = spoiled / name
    content = path.read_bytes()
    changed = bytearray(content)
    changed[int(where * len(changed))] ^= flip
    path.write_bytes(changed)
    try:
        with pytest.raises(RecapError):
            Checkpoint.load(spoiled)
    finally:
        path.write_bytes(content)


@pytest.mark.parametrize("name", LISTED[:4])
def test_refuses_a_lost_file(name: str, checkpoint: Path, city_folder: Path) -> None:
    """A file that is gone is named."""
    (checkpoint / name).unlink()
    assert_refused(recap_here("evaluate", checkpoint, "--data", city_folder), name)


def test_refuses_weights_that_do_not_fit(checkpoint: Path, city_folder: Path) -> None:
    """A missing tensor, an unknown one, one of another shape, each by name, although every hash is right."""
    graph, dataset = TransitionGraph.from_dataset(small_city()), small_city()
    tensors, _ = load_tensors(checkpoint / "model.safetensors")
    changes: list[tuple[Callable[[dict[str, Tensor]], object], str]] = [
        (lambda weights: weights.pop("prior.scale"), "lacks tensor 'prior.scale'"),
        (lambda weights: weights.update(extra=torch.zeros(1)), "unknown tensor 'extra'"),
        (lambda weights: weights.update({"core.output.bias": torch.zeros(3)}), "shape \\(3,\\), expected \\(17,\\)"),
    ]
    for change, message in changes:
        spoiled = dict(tensors)
        change(spoiled)
        save_tensors(spoiled, checkpoint / "model.safetensors")
        write_sums_again(checkpoint)
        with pytest.raises(MissingTensorError, match=message):
            Checkpoint.load(checkpoint).build_model(dataset, graph)
    change_weights(checkpoint, lambda weights: None)
    assert_refused(recap_here("explain", checkpoint, "--data", city_folder, "--case", 0), "core.output.bias")


def test_refuses_a_newer_format(checkpoint: Path, city_folder: Path) -> None:
    """Version 99 says update, not that a hash is wrong."""
    manifest = json.loads((checkpoint / "checkpoint.json").read_text())
    (checkpoint / "checkpoint.json").write_text(json.dumps(manifest | {"format_version": 99}))
    with pytest.raises(FormatVersionError):
        Checkpoint.load(checkpoint)
    assert_refused(recap_here("evaluate", checkpoint, "--data", city_folder), "format 99", "update recap")


@pytest.mark.parametrize(
    "text", ["", "[]", '"x"', "{}", '{"format_version": "new"}', '{"format_version": 1}', "\x00\xff"]
)
def test_refuses_a_manifest_that_is_none(text: str, checkpoint: Path) -> None:
    """Empty, other JSON, no JSON, too little: never a traceback, even where the hashes fit."""
    (checkpoint / "checkpoint.json").write_text(text, encoding="latin-1")
    write_sums_again(checkpoint)
    with pytest.raises(RecapError):
        Checkpoint.load(checkpoint)


def test_refuses_what_is_no_checkpoint(tmp_path: Path, city_folder: Path) -> None:
    """An empty folder, no folder, a dataset."""
    for place in (tmp_path, tmp_path / "nowhere", city_folder):
        with pytest.raises(CheckpointError, match="recap train"):
            Checkpoint.load(place)
        said = "has no checkpoint.json" if place.is_dir() else "is neither a checkpoint folder nor one of"
        assert_refused(recap_here("evaluate", place, "--data", city_folder), said)


def test_refuses_a_training_that_has_not_finished(tmp_path: Path, city_folder: Path) -> None:
    """A stopped training is no broken checkpoint, and may not be started over by mistake."""
    out = tmp_path / "out"
    assert train(small_city(), small_training(), out, device=CPU, stop=lambda: True) is None
    assert_refused(recap_here("evaluate", out, "--data", city_folder), "has not finished", "--resume")
    before = sorted((path, path.stat().st_mtime_ns) for path in out.rglob("*"))
    assert_refused(recap_here("train", city_folder, "--out", out, *WORDS), "unfinished training", "--resume")
    assert sorted((path, path.stat().st_mtime_ns) for path in out.rglob("*")) == before


def test_refuses_a_second_training_in_the_same_folder(tmp_path: Path, city_folder: Path) -> None:
    """While one training holds the lock another is turned away; the first one finishes undisturbed."""
    out = tmp_path / "out"
    answers: list[subprocess.CompletedProcess[str]] = []

    def watch(report: StepReport) -> None:
        if (report.epoch, report.step) == (2, 1):
            answers.append(recap_here("train", city_folder, *WORDS, "--out", out, "--resume"))

    assert train(small_city(), small_training(), out, device=CPU, watch=watch) is not None
    assert_refused(answers[0], "another training is writing", str(out))
    whole = train(small_city(), small_training(), tmp_path / "whole", device=CPU)
    assert whole is not None
    assert (out / "model.safetensors").read_bytes() == (tmp_path / "whole" / "model.safetensors").read_bytes()


def test_refuses_to_write_over_something_else(tmp_path: Path, city_folder: Path, checkpoint: Path) -> None:
    """Somebody's papers, a file in the way, a dataset, a finished checkpoint: unchanged."""
    papers = tmp_path / "papers"
    papers.mkdir()
    (papers / "chapter.tex").write_text("dear")
    (tmp_path / "file").write_text("in the way")
    for place, part in (
        (papers, "contains no training"),
        (tmp_path / "file", "choose another"),
        (city_folder, "holds"),
        (checkpoint, "finished checkpoint"),
    ):
        for resume in ([], ["--resume"]):
            assert_refused(recap_here("train", city_folder, "--out", place, *WORDS, *resume), part)
    assert [path.name for path in papers.iterdir()] == ["chapter.tex"]
    assert Checkpoint.load(checkpoint) and Dataset.load(city_folder)


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (["--preset", "paris"], ["'paris'", "recap, paper, feature_curves", "or a published model: flashback"]),
        (["--preset", "feature_curves", "--set", "model.num_hops=3"], ["no graph"]),
        (["--set", "model.hidden=3"], ["unknown field 'model.hidden'"]),
        (["--set", "batch_size=0"], ["batch_size"]),
        (["--set", "seed"], ["field=value"]),
        (["--set", "curriculum.graph_epoch=9"], ["ordered"]),
        (["--set", "epochs=2"], ["correction", "2 epochs"]),
        (["--epochs", "0"], ["--epochs", "equal to 1"]),
        (["--epochs", "few"], ["--epochs"]),
        (["--seed", "-1"], ["seed"]),
        (["--device", "gpu"], ["'gpu'", "cuda"]),
        (["--device", "mps"], ["'mps'"]),
        (["--device", "cuda:99"], ["'cuda:99' is not there"]),
        (["--colour", "red"], ["--colour"]),
    ],
    ids=str,
)
def test_refuses_an_unknown_configuration(
    arguments: list[str], parts: list[str], tmp_path: Path, city_folder: Path
) -> None:
    """Unknown names and values out of range, before anything is written."""
    out = tmp_path / "out"
    preset = [] if "--preset" in arguments else WORDS
    assert_refused(recap_here("train", city_folder, "--out", out, *preset, *arguments, "--json"), *parts)
    assert list(tmp_path.iterdir()) == []


def test_refuses_unknown_cases_splits_and_protocols(city_checkpoint: Path, city_folder: Path) -> None:
    """Each named, with what there is."""
    last = len(small_city().cases(2)) - 1
    explain = ["explain", city_checkpoint, "--data", city_folder, "--json", "--case"]
    for case in ("9999", f"0,{last + 1}"):
        assert_refused(recap_here(*explain, case), "no test case", f"cases 0 to {last}")
    assert_refused(recap_here(*explain, "first"), "--case", "'first'")
    assert_refused(recap_here(*explain, ""), "--case")
    evaluate_it = ["evaluate", city_checkpoint, "--data", city_folder]
    assert_refused(recap_here(*evaluate_it, "--split", "all"), "'all'", "train, val, test")
    assert_refused(recap_here(*evaluate_it, "--protocol", "sometimes"), "'sometimes'", "every_step")
    assert_refused(recap_here(*evaluate_it, "--device", "tpu9"), "'tpu9'")
    assert_refused(recap_here("evaluate", "--baseline", "markov", "--data", city_folder, "--device", "tpu9"), "'tpu9'")
    assert_refused(recap_here(*evaluate_it, "--baseline", "markov"), "not both")
    assert_refused(recap_here("evaluate", "--data", city_folder), "--baseline")
    assert_refused(recap_here("evaluate", "--baseline", "oracle", "--data", city_folder), "'oracle'", "popularity")


class Broken:
    """Scores that are NaN for one POI of one case."""

    name = "broken"
    reads_target_time = False

    def score(self, batch: Histories) -> Scores:
        total = torch.zeros(len(batch), small_city().num_pois, dtype=torch.float64)
        total[-1, 3] = math.nan
        return Scores({"total": total})


def test_refuses_a_scorer_that_returns_nan() -> None:
    """A NaN would lose every comparison and rank its case first; it is named instead."""
    with pytest.raises(ScoreError, match="'broken' returned NaN for 1 of 24 cases"):
        evaluate(Broken(), small_city(), TransitionGraph.from_dataset(small_city()))


def test_refuses_weights_with_nan(checkpoint: Path, city_folder: Path, tmp_path: Path) -> None:
    """Its list written again: evaluate writes no records, explain prints nothing."""
    change_weights(checkpoint, lambda weights: weights["core.output.bias"].__setitem__(4, math.nan))
    records = tmp_path / "records.parquet"
    assert_refused(
        recap_here("evaluate", checkpoint, "--data", city_folder, "--records", records, "--json"), "recap", "NaN"
    )
    assert not records.exists()
    assert_refused(recap_here("explain", checkpoint, "--data", city_folder, "--case", 0, "--json"), "NaN")


@pytest.mark.parametrize("size", [1000, 20_000])
def test_a_disk_that_fills_up_is_named_and_can_be_resumed(size: int, tmp_path: Path, city_folder: Path) -> None:
    """The configuration or the first state does not fit: one line, no checkpoint; with room again --resume finishes."""
    out = tmp_path / "out"
    command = ["train", city_folder, *WORDS, "--out", out]
    with files_limited_to(size):
        assert_refused(recap_here(*command, "--json"), "failed", "out")
    assert not (out / "SHA256SUMS").exists() and not list(out.rglob(".*.part"))
    line = recap_json_here(*command, "--resume")
    assert line["epochs"] == 4
    assert Checkpoint.load(out).manifest.train == tiny()


def test_a_disk_that_fills_up_leaves_no_records_and_no_run(
    tmp_path: Path, city_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Records of an evaluation and the description of a run: one line that says where, nothing half-written."""
    home, records = tmp_path / "home", tmp_path / "records.parquet"
    monkeypatch.setenv("RECAP_HOME", str(home))
    command = ["evaluate", "--baseline", "markov", "--data", city_folder, "--records", records, "--json"]
    with files_limited_to(1000):
        assert_refused(recap_here(*command), str(records), "nothing was kept")
    with files_limited_to(200):
        assert_refused(recap_here("runs", "submit", city_folder, *WORDS, "--json"), str(home), "spec.json")
    assert not [path for path in tmp_path.rglob("*") if path.suffix in (".part", ".parquet")]
    assert not list(home.rglob("spec.json"))


def test_refuses_a_dataset_that_cannot_choose_an_epoch(tmp_path: Path) -> None:
    """Without a validation case there is no best epoch; nothing is left behind, an empty folder stays empty."""
    rows = [("ann", place, float(hour)) for hour, place in enumerate("ababababab")]
    dataset = small_dataset([*rows, ("ann", "b", 100.0), ("ann", "a", 200.0), ("ann", "b", 300.0)])
    assert len(dataset.cases(1)) == 0 < len(dataset.cases(0))
    empty = tmp_path / "empty"
    empty.mkdir()
    for out in (tmp_path / "out", empty):
        with pytest.raises(RecapError, match="no validation case"):
            train(dataset, small_training(), out, device=CPU)
    assert list(tmp_path.iterdir()) == [empty] and list(empty.iterdir()) == []
