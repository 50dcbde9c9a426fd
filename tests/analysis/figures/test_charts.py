"""Bars, cells, curves and charts: numbers are the library's, clicks name a selection, names stay text."""

import io
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import pytest
from PIL import Image, ImageColor

from analysis.explain.curves import Curve, describe_learned
from analysis.explain.explain_case import explain_case
from analysis.explain.explanation import CaseExplanation
from analysis.explain.model_words import lost, shown_amount, shown_unit
from analysis.figures.bars import draw_bars
from analysis.figures.compare import comparison_bars, plot_differences
from analysis.figures.contributions import (
    contributions_height,
    describe_contributions,
    draw_contributions,
    rows_of,
    terms_of,
)
from analysis.figures.curves import Gates, plot_curves, ticks
from analysis.figures.elements import Element
from analysis.figures.explain import draw_paths, draw_visits
from analysis.figures.letters import Letters
from analysis.figures.long_tail import draw_accuracy_by_count, draw_cohorts, plot_ablations
from analysis.figures.model_worth import plot_worth
from analysis.figures.overview import plot_lollipops
from analysis.figures.palette import DARK, LIGHT, Palette
from analysis.formatting import points, signed_points
from analysis.learn.charts import Dots, PlaceMap
from analysis.learn.drawing import draw
from analysis.records.ablations import describe_ablations, part_label
from analysis.records.case_selection import CaseSelection
from analysis.records.causes import worth_by_kind
from recap import columns as c
from recap.features.catalogue import Feature
from tests.analysis.planted import small_predictor
from tests.pictures import picks_in, words_in
from tests.worlds import CURVES

RECAP = CURVES | {"core_scope": "unvisited", "use_correction": False}


def explained(number: int = 3, **changes: Any) -> CaseExplanation:
    return explain_case(small_predictor(**changes), number)


def bars_in(drawn: Element) -> list[dict[str, float]]:
    """Left end and width of every bar of a table, in shares of its cell, row by row."""
    if drawn[0] == "div":
        look = dict(part.split(": ") for part in drawn[1]["style"].split("; "))
        return [{name: float(look[name].removesuffix("%")) / 100 for name in ("margin-left", "width")}]
    return [bar for child in drawn[2:] if not isinstance(child, str) for bar in bars_in(child)]


@pytest.mark.parametrize("changes", [{}, RECAP], ids=["paper", "recap"])
def test_bars_begin_where_the_one_before_ended_and_a_row_opens_to_its_terms(changes: dict[str, Any]) -> None:
    """They end at the score, on one scale for both places, inside of their panels; the numbers are the library's.

    Under a group its terms, which begin at its bar and end at its end; a click brings the group.
    """
    answer = explained(**changes)
    rows = rows_of(answer, [])
    for at, entry in enumerate((answer.a, answer.b)):
        bars = [row.bars[at] for row in rows]
        assert [bar.ends[1] for bar in bars[:-2]] == pytest.approx([bar.start for bar in bars[1:-1]])
        assert bars[-2].ends[1] == pytest.approx(entry.score) and bars[-1].ends == (0.0, entry.score)
    drawn = draw_contributions(answer, LIGHT)
    marks = bars_in(drawn)
    assert len(marks) == 3 * len(rows)
    widths = [mark["width"] for at in (0, 1) for mark in marks[at::3]]
    values = [abs(row.bars[at].value) for at in (0, 1) for row in rows]
    unit = widths[-1] / values[-1]
    assert widths == pytest.approx([unit * value for value in values], abs=2e-4)
    assert all(mark["margin-left"] >= 0 and mark["margin-left"] + mark["width"] <= 1 + 2e-4 for mark in marks)
    texts = words_in(drawn)
    for group, value in answer.a.groups.items():
        assert signed_points(value) in texts, group
    assert points(answer.a.score) in texts and signed_points(answer.lead) in texts
    assert answer.a.name in describe_contributions(answer)

    group = next(group for group in answer.groups if len(terms_of(answer, group)) > 1)
    closed, rows = rows, rows_of(answer, [group])
    terms = [row for row in rows if row.is_term]
    assert len(rows) == len(closed) + len(terms) and len(terms) == len(terms_of(answer, group))
    (head,) = (row for row in rows if row.group == group and not row.is_term)
    for at, entry in enumerate((answer.a, answer.b)):
        assert terms[0].bars[at].start == head.bars[at].start
        assert terms[-1].bars[at].ends[1] == pytest.approx(head.bars[at].ends[1])
        assert [row.bars[at].value for row in terms] == [entry.terms[name] for name in terms_of(answer, group)]
    assert group in picks_in(draw_contributions(answer, LIGHT, opened=[group]))
    assert contributions_height(answer, [group]) > contributions_height(answer, [])


@pytest.mark.parametrize("changes", [{}, RECAP], ids=["paper", "recap"])
def test_curves_are_drawn_with_marks_seeds_and_density(changes: dict[str, Any]) -> None:
    """Every curve of a model on one scale, labelled in its unit; marks lie on their curve."""
    learned = describe_learned(small_predictor(**changes))
    marks = {curve.name: (curve.knots[-1], None) for curve in learned.curves}
    gates = Gates(learned.gates, (0.5, None)) if learned.gates else None
    options: dict[str, Any] = {"marks": marks, "roles": ("truth", "model"), "others": [learned.curves], "gates": gates}
    figure = go.Figure(plot_curves(learned.curves, DARK, **options).to_dict())  # plotly checks all of it
    lines = [trace for trace in figure.data if trace.type == "scatter" and trace.line.width == 2.5]
    rings = [trace for trace in figure.data if trace.type == "scatter" and trace.marker.size == 13]
    assert len(lines) == len(learned.curves) and len(rings) == len(learned.curves) + (gates is not None)
    for curve, line, ring in zip(learned.curves, lines, rings, strict=False):
        assert max(line.y) == pytest.approx(max(curve.points)) and line.x[-1] == ring.x[0]
        assert ring.y == (pytest.approx(curve.points[-1]),)
        wanted = ticks(curve)
        for value, text in zip(wanted["tickvals"], wanted["ticktext"], strict=True):
            assert 0 <= value <= max(1, line.x[-1]) and text
    axes = ["yaxis", *(f"yaxis{at}" for at in range(2, len(lines) + 1))]
    assert len({figure.layout[name].range for name in axes}) == 1


@pytest.mark.parametrize(
    ("name", "unit", "knots", "shown"),
    [
        ("category_at_hour", "times as usual, log", [-5.0, 0.0, 1.5], {"1×": 0.0, "0.1×": -2.303, "0.01×": -4.605}),
        ("early", "times the usual wait", [0.0, 1.0, 4.0], {"1×": 0.0, "0.1×": 2.303}),
        ("new_lately", "share", [0.0, 0.3, 1.0], {"0 %": 0.0, "50 %": 0.5, "100 %": 1.0}),
    ],
)
def test_ratios_and_shares_have_readable_ticks(
    name: str, unit: str, knots: list[float], shown: dict[str, float]
) -> None:
    """The log of a ratio is labelled with the ratio, a share with percent; the hover text says the same."""
    feature = Feature(name, "past visits", unit, "", "linear")
    curve = Curve.of(feature, knots, [0.0, 1.0, 2.0], np.zeros(1))
    wanted = ticks(curve)
    assert dict(zip(wanted["ticktext"], wanted["tickvals"], strict=True)) == pytest.approx(shown, abs=1e-3)
    line = plot_curves([curve], LIGHT).data[1]
    assert line.customdata[-1] == pytest.approx(shown_amount(name, knots[-1]))
    assert shown_unit(name, unit) in line.hovertemplate and "log" not in line.hovertemplate


def test_what_each_part_is_worth_is_drawn_once_a_part() -> None:
    """A row for each part and metric, in three sets of places; ablations that repeat another one have no row."""
    predictor = small_predictor(**RECAP)
    table = describe_ablations(predictor, predictor.cases)
    worth = worth_by_kind(table, predictor.cases["user"].to_numpy())
    figure = go.Figure(plot_worth(worth, LIGHT).to_dict())
    assert len(figure.data) == 6 and all(len(bars.x) == 8 for bars in figure.data)
    notes = [note.text for note in figure.layout.annotations]
    for row in worth[worth["ablation"] != "two_hops"].to_dict(orient="records"):
        assert lost(row["hr"]) in notes and part_label(row["ablation"]) in notes


def test_paths_and_visits_say_what_they_count() -> None:
    """A line for each path with its counts; a dot for each visit; a click brings the middle place, cut or not."""
    answer = next(answer for answer in map(explained, range(20)) if len(answer.paths) > 1 and answer.visits[0].visits)
    first = answer.paths[0]
    drawn = draw_paths(answer, LIGHT)
    assert f"{first.count_in:,} of {first.total_in:,}" in words_in(drawn)
    assert picks_in(drawn) == [str(path.middle) for path in answer.paths[:5]]
    without = answer.model_copy(update={"paths": answer.paths[1:]})
    assert sorted(picks_in(draw_paths(without, LIGHT, cut=[first]))) == sorted(picks_in(drawn))
    tracks = [child[2:] for child in draw_visits(answer, DARK)[3::2]]
    assert [len(dots) for dots in tracks] == [len(place.visits) for place in answer.visits]


NUMBERS: dict[str, list[Any]] = {
    "value": [0.5, 0.9],
    "lower": [0.4, 0.8],
    "upper": [0.6, 1.0],
    "reference": [0.3, 0.7],
    "n": [1200, 9],
}


def test_a_bar_names_its_bin() -> None:
    """In order, with its number of cases; the chosen bar has an outline; a bin without cases has no bar."""
    table = pd.DataFrame({"bin": ["0", "10+"], "low": [0, 10], "high": [0, -1]} | NUMBERS)
    options: dict[str, Any] = {"by": c.TRANSITION_COUNT, "tail_up_to": 1, "reference": "<b>Other", "palette": LIGHT}
    drawn = draw_accuracy_by_count(table, chosen="step:10:-1", **options)
    assert picks_in(drawn) == ["step:0:0", "step:10:-1"]
    assert {"0", "10+", "1,200", "9", "rare"} <= set(words_in(drawn))
    first, second = (str(column) for column in drawn[2][3][3:])
    assert "outline: none" in first and f"2px solid {LIGHT.ink}" in second and LIGHT.band in first
    assert "<b>Other 0.300, 1,200 cases" in first, "a name stays text"
    empty = draw_accuracy_by_count(table.assign(n=0), **options)
    assert "no case" in str(empty) and LIGHT.model.fill not in str(empty)


@pytest.mark.parametrize("eta", [1, 4])
def test_a_cell_names_its_cohort(eta: int) -> None:
    """Known place left, within two hops above."""
    flags = {c.IS_KNOWN: [True, True, False, False], c.WITHIN_TWO_HOPS: [True, False, True, False]}
    numbers: dict[str, Any] = {name: values[:1] * 4 for name, values in NUMBERS.items()} | {
        "value": [0.97, 0.92, 0.14, 0.02]
    }
    drawn = draw_cohorts(pd.DataFrame(flags | numbers), "Visit count", eta, palette=LIGHT)
    cells = [CaseSelection.parse(text).numbers for text in picks_in(drawn)]
    assert cells == [(1, 1, eta), (0, 1, eta), (1, 0, eta), (0, 0, eta)]
    values = [word for word in words_in(drawn) if word.startswith("0.")]
    assert values == ["0.97", "0.14", "0.92", "0.02"]


@pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])
def test_the_picture_of_a_chart_has_a_ground(palette: Palette) -> None:
    layout = plot_ablations(pd.DataFrame(columns=["name", "drop", "lower", "upper"]), "HR@20", palette).layout
    assert layout.paper_bgcolor == palette.page and layout.modebar.color == palette.model.text


HOSTILE = "<i>&lt;"
"""Short enough that no figure cuts it off."""
SHOWN = "&lt;i&gt;&amp;lt;"


def differences() -> go.Figure:
    bins = pd.DataFrame(
        {"bin": ["0", "1"], "low_count": [0, 1], "high_count": [0, 1], "n": [9, 9], "a": 0.1, "b": 0.3}
        | {"difference": 0.2, "low": 0.1, "high": 0.3, "verdict": "b"}
    )
    return plot_differences(bins, a=HOSTILE, b=HOSTILE, metric="mrr", palette=LIGHT)


def lollipops() -> go.Figure:
    table = {"model": [HOSTILE, "B"], "group": "head", "n": 9, "value": 0.5, "lower": 0.4, "upper": 0.6}
    return plot_lollipops(pd.DataFrame(table), LIGHT)


def ablations() -> go.Figure:
    return plot_ablations(pd.DataFrame({"name": [HOSTILE], "drop": 0.1, "lower": 0.0, "upper": 0.2}), "MRR", LIGHT)


def place_map() -> go.Figure:
    dots = (Dots("Places", (0, 1), "model"),)
    here = np.array([40.0, 40.1])
    return draw(PlaceMap("A map", here, here, dots, names={0: HOSTILE}, clickable=True), LIGHT)


@pytest.mark.parametrize("plot", [*(differences, lollipops, ablations, place_map)])
def test_names_stay_text(plot: Callable[[], go.Figure]) -> None:
    texts = list(strings(plot().to_plotly_json()))
    assert any(SHOWN in text for text in texts)
    assert not [text for text in texts if HOSTILE[:2] in text]


def strings(value: Any) -> Iterator[str]:
    """Every text inside of a figure."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from (text for item in value.values() for text in strings(item))
    elif isinstance(value, (list, tuple, np.ndarray, pd.Series)):
        yield from (text for item in value for text in strings(item))


def test_a_group_without_cases_has_no_dot() -> None:
    empty = pd.DataFrame({"model": ["A"], "group": "head", "n": 0, "value": np.nan, "lower": np.nan, "upper": np.nan})
    full = empty.assign(n=9, value=0.5, lower=0.4, upper=0.6)
    markers = [sum(trace.mode == "markers" for trace in plot_lollipops(table, LIGHT).data) for table in (empty, full)]
    assert markers == [0, 1]


def test_lengths_are_values() -> None:
    """99, 98, 50 and 0 of 100: pixels in proportion, whatever the names' length; a group without cases has no bar."""
    rows = pd.DataFrame({"group": ["tail", "head", "all"], "n": [9, 9, 0], "a": [0.98, 0, 1], "b": [0.99, 0.5, 1]})
    groups = comparison_bars(rows, "hr20", a="A model with a very long name", b="RECAP")
    said = [(title, [(bar.text, bar.mine) for bar in bars]) for title, bars in groups]
    assert said == [("Rare", [("99 %", True), ("98 %", False)]), ("Frequent", [("50 %", True), ("0 %", False)])]
    picture = np.asarray(Image.open(io.BytesIO(draw_bars(groups, Letters()))))
    filled = (picture == ImageColor.getrgb(LIGHT.model.fill)).all(axis=2).sum(axis=1)
    other = (picture == ImageColor.getrgb(LIGHT.baseline)).all(axis=2).sum(axis=1)
    widths = sorted({int(width) for width in (*filled, *other) if width > 100})
    assert [round(width / widths[-1], 2) for width in widths] == [0.51, 0.99, 1.0]
