"""A case with every choice of encoder items masked: what all other places score, and what the candidate's parts are.

A mask changes the encoder's state, and with it every place's core score and gate. Revisit and evidence terms belong to
the candidate alone, so that for a fixed mask all other places stand still: the K-th best of them is a bar that the
candidate's own sum is above or below.

Shape suffixes: M masks, P POIs.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from analysis.explain.edited_case import EditedCase
from analysis.explain.state_totals import StateTotals
from recap.device import one_thread
from recap.predictor import variants_per_pass


@dataclass(frozen=True, eq=False)
class EncoderPasses:
    """What masks leave of a candidate and of the others.

    Attributes:
        core_M: the candidate's core score.
        gate_M: its gate; 0 where no correction acts on it.
        bar_M: the K-th best total among the other places; -inf where there are fewer.
        tied_drops_M: whether a candidate that equals the bar stands above K (mean rank over ties).
    """

    core_M: np.ndarray
    gate_M: np.ndarray
    bar_M: np.ndarray
    tied_drops_M: np.ndarray


def encoder_passes(edited_case: EditedCase, candidate: int, masks: Sequence[frozenset[int]], k: int) -> EncoderPasses:
    """One encoder pass for each set of masked slots.

    Args:
        masks: encoder slots, see `recap.counterfactuals.Counterfactual.masked`.
        k: of the bar.
    """
    predictor, base = edited_case.predictor, edited_case.variant
    pieces: list[tuple[Tensor, Tensor, Tensor, Tensor]] = []
    with one_thread(), torch.inference_mode():
        others = StateTotals(edited_case)
        own = (others.poi_C == candidate).nonzero().flatten()
        size = variants_per_pass(predictor.dataset.num_pois)
        for start in range(0, len(masks), size):
            variants = [replace(base, masked=base.masked | mask) for mask in masks[start : start + size]]
            state_MD, core_MP = predictor.core_scores(*predictor.pack(variants))
            total_MP, gate_MC = others.of(state_MD, core_MP)
            pieces.append((core_MP[:, candidate].clone(), gate_MC[:, own].sum(1), *_bars(total_MP, candidate, k)))
    return EncoderPasses(*(torch.cat(values).numpy() for values in zip(*pieces, strict=True)))


def _bars(total_MP: Tensor, candidate: int, k: int) -> tuple[Tensor, Tensor]:
    """The K-th best other total, and whether its equal would stand above K; overwrites the candidate's totals."""
    if k > total_MP.shape[1] - 1:
        nowhere_M = total_MP.new_full((len(total_MP),), -torch.inf)
        return nowhere_M, torch.zeros(len(total_MP), dtype=torch.bool)
    total_MP[:, candidate] = -torch.inf
    bar_M = total_MP.topk(k, dim=1).values[:, -1]
    better_M = (total_MP > bar_M[:, None]).sum(1)
    equal_M = (total_MP == bar_M[:, None]).sum(1)
    return bar_M, better_M + equal_M / 2 + 1 > k
