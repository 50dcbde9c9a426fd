"""A trained model against `pretrained`: the sentence, and numbers that are those of an evaluation."""

from pathlib import Path

import pytest

from analysis.compare.with_pretrained import AgainstPretrained, compare_with_pretrained
from recap import columns as c
from recap.checkpoint import Checkpoint
from recap.evaluation.evaluate import evaluate
from recap.graph import TransitionGraph
from recap.pretrained import PretrainedCheckpoint
from tests.worlds import small_city


@pytest.mark.parametrize(
    ("users", "difference", "low", "high", "said"),
    [
        (80, -0.012, -0.021, -0.004, "RECAP, pretrained is better than RECAP trained here on 721 validation cases: "),
        (80, 0.001, -0.02, 0.03, "RECAP trained here ties with RECAP, pretrained on 721 validation cases: "),
        (1, 0.01, 0.01, 0.01, "RECAP trained here is ahead of RECAP, pretrained on 721 validation cases: "),
    ],
)
def test_the_sentence(users: int, difference: float, low: float, high: float, said: str) -> None:
    found = AgainstPretrained("every_next", 721, users, difference, low, high)
    numbers = {-0.012: "MRR +0.012 [+0.004, +0.021].", 0.001: "MRR +0.001 [-0.020, +0.030].", 0.01: "MRR +0.010."}
    assert found.sentence("RECAP") == said + numbers[difference] and found.is_better == (difference > 0)


def test_numbers_of_validation_cases(city_checkpoint: Path) -> None:
    dataset = small_city()
    graph = TransitionGraph.from_dataset(dataset)
    trained = Checkpoint.load(city_checkpoint)
    found = compare_with_pretrained(trained, dataset, graph)
    one, other = (
        evaluate(model.scorer(dataset, graph), dataset, graph, split=c.VAL, protocol=found.protocol).records
        for model in (trained, PretrainedCheckpoint.of(dataset))
    )
    assert found.n == len(one)
    assert found.difference == pytest.approx(one[c.RECIPROCAL_RANK].mean() - other[c.RECIPROCAL_RANK].mean())
    assert found.low <= found.difference <= found.high
