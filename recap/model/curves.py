"""Learned curves: each feature of a candidate adds a piecewise-linear function of its value to the score.

A generalised additive model with shape functions (Hastie & Tibshirani 1986; Agarwal et al. 2021). Every curve is 0 at
its feature's lowest value and flat outside its knots.

Shape suffixes: F features, K intervals between knots, N values.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any, Final

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from recap.features.catalogue import FeatureSet

INTERVALS: Final = 10
"""At most, between knots."""
KNOTS: Final = "curves.curves.knot_FK1"
STEPS: Final = "curves.curves.step_FK"
"""Names of a model's curves among its weights."""
_NEW_PLACES_SMOOTHING: Final = 0.1
"""Share of the penalty for curves that new places have: few cases lead there, so it would hold them too flat."""
_STEEP: Final = 7.0
"""Quantile levels are sigmoid(-7) ... sigmoid(7), with 0 and 1 at the ends: dense where values are rare."""
_CLOSEST: Final = 1e-5
"""Knots closer than this share of the range are one."""


@dataclass(frozen=True, eq=False)
class OnCurves:
    """Positions of values on their curves; knots do not move in training. ``at_FN``: uint8, the interval between knots;
    ``part_FN``: position inside the interval, 0 to 1.
    """

    at_FN: Tensor
    part_FN: Tensor

    def each(self, change: Callable[[Tensor], Tensor]) -> "OnCurves":
        """With both tensors changed in the same way."""
        return OnCurves(change(self.at_FN), change(self.part_FN))


class _Interpolate(torch.autograd.Function):
    """Value of each feature's curve: (F, N) from increments (F, K)."""

    @staticmethod
    def forward(ctx: Any, step_FK: Tensor, at_FN: Tensor, part_FN: Tensor) -> Tensor:
        index_N = _flat(at_FN)
        ctx.save_for_backward(index_N, part_FN)
        start_FN, step_FN = _taken(index_N, part_FN, torch.cumsum(step_FK, 1) - step_FK, step_FK)
        return start_FN.addcmul_(part_FN, step_FN)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, None, None]:
        index_N, part_FN = ctx.saved_tensors
        size = len(part_FN) * INTERVALS
        inside_FK, after_FK = (
            torch.bincount(index_N, grad_FN.reshape(-1), minlength=size).view(-1, INTERVALS)
            for grad_FN in (grads[0] * part_FN, grads[0])
        )
        # An increment acts partly inside its interval and fully after it.
        grad_FK = inside_FK + after_FK.flip(1).cumsum(1).flip(1) - after_FK
        return grad_FK.to(grads[0].dtype), None, None


def _flat(at_FN: Tensor) -> Tensor:
    """Index of each interval among those of all features, int32."""
    first_F1 = torch.arange(len(at_FN), dtype=torch.int32, device=at_FN.device)[:, None] * INTERVALS
    return (at_FN + first_F1).view(-1)


def _taken(index_N: Tensor, like_FN: Tensor, *columns: Tensor) -> list[Tensor]:
    """`gather` of each column (F, K) at the intervals, (F, N), three times faster on a CPU."""
    return [column.reshape(-1).index_select(0, index_N).view_as(like_FN) for column in columns]


class Curves(nn.Module):
    """One curve for each feature, 0 everywhere before training, and for good where it is not ``enabled``. ``knot_FK1``
    are the ends of the intervals, ascending, padded with infinity, set by `place_knots` and saved with the weights.
    """

    knot_FK1: Tensor
    enabled_F1: Tensor
    smoothing_F: Tensor

    def __init__(self, of: FeatureSet, enabled: list[bool] | None = None) -> None:
        super().__init__()
        self.of, features = of, of.features
        keeps = torch.ones(len(features)) if enabled is None else torch.tensor(enabled, dtype=torch.float32)
        self.register_buffer("enabled_F1", keeps[:, None], persistent=False)
        smoothing = [1.0 if feature in of.visited else _NEW_PLACES_SMOOTHING for feature in features]
        self.register_buffer("smoothing_F", torch.tensor(smoothing), persistent=False)
        self.step_FK = nn.Parameter(torch.zeros(len(features), INTERVALS))
        knots = torch.full((len(features), INTERVALS + 1), torch.inf)
        knots[:, 0] = 0.0
        self.register_buffer("knot_FK1", knots)

    def disable(self, names: Collection[str]) -> None:
        """Leave the curves of these features at 0 for good."""
        for row, feature in enumerate(self.of.features):
            if feature.name in names:
                self.enabled_F1[row] = 0.0

    def fill(self, row: int, knots: list[float], levels: list[float]) -> None:
        """Give a curve its values at knots, both at most one more than `INTERVALS`."""
        missing = (0, INTERVALS + 1 - len(knots))
        with torch.no_grad():
            self.knot_FK1[row] = F.pad(torch.tensor(knots), missing, value=torch.inf)
            self.step_FK[row] = F.pad(torch.tensor(levels).diff(), missing)

    def scale(self, factors: list[float]) -> None:
        """Multiply each curve by its factor."""
        with torch.no_grad():
            self.step_FK.mul_(self.step_FK.new_tensor(factors)[:, None])

    def place_knots(self, values: list[Tensor], last: float = 1.0) -> None:
        """Put knots at distinct quantiles of each feature's values, the lowest included. ``values``: of each feature;
        without zeros if few places have the feature; ``last``: the highest quantile; 1 - last is then the lowest.
        """
        for row, (feature, value_N) in enumerate(zip(self.of.features, values, strict=True)):
            self.knot_FK1[row] = quantile_knots(value_N, from_zero=not feature.everywhere, last=last)

    def locate(self, value_FN: Tensor, rows: slice = slice(None)) -> OnCurves:
        """Locate values of the features in ``rows`` between their knots."""
        knot_FK1 = self.knot_FK1[rows].to(value_FN.dtype)
        low_FK, width_FK = knot_FK1[:, :-1], knot_FK1.diff(dim=1)
        at_FN = torch.zeros(value_FN.shape, dtype=torch.uint8, device=value_FN.device)
        for knot_F in knot_FK1[:, 1:-1].unbind(1):  # three times faster than searchsorted
            at_FN += value_FN >= knot_F[:, None]
        low_FK = torch.where(low_FK.isfinite(), low_FK, 0.0)
        inverse_FK = torch.where(width_FK.isfinite(), 1.0 / width_FK, 0.0)
        low_FN, inverse_FN = _taken(_flat(at_FN), value_FN, low_FK, inverse_FK)
        return OnCurves(at_FN, ((value_FN - low_FN) * inverse_FN).clamp_(0.0, 1.0))

    def forward(
        self, value_FN: Tensor | OnCurves, rows: slice = slice(None), off: Collection[str] = frozenset()
    ) -> Tensor:
        """Points of the curves in ``rows`` at values, (F, N); those of the features that are ``off`` are 0."""
        on = value_FN if isinstance(value_FN, OnCurves) else self.locate(value_FN, rows)
        step_FK = (self.step_FK * self.enabled_F1)[rows].to(on.part_FN.dtype)
        if off:
            step_FK = step_FK * step_FK.new_tensor([[name not in off] for name in self.of.names[rows]])
        return _Interpolate.apply(step_FK, on.at_FN, on.part_FN)

    @property
    def levels(self) -> Tensor:
        """Value of each curve at its knots, (F, K + 1)."""
        return F.pad(torch.cumsum(self.step_FK * self.enabled_F1, 1), (1, 0))

    def roughness(self) -> Tensor:
        """Sum of squared differences of neighbouring slopes, each in score points over the feature's whole range. The
        jump from absent (0) to the lowest value present has no slope. Curves of new places count a tenth.
        """
        width_FK = self.knot_FK1.diff(dim=1)
        is_slope_FK = width_FK.isfinite()
        is_slope_FK[[not feature.everywhere for feature in self.of.features], 0] = False
        width_FK = torch.where(is_slope_FK, width_FK, 1.0)
        range_F1 = (width_FK * is_slope_FK).sum(1, keepdim=True)
        slope_FK = self.step_FK * is_slope_FK * range_F1 / width_FK
        both_FK = is_slope_FK[:, 1:] & is_slope_FK[:, :-1]
        squared_F = (slope_FK.diff(dim=1) * both_FK / INTERVALS).square().sum(1)
        return (squared_F * self.smoothing_F).sum()


def quantile_knots(value_N: Tensor, *, from_zero: bool, last: float = 1.0) -> Tensor:
    """Ends of at most `INTERVALS` intervals: distinct quantiles, ascending, padded with infinity. ``from_zero``: the
    first interval goes from 0 (absent) to the lowest value.

    >>> quantile_knots(torch.tensor([1.0, 2.0, 2.0]), from_zero=True)[:4].tolist()
    [0.0, 1.0, 2.0, inf]
    """
    knots = torch.full((INTERVALS + 1,), torch.inf, dtype=torch.float64)
    if len(value_N):
        level = torch.sigmoid(torch.linspace(-_STEEP, _STEEP, INTERVALS + (not from_zero), dtype=torch.float64))
        level = torch.cat([torch.zeros(1), level[1:-1], torch.ones(1)]).clamp(1.0 - last, last).to(value_N.device)
        ordered = torch.sort(value_N.double())[0]
        distinct = torch.unique(ordered[(level * (len(ordered) - 1)).round().long()])
        if from_zero:
            distinct = torch.cat([distinct.new_zeros(1), distinct])
        apart = torch.diff(distinct, prepend=distinct[:1] - 1.0) > _CLOSEST * (distinct[-1] - distinct[0])
        distinct = distinct[apart]
        knots[: len(distinct)] = distinct.to(knots.device)
    else:
        knots[0] = 0.0
    return knots
