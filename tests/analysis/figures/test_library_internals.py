"""What figures take from inside plotly still works; seen with plotly 7.1.0."""

import pytest

from analysis.figures.library_internals import unchecked_figure


def test_a_figure_is_not_validated() -> None:
    """A field that plotly does not know, which is an error where it validates, passes and stays."""
    figure = unchecked_figure([{"type": "scatter", "y": [1], "unknown": 2}], {"height": 200})
    assert figure.to_plotly_json()["data"][0]["unknown"] == 2 and figure.layout.height == 200
    with pytest.raises(ValueError, match="unknown"):
        type(figure)(figure.to_plotly_json())
