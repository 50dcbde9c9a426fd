"""Two-hop paths over other users' training transitions.

Shape suffixes: B cases, N first transitions of all cases, W paths of all cases.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from recap.arithmetic.ragged import sum_within
from recap.features.others import EdgeEdits, OtherUsers


@dataclass(frozen=True, eq=False)
class TwoHopPaths:
    """Paths source -> middle -> destination over others' transitions, packed; each path once.

    Summed over the middles, ``product`` is (A^2)_sd of a graph without the user.

    Attributes:
        case_W: position in the batch.
        count_in_W, count_out_W: how often others made the first and the second transition.
        product_W: A_sm A_md, float64, rows of A normalised without the user.
    """

    case_W: Tensor
    middle_W: Tensor
    destination_W: Tensor
    count_in_W: Tensor
    count_out_W: Tensor
    product_W: Tensor


def two_hop_paths(others: OtherUsers, user_B: Tensor, source_B: Tensor, edits: EdgeEdits | None = None) -> TwoHopPaths:
    """All two-hop paths of a batch of cases, a few hundred a case on city data."""
    case_N, middle_N, count_N = others.transitions_from(user_B, source_B, edits)
    at_W, destination_W, count_W = others.transitions_of(case_N, user_B[case_N], middle_N, edits)
    first_N = _shares(count_N, case_N, len(source_B))
    return TwoHopPaths(
        case_W=case_N[at_W],
        middle_W=middle_N[at_W],
        destination_W=destination_W,
        count_in_W=count_N[at_W],
        count_out_W=count_W,
        product_W=first_N[at_W] * _shares(count_W, at_W, len(case_N)),
    )


def without_paths(paths: TwoHopPaths, cut_K3: Tensor, num_pois: int) -> TwoHopPaths:
    """Paths without cut ones (case, middle, destination)."""
    keep_W = ~torch.isin(
        (paths.case_W * num_pois + paths.middle_W) * num_pois + paths.destination_W,
        (cut_K3[:, 0] * num_pois + cut_K3[:, 1]) * num_pois + cut_K3[:, 2],
    )
    return TwoHopPaths(*(column[keep_W] for column in vars(paths).values()))


def _shares(count: Tensor, group: Tensor, num_groups: int) -> Tensor:
    return count.double() / sum_within(count.double(), group, num_groups)[group]
