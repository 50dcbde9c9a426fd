"""What arms cost: all of one run, those too that are not trained, kept until asked for anew."""

from pathlib import Path
from typing import Any

import pytest
import torch

from analysis.experiments.costs import ArmCost, Costs
from analysis.experiments.results import ExperimentResult
from analysis.experiments.running import run_experiment
from analysis.experiments.spec import check_spec
from analysis.experiments.tables import markdown
from tests.recap.rivals.variants import SMALL
from tests.worlds import small_city

SPEC: dict[str, Any] = {
    "name": "costs",
    "title": "Costs",
    "question": "What does it take?",
    "preset": "flashback",
    "seeds": [1],
    "costs": True,
    "columns": [{"key": "every_step.all.hr1", "label": "HR@1"}],
    "arms": [
        {"name": "count", "label": "counting", "baseline": "visit_count"},
        {
            "name": "flashback",
            "label": "Flashback",
            "epochs": 7,
            "changes": [f"dim={SMALL['flashback']['dim']}"],
            "not_run": "about 5 h",
        },
        {"name": "theirs", "label": "LLM4POI", "imported": "LLM4POI"},
    ],
}


def run(out: Path, **options: Any) -> ExperimentResult:
    spec, cpu = check_spec(SPEC), torch.device("cpu")
    return run_experiment(spec, small_city(), out, device=cpu, command="x", log=lambda _: None, **options)


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> tuple[ExperimentResult, Path]:
    out = tmp_path_factory.mktemp("costs")
    return run(out), out


def test_counters_and_trainings_that_are_not_run_are_measured(done: tuple[ExperimentResult, Path]) -> None:
    """Imported predictions cost nothing here; every other arm does, in the order of the table."""
    costs = done[0].costs
    assert done[0].finished and costs is not None and costs.test_cases > 0
    count, flashback = costs.arms
    assert (count.arm, count.epochs, count.parameters, count.epoch_seconds) == ("count", None, None, None)
    assert (flashback.arm, flashback.epochs) == ("flashback", 7)
    # As counted by hand in test_rival_arms.
    assert flashback.parameters == 6 * (17 + 8) + 2 * 36 + 2 * 6 + 6 + 17 * 13
    assert flashback.epoch_seconds is not None and flashback.epoch_seconds > 0
    assert all(arm.test_seconds > 0 and arm.setup_seconds > 0 for arm in costs.arms)


def test_costs_are_kept_until_asked_for_anew(done: tuple[ExperimentResult, Path]) -> None:
    """Another run of the experiment has the same numbers; one that is stopped loses none and is not finished."""
    result, out = done
    assert run(out).costs == result.costs
    stopped = run(out, costs_anew=True, stop=lambda: True)
    assert stopped.costs == result.costs and not stopped.finished
    anew = run(out, costs_anew=True)
    assert anew.finished and anew.costs is not None and anew.costs != result.costs


def test_the_table_adds_up_a_whole_training(done: tuple[ExperimentResult, Path]) -> None:
    """In minutes: 30 s of set-up and 9 epochs of 10 s are two, with 9 validations of 4 s each 2.6."""
    counting = ArmCost(arm="a", label="counting", setup_seconds=0.5, test_seconds=2.0, peak_gb=None)
    trained = counting.model_copy(update={"label": "Flashback", "setup_seconds": 30.0, "test_seconds": 4.0})
    trained = trained.model_copy(update={"epochs": 9, "parameters": 12345, "epoch_seconds": 10.0, "peak_gb": 1.5})
    costs = Costs(arms=(counting, trained), threads=1, test_cases=1234, date="2026-01-01", hardware="a machine")
    text = markdown(done[0].model_copy(update={"costs": costs}))
    assert "measured in one run on 2026-01-01, a machine, 1 thread," in text and "over 1,234 cases" in text
    assert "| counting | – | .5 | – | – | – | – | 2.0 | – |" in text
    assert "| Flashback | 12,345 | 30.0 | 10.0 | 9 | 2.0 | 2.6 | 4.0 | 1.50 |" in text
