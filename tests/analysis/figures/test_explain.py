"""The figures of score parts: what is drawn longer is more, and a long name is told whole on hover."""

import pytest

from analysis.explain.explanation import explain_fully
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
