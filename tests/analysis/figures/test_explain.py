"""The figure of score parts: what is drawn longer is more."""

import pytest

from analysis.explain.explanation import explain_fully
from analysis.figures.explain import plot_score_parts
from analysis.figures.palette import LIGHT
from tests.analysis.planted import small_predictor


@pytest.mark.parametrize("number", [0, 3, 9])
def test_a_point_is_equally_long_in_every_column(number: int) -> None:
    """Points per width of the panel are one number; zero lies at one place in both places' panels; nothing is cut."""
    figure = plot_score_parts(explain_fully(small_predictor(), number, counterfactuals=False), LIGHT)
    axes = [figure.layout.xaxis, figure.layout.xaxis2, figure.layout.xaxis3]
    units = [(axis.range[1] - axis.range[0]) / (axis.domain[1] - axis.domain[0]) for axis in axes]
    assert units == pytest.approx([units[0]] * 3)
    assert axes[0].range == axes[1].range
    for trace in figure.data:
        axis = axes[{"x": 0, "x2": 1, "x3": 2}[trace.xaxis]]
        bases = trace.base if trace.base is not None else [0.0] * len(trace.x)
        ends = [*bases, *(base + length for base, length in zip(bases, trace.x, strict=True))]
        assert axis.range[0] <= min(ends) and max(ends) <= axis.range[1]
