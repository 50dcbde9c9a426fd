"""Modules that are about to be filled draw no numbers, and those built elsewhere do as ever."""

import torch
from torch import nn

from recap.storage.tensors import Unfilled, load_weights


def test_what_is_filled_next_draws_nothing() -> None:
    """The generator stands where it stood; filled, a model is the one whose weights were kept."""
    kept = nn.Sequential(nn.Embedding(5, 3), nn.Linear(3, 2))
    before = torch.random.get_rng_state()
    with Unfilled():
        linear = nn.Linear(3, 2)
        nn.init.zeros_(tensor=linear.bias)
        model = nn.Sequential(nn.Embedding(5, 3), linear)
    assert torch.equal(torch.random.get_rng_state(), before)
    load_weights(model, kept.state_dict(), "kept")
    assert all(torch.equal(model.state_dict()[name], tensor) for name, tensor in kept.state_dict().items())
    nn.Linear(3, 2)
    assert not torch.equal(torch.random.get_rng_state(), before)
