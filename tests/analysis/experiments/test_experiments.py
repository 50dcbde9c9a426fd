"""Named experiments: specs that are refused or complete, trainings that resume and are shared, tables by hand."""

import json
from collections.abc import Callable
from functools import partial
from itertools import count, product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch

from analysis.compare.head_share import reweight
from analysis.compare.paired import compare_means
from analysis.experiments import cities
from analysis.experiments.names import EXPERIMENTS
from analysis.experiments.results import ArmResult, ExperimentResult, markdown, measure, training_digest, value_at
from analysis.experiments.running import RESULT_FILE, run_experiment
from analysis.experiments.spec import ACCURACY, Arm, ExperimentSpec, check_spec, load_spec
from analysis.records.bootstrap import UserBootstrap
from analysis.workspace import Workspace
from recap import columns as c
from recap.checkpoint import Checkpoint
from recap.data.cases import PROTOCOLS
from recap.data.dataset import Dataset
from recap.errors import ConfigError, DataError, FormatVersionError
from recap.history.graph import TransitionGraph
from recap.history.statistics import unseen_reach
from recap.pretrained.curves_file import PretrainedCurves
from recap.training.baselines import build_baseline
from recap.training.pretraining import pretrain
from recap.training_config import TrainConfig
from tests.analysis.compare.tables import first_places
from tests.cli_runner import recap_here, recap_json_here
from tests.shell import assert_refused
from tests.tiny import CHANGES, EPOCHS
from tests.worlds import small_city

SPEC: dict[str, Any] = {
    "name": "two-arms",
    "title": "Two arms",
    "question": "Does the graph help?",
    "epochs": EPOCHS,
    "protocol": "every_next",
    "changes": CHANGES,
    "seeds": [1, 2],
    "columns": [{"key": "reach.candidates", "label": "candidates", "digits": 1}],
    "baselines": ["visit_count"],
    "compare": [["plain", "visit_count"]],
    "arms": [
        {"name": "plain", "label": "RECAP", "paper": {"hr1": 0.3166}},
        {"name": "no-graph", "label": "w/o Graph", "changes": ["model.use_graph=false"]},
    ],
}


ASIDE: dict[str, Any] = {
    "device": torch.device("cpu"),
    "command": "recap experiment run two-arms",
    "log": lambda line: None,
}


def run(
    spec: ExperimentSpec, out: Path, dataset: Dataset | None = None, stop_after: int | None = None
) -> ExperimentResult:
    return run_experiment(spec, dataset or small_city(), out, stop=stop_from(stop_after), **ASIDE)


def stop_from(step: int | None) -> Callable[[], bool]:
    """Asks to stop from this step on."""
    steps = count(1)
    return lambda: step is not None and next(steps) >= step


def numbers(result: ExperimentResult) -> list[Any]:
    """What must not depend on how often a run was interrupted: everything but times."""
    arms = result.model_dump()["arms"]
    for arm in arms:
        arm["values"] = {name: value for name, value in arm["values"].items() if name not in ("cost", "test_seconds")}
    return [arms, result.comparisons]


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> tuple[ExperimentResult, Path]:
    folder = tmp_path_factory.mktemp("experiments")
    return run(check_spec(SPEC), folder), folder


@pytest.mark.slow
def test_an_experiment_cut_in_the_middle_goes_on(done: tuple[ExperimentResult, Path], tmp_path: Path) -> None:
    """Stopped in the first and in the third training, then run again: the numbers of the uninterrupted run."""
    first, second, third = (run(check_spec(SPEC), tmp_path, stop_after=step) for step in (3, 12, None))
    assert not first.finished and len(first.arms) < 2
    assert not second.finished and third.finished
    assert numbers(third) == numbers(done[0])


def test_experiments_share_trainings(done: tuple[ExperimentResult, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """Another experiment with one of the arms trains nothing: it reads what is there. What another version measured,
    and a damaged file, is measured again.
    """
    result, folder = done
    before = sorted(path.name for path in (folder / "trainings").iterdir())
    other = SPEC | {"name": "other", "compare": [], "baselines": [], "arms": [SPEC["arms"][1]]}
    again = run(check_spec(other), folder, stop_after=1)
    assert again.finished
    assert [arm.values for arm in again.arms] == [arm.values for arm in result.arms[3:5]]
    assert sorted(path.name for path in (folder / "trainings").iterdir()) == before
    (kept,) = (folder / "trainings" / again.arms[0].digest / "training").glob("every_next-*.json")
    whole = kept.read_text()
    kept.write_text("{half")
    assert numbers(run(check_spec(other), folder)) == numbers(again)
    assert json.loads(kept.read_text()).keys() == json.loads(whole).keys()
    monkeypatch.setattr("recap.storage.cache_keys.COMPUTED", 0)
    assert numbers(run(check_spec(other), folder)) == numbers(again)
    assert len([*kept.parent.glob("every_next-*.json")]) == 2


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"colour": "red"}, "unknown field 'colour'"),
        ({"preset": "huge"}, "arm 'plain'.*unknown preset"),
        ({"arms": [{"name": "a", "label": "A", "changes": ["model.wings=2"]}], "compare": []}, "arm 'a'.*model.wings"),
        ({"arms": [SPEC["arms"][0]] * 2, "compare": []}, "different names"),
        ({"compare": [["plain", "moon"]]}, "moon"),
        ({"arms": [{"name": "../x", "label": "A"}], "compare": []}, "name"),
        ({"arms": [SPEC["arms"][0] | {"baseline": "markov", "epochs": 3}], "compare": []}, "a baseline has no"),
        ({"seeds": []}, "seeds"),
        ({"baselines": ["moon"]}, "a baseline is one of popularity, .*, not 'moon'"),
    ],
)
def test_bad_specs_are_refused(change: dict[str, Any], message: str) -> None:
    """Before anything trains, with what is wrong."""
    with pytest.raises(ConfigError, match=message):
        check_spec(SPEC | change)


def test_spec_files(tmp_path: Path) -> None:
    (tmp_path / "bad.toml").write_text("name = ")
    unknown = ("moon", "unknown experiment 'moon'; choose one of ablation")
    for name, message in (unknown, (tmp_path / "none.toml", "cannot read"), (tmp_path / "bad.toml", "is not TOML")):
        with pytest.raises(ConfigError, match=message):
            load_spec(str(name))


def test_comparing_means_over_seeds() -> None:
    """Two seeds that are each other's opposite cancel; one seed alone is the plain comparison."""
    good, poor = (measured(name)[1] for name in ("visit_count", "popularity"))
    both, mixed, alone = (
        compare_means(*pair) for pair in (([good, poor], [poor, good]), ([good, poor], [poor]), ([good], [poor]))
    )
    assert np.allclose(both[both["n"] > 0][["difference", "low", "high"]], 0.0)
    assert mixed["difference"].to_numpy() == pytest.approx(alone["difference"].to_numpy() / 2, nan_ok=True)


def test_every_arm_and_seed_is_measured(done: tuple[ExperimentResult, Path]) -> None:
    """The counter once, two trained arms under two seeds; the file says the same."""
    result, folder = done
    trained = product(("plain", "no-graph"), (1, 2))
    assert [(arm.arm, arm.seed) for arm in result.arms] == [("visit_count", None), *trained]
    assert result.finished and ExperimentResult.load(folder / "two-arms" / RESULT_FILE) == result
    counted, first, second, without, _ = (arm.values for arm in result.arms)
    assert first["every_step"] != second["every_step"] and counted["every_step"]["all"]["hr1"] > 0
    assert first["cost"]["test_seconds"] > 0 and "reach" not in without
    assert {(row.arm, row.other) for row in result.comparisons} == {("plain", "visit_count")}
    assert {row.group for row in result.comparisons} == {"all", "head", "tail", "new"}
    assert {row.protocol for row in result.comparisons} == set(PROTOCOLS)
    alone, _ = measured("visit_count")
    assert alone["every_step"] == counted["every_step"], "the same within every next check-in"
    row = unseen_reach(small_city(), TransitionGraph.from_dataset(small_city()), 2)
    expected = {"candidates": row["candidates"], "coverage": 100 * row["coverage"], "snr": row["snr_x1000"]}
    assert first["reach"] == expected


def measured(name: str) -> tuple[dict[str, Any], pd.DataFrame]:
    """A counter's values and records."""
    graph = TransitionGraph.from_dataset(small_city())
    return measure(build_baseline(name, small_city(), graph), small_city(), graph)


def test_a_training_is_named_by_data_and_parts() -> None:
    data, config = small_city(), load_spec("main").train_config(load_spec("main").arms[0], 1)
    name = training_digest(data, config)

    class WithAnotherPart(TrainConfig):
        part: str | None = None

    wider = WithAnotherPart(**config.model_dump())
    assert training_digest(data, wider) == name
    assert training_digest(data, wider.model_copy(update={"part": "there"})) != name
    assert training_digest(data, config.model_copy(update={"seed": 2})) != name


def test_results_of_another_dataset_are_never_mixed_in(done: tuple[ExperimentResult, Path]) -> None:
    """The same folder with another city is refused, and the result stays."""
    result, folder = done
    counting = SPEC | {"compare": [], "arms": [{"name": "other", "label": "x", "baseline": "popularity"}]}
    with pytest.raises(DataError, match="choose another --out"):
        run(check_spec(counting), folder, small_city(1))
    assert ExperimentResult.load(folder / "two-arms" / RESULT_FILE) == result


def test_result_files_are_checked(done: tuple[ExperimentResult, Path], tmp_path: Path) -> None:
    """Another format and a broken file: one clear error each."""
    content = json.loads((done[1] / "two-arms" / RESULT_FILE).read_text())
    (tmp_path / "newer.json").write_text(json.dumps(content | {"format_version": 99}))
    with pytest.raises(FormatVersionError, match="99"):
        ExperimentResult.load(tmp_path / "newer.json")
    (tmp_path / "broken.json").write_text("{")
    with pytest.raises(DataError, match="not an experiment result"):
        ExperimentResult.load(tmp_path / "broken.json")


def test_changes_of_all_arms_come_before_an_arms_own() -> None:
    arms = [*SPEC["arms"], {"name": "full", "label": "float32", "changes": ["precision=float32"]}]
    spec = check_spec(SPEC | {"changes": ["precision=bf16"], "arms": arms})
    assert [spec.train_config(arm, 1).model_dump()["precision"] for arm in spec.arms] == ["bf16", "bf16", "float32"]


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_shipped_specs_ask_for_what_is_measured(name: str, done: tuple[ExperimentResult, Path]) -> None:
    """Every column has a key that a trained arm's result holds; no published model is given the target's time."""
    spec = load_spec(name)
    assert spec.name == name
    values = done[0].arms[1].values
    keys = {column.key for column in (*spec.columns, *ACCURACY)}
    empty = {key for key in keys if value_at(values, f"{key.rpartition('.')[0]}.n") == 0}
    assert {key for key in keys if value_at(values, key) is None} <= empty
    for arm in () if name == "given-time" else spec.arms:
        config = spec.train_config(arm, 1)
        given = config.model.use_future_time if isinstance(config, TrainConfig) else config.options.get("target_time")
        assert not given, arm.name


def test_the_paper_at_its_share_of_head_cases() -> None:
    """.3267 x .5 + .6733 x .25 = .3317 for one of two head cases and one of four tail cases right."""
    hit, tail, draws = np.array([1, 0, 1, 0, 0, 0]), np.array([0, 0, 1, 1, 1, 1]), UserBootstrap(np.arange(6))
    assert reweight(hit, tail, draws).value == pytest.approx(313 / 958 * 0.5 + 645 / 958 * 0.25)
    assert np.isnan(reweight(hit, 0 * tail, draws).value)


def test_the_tables_by_hand(done: tuple[ExperimentResult, Path]) -> None:
    """Means and spread over seeds, and the paper next to ours at its share of head cases."""

    def arm(name: str, seed: int | None, hr1: float, paper: dict[str, float]) -> ArmResult:
        values = {"every_step": {"all": {"n": 10, "hr1": hr1}, "tail": {"n": 4}}}
        values |= {"reweighted": {"hr1": {"value": hr1 / 2, "low": hr1 / 10, "high": hr1 * 2}}}
        return ArmResult(arm=name, label=name.upper(), seed=seed, digest="d", values=values, paper=paper)

    arms = (arm("a", 1, 0.2, {"hr1": 0.3}), arm("a", 2, 0.4, {"hr1": 0.3}), arm("b", None, 0.1, {}))
    text = markdown(done[0].model_copy(update={"columns": ACCURACY[:1], "arms": arms, "comparisons": ()}))
    assert "| A | .3000 ± .1414 |" in text and "| B | .1000 |" in text
    assert "real check-ins" in text and "n = 10 (tail 4)" in text and "seeds 1, 2" in text
    assert "| A | .1500 [.0300, .6000] | .3000 |" in text and "| B | .0500 [.0100, .2000] | – |" in text


def test_the_command(home: Path, tmp_path: Path) -> None:
    """It prints the result, with imported predictions as rows; a bad name is one line and exit code 2."""
    dataset, spec = tmp_path / "data", tmp_path / "mine.toml"
    small_city().save(dataset)
    spec.write_text(
        'name = "mine"\ntitle = "Mine"\nquestion = "How good is counting?"\ncompare = [["count", "theirs"]]\n'
        '[[arms]]\nname = "count"\nlabel = "counting"\nbaseline = "visit_count"\n'
        '[[arms]]\nname = "theirs"\nlabel = "their Markov"\nimported = "theirs"\n'
    )
    run = ("experiment", "run", spec, "--data", dataset, "--out", tmp_path / "out")
    assert_refused(recap_here(*run), "no imported predictions of this dataset are called 'theirs'; there are: none")
    short = first_places(Workspace.open(dataset), "markov", tmp_path / "theirs.csv")
    recap_json_here("import-predictions", short, "--data", dataset, "--name", "theirs")
    result = recap_json_here(*run, "--imported", "theirs")
    assert result["finished"] and [arm["arm"] for arm in result["arms"]] == ["count", "theirs", "imported-1"]
    counted, theirs = (arm["values"]["every_step"]["all"] for arm in result["arms"][:2])
    better = Workspace.open(dataset, "theirs").records()[c.NUM_BETTER]
    assert theirs["hr5"] == pytest.approx(better.lt(5).mean(), abs=0.1)
    assert "hr20" in counted and "hr20" not in theirs
    said = recap_here(*run).stdout
    row = f"| their Markov (MRR at least) | .{round(theirs['hr1'] * 1e4):04d} | – | – "
    assert "How good is counting?" in said and row in said
    difference = counted["hr1"] - theirs["hr1"]
    assert f"| counting − their Markov (MRR at least) | every_step all | {difference:+.4f} [" in " ".join(said.split())
    assert_refused(recap_here("experiment", "run", "moon", *run[3:]), "unknown experiment")


ARMS = ("visit_count", "feature_curves", "zero", "pretrained", "started")


@pytest.fixture(scope="module")
def packaged() -> PretrainedCurves:
    return pretrain([small_city(), small_city(1)])


def run_in_cities(
    packaged: PretrainedCurves, out: Path, datasets: list[Dataset], stop_after: int | None = None
) -> cities.Measured:
    shipped = load_spec("cities")
    arms = tuple(arm for arm in shipped.arms if arm.name in ARMS)
    compare = tuple(pair for pair in shipped.compare if set(pair) <= set(ARMS))
    spec = ExperimentSpec.model_validate(shipped.model_copy(update={"arms": arms, "compare": compare, "seeds": (1,)}))
    one = partial(run_experiment, out=out, stop=stop_from(stop_after), **ASIDE)
    return cities.run_cities(spec, datasets, packaged, out, one, lambda line: None, by_users=True)


@pytest.mark.slow
def test_no_city_meets_curves_that_saw_it(
    packaged: PretrainedCurves, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A city of the file gets the curves of the others, another city the file; stopped, it continues."""
    monkeypatch.setattr(cities, "USER_NUMBERS", (5, 10_000))
    datasets = [small_city(), small_city(1), small_city(2)]
    assert not run_in_cities(packaged, tmp_path, datasets, stop_after=30).is_finished
    done = run_in_cities(packaged, tmp_path, datasets)
    assert done.is_finished and [users for users, _ in done.users] == [5]
    without = [PretrainedCurves.load(path) for path in sorted(tmp_path.glob("pretrained-*.json"))]
    learned = {tuple(city.dataset_hash for city in curves.cities) for curves in without}
    assert learned == {(datasets[1].hash,), (datasets[0].hash,)}
    starts = {}
    for result in done.cities:
        [started] = [arm for arm in result.arms if arm.arm == "started"]
        manifest = Checkpoint.load(tmp_path / "trainings" / started.digest).manifest
        starts[result.dataset_hash] = manifest.started_from
        assert started.values["cost"]["processor_seconds"] > 0
    seen_by = {curves.hash: {city.dataset_hash for city in curves.cities} for curves in [*without, packaged]}
    assert all(start is not None and city not in seen_by[start] for city, start in starts.items())
    assert starts[datasets[2].hash] == packaged.hash
    text = (tmp_path / "cities.md").read_text()
    assert text.count("## Curves learned in other cities") == 3 and "| 5 users | ." in text
    with pytest.raises(ConfigError, match="missing: small"):
        run_in_cities(packaged, tmp_path / "other", datasets[1:])


def test_further_cities_have_fewer_arms_where_the_time_is_given(packaged: PretrainedCurves, tmp_path: Path) -> None:
    """Every arm in the first city; in the others those that are compared everywhere, and no tables of users."""
    arms = tuple(Arm(name=name, label=name, baseline=name) for name in ("visit_count_at_time", "markov"))
    spec = check_spec(SPEC | {"arms": [arm.model_dump() for arm in arms], "compare": [], "baselines": []})
    one = partial(run_experiment, out=tmp_path, **ASIDE)
    done = cities.run_cities(spec, [small_city(), small_city(1)], packaged, tmp_path, one, print, by_users=False)
    found = [[arm.arm for arm in result.arms] for result in done.cities]
    assert found == [["visit_count_at_time", "markov"], ["visit_count_at_time"]] and done.users == []


def test_drawn_users_keep_their_checkins() -> None:
    """Every place of theirs stays, and a larger table of one draw holds the smaller."""
    dataset = small_city()
    few, more = (cities.draw_users(dataset, number, 1) for number in (4, 8))
    assert few.num_users == 4 and set(few.users[c.USER_ID]) < set(more.users[c.USER_ID])
    known = dataset.checkins[c.USER].map(dataset.users[c.USER_ID]).isin(few.users[c.USER_ID])
    assert len(few.checkins) <= known.sum() and len(few.checkins) > 0.9 * known.sum()
