"""Cells, bars and charts: numbers of the tables, clicks that name a selection, names that stay text."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import pytest

from analysis.figures.compare import draw_how_often, plot_differences
from analysis.figures.elements import picks_in, words_in
from analysis.figures.long_tail import draw_accuracy_by_count, draw_cohorts, plot_ablations
from analysis.figures.overview import plot_lollipops
from analysis.figures.palette import DARK, LIGHT, Palette
from analysis.learn.charts import Dots, PlaceMap
from analysis.learn.drawing import draw
from analysis.records.case_selection import CaseSelection
from recap import columns as c

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
    """Its button has the colour of actions."""
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
    """The name is there, and nowhere as markup."""
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
    """Its model is named, its line is empty."""
    empty = pd.DataFrame({"model": ["A"], "group": "head", "n": 0, "value": np.nan, "lower": np.nan, "upper": np.nan})
    full = empty.assign(n=9, value=0.5, lower=0.4, upper=0.6)
    markers = [sum(trace.mode == "markers" for trace in plot_lollipops(table, LIGHT).data) for table in (empty, full)]
    assert markers == [0, 1]


def bars_in(drawn: Any) -> list[tuple[str, str, str]]:
    """(style of the bar, number, name) of every row that starts with a filled bar."""
    children = [child for child in drawn[2:] if not isinstance(child, str)]
    here = [children] if children and "background" in children[0][1].get("style", "") else []
    own = [(bar[1]["style"], number[2], name[2]) for bar, number, name in here]
    return own + [found for child in children for found in bars_in(child)]


def test_lengths_are_values() -> None:
    """99, 98, 50 and 0 of 100: widths in proportion that no long name can shrink, each next to its own number."""
    rows = pd.DataFrame({"group": ["tail", "head", "all"], "n": [9, 9, 0], "a": [0.98, 0, 1], "b": [0.99, 0.5, 1]})
    found = bars_in(draw_how_often(rows, a="A model with a very long name", b="RECAP", palette=LIGHT))
    assert [(number, name) for _, number, name in found] == [
        ("99", "RECAP"),
        ("98", "A model with a very long name"),
        ("50", "RECAP"),
        ("0", "A model with a very long name"),
    ]
    styles = [dict(part.split(": ") for part in style.split("; ")) for style, _, _ in found]
    widths = [float(style["width"].removesuffix("%")) for style in styles]
    assert [round(width / widths[0], 3) for width in widths] == [round(v / 0.99, 3) for v in (0.99, 0.98, 0.5, 0)]
    assert {style["flex"] for style in styles} == {"none"}
