"""The objective: one softmax stands for two losses, and each part gets the gradient that the equations give it."""

from functools import partial
from math import log
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from recap.history.graph import TransitionGraph
from recap.history.tensors import Histories
from recap.model.config import Stage
from recap.model.recap import Recap
from recap.scores import Scores
from recap.training.losses import training_losses
from tests.worlds import batch_of, small_city, small_recap, targets_of

DATASET = small_city()
ROWS = torch.from_numpy(DATASET.cases(0))


def warm_cases(batch: Histories) -> Tensor:
    """Cases whose transition occurs at least twice in training (Eq. 15)."""
    counts = TransitionGraph.from_dataset(DATASET).counts.toarray()
    return torch.tensor([counts[s, d] >= 2 for s, d in zip(batch.source_B, targets_of(batch), strict=True)])


def two_softmaxes(scores: Scores, target_B: Tensor, warm_B: Tensor, warm_weight: float, smoothing: float) -> Tensor:
    """Eqs. 16-19 as printed: the main loss, and a second one over warm cases with the core detached."""

    def mean_loss(total_BP: Tensor, target_B: Tensor) -> Tensor:
        log_p_BP = total_BP - torch.logsumexp(total_BP, dim=1, keepdim=True)
        truth_BP = torch.full_like(log_p_BP, smoothing / total_BP.shape[1])
        truth_BP[torch.arange(len(target_B)), target_B] += 1 - smoothing
        return -(truth_BP * log_p_BP).sum(1).mean()

    held_out = sum(part for name, part in scores.parts.items() if name != "core")
    loss = mean_loss(scores.parts["core"] + held_out, target_B)
    if warm_weight > 0 and warm_B.any():
        warm_BP = scores.parts["core"].detach() + held_out
        loss = loss + warm_weight * mean_loss(warm_BP[warm_B], target_B[warm_B])
    return loss


def gradients(model: Recap, objective: Tensor) -> dict[str, Tensor | None]:
    model.zero_grad()
    objective.backward()
    return {name: parameter.grad for name, parameter in model.named_parameters()}


def test_losses_by_hand() -> None:
    """Two POIs and totals (0, 0): log 2; totals (log 3, 0) and target 0: log 4/3; warm is the second case alone."""
    core = torch.tensor([[0.0, 0.0], [log(3) - 1, 0.0]], requires_grad=True)
    prior = torch.tensor([1.0], requires_grad=True)
    scores = Scores({"core": core}, {"prior": prior}, torch.tensor([1]), torch.tensor([0]))
    objective, warm = training_losses(scores, torch.tensor([1, 0]), torch.tensor([False, True]), warm_weight=0.5)
    assert objective.item() == pytest.approx((log(2) + log(4 / 3)) / 2)
    assert warm.item() == pytest.approx(log(4 / 3))
    objective.backward()
    # d main / d total of the second case's target is (3/4 - 1) / 2; the prior also gets 0.5 times (3/4 - 1).
    assert core.grad is not None and prior.grad is not None
    assert core.grad.flatten().tolist() == pytest.approx([0.25, -0.25, -0.125, 0.125])
    assert prior.grad.tolist() == pytest.approx([-0.125 + 0.5 * -0.25])


@settings(max_examples=25)
@given(
    st.lists(st.integers(0, len(ROWS) - 1), min_size=1, max_size=24),
    st.sampled_from([0.0, 0.3, 2.0]),
    st.sampled_from([0.0, 0.2]),
    st.sampled_from(["paper", "curves"]),
    st.integers(0, 3),
)
def test_gradients_equal_two_losses_with_a_detached_core(
    cases: list[int], warm_weight: float, smoothing: float, kind: str, seed: int
) -> None:
    """For any batch, with no warm case or many: every parameter's gradient is that of Eqs. 16-19, in float64."""
    model = small_recap(DATASET, seed, prior={"kind": kind})
    batch = batch_of(DATASET, ROWS[cases])
    warm_B = warm_cases(batch)
    naive = gradients(model, two_softmaxes(model(batch, Stage()), targets_of(batch), warm_B, warm_weight, smoothing))
    shared = gradients(
        model, training_losses(model(batch, Stage()), targets_of(batch), warm_B, warm_weight, smoothing)[0]
    )
    for name, expected in naive.items():
        assert (expected is None) is (shared[name] is None), name
        if expected is not None:
            torch.testing.assert_close(shared[name], expected, rtol=1e-6, atol=1e-6, msg=partial("{}: {}".format, name))


def warm_share() -> dict[str, Tensor]:
    """What the warm loss adds to each parameter's gradient."""
    model = small_recap(DATASET)
    batch = batch_of(DATASET, ROWS)
    with_it, without = (
        gradients(model, training_losses(model(batch, Stage()), targets_of(batch), warm_cases(batch), weight)[0])
        for weight in (0.5, 0.0)
    )
    added = {}
    for name, gradient in with_it.items():
        other = without[name]
        assert gradient is not None and other is not None
        added[name] = gradient - other
    return added


def test_the_warm_loss_leaves_nothing_in_the_output_layer() -> None:
    """Not one bit reaches w_d and b_d, while prior, calibration and, through h_t and e_d, the backbone are moved."""
    added = warm_share()
    assert not added["core.output.weight"].any() and not added["core.output.bias"].any()
    for name in ("prior.scale", "calibration.scale", "calibration.gate.0.weight", "backbone.position"):
        assert added[name].abs().max() > 1e-6, name
    assert added["poi_embedding.weight"].abs().max() > 1e-6


@pytest.mark.parametrize(
    ("stage", "asleep"),
    [
        ({"graph_weight": 0.0}, ("graph_token.",)),
        ({"correction": False}, ("calibration.",)),
        ({"prior": False, "correction": False}, ("prior.", "calibration.")),
        ({"graph_weight": 0.0, "prior": False, "correction": False}, ("graph_token.", "prior.", "calibration.")),
        ({}, ()),
    ],
    ids=str,
)
@pytest.mark.parametrize("warm_weight", [0.0, 0.5])
def test_inactive_parts_receive_no_gradient(stage: dict[str, Any], asleep: tuple[str, ...], warm_weight: float) -> None:
    """None, not zero: an optimiser with weight decay leaves such a parameter alone."""
    model = small_recap(DATASET)
    batch = batch_of(DATASET, ROWS)
    losses = training_losses(model(batch, Stage(**stage)), targets_of(batch), warm_cases(batch), warm_weight)
    for name, gradient in gradients(model, losses[0]).items():
        assert (gradient is None) is name.startswith(asleep or ("nothing",)), name
