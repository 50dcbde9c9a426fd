"""Configurations of earlier versions: opened where they say what is now the only way, else refused in one line."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from recap.checkpoint import Checkpoint
from recap.config import Config
from recap.errors import CheckpointError, ConfigError, RecapError
from recap.training_config import TrainConfig
from tests.spoiled import write_sums_again
from tests.tiny import tiny

MOST_FIELDS = 59


def leaves(kind: type[Config], prefix: str = "", *, retired: bool = False) -> Iterator[str]:
    """Paths of all fields that hold a value, however deep; or of those that earlier versions had."""
    if retired:
        yield from (prefix + name for name in kind.retired)
        assert not kind.retired.keys() & kind.model_fields.keys()
    for name, field in kind.model_fields.items():
        parts = [part for part in (field.annotation, *getattr(field.annotation, "__args__", ())) if is_config(part)]
        for part in parts:
            yield from leaves(part, f"{prefix}{name}.", retired=retired)
        if not parts and not retired:
            yield prefix + name


def is_config(kind: object) -> bool:
    return isinstance(kind, type) and issubclass(kind, Config)


def put(values: dict[str, Any], path: str, value: Any) -> dict[str, Any]:
    """A copy with one field set, by its dotted path."""
    name, _, rest = path.partition(".")
    return values | {name: put(values[name], rest, value) if rest else value}


NEUTRAL: dict[str, Any] = {
    "fit_evidence": True,  # words: a field of earlier versions
    "order": "random",
    "model.evidence": None,  # words: a field of earlier versions
    "model.state": "last_checkin",
    "model.within_trajectory": False,
    "model.detach_context": False,
    "model.graph_dropout": 0.1,
    "model.max_candidates": 256,
    "model.prior.scale": 1.0,
    "model.prior.recency_weight": 0.5,
    "model.prior.window_weight": 2.0,
    "model.prior.max_prior": 10.0,
    "optimiser.evidence_learning_rate": 0.01,  # words: a field of earlier versions
    "optimiser.weighing_learning_rate": 0.01,  # words: a field of earlier versions
    "optimiser.weighing_penalty": 0.01,  # words: a field of earlier versions
    "optimiser.weighing_decay": 0.01,  # words: a field of earlier versions
}
REFUSED: dict[str, Any] = {
    "order": "by_user",
    "model.evidence": {"sessions": True},  # words: a field of earlier versions
    "model.state": "graph",
    "model.within_trajectory": True,
    "model.detach_context": True,
    "model.max_candidates": 64,
    "model.prior.max_prior": 2.0,
}


def test_every_retired_field_is_listed_here() -> None:
    """None is forgotten by the tests below, and none that is retired is a field; RECAP has few fields."""
    assert len(list(leaves(TrainConfig))) <= MOST_FIELDS
    assert set(leaves(TrainConfig, retired=True)) == {*NEUTRAL, "sampled_softmax.power"}


@pytest.mark.parametrize("path", NEUTRAL)
def test_a_retired_field_that_changed_nothing_is_read(path: str) -> None:
    """The configuration is the same as without it, and does not write it again."""
    values = tiny().model_dump(mode="json")
    assert TrainConfig.parse(put(values, path, NEUTRAL[path])) == tiny()


@pytest.mark.parametrize("path", REFUSED)
def test_a_retired_field_that_meant_something_is_refused_by_name(path: str) -> None:
    """One line: the field, what it was, what to do; to `--set` it is as unknown as any other."""
    with pytest.raises(ConfigError, match="train again") as refusal:
        TrainConfig.parse(put(tiny().model_dump(mode="json"), path, REFUSED[path]))
    message = str(refusal.value)
    assert "\n" not in message and f"{path.rpartition('.')[2]} was " in message and len(message) < 400
    with pytest.raises(ConfigError, match=f"unknown field '{path}'"):
        tiny().override([f"{path}=false"])


@pytest.mark.parametrize(
    ("path", "value", "opens"),
    [
        ("train.model.evidence", {"sessions": True, "weighing": {}}, False),  # words: a field of earlier versions
        ("train.model.evidence", None, True),  # words: a field of earlier versions
        ("train.model.state", "user", False),
        ("train.model.graph_dropout", 0.1, True),
        ("rebalanced", {"core_factor": 0.3}, True),  # words: a field of earlier versions
    ],
    ids=str,
)
def test_a_checkpoint_of_an_earlier_version(
    path: str, value: Any, opens: bool, city_checkpoint: Path, tmp_path: Path
) -> None:
    """Opened where its configuration still says all there is to say; else one line that names the field."""
    folder = tmp_path / "old"
    shutil.copytree(city_checkpoint, folder)
    manifest = json.loads((folder / "checkpoint.json").read_text("utf-8"))
    (folder / "checkpoint.json").write_text(json.dumps(put(manifest, path, value)), encoding="utf-8")
    write_sums_again(folder)
    if opens:
        assert Checkpoint.load(folder).manifest == Checkpoint.load(city_checkpoint).manifest
        return
    with pytest.raises(RecapError, match=f"{path.rpartition('.')[2]} was ") as refusal:
        Checkpoint.load(folder)
    assert isinstance(refusal.value, CheckpointError | ConfigError) and "\n" not in str(refusal.value)
