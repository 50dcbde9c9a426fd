"""The predictor: a checkpoint that answers for single cases exactly what the batched evaluation says."""

from pathlib import Path

import pandas as pd
import pytest
import torch

from recap import columns as c
from recap.data.dataset import Dataset
from recap.errors import CaseError
from recap.evaluation.evaluate import evaluate
from recap.predictor import Predictor


@pytest.fixture(scope="module")
def predictor(city_checkpoint: Path, city_folder: Path) -> Predictor:
    return Predictor.load(city_checkpoint, city_folder)


@pytest.fixture(scope="module")
def records(predictor: Predictor) -> pd.DataFrame:
    scorer = predictor.checkpoint.scorer(predictor.dataset, predictor.graph)
    return evaluate(scorer, predictor.dataset, predictor.graph).records


def test_cases_are_the_records_rows(predictor: Predictor, records: pd.DataFrame) -> None:
    """Case N is row N of the records: same user, source, target, counts and flags."""
    shared = list(predictor.cases.columns)
    pd.testing.assert_frame_equal(predictor.cases, records[shared])
    for number in (0, 7, len(records) - 1):
        assert predictor.case(number)["target"] == records["target"][number]


def test_a_case_alone_scores_as_in_the_evaluation(predictor: Predictor, records: pd.DataFrame) -> None:
    """Score, parts and rank of every test case's target, to 1e-12."""
    for number in range(len(records)):
        case = predictor.case(number)
        scores = predictor.score(predictor.histories([int(case["row"])]))
        target, record = int(case["target"]), records.iloc[number]
        assert scores.total[0, target].item() == pytest.approx(record["score"], abs=1e-12)
        for name, part in scores.parts.items():
            assert part[0, target].item() == pytest.approx(record[f"part_{name}"], abs=1e-12)
        assert int((scores.total[0] > scores.total[0, target]).sum()) == record["num_better"]


def test_works_in_float64_without_gradients(predictor: Predictor) -> None:
    """Nobody can train it by accident."""
    assert {parameter.dtype for parameter in predictor.model.parameters()} == {torch.float64}
    assert not any(parameter.requires_grad for parameter in predictor.model.parameters())
    assert not predictor.model.training


@pytest.mark.parametrize("number", [-1, 24, 10**9])
def test_refuses_an_unknown_case(predictor: Predictor, number: int) -> None:
    """Named with the range there is."""
    with pytest.raises(CaseError, match=f"no test case {number}; this dataset has cases 0 to 23"):
        predictor.case(number)


def test_refuses_a_case_of_a_split_without_any(predictor: Predictor) -> None:
    """A dataset whose test period is empty says so."""
    dataset = predictor.dataset
    train_only = dataset.checkins.assign(**{c.SPLIT: c.TRAIN}).astype({c.SPLIT: "int8"})
    emptied = Dataset(train_only, dataset.pois, dataset.users, dataset.manifest)
    with pytest.raises(CaseError, match="no test case 0; this dataset has no test case"):
        Predictor(predictor.checkpoint, emptied).case(0)
