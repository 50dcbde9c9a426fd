"""What a configuration is as JSON has a type of its own: the same names, in the same order."""

import pytest

from recap.checkpoint import TrainingSummary
from recap.config import Config
from recap.model.config import Stage, StageValues
from recap.runs.store.process import ProcessIdentity, ProcessValues
from recap.runs.store.spec import RunSpec, RunSpecValues
from recap.runs.store.types import RunSummary


@pytest.mark.parametrize(
    ("config", "typed"), [(Stage, StageValues), (ProcessIdentity, ProcessValues), (RunSpec, RunSpecValues)]
)
def test_the_type_names_every_field(config: type[Config], typed: type) -> None:
    """A field added to one alone is seen."""
    assert list(config.model_fields) == list(typed.__annotations__)


def test_a_runs_summary_begins_with_the_checkpoints() -> None:
    """What a training writes down is said of a run too, and after it what the run measured."""
    own = ["checkpoint_hash", "peak_bytes", "device_type"]
    assert list(RunSummary.__annotations__) == [*TrainingSummary.__annotations__, *own]
