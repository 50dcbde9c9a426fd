"""One training, two questions: where next, whenever, and where at a given time."""

from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
import torch

from recap import columns as c
from recap.asking.open_model import open_model
from recap.checkpoint import GIVEN_TIME_WEIGHTS, WEIGHTS, Checkpoint
from recap.data.dataset import Dataset
from recap.errors import CheckpointError, ConfigError
from recap.evaluation.cases import describe_cases
from recap.evaluation.metrics import metrics_by_group
from recap.evaluation.scoring import rank_cases
from recap.history.graph import TransitionGraph
from recap.history.tensors import CaseBatch, CheckinTensors
from recap.pretrained.checkpoint import PretrainedCheckpoint
from recap.pretrained.curves_file import PretrainedCurves
from recap.scores import Scorer
from recap.storage.tensors import load_tensors
from recap.training.run import train
from recap.training_config import TrainConfig
from tests.worlds import small_city, small_training

CPU = torch.device("cpu")
MODEL = {"prior": {"kind": "curves"}, "core_scope": "unvisited", "use_correction": False}


def config(**changes: object) -> TrainConfig:
    return small_training(model=MODEL, curriculum={"staged": False}, given_time=True, **changes)


@cache
def city() -> Dataset:
    return small_city()


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Checkpoint:
    trained = train(city(), config(), tmp_path_factory.mktemp("given") / "out", device=CPU)
    assert trained is not None
    return trained


def mrr(scorer: Scorer, split: int = c.VAL) -> float:
    graph, checkins = TransitionGraph.from_dataset(city()), CheckinTensors.from_dataset(city())
    found = metrics_by_group(rank_cases(scorer, describe_cases(city(), graph, split, "every_next"), checkins))
    value = found["all"]["mrr"]
    assert value is not None
    return value


def test_the_first_question_is_trained_as_before(checkpoint: Checkpoint, tmp_path: Path) -> None:
    """Without the second set the weights are the same bits."""
    alone = train(city(), config().model_copy(update={"given_time": False}), tmp_path / "alone", device=CPU)
    assert alone is not None and alone.target_time == "cannot" and checkpoint.target_time == "can"
    one, other = (load_tensors(found.folder / WEIGHTS)[0] for found in (alone, checkpoint))
    assert one.keys() == other.keys() and all(torch.equal(one[name], other[name]) for name in one)
    with pytest.raises(CheckpointError, match="cannot read the time of the next check-in: name a model that can"):
        alone.given_time  # noqa: B018
    with pytest.raises(ConfigError, match="given_time=true needs a prior of curves"):
        small_training(given_time=True)


def test_the_second_question_has_its_own_name_key_and_numbers(checkpoint: Checkpoint) -> None:
    """Label, hash and temperature differ; the time given moves its scores, and only its scores."""
    asked, graph = checkpoint.given_time, TransitionGraph.from_dataset(city())
    assert (asked.label, asked.given_time, asked.target_time) == (f"{checkpoint.label}, time given", asked, "must")
    assert len({asked.hash, checkpoint.hash}) == 2 and asked.options == {"target_time": True}
    own = checkpoint.manifest.given_time
    assert own is not None and (asked.manifest.temperature, asked.manifest.best) == (own.temperature, own.best)
    cases = CaseBatch(CheckinTensors.from_dataset(city()), torch.from_numpy(city().cases(c.TEST)[:20]))
    timed = cases.histories(target_time=True)
    assert timed.next_local_seconds_B is not None
    later = replace(timed, next_local_seconds_B=timed.next_local_seconds_B + 5 * 3600)
    whenever, given = (found.scorer(city(), graph) for found in (checkpoint, asked))
    assert torch.equal(whenever.score(timed).total, whenever.score(later).total)
    assert not torch.equal(given.score(timed).total, given.score(later).total)
    assert (whenever.reads_target_time, given.reads_target_time) == (False, True)


def test_validation_chooses_whether_the_core_is_added(checkpoint: Checkpoint) -> None:
    own, graph = checkpoint.manifest.given_time, TransitionGraph.from_dataset(city())
    assert own is not None
    found = {}
    for core in (False, True):
        manifest = checkpoint.manifest.model_copy(update={"given_time": own.model_copy(update={"core": core})})
        found[core] = mrr(replace(checkpoint, manifest=manifest).given_time.scorer(city(), graph))
    assert own.core is (found[True] > found[False]) and own.best.val["mrr"] == pytest.approx(found[own.core])
    summary = checkpoint.read_summary()["given_time"]
    assert summary["recap"]["all"]["mrr"] == pytest.approx(mrr(checkpoint.given_time.scorer(city(), graph), c.TEST))


def test_a_training_stopped_in_the_second_set_goes_on(checkpoint: Checkpoint, tmp_path: Path) -> None:
    """At every number of steps: the same weights of both questions as without a stop."""
    steps = 0

    def stop() -> bool:
        nonlocal steps
        steps += 1
        return steps % 7 == 0

    found, tries = None, 0
    while found is None:
        found = train(city(), config(), tmp_path / "out", device=CPU, resume=tries > 0, stop=stop)
        tries += 1
    assert tries > 3
    for name in (WEIGHTS, GIVEN_TIME_WEIGHTS):
        one, other = (load_tensors(folder / name)[0] for folder in (found.folder, checkpoint.folder))
        assert all(torch.equal(one[key], other[key]) for key in other), name


def test_pretrained_is_asked_both_questions(home: Path) -> None:
    """A file of an earlier version opens for what it can do."""
    asked = open_model("pretrained", city(), given_time=True)
    assert asked.label == "Pretrained RECAP, time given" and asked.scorer.reads_target_time
    plain = PretrainedCheckpoint.of(city())
    assert plain.given_time.hash not in {plain.hash, PretrainedCheckpoint.of(small_city(1)).given_time.hash}
    earlier = PretrainedCurves.packaged().model_copy(update={"given_time": []})
    found = PretrainedCheckpoint.of(city(), earlier)
    assert found.target_time == "cannot" and found.scorer(city(), TransitionGraph.from_dataset(city()))
    with pytest.raises(CheckpointError, match="cannot read the time of the next check-in; make it again"):
        found.given_time  # noqa: B018
