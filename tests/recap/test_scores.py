"""Scores: named parts, packed or dense, that add up to what ranks."""

import pytest
import torch

from recap.scores import Scores


def example() -> Scores:
    """Two cases, three POIs: a dense core and two packed parts for POI 2 of case 0 and POIs 0 and 1 of case 1."""
    return Scores(
        {"core": torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])},
        {"prior": torch.tensor([10.0, 20.0, 30.0]), "correction": torch.tensor([0.5, -1.0, 0.0])},
        case_C=torch.tensor([0, 1, 1]),
        poi_C=torch.tensor([2, 0, 1]),
    )


def test_parts_and_total_by_hand() -> None:
    """3 + 10 + 0.5 for the one candidate of case 0; 4 + 20 - 1 and 5 + 30 for those of case 1."""
    scores = example()
    assert list(scores.parts) == ["core", "prior", "correction"]
    assert scores.total.tolist() == [[1.0, 2.0, 13.5], [23.0, 35.0, 6.0]]
    assert scores.parts["prior"].tolist() == [[0.0, 0.0, 10.0], [20.0, 30.0, 0.0]]
    assert scores.parts["correction"].tolist() == [[0.0, 0.0, 0.5], [-1.0, 0.0, 0.0]]
    assert scores.parts["core"] is scores.dense["core"]


def test_parts_at_chosen_pois() -> None:
    """Only the asked POI of each case, zero where it is no candidate."""
    values = example().parts_at(torch.tensor([1, 0]))
    assert {name: value.tolist() for name, value in values.items()} == {
        "core": [2.0, 4.0],
        "prior": [0.0, 20.0],
        "correction": [0.0, -1.0],
    }


def test_a_core_in_bfloat16_rounds_itself_alone() -> None:
    """What is added to it keeps its digits, and so do the gradients."""
    core = torch.tensor([[1.0, 2.0]], dtype=torch.bfloat16, requires_grad=True)
    prior = torch.tensor([8.0625 + 1e-3], requires_grad=True)
    scores = Scores({"core": core}, {"prior": prior}, case_C=torch.tensor([0]), poi_C=torch.tensor([1]))
    assert scores.total.dtype == torch.float32
    assert scores.total[0].tolist() == pytest.approx([1.0, 10.0635], abs=1e-6)
    scores.total.sum().backward()
    assert core.grad is not None and core.grad.tolist() == [[1.0, 1.0]]
    assert prior.grad is not None and prior.grad.tolist() == [1.0]


def test_several_dense_parts_add_up() -> None:
    """A log-linear ranker has one dense part for each feature, and may have no packed part."""
    part = torch.tensor([[1.0, 2.0]])
    assert Scores({"a": part, "b": 10 * part, "c": 100 * part}).total.tolist() == [[111.0, 222.0]]
    assert Scores({"a": part}).parts.keys() == {"a"}
