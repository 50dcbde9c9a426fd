"""The figures of score parts: what is drawn longer is more, and a long name is told whole on hover."""

from typing import Any

import plotly.graph_objects as go
import pytest
from analysis.figures.ledger import ledger
from analysis.figures.score_parts import describe_score_parts, score_panels
from recap.evidence.config import EvidenceConfig, SurroundingsConfig, WeighingConfig

from analysis.explain.edits import SwitchOff
from analysis.explain.explanation import explain_fully
from analysis.figures.charts import FONT, assembled
from analysis.figures.explain import plot_paths, plot_visits
from analysis.figures.palette import LIGHT
from analysis.formatting import points
from analysis.sharing.page import render_notebook
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
    """A panel reads alone: its names, its numbers, the total last."""
    told = explain_fully(small_predictor(), 3, counterfactuals=False)
    texts = [[note.text for note in panel.layout.annotations] for panel in score_panels(told, LIGHT)]
    names = [[text for text in column[1:] if text[0].isalpha()] for column in texts]
    assert names[0] == names[1] == names[2] and names[0][0] == "Core" and names[0][-1] == "Total"
    assert f"<b>{points(told.contrast.a.total)}</b>" in texts[0]
    assert f"<b>{points(told.contrast.b.total)}</b>" in texts[1]
    assert len(describe_score_parts(told)) == 3


def test_where_the_network_scores_neither_place_the_rows_are_the_clues() -> None:
    """They add up to each total and to the margin, one bar begins where the one before ended, and none is empty."""
    evidence = EvidenceConfig(sessions=True, surroundings=SurroundingsConfig(), weighing=WeighingConfig())
    told = explain_fully(small_predictor(evidence=evidence, core_scope="nowhere"), 3, counterfactuals=False)
    rows, contrast = ledger(told), told.contrast
    assert {row.kind for row in rows} == {"clues"} and {row.key for row in rows} > {"own_visits", "distance"}
    assert sum(row.a for row in rows) + contrast.a.residual == pytest.approx(contrast.a.total)
    assert sum(row.b for row in rows) + contrast.b.residual == pytest.approx(contrast.b.total)
    assert sum(row.difference for row in rows) == pytest.approx(contrast.margin - contrast.residual)
    assert all(row.a or row.b for row in rows)
    first = score_panels(told, LIGHT)[0]
    (bars,) = first.data
    assert bars.base[-1] == 0.0 and bars.x[-1] == contrast.a.total
    assert bars.base[1:-1] == pytest.approx([base + x for base, x in zip(bars.base, bars.x, strict=True)][:-2])
    assert "Two-hop paths" in [note.text for note in score_panels(told, LIGHT)[0].layout.annotations]
    assert "Two-hop paths " in describe_score_parts(told)[0]
    page = render_notebook(told)
    assert "Two-hop paths</td>" in page and "sum of the rows" in page and 'class="bar two_hop_addends"' in page


@pytest.mark.parametrize(
    ("changes", "kind"),
    [
        ({}, "clues"),
        ({"core_scope": "unvisited"}, "parts"),
        ({"core_scope": "everywhere"}, "parts"),
        ({"evidence": EvidenceConfig(sessions=True)}, "parts"),
    ],
)
def test_the_model_alone_decides_what_the_rows_are(changes: dict[str, Any], kind: str) -> None:
    """Not the case: between two visited places a core that scores new ones only is 0 too; nor an edit."""
    weighed = EvidenceConfig(sessions=True, weighing=WeighingConfig())
    predictor = small_predictor(**{"evidence": weighed, "core_scope": "nowhere"} | changes)
    for number in (0, 3, 9):
        for edits in ((), (SwitchOff(component="evidence"),)):
            told = explain_fully(predictor, number, edits=edits, counterfactuals=False)
            assert {row.kind for row in ledger(told)} == {kind}
            page = render_notebook(told)
            assert ("sum of the rows" in page) == (kind == "clues")
            assert ("The graph acts inside core" in page) == (kind == "parts")


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
