"""What a configuration is as JSON has a type beside it: the same names, in the same order."""

import pytest

from recap.checkpoint import TrainingSummary
from recap.config import Config
from recap.model.config import Stage, StageValues
from recap.runs.store.process import ProcessIdentity, ProcessValues
from recap.runs.store.spec import RunSpec, RunSpecValues
from recap.runs.store.types import RunSummary

SPEC = RunSpec(dataset="/d", dataset_hash="0" * 64, dataset_name="d", cases=1, pois=1, preset="paper", seed=1)
PROCESS = ProcessIdentity(pid=1, start_time=2.0, boot_id="b", host="h")


@pytest.mark.parametrize(
    ("config", "typed"), [(Stage, StageValues), (ProcessIdentity, ProcessValues), (RunSpec, RunSpecValues)]
)
def test_the_type_names_every_field(config: type[Config], typed: type) -> None:
    """A field added to one alone is seen."""
    assert list(config.model_fields) == list(typed.__annotations__)


def test_a_runs_summary_begins_with_the_checkpoints() -> None:
    """What a training writes down is told of a run too, and after it what the run measured."""
    own = ["checkpoint_hash", "peak_bytes", "device_type"]
    assert list(RunSummary.__annotations__) == [*TrainingSummary.__annotations__, *own]


def test_values_read_back_are_equal() -> None:
    """Tuples are lists, as JSON has them."""
    assert SPEC.as_json()["overrides"] == [] and RunSpec.parse({**SPEC.as_json()}) == SPEC
    assert ProcessIdentity.parse({**PROCESS.as_json()}) == PROCESS
    assert Stage.parse({**Stage(prior=False).as_json()}) == Stage(prior=False)
