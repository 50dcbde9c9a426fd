"""The encoder: torch's own layer is the reference, absent slots are as if they were not there (Eqs. 3-5)."""

import pytest
import torch
from torch import nn

from recap.model.backbone import Backbone, CoreScore, EncoderLayer
from tests.worlds import SMALL_MODEL, shake, small_model_config


def torch_layer(layer: EncoderLayer) -> nn.TransformerEncoderLayer:
    """torch's encoder layer with the same weights."""
    config = SMALL_MODEL
    reference = nn.TransformerEncoderLayer(
        config.hidden_dim, config.num_heads, config.feedforward_dim, 0.0, activation="gelu", batch_first=True
    ).double()
    own = layer.state_dict()
    renamed = {"self_attn.in_proj_": ("query.", "key_value.")}
    weights = {
        f"{name}{kind}": torch.cat([own[f"{part}{kind}"] for part in parts])
        for name, parts in renamed.items()
        for kind in ("weight", "bias")
    }
    for theirs, ours in {
        "self_attn.out_proj": "attention_output",
        "linear1": "feedforward.0",
        "linear2": "feedforward.3",
        "norm1": "norm_attention",
        "norm2": "norm_feedforward",
    }.items():
        weights |= {f"{theirs}.{kind}": own[f"{ours}.{kind}"] for kind in ("weight", "bias")}
    reference.load_state_dict(weights)
    return reference


def random_inputs(num_cases: int = 6, num_slots: int = 5) -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(1)
    hidden = torch.randn(num_cases, num_slots, SMALL_MODEL.hidden_dim, generator=generator, dtype=torch.float64)
    present = torch.rand(num_cases, num_slots, generator=generator) < 0.6
    present[:, -1] = True
    return hidden, present


@pytest.mark.parametrize("training", [True, False])
def test_an_encoder_layer_equals_torchs(training: bool) -> None:
    """Same weights, same masked inputs, same outputs, whether torch takes its fast path or not."""
    layer = EncoderLayer(SMALL_MODEL).double()
    shake(layer)
    reference = torch_layer(layer)
    layer.train(training)
    reference.train(training)
    hidden, present = random_inputs()
    with torch.set_grad_enabled(training):
        expected = reference(hidden, src_key_padding_mask=~present)
        result = layer(hidden, present)
    torch.testing.assert_close(result[present], expected[present], rtol=1e-10, atol=1e-12)


def test_what_lies_in_an_absent_slot_does_not_matter() -> None:
    """Other numbers in padded positions give the same state."""
    backbone = Backbone(small_model_config(), num_users=3).double().eval()
    shake(backbone)
    user = torch.tensor([0, 2])
    tokens = torch.randn(2, 4, SMALL_MODEL.hidden_dim, dtype=torch.float64)
    graph = torch.randn(2, SMALL_MODEL.hidden_dim, dtype=torch.float64)
    present = torch.tensor([[False, False, True, True], [True, True, True, True]])
    other = torch.where(present[..., None], tokens, 100.0)
    first, second = backbone(user, tokens, present, graph), backbone(user, other, present, graph)
    torch.testing.assert_close(first, second, rtol=1e-12, atol=1e-12)


def test_the_graph_slot_exists_only_with_the_graph() -> None:
    """Positions: user, k check-ins, and the graph token unless it is switched off."""
    assert Backbone(small_model_config(), 1).position.shape[0] == 1 + 4 + 1
    assert Backbone(small_model_config(use_graph=False), 1).position.shape[0] == 1 + 4


def test_core_scores_by_hand() -> None:
    """w = (1, 2) and (3, -1), b = 0.5 and 0, h = (10, 1): 10 + 2 + 0.5 and 30 - 1 (Eq. 5)."""
    core = CoreScore(small_model_config(hidden_dim=4, num_heads=1), num_pois=2).eval()
    with torch.no_grad():
        core.output.weight.copy_(torch.tensor([[1.0, 2.0, 0.0, 0.0], [3.0, -1.0, 0.0, 0.0]]))
        core.output.bias.copy_(torch.tensor([0.5, 0.0]))
    assert core(torch.tensor([[10.0, 1.0, 7.0, 7.0]])).tolist() == [[12.5, 29.0]]
