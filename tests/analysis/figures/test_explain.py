"""The figures of score parts: what is drawn longer is more, and a long name is told whole on hover."""

import plotly.graph_objects as go
import pytest

from analysis.explain.explanation import explain_fully
from analysis.figures.charts import FONT, assembled
from analysis.figures.exact_share import plot_exact_share
from analysis.figures.explain import plot_paths, plot_visits
from analysis.figures.palette import LIGHT
from analysis.figures.score_parts import describe_score_parts, score_panels
from analysis.formatting import points
from analysis.registers import Words
from tests.analysis.planted import small_predictor


@pytest.mark.parametrize("number", [0, 3, 9])
def test_a_point_is_equally_long_in_every_panel(number: int) -> None:
    """All axes span as many points; zero lies at one place in both places' panels; nothing is cut."""
    panels = score_panels(explain_fully(small_predictor(), number, counterfactuals=False), LIGHT)
    ranges = [panel.layout.xaxis.range for panel in panels]
    assert [high - low for low, high in ranges] == pytest.approx([ranges[0][1] - ranges[0][0]] * 3)
    assert ranges[0] == ranges[1]
    for panel, (low, high) in zip(panels, ranges, strict=True):
        (bars,) = panel.data
        ends = [*bars.base, *(base + length for base, length in zip(bars.base, bars.x, strict=True))]
        assert low <= min(ends) and max(ends) <= high


def test_rows_stand_in_the_same_order_and_numbers_are_the_parts() -> None:
    """A panel reads alone: its names, its numbers, the total last; a register changes the names only."""
    told = explain_fully(small_predictor(), 3, counterfactuals=False)
    for words, first in ((Words("researcher"), "Core"), (Words("student"), "General pattern")):
        panels = score_panels(told, LIGHT, words)
        texts = [[note.text for note in panel.layout.annotations] for panel in panels]
        names = [[text for text in column[1:] if text[0].isalpha()] for column in texts]
        assert names[0] == names[1] == names[2] and names[0][0] == first and names[0][-1] == "Total"
        assert f"<b>{points(told.contrast.a.total)}</b>" in texts[0]
        assert f"<b>{points(told.contrast.b.total)}</b>" in texts[1]
    numbers = [[text for text in column if not text[0].isalpha()] for column in texts]
    assert numbers == [
        [note.text for note in panel.layout.annotations if not note.text[0].isalpha()]
        for panel in score_panels(told, LIGHT, Words("researcher"))
    ]
    assert len(describe_score_parts(told)) == 3


def test_a_long_name_ends_in_an_ellipsis_and_is_whole_on_hover() -> None:
    """Nothing is cut hard, and markup in a name stays text."""
    told = explain_fully(small_predictor(), 3, counterfactuals=False)
    name = "<b>The Very Long Name of a Place That Nobody Can Read</b>"
    contrast = told.contrast.model_copy(update={"a": told.contrast.a.model_copy(update={"name": name})})
    title = score_panels(told.model_copy(update={"contrast": contrast}), LIGHT)[0].layout.annotations[0]
    assert title.text.endswith("…") and title.text.startswith("&lt;b&gt;The Very")
    assert title.hovertext == "&lt;b&gt;The Very Long Name of a Place That Nobody Can Read&lt;/b&gt;"


def test_plotly_finds_nothing_wrong_with_figures_that_it_did_not_check() -> None:
    """Figures of plain dictionaries are drawn unchecked; checked they are the same, so no field is misspelt."""
    told = explain_fully(small_predictor(), 3, search=False)
    figures = [
        *score_panels(told, LIGHT),
        plot_visits(told, LIGHT),
        plot_paths(told, LIGHT),
        plot_exact_share(0.3, LIGHT),
    ]
    for figure in figures:
        told_by_us = figure.to_dict()
        told_by_us["layout"].pop("template", None)
        checked = go.Figure(told_by_us).to_dict()
        checked["layout"].pop("template", None)
        assert checked == told_by_us
        assert figure.layout.font.family == FONT and figure.layout.showlegend is False
    with pytest.raises(ValueError, match="Invalid property"):
        go.Figure(assembled([{"type": "bar", "colour": "red"}], {}, LIGHT, height=10).to_dict())
