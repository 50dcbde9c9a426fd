"""The figures of one explanation: bars end at the score, names stay text, nothing is misspelt."""

import plotly.graph_objects as go
import pytest

from analysis.explain.explanation import explain_case
from analysis.figures.charts import FONT, assembled
from analysis.figures.contributions import plot_contributions, waterfall
from analysis.figures.explain import plot_paths, plot_visits
from analysis.figures.palette import LIGHT
from tests.analysis.planted import small_predictor
from tests.worlds import CURVES


def test_bars_end_at_the_score_and_lie_within_the_axes() -> None:
    for changes in ({}, CURVES):
        told = explain_case(small_predictor(**changes), 3, counterfactuals=False)
        layout = plot_contributions(told, LIGHT).layout
        for entry, axis in ((told.a, layout.xaxis), (told.b, layout.xaxis2)):
            bars = waterfall(entry)
            assert bars[-2].ends[1] == pytest.approx(entry.score) and bars[-1].ends == (0.0, entry.score)
            assert all(axis.range[0] - 1e-9 <= end <= axis.range[1] + 1e-9 for bar in bars for end in bar.ends)
        assert list(layout.xaxis.range) == list(layout.xaxis2.range)


def test_plotly_finds_nothing_wrong_and_markup_in_names_stays_text() -> None:
    """Figures of plain dictionaries are drawn unchecked; checked they are the same, so no field is misspelt."""
    name = "<b>Cafe</b>"
    told = explain_case(small_predictor(), 3)
    told = told.model_copy(
        update={
            "source_name": name,
            "target_name": name,
            "candidates": [entry.model_copy(update={"name": name}) for entry in told.candidates],
            "visits": [place.model_copy(update={"name": name}) for place in told.visits],
            "paths": [path.model_copy(update={"name": name}) for path in told.paths],
        }
    )
    for plot in (plot_contributions, plot_visits, plot_paths):
        figure = plot(told, LIGHT)
        drawn = figure.to_dict()
        drawn["layout"].pop("template", None)
        checked = go.Figure(drawn).to_dict()
        checked["layout"].pop("template", None)
        assert checked == drawn and "<b>Cafe" not in str(drawn) and "&lt;b&gt;Cafe" in str(drawn)
        assert figure.layout.font.family == FONT and figure.layout.showlegend is False
    with pytest.raises(ValueError, match="Invalid property"):
        go.Figure(assembled([{"type": "bar", "colour": "red"}], {}, LIGHT, height=10).to_dict())
