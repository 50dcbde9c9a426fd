"""Two-step walks that other users' training transitions make possible: evidence that adds up path by path.

Shape suffixes: B cases, N first transitions of all cases, W walks of all cases.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from recap.evidence.others import EdgeEdits, OtherUsers


@dataclass(frozen=True, eq=False)
class TwoStepWalks:
    """Walks source -> middle -> destination over others' transitions, packed; each walk once.

    Summed over the middles, ``product`` is (A^2)_sd of a graph without the case's own user.

    Attributes:
        case_W: position in the batch.
        middle_W, destination_W: int64 POIs.
        product_W: A_sm A_md, float64, rows of A normalised without the user.
    """

    case_W: Tensor
    middle_W: Tensor
    destination_W: Tensor
    product_W: Tensor


def two_step_walks(
    others: OtherUsers, user_B: Tensor, source_B: Tensor, edits: EdgeEdits | None = None
) -> TwoStepWalks:
    """All two-step walks of a batch of cases; no loop over cases, a few hundred walks a case on city data."""
    case_N, middle_N, count_N = others.transitions_from(user_B, source_B, edits)
    at_W, destination_W, count_W = others.transitions_of(case_N, user_B[case_N], middle_N, edits)
    first_N = _shares(count_N, case_N, len(source_B))
    return TwoStepWalks(
        case_W=case_N[at_W],
        middle_W=middle_N[at_W],
        destination_W=destination_W,
        product_W=first_N[at_W] * _shares(count_W, at_W, len(case_N)),
    )


def _shares(count: Tensor, group: Tensor, num_groups: int) -> Tensor:
    count = count.double()
    total = torch.zeros(num_groups, dtype=torch.float64, device=count.device).index_add_(0, group, count)
    return count / total[group]
