"""Check-ins that open no case: explanations and edits count them as history, and no walk leads through them."""

from functools import cache

import numpy as np
import pytest

from analysis.explain.edited_case import apply_edit, build_edited_case
from analysis.explain.edits import RemoveVisit
from analysis.explain.leave_one_out import leave_one_out
from analysis.explain.revisits import revisit_evidence
from analysis.records.loaded_dataset import LoadedDataset
from analysis.trajectories.trajectory import read_trajectory, trajectories_of
from recap import columns as c
from recap.data.cases import history_only
from recap.data.dataset import Dataset
from recap.predictor import Predictor
from tests.analysis.planted import predictor_with
from tests.checkins import LENIENT, small_dataset
from tests.worlds import habit_rows, shake


@cache
def dataset() -> Dataset:
    """A city whose later walks of three are too short for cases; validation and test are the second half."""
    config = LENIENT.model_copy(update={"min_trajectory_length": 4, "train_end": 0.5, "val_end": 0.6})
    made = small_dataset(habit_rows(num_walks=10), config)
    assert made.manifest.report.history_only == history_only(made.checkins).sum() > 10
    return made


@cache
def predictor() -> Predictor:
    return predictor_with(dataset(), shake)


def set_aside_before(row: int) -> np.ndarray:
    """Rows of the case's user before the source that are history only."""
    user = dataset().checkins[c.USER].to_numpy()
    rows = np.flatnonzero(history_only(dataset().checkins))
    return rows[(user[rows] == user[row]) & (rows < row)]


def cases_with_set_aside() -> list[int]:
    """Test cases with such rows in their past."""
    return [number for number, row in enumerate(dataset().cases(c.TEST)) if len(set_aside_before(int(row)))]


def test_they_are_visits_that_can_be_removed() -> None:
    """The evidence of a place lists the visit; taking it out takes one off the count."""
    number = cases_with_set_aside()[-1]
    edited_case = build_edited_case(predictor(), number)
    first = edited_case.row - (len(edited_case.variant.history) - 2)
    row = int(set_aside_before(edited_case.row)[-1])
    poi = int(dataset().checkins[c.POI].iloc[row])
    before = revisit_evidence(edited_case, poi, None, 0.0)
    past = dataset().checkins[c.POI].to_numpy()[first : edited_case.row]
    assert before.count == (past == poi).sum() and row - first in [visit.visit for visit in before.visits]
    assert before.history_length == edited_case.row - first
    after = revisit_evidence(apply_edit(edited_case, RemoveVisit(visit=row - first)), poi, None, 0.0)
    assert after.count == before.count - 1
    left_out = leave_one_out(edited_case, edited_case.target)
    assert left_out, "removing visits one by one works with them too"
    # An explanation starts from what the batched evaluation ranks by.
    assert predictor().score_counterfactuals([edited_case.variant])[0].numpy() == pytest.approx(
        predictor().score(predictor().batch([edited_case.row])).total[0].numpy()
    )


def test_walks_lead_through_cases_only() -> None:
    """No listed trajectory, and no stop of a walk, is one of those rows; every case belongs to one walk."""
    opened = LoadedDataset.of(dataset())
    aside = set(dataset().checkins[c.TRAJECTORY].to_numpy()[history_only(dataset().checkins)].tolist())
    numbers = np.arange(len(opened.cases))
    for user in range(dataset().num_users):
        assert aside.isdisjoint(trajectories_of(opened, numbers, user)["trajectory"].tolist())
    for number in cases_with_set_aside():
        walk = read_trajectory(opened, number)
        assert walk.number not in aside and number in walk.cases
