"""Transformers over windows of many lengths without padding.

Most trajectories have two or three check-ins, a few have a hundred. Attention takes windows of one length together.

Shape suffixes: B windows, K positions, N check-ins of all windows, D features, G windows of one length.
"""

import math
from abc import abstractmethod
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from recap.history import CheckinTensors
from recap.published.network import SequenceNetwork
from recap.published.windows import Windows
from recap.ragged import expand_ranges
from recap.random_masks import WordDropout


def sinusoids(length: int, like: Tensor) -> Tensor:
    """Sines and cosines of positions 0, 1, ..., (length, D), with D, dtype and device of ``like`` (Vaswani et al.,
    2017).
    """
    width = like.shape[-1]
    position_K1 = torch.arange(length, device=like.device, dtype=like.dtype)[:, None]
    steps = torch.arange(0, width, 2, device=like.device, dtype=like.dtype)
    angle_KH = position_K1 * torch.exp(steps * (-math.log(10_000.0) / width))
    return torch.stack([torch.sin(angle_KH), torch.cos(angle_KH)], dim=-1).reshape(length, -1)[:, :width]


@dataclass(frozen=True, eq=False)
class Packing:
    """The check-ins of windows, packed, the shortest windows first.

    Attributes:
        position_N: each check-in's position in its window.
        runs: number of consecutive windows, and their number of check-ins.
        index_BK: positions among N of the windows' check-ins, in the original order; past a window's end its last one.
    """

    checkins: CheckinTensors
    row_N: Tensor
    position_N: Tensor
    user_N: Tensor
    runs: tuple[tuple[int, int], ...]
    index_BK: Tensor

    @classmethod
    def of(cls, windows: Windows) -> "Packing":
        order_B = torch.argsort(windows.length_B, stable=True)
        length_B = windows.length_B[order_B]
        which_N, row_N = expand_ranges(windows.row_BK[order_B, 0], length_B)
        start_B = torch.empty_like(length_B)
        start_B[order_B] = length_B.cumsum(0) - length_B
        lengths, counts = torch.unique_consecutive(length_B, return_counts=True)
        offset_BK = windows.row_BK - windows.row_BK[:, :1]
        return cls(
            checkins=windows.checkins,
            row_N=row_N,
            position_N=row_N - windows.row_BK[order_B, 0][which_N],
            user_N=windows.user_B[order_B][which_N],
            runs=tuple(zip(counts.tolist(), lengths.tolist(), strict=True)),
            index_BK=start_B[:, None] + offset_BK,
        )


class PackedNetwork(SequenceNetwork):
    """A causal network that returns the states of all check-ins packed."""

    @abstractmethod
    def packed_states(self, packing: Packing) -> Tensor:
        """The state after each check-in, (N, D)."""

    def states(self, windows: Windows) -> Tensor:
        packing = Packing.of(windows)
        return self.packed_states(packing)[packing.index_BK]

    def states_at(self, windows: Windows, wanted_BK: Tensor) -> Tensor:
        packing = Packing.of(windows)
        return self.packed_states(packing)[packing.index_BK[wanted_BK]]


def encoder_of(width: int, heads: int, feedforward: int, dropout: float, layers: int) -> nn.TransformerEncoder:
    """A Transformer encoder (post-norm, ReLU, batch first) with fast dropout on a CPU."""
    layer = nn.TransformerEncoderLayer(width, heads, feedforward, dropout, batch_first=True)
    layer.dropout, layer.dropout1, layer.dropout2 = (WordDropout(dropout) for _ in range(3))  # type: ignore[assignment]
    return nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)


def encode(encoder: nn.TransformerEncoder, x_ND: Tensor, packing: Packing) -> Tensor:
    """The encoded windows under a causal mask, (N, D)."""
    for layer in encoder.layers:
        assert isinstance(layer, nn.TransformerEncoderLayer)
        x_ND = layer.norm1(x_ND + layer.dropout1(attend(layer.self_attn, x_ND, packing)))
        x_ND = layer.norm2(x_ND + layer.dropout2(layer.linear2(layer.dropout(F.relu(layer.linear1(x_ND))))))
    return x_ND


def attend(attention: nn.MultiheadAttention, x_ND: Tensor, packing: Packing) -> Tensor:
    """Causal self-attention within each window, (N, D)."""
    mixed_ND = F.linear(x_ND, attention.in_proj_weight, attention.in_proj_bias)
    heads, dropout = attention.num_heads, attention.dropout if attention.training else 0.0
    heard = []
    for part_ND, (windows, length) in zip(mixed_ND.split([g * k for g, k in packing.runs]), packing.runs, strict=True):
        if length == 1 and not dropout:
            heard.append(part_ND.chunk(3, dim=1)[2])  # a single check-in attends to itself
            continue
        three_3GHKE = part_ND.view(windows, length, 3, heads, -1).permute(2, 0, 3, 1, 4)
        query, key, value = three_3GHKE.unbind(0)
        heard_GHKE = F.scaled_dot_product_attention(query, key, value, dropout_p=dropout, is_causal=True)
        heard.append(heard_GHKE.transpose(1, 2).reshape(windows * length, -1))
    return F.linear(torch.cat(heard), attention.out_proj.weight, attention.out_proj.bias)
