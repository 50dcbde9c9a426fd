"""Checkpoints: what is saved is what scores; whatever was changed, lost or mistaken is refused in one line."""

import json
import math
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from analysis.explain.curves import replicate_curves
from analysis.explain.seed_replicates import train_replicates
from recap.baselines import COUNTING_BASELINES, FEATURE_CURVES
from recap.checkpoint import WEIGHTS, Checkpoint
from recap.data.dataset import Dataset
from recap.errors import CheckpointError, ChecksumError, ConfigError, MissingTensorError, RecapError
from recap.features.catalogue import WHENEVER
from recap.history.graph import TransitionGraph
from recap.model.curves import KNOTS, STEPS
from recap.model.recap import Recap
from recap.model.scorer import RecapScorer
from recap.presets import DEFAULT_PRESET, train_preset
from recap.storage.atomic import replace_json
from recap.storage.json_text import read_json
from recap.storage.tensors import load_tensors, save_tensors
from recap.training.loop import StepReport
from recap.training.run import train
from recap.training.trainer import Trainer
from tests.checkins import small_dataset
from tests.cli_runner import recap_here, recap_json_here
from tests.shell import assert_refused, files_limited_to
from tests.spoiled import LISTED, ODD_JSON, change_one_byte, change_weights, write_sums_again
from tests.tiny import WORDS, tiny
from tests.worlds import CURVES, batch_of, small_city, small_training

CPU = torch.device("cpu")


def test_scores_before_saving_equal_scores_after(tmp_path: Path) -> None:
    """The trainer's model and the loaded checkpoint agree to the last bit: weights in float32, scores in float64."""
    dataset, config = small_city(), small_training(epochs=3)
    folder = tmp_path / "trained"
    folder.mkdir()
    trainer = Trainer(dataset, config, folder, CPU)
    trainer.run()
    assert train(dataset, config, tmp_path / "checkpoint", device=CPU) is not None
    loaded = Checkpoint.load(tmp_path / "checkpoint")
    assert loaded.manifest.best.epoch == 3, "only the last epoch of this curriculum has every part"
    stage, graph = config.curriculum.at(3), TransitionGraph.from_dataset(dataset)
    in_float64 = Recap(config.model, dataset, graph, torch.float64)
    in_float64.load_state_dict(trainer.model.state_dict())
    kept, trained = load_tensors(loaded.folder / WEIGHTS)[0], trainer.model.state_dict()
    assert kept.keys() == trained.keys() and all(torch.equal(kept[name], trained[name]) for name in kept)
    before = RecapScorer(in_float64, stage).score(batch_of(dataset))
    after = RecapScorer(loaded.build_model(dataset, graph), loaded.stage).score(batch_of(dataset))
    assert list(before.parts) == list(after.parts) and before.total.dtype == torch.float64
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
    """Where the kept epoch is the best of all, its weights lie there once."""
    folder = tmp_path / "checkpoint"
    config = small_training(epochs=3, curriculum={"staged": False})  # every epoch has every part
    assert train(small_city(), config, folder, device=CPU) is not None
    loaded = Checkpoint.load(folder)
    assert loaded.manifest.best == loaded.manifest.best_overall
    assert [path.name for path in folder.glob("*.safetensors")] == ["model.safetensors"]
    assert "(`model.safetensors`)" in (folder / "MODEL_CARD.md").read_text()
    change_one_byte(folder / "model.safetensors")
    with pytest.raises(ChecksumError, match=r"model\.safetensors"):
        Checkpoint.load(folder)


@pytest.fixture
def checkpoint(city_checkpoint: Path, tmp_path: Path) -> Path:
    """A copy of the trained checkpoint that a test may spoil."""
    return Path(shutil.copytree(city_checkpoint, tmp_path / "checkpoint"))


@pytest.fixture(scope="module")
def spoiled(city_checkpoint: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy that the examples of one test spoil and mend; other processes read the shared one meanwhile."""
    return Path(shutil.copytree(city_checkpoint, tmp_path_factory.mktemp("spoiled") / "checkpoint"))


@settings(max_examples=150)
@given(st.sampled_from([*LISTED, "SHA256SUMS"]), st.floats(0, 1, exclude_max=True), st.integers(1, 255))
def test_refuses_any_changed_byte(spoiled: Path, name: str, where: float, flip: int) -> None:
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
def test_commands_name_a_file_that_is_changed_or_lost(name: str, checkpoint: Path, city_folder: Path) -> None:
    for spoil in (change_one_byte, Path.unlink):
        spoil(checkpoint / name)
        for arguments in (["evaluate", checkpoint], ["explain", checkpoint, "--case", 0]):
            assert_refused(recap_here(*arguments, "--data", city_folder, "--json"), name)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda weights: weights.pop("prior.scale"), "lacks tensor 'prior.scale'"),
        (lambda weights: weights.update(extra=torch.zeros(1)), "unknown tensor 'extra'"),
        (lambda weights: weights.update({"core.output.bias": torch.zeros(3)}), "shape (3,), expected (17,)"),
        (lambda weights: weights["core.output.bias"].__setitem__(4, math.nan), "NaN"),
    ],
)
def test_refuses_weights_that_do_not_fit(
    change: Callable[[dict[str, Tensor]], None], message: str, checkpoint: Path, city_folder: Path, tmp_path: Path
) -> None:
    """A missing tensor, an unknown one, one of another shape, one with a NaN, although every hash is right: evaluate
    writes no records, explain prints nothing.
    """
    change_weights(checkpoint, change)
    records = tmp_path / "records.parquet"
    for words in (("evaluate", "--records", records), ("explain", "--case", 0)):
        assert_refused(recap_here(*words, checkpoint, "--data", city_folder, "--json"), message)
    assert not records.exists()


def test_curves_that_a_later_version_added_are_zero(tmp_path: Path) -> None:
    """Curves that a checkpoint and its kept seeds lack are 0; other features, another order or number are refused."""
    dataset, folder = small_city(), tmp_path / "curves"
    graph = TransitionGraph.from_dataset(dataset)
    kept = [n for n, name in enumerate(WHENEVER.names) if "long_gaps" not in name]
    train(dataset, small_training(model=CURVES), folder, device=CPU)
    whole, manifest = Checkpoint.load(folder).build_model(dataset, graph), read_json(folder / "checkpoint.json")
    assert whole.curves is not None and len(kept) == len(WHENEVER.names) - 4
    whole.curves.curves.step_FK.data.mul_(torch.tensor([[float(n in kept)] for n in range(len(WHENEVER.names))]))
    expected = RecapScorer(whole, Checkpoint.load(folder).stage).score(batch_of(dataset)).total
    change_weights(folder, lambda weights: weights.update({key: weights[key][kept] for key in (KNOTS, STEPS)}))
    with pytest.raises(MissingTensorError, match=f"one curve for each of its {len(WHENEVER.names)} features"):
        Checkpoint.load(folder).build_model(dataset, graph)
    named = [manifest["features"][n] for n in kept]
    for features in ([named[0], *named], named[::-1], [named[0] | {"unit": "other"}, *named[1:]], [], named):
        replace_json(folder / "checkpoint.json", manifest | {"features": features})
        write_sums_again(folder)
        opened = Checkpoint.load(folder)
        if features != named:
            with pytest.raises(CheckpointError, match="other features than this version; train again"):
                opened.build_model(dataset, graph)
    assert torch.equal(opened.scorer(dataset, graph).score(batch_of(dataset)).total, expected)
    (seeds := tmp_path / "curves-seeds").mkdir()
    weights = load_tensors(folder / WEIGHTS)[0]
    save_tensors({key: weights[key] for key in (KNOTS, STEPS)}, seeds / "1.curves.safetensors")
    assert [len(curves) for curves in replicate_curves(opened)] == [len(WHENEVER.names)]
    with pytest.raises(ConfigError, match="curves of another version"):
        train_replicates(opened, dataset, 2, CPU, print)


NO_MANIFESTS = ("", "[]", '"x"', "{}", '{"format_version": "new"}', '{"format_version": 1}', "\x00\xff")
NEWER = '{"format_version": 99}'


@pytest.mark.parametrize("text", [*NO_MANIFESTS, *ODD_JSON, NEWER], ids=range(11))
def test_refuses_a_manifest_that_is_none(text: str, checkpoint: Path, city_folder: Path) -> None:
    """Never a traceback, even where the hashes fit; a newer one says update, not that a hash is wrong."""
    (checkpoint / "checkpoint.json").write_text(text, encoding="latin-1")
    if text != NEWER:
        write_sums_again(checkpoint)
    parts = ["format 99", "update recap"] if text == NEWER else []
    assert_refused(recap_here("evaluate", checkpoint, "--data", city_folder), *parts)


def test_refuses_what_is_no_checkpoint_or_has_not_finished(tmp_path: Path, city_folder: Path) -> None:
    """A stopped training is no broken checkpoint, and may not be started over by mistake."""
    for place in (tmp_path, tmp_path / "nowhere", city_folder):
        with pytest.raises(CheckpointError, match="recap train"):
            Checkpoint.load(place)
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


@pytest.mark.parametrize("size", [1000, 20_000])
def test_a_disk_that_fills_up_is_named_and_can_be_resumed(size: int, tmp_path: Path, city_folder: Path) -> None:
    """The configuration or the first state does not fit: one line, no checkpoint; with room again --resume finishes."""
    out = tmp_path / "out"
    command = ["train", city_folder, *WORDS, "--out", out]
    with files_limited_to(size):
        assert_refused(recap_here(*command, "--json"), "failed", "out")
    assert not (out / "SHA256SUMS").exists() and not list(out.rglob(".*.part"))
    assert recap_json_here(*command, "--resume")["epochs"] == 4
    assert Checkpoint.load(out).manifest.train == tiny()


def test_a_disk_that_fills_up_leaves_no_records_and_no_run(home: Path, tmp_path: Path, city_folder: Path) -> None:
    """Records of an evaluation and the description of a run: one line that says where, nothing half-written."""
    records = tmp_path / "records.parquet"
    command = ["evaluate", "markov", "--data", city_folder, "--records", records, "--json"]
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


TRAIN_KEYS = {"checkpoint", "model", "options", "epochs", "best_epoch", "val", "seconds"}
TRAIN_KEYS |= {"reserved_gpu_bytes", "against_pretrained"}
EVALUATE_KEYS = {"protocol", "model", "options", "given_time", "dataset_hash", "checkpoint_hash", "seconds", "records"}
EVALUATE_KEYS |= {"split", "probabilities"}
GROUP_KEYS = {"n", "hr1", "hr5", "hr10", "hr20", "ndcg20", "mrr"}


def test_what_train_prints(tmp_path: Path, city_folder: Path) -> None:
    """Exactly the promised keys with the summary's numbers, of the recommended preset where none is named; for people a
    table of test metrics next to the baselines that fits into 80 columns, then what to do next, in a pipe too.
    """
    line = recap_json_here("train", city_folder, "--out", tmp_path / "json")
    trained, summary = Checkpoint.load(tmp_path / "json"), Checkpoint.load(tmp_path / "json").read_summary()
    assert line.keys() == TRAIN_KEYS and line["val"].keys() == {"hr1", "hr20", "ndcg20", "mrr"}
    assert trained.recap_training == train_preset(DEFAULT_PRESET)
    assert (line["checkpoint"], line["reserved_gpu_bytes"]) == (str(tmp_path / "json"), 0)
    assert line["epochs"] == train_preset(DEFAULT_PRESET).epochs and 0 < line["seconds"] < 600
    assert line["best_epoch"] == summary["best_epoch"] and line["val"]["mrr"] == summary["val"]["mrr"]
    for command in (["train"], ["runs", "submit"]):
        (answer,) = re.findall(r"\[default: \((\w+)\)\]", recap_here(*command, "--help").stdout)
        assert answer == DEFAULT_PRESET

    result = recap_here("train", city_folder, *WORDS, "--out", tmp_path / "text")
    assert result.returncode == 0 and "{" not in result.stdout
    assert "pretrained" in result.stdout and "validation cases: MRR" in " ".join(result.stdout.split())
    assert f"recap predict {tmp_path / 'text'} --data" in result.stdout or "recap predict pretrained" in result.stdout
    rows = [line.split() for line in result.stdout.splitlines() if " all " in line]
    assert [row[0] for row in rows] == ["recap", FEATURE_CURVES, *COUNTING_BASELINES]
    assert all(len(row) == 9 and re.fullmatch(r"[01]\.\d{4}", row[-1]) for row in rows)


def test_evaluate_prints_one_object(city_checkpoint: Path, city_folder: Path, tmp_path: Path) -> None:
    """The promised keys, groups that add up, records where they were asked for or in the user's cache, the checkpoint
    untouched; its own test metrics are what anybody gets who evaluates it.
    """
    before, records = sorted(city_checkpoint.rglob("*")), tmp_path / "records.parquet"
    for model, out in (
        (city_checkpoint, ["--records", records]),
        ("markov", ["--records", records]),
        (city_checkpoint, []),
    ):
        summary = recap_json_here("evaluate", model, "--data", city_folder, *out)
        groups = {"all", "head", "tail", "unseen"}
        assert summary.keys() == EVALUATE_KEYS | groups
        assert all(summary[group].keys() == GROUP_KEYS for group in groups)
        assert summary["head"]["n"] + summary["tail"]["n"] == summary["all"]["n"] == 24
        assert (summary["protocol"], summary["split"]) == ("every_step", "test") and Path(summary["records"]).is_file()
        assert summary["checkpoint_hash"] == (None if model == "markov" else Checkpoint.load(city_checkpoint).hash)
        assert (summary["records"] == str(records)) is bool(out)
    own = Checkpoint.load(city_checkpoint).read_summary()
    assert {group: summary[group] for group in own["test"]} == own["test"]
    assert sorted(city_checkpoint.rglob("*")) == before
