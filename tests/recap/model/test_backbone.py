"""The encoder: torch's own layer is the reference, absent slots are as if they were not there (Eqs. 3-5)."""

import pytest
import torch
from torch import nn

from recap.model.backbone import EncoderLayer
from tests.worlds import SMALL_MODEL, shake


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
