"""Named experiments: specs that are refused or complete, trainings that resume and are shared, tables by hand."""

import json
import shutil
import sys
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch

from analysis.compare.paired import compare_means, compare_records
from analysis.experiments.references import PAPER_CASES
from analysis.experiments.results import ExperimentResult, measure, training_digest, value_at
from analysis.experiments.running import RESULT, run_experiment
from analysis.experiments.spec import ExperimentSpec, check_spec, list_specs, load_spec
from analysis.experiments.tables import markdown, result_table
from recap import presets
from recap.baselines.building import build_baseline
from recap.checkpoint import Checkpoint
from recap.data.dataset import Dataset
from recap.errors import ConfigError, DataError, FormatVersionError
from recap.evaluation.metrics import SHOWN_METRICS
from recap.fingerprint import unseen_reach
from recap.graph import TransitionGraph
from recap.training_config import TrainConfig
from tests.cli_runner import recap_here, recap_json_here
from tests.worlds import small_city

SPEC: dict[str, Any] = {
    "name": "two-arms",
    "title": "Two arms",
    "question": "Does the graph help?",
    "preset": "tiny",
    "seeds": [1, 2],
    "columns": [
        {"key": "every_step.all.hr1", "label": "HR@1"},
        {"key": "every_step.tail.mrr", "label": "tail MRR"},
        {"key": "reach.candidates", "label": "candidates", "digits": 1},
    ],
    "compare": [["plain", "count"]],
    "average_rank": {"rank": ["every_step.all.hr1", "every_step.tail.mrr"]},
    "arms": [
        {"name": "plain", "label": "RECAP", "paper": {"trajectory_last.all.hr1": 0.3166}},
        {"name": "no-graph", "label": "w/o Graph", "changes": ["model.use_graph=false"]},
        {"name": "count", "label": "counting", "baseline": "visit_count"},
    ],
}


def run(
    spec: ExperimentSpec,
    out: Path,
    dataset: Dataset | None = None,
    stop_after: int | None = None,
    trains: bool = True,
    earlier: Path | None = None,
) -> ExperimentResult:
    steps = 0

    def stop() -> bool:
        nonlocal steps
        steps += 1
        return stop_after is not None and steps >= stop_after

    return run_experiment(
        spec,
        dataset or small_city(),
        out,
        device=torch.device("cpu"),
        command="recap experiment run two-arms",
        log=lambda line: None,
        stop=stop,
        trains=trains,
        earlier=earlier,
    )


def numbers(result: ExperimentResult) -> list[Any]:
    """What must not depend on how often a run was interrupted: everything but times."""
    return [
        (arm.arm, arm.seed, arm.digest, {k: v for k, v in arm.values.items() if k not in ("cost", "test_seconds")})
        for arm in result.arms
    ] + [result.comparisons]


@cache
def finished(folder: Path) -> ExperimentResult:
    return run(check_spec(SPEC), folder)


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> tuple[ExperimentResult, Path]:
    folder = tmp_path_factory.mktemp("experiments")
    return finished(folder), folder


def test_every_arm_and_seed_is_measured(done: tuple[ExperimentResult, Path]) -> None:
    """Two trained arms under two seeds, the counter once; the file says the same."""
    result, folder = done
    assert [(arm.arm, arm.seed) for arm in result.arms] == [
        ("plain", 1),
        ("plain", 2),
        ("no-graph", 1),
        ("no-graph", 2),
        ("count", None),
    ]
    assert result.finished
    assert ExperimentResult.load(folder / "two-arms" / RESULT, small_city().hash) == result
    assert result.arms[0].values["every_step"] != result.arms[1].values["every_step"]
    assert "reach" not in result.arms[2].values
    assert result.arms[4].values["every_step"]["all"]["hr1"] > 0
    assert all(arm.values["cost"]["test_seconds"] > 0 for arm in result.arms)
    if sys.platform == "linux":
        memory = [arm.values["cost"]["peak_memory_gb"] for arm in result.arms]
        assert all(0.05 < gigabytes < 50 for gigabytes in memory), "a process with torch in it, and not more"


def test_an_experiment_cut_in_the_middle_goes_on(done: tuple[ExperimentResult, Path], tmp_path: Path) -> None:
    """Stopped in the first and in the third training, then run again: the numbers of the uninterrupted run."""
    spec = check_spec(SPEC)
    first = run(spec, tmp_path, stop_after=3)
    assert not first.finished and not first.arms
    second = run(spec, tmp_path, stop_after=12)
    assert not second.finished
    third = run(spec, tmp_path)
    assert third.finished
    assert numbers(third) == numbers(done[0])


def test_experiments_share_trainings(done: tuple[ExperimentResult, Path]) -> None:
    """Another experiment with one of the arms trains nothing: it reads what is there."""
    result, folder = done
    before = sorted(path.name for path in (folder / "trainings").iterdir())
    other = SPEC | {"name": "other", "compare": [], "arms": [SPEC["arms"][1]]}
    again = run(check_spec(other), folder, stop_after=1)
    assert again.finished
    assert [arm.values for arm in again.arms] == [arm.values for arm in result.arms[2:4]]
    assert sorted(path.name for path in (folder / "trainings").iterdir()) == before


def test_a_rebalanced_arm_stands_beside_its_training(done: tuple[ExperimentResult, Path], tmp_path: Path) -> None:
    """The same training with core and prior weighed anew: made once, measured apart, and never trained for itself."""
    copy = shutil.copytree(done[1], tmp_path / "copy")
    plain = SPEC["arms"][0]
    spec = SPEC | {"compare": [["new", "plain"]], "arms": [plain, plain | {"name": "new", "rebalanced": True}]}
    found = run(check_spec(spec), copy, trains=False)
    rows = {(arm.arm, arm.seed): arm for arm in found.arms}
    for seed in (1, 2):
        old, new = rows["plain", seed], rows["new", seed]
        assert new.digest == f"{old.digest}-rebalanced" and new.paper == old.paper and new.preset == old.preset
        assert new.values["every_step"] != old.values["every_step"] and new.values["reach"] == old.values["reach"]
        manifest = Checkpoint.load(copy / "trainings" / new.digest).manifest
        assert manifest.rebalanced is not None and new.values["val"] == manifest.best.val
    assert {row.arm for row in found.comparisons} == {"new"}
    again = run(check_spec(spec), copy, trains=False)
    assert numbers(again) == numbers(found)
    with pytest.raises(ConfigError, match="rebalanced"):
        check_spec(SPEC | {"arms": [SPEC["arms"][2] | {"rebalanced": True}]})


def test_reach_is_counted_as_the_paper_counts(done: tuple[ExperimentResult, Path], tmp_path: Path) -> None:
    """Over pairs of trajectory_last cases and their distinct sources, also where an earlier version measured others."""
    result, folder = done
    dataset = small_city()
    row = unseen_reach(dataset, TransitionGraph.from_dataset(dataset), 2)[1]
    expected = {"candidates": row["candidates"], "coverage": 100 * row["coverage"], "snr": row["snr_x1000"]}
    assert result.arms[0].values["reach"] == expected
    copy = shutil.copytree(folder, tmp_path / "copy")
    for kept in copy.glob("trainings/*/training/measured.json"):
        values = json.loads(kept.read_text())
        if "reach" in values["values"]:
            values["values"]["reach"]["candidates"] = -1.0
        kept.write_text(json.dumps(values))
    assert run(check_spec(SPEC), copy, trains=False).arms[0].values["reach"] == expected


def test_differences_of_the_groups_that_are_asked_for(done: tuple[ExperimentResult, Path]) -> None:
    """All and tail, head where the experiment asks for it; what they have in common stays."""
    result, folder = done
    assert {row.group for row in result.comparisons} == {"all", "tail"}
    wider = SPEC | {"name": "groups", "compare_groups": ["all", "head", "tail"]}
    found = run(check_spec(wider), folder, trains=False)
    assert [row.group for row in found.comparisons[::4]] == ["all", "head", "tail"]
    assert [row for row in found.comparisons if row.group != "head"] == list(result.comparisons)


def test_rows_of_an_earlier_result_stand_where_nothing_is_trained(
    done: tuple[ExperimentResult, Path], tmp_path: Path
) -> None:
    """Another machine has the file alone: the same table without a training, one more seed beside it, differences of
    the same trainings only; a training that is there counts for more than the file."""
    result, folder = done
    path = folder / "two-arms" / RESULT
    moved = run(check_spec(SPEC), tmp_path, trains=False, earlier=path)
    assert moved.finished and numbers(moved) == numbers(result) and moved.comparisons
    assert not (tmp_path / "trainings").exists()
    more = run(check_spec(SPEC | {"seeds": [1, 2, 3]}), tmp_path, trains=False, earlier=path)
    rows = [(arm.arm, arm.seed, bool(arm.values)) for arm in more.arms if arm.arm != "count"]
    assert rows == [(name, seed, seed < 3) for name in ("plain", "no-graph") for seed in (1, 2, 3)]
    assert more.comparisons == moved.comparisons
    trained = run(check_spec(SPEC | {"seeds": [1, 2, 3]}), tmp_path, earlier=path)
    assert len(list((tmp_path / "trainings").iterdir())) == 2 and not trained.comparisons
    assert all(arm.values for arm in trained.arms)
    wrong, copy = tmp_path / "wrong.json", shutil.copytree(folder, tmp_path / "copy")
    measured = repr(result.arms[0].values["every_step"]["all"]["hr1"])
    wrong.write_text(path.read_text().replace(measured, "0.999"))
    assert numbers(run(check_spec(SPEC), copy, earlier=wrong)) == numbers(result)
    with pytest.raises(DataError, match="expected 'other' on"):
        run(check_spec(SPEC | {"name": "other"}), tmp_path, earlier=path)


def test_what_is_not_trained_is_a_row_with_its_time(done: tuple[ExperimentResult, Path]) -> None:
    """Nothing is trained; a third seed and a longer arm are named, and two seeds compare as they did."""
    result, folder = done
    before = sorted(path.name for path in (folder / "trainings").iterdir())
    longer = {"name": "longer", "label": "RECAP, longer", "epochs": 9}
    wider = SPEC | {"name": "wider", "seeds": [1, 2, 3], "arms": [SPEC["arms"][0], longer, SPEC["arms"][2]]}
    found = run(check_spec(wider), folder, trains=False)
    assert found.finished and sorted(path.name for path in (folder / "trainings").iterdir()) == before
    assert found.comparisons == result.comparisons
    text = markdown(found)
    assert "| RECAP (of 3 seeds 1, 2 alone; each further one not run, about 1 min) | ." in text
    assert "| RECAP, longer (not run, about 1 min) | – | – | – |" in text
    assert result_table(found).loc[0, "seeds"] == 2


def test_changes_of_all_arms_come_before_an_arms_own() -> None:
    """Precision for every arm that trains, unless the arm says another; the table says what all share."""
    spec = check_spec(
        SPEC
        | {
            "changes": ["precision=bf16"],
            "arms": [*SPEC["arms"], {"name": "full", "label": "float32", "changes": ["precision=float32"]}],
        }
    )
    precisions = [spec.train_config(arm, 1).model_dump()["precision"] for arm in spec.arms if arm.trains]
    assert precisions == ["bf16", "bf16", "float32"]


def test_a_training_is_named_by_data_and_parts() -> None:
    data, quick = small_city(), presets.quick()
    name = training_digest(data, quick, False)

    class WithAnotherPart(TrainConfig):
        part: str | None = None

    wider = WithAnotherPart(**quick.model_dump())
    assert training_digest(data, wider, False) == name
    assert training_digest(data, wider.model_copy(update={"part": "there"}), False) != name
    assert training_digest(data, quick.model_copy(update={"seed": 1}), False) != name
    assert training_digest(data, quick, True) != name


def test_results_of_another_dataset_are_never_mixed_in(done: tuple[ExperimentResult, Path]) -> None:
    """The same folder with another city is refused, and the result stays."""
    result, folder = done
    with pytest.raises(DataError, match="choose another --out"):
        run(check_spec(SPEC), folder, small_city(1))
    assert ExperimentResult.load(folder / "two-arms" / RESULT) == result


def test_result_files_are_checked(done: tuple[ExperimentResult, Path], tmp_path: Path) -> None:
    """A newer format and a broken file: one clear error each."""
    content = json.loads((done[1] / "two-arms" / RESULT).read_text())
    newer, broken = tmp_path / "newer.json", tmp_path / "broken.json"
    newer.write_text(json.dumps(content | {"format_version": 99}))
    with pytest.raises(FormatVersionError, match="99"):
        ExperimentResult.load(newer)
    for text in ("{", "[" * 100_000):
        broken.write_text(text)
        with pytest.raises(DataError, match="no experiment result"):
            ExperimentResult.load(broken)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"colour": "red"}, "unknown field 'colour'"),
        ({"preset": "huge"}, "arm 'plain'.*unknown training preset"),
        ({"arms": [{"name": "a", "label": "A", "changes": ["model.wings=2"]}], "compare": []}, "arm 'a'.*model.wings"),
        ({"arms": [SPEC["arms"][0]] * 2, "compare": []}, "different names"),
        ({"compare": [["plain", "moon"]]}, "moon"),
        ({"arms": [{"name": "../x", "label": "A"}], "compare": []}, "name"),
        (
            {"arms": [{"name": "a", "label": "A", "baseline": "evidence", "epochs": 3}], "compare": []},
            "a baseline has no",
        ),
        ({"seeds": []}, "seeds"),
    ],
)
def test_bad_specs_are_refused(change: dict[str, Any], message: str) -> None:
    """Before anything trains, with what is wrong."""
    with pytest.raises(ConfigError, match=message):
        check_spec(SPEC | change)


def test_spec_files(tmp_path: Path) -> None:
    """An unknown name, a missing file, no TOML."""
    with pytest.raises(ConfigError, match="unknown experiment 'moon'; choose one of ablation"):
        load_spec("moon")
    with pytest.raises(ConfigError, match="cannot read"):
        load_spec(str(tmp_path / "none.toml"))
    (tmp_path / "bad.toml").write_text("name = ")
    with pytest.raises(ConfigError, match="is no TOML"):
        load_spec(str(tmp_path / "bad.toml"))


@pytest.mark.parametrize("name", list_specs())
def test_shipped_specs_ask_for_what_is_measured(name: str, done: tuple[ExperimentResult, Path]) -> None:
    """Every column and paper number has a key that a trained arm's result holds."""
    spec = load_spec(name)
    values = done[0].arms[0].values
    keys = {column.key for column in spec.columns} | {key for arm in spec.arms for key in arm.paper}
    keys = keys.union(*spec.average_rank.values())
    group_is_empty = {
        key for key in keys if key.rpartition(".")[2] != "n" and value_at(values, f"{key.rpartition('.')[0]}.n") == 0
    }
    assert spec.name == name
    assert {key for key in keys if value_at(values, key) is None} == group_is_empty
    beside = {column.key.replace("every_step.", "trajectory_last.", 1) for column in spec.columns}
    beside |= {f"trajectory_last.{group}.{metric}" for group in PAPER_CASES for metric in SHOWN_METRICS}
    assert {key for arm in spec.arms for key in arm.paper} <= beside, "a number of the paper that no table shows"
    assert not any(key.startswith("every_step.") for arm in spec.arms for key in arm.paper)


def test_measure_agrees_with_the_records() -> None:
    """Bins of exact frequency add up to all cases, and their hits to the mean over all."""
    dataset = small_city()
    graph = TransitionGraph.from_dataset(dataset)
    values, records = measure(build_baseline("visit_count", dataset, graph), dataset, graph)
    bins = values["frequency"]
    assert sum(entry["n"] for entry in bins.values()) == len(records) == values["every_step"]["all"]["n"]
    total = sum(entry["n"] * entry["hr20"] for entry in bins.values() if entry["n"])
    assert total / len(records) == pytest.approx(values["every_step"]["all"]["hr20"])
    assert bins["10+"]["n"] == (records["transition_count"] >= 10).sum()
    assert values["long_history"]["all"]["n"] == (records["position"] >= 20).sum() > 0
    assert values["user_last"]["all"]["n"] < values["trajectory_last"]["all"]["n"] < len(records)


def test_comparing_means_over_seeds() -> None:
    """Two seeds that are each other's opposite cancel; one seed alone is the plain comparison."""
    dataset = small_city()
    graph = TransitionGraph.from_dataset(dataset)
    good, poor = (
        measure(build_baseline(name, dataset, graph), dataset, graph)[1] for name in ("visit_count", "popularity")
    )
    both = compare_means([good, poor], [poor, good])
    assert np.allclose(both[both["n"] > 0][["difference", "low", "high"]], 0.0)
    pd.testing.assert_frame_equal(compare_means([good], [poor]), compare_records(good, poor))
    mixed = compare_means([good, poor], [poor])
    alone = compare_records(good, poor)
    assert mixed["difference"].to_numpy() == pytest.approx(alone["difference"].to_numpy() / 2, nan_ok=True)


def test_test_points_are_kept(tmp_path: Path) -> None:
    """At each epoch that improved on validation there is one row of test accuracies, epochs increasing."""
    spec = check_spec(SPEC | {"test_points": True, "seeds": [1], "arms": SPEC["arms"][:1], "compare": []})
    points = run(spec, tmp_path).arms[0].test_points
    epochs = [point["epoch"] for point in points]
    assert epochs == sorted(set(epochs)) and epochs
    assert all(0 <= point["all.hr1"] <= 1 for point in points)


def test_the_commands(tmp_path: Path) -> None:
    """List, run and report from the command line; a bad name is one line and exit code 2."""
    dataset = tmp_path / "data"
    small_city().save(dataset)
    spec = tmp_path / "mine.toml"
    spec.write_text(
        'name = "mine"\ntitle = "Mine"\nquestion = "How good is counting?"\n'
        '[[columns]]\nkey = "every_step.all.hr1"\nlabel = "HR@1"\n'
        '[[arms]]\nname = "count"\nlabel = "counting"\nbaseline = "visit_count"\n'
    )
    out = tmp_path / "out"
    assert recap_json_here("experiment", "run", spec, "--data", dataset, "--out", out)["finished"] is True
    (tmp_path / "results").mkdir()
    (out / "mine" / RESULT).rename(tmp_path / "results" / "10-mine.json")
    page_file = tmp_path / "results.md"
    assert recap_here("experiment", "report", tmp_path / "results", "--out", page_file).returncode == 0
    assert "How good is counting?" in page_file.read_text()
    assert "ablation" in [entry["name"] for entry in recap_json_here("experiment", "list")]
    refused = recap_here("experiment", "run", "moon", "--data", dataset, "--out", out)
    assert refused.returncode == 2
    assert refused.stderr.count("\n") == 1
