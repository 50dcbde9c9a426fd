"""`recap train` and `recap evaluate`: the objects they print, with the promised keys and the summary's numbers."""

import json
import re
from pathlib import Path

import pytest

from recap.baselines import COUNTING_BASELINES, FEATURE_CURVES
from recap.checkpoint import Checkpoint
from recap.presets import DEFAULT_PRESET, train_preset
from tests.cli_runner import recap_here, recap_json_here
from tests.tiny import WORDS

TRAIN_KEYS = {"checkpoint", "model", "options", "epochs", "best_epoch", "val", "seconds"}
TRAIN_KEYS |= {"reserved_gpu_bytes", "against_pretrained"}
EVALUATE_KEYS = {"protocol", "model", "options", "dataset_hash", "checkpoint_hash", "seconds", "records"}
GROUP_KEYS = {"n", "hr1", "hr5", "hr10", "hr20", "ndcg20", "mrr"}


def test_train_prints_one_object(tmp_path: Path, city_folder: Path) -> None:
    """Exactly the promised keys, the numbers of the summary, and three epochs where three are asked for."""
    line = recap_json_here("train", city_folder, *WORDS, "--out", tmp_path / "out", "--epochs", 3)
    assert line.keys() == TRAIN_KEYS and line["val"].keys() == {"hr1", "hr20", "ndcg20", "mrr"}
    assert (line["checkpoint"], line["epochs"], line["reserved_gpu_bytes"]) == (str(tmp_path / "out"), 3, 0)
    summary = Checkpoint.load(tmp_path / "out").read_summary()
    assert line["best_epoch"] == summary["best_epoch"] and line["val"]["mrr"] == summary["val"]["mrr"]
    assert 0 < line["seconds"] < 600


def test_without_a_preset_the_recommended_one_is_trained(tmp_path: Path, city_folder: Path) -> None:
    """As its help says, and as the checkpoint's configuration keeps."""
    line = recap_json_here("train", city_folder, "--out", tmp_path / "out")
    assert line["epochs"] == train_preset(DEFAULT_PRESET).epochs
    assert Checkpoint.load(tmp_path / "out").recap_training == train_preset(DEFAULT_PRESET)
    for command in (["train"], ["runs", "submit"]):
        (answer,) = re.findall(r"\[default: \((\w+)\)\]", recap_here(*command, "--help").stdout)
        assert answer == DEFAULT_PRESET


def test_train_for_people_ends_with_the_same_line(tmp_path: Path, city_folder: Path) -> None:
    """A table of test metrics next to the baselines that fits into 80 columns, then the object as the last line."""
    result = recap_here("train", city_folder, *WORDS, "--out", tmp_path / "out")
    assert result.returncode == 0
    *table, last = result.stdout.splitlines()
    assert json.loads(last).keys() == TRAIN_KEYS
    assert "pretrained" in result.stdout and "validation cases: MRR" in " ".join(result.stdout.split())
    assert f"recap predict {tmp_path / 'out'} --data" in result.stderr or "recap predict pretrained" in result.stderr
    rows = [line.split() for line in table if " all " in line]
    assert [row[0] for row in rows] == ["recap", FEATURE_CURVES, *COUNTING_BASELINES]
    assert all(len(row) == 9 and re.fullmatch(r"[01]\.\d{4}", row[-1]) for row in rows)


@pytest.mark.parametrize("scorer", ["checkpoint", "markov"])
def test_evaluate_prints_one_object(scorer: str, city_checkpoint: Path, city_folder: Path, tmp_path: Path) -> None:
    """The promised keys, groups that add up, records where they were asked for, the checkpoint untouched."""
    before = sorted(city_checkpoint.rglob("*"))
    chosen = [city_checkpoint] if scorer == "checkpoint" else ["--baseline", scorer]
    records = tmp_path / "records.parquet"
    summary = recap_json_here("evaluate", *chosen, "--data", city_folder, "--records", records)
    groups = {"all", "head", "tail", "unseen"}
    # The split is beyond the contract: without it the numbers of two splits would look the same.
    assert summary.keys() == EVALUATE_KEYS | groups | {"split", "probabilities"}
    assert all(summary[group].keys() == GROUP_KEYS for group in groups)
    assert summary["head"]["n"] + summary["tail"]["n"] == summary["all"]["n"] == 24
    assert summary["records"] == str(records) and records.is_file()
    assert (summary["protocol"], summary["split"]) == ("every_step", "test")
    expected = Checkpoint.load(city_checkpoint).hash if scorer == "checkpoint" else None
    assert summary["checkpoint_hash"] == expected
    assert sorted(city_checkpoint.rglob("*")) == before


def test_evaluate_agrees_with_the_summary_of_the_training(city_checkpoint: Path, city_folder: Path) -> None:
    """The checkpoint's own test metrics are what anybody gets who evaluates it; records go to the user's cache."""
    summary = recap_json_here("evaluate", city_checkpoint, "--data", city_folder)
    own = Checkpoint.load(city_checkpoint).read_summary()
    assert {group: summary[group] for group in own["test"]} == own["test"]
    assert Path(summary["records"]).is_file() and city_checkpoint not in Path(summary["records"]).parents
