"""Names from data stay text in every figure: plotly reads links and other tags in most of its texts."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import pytest

from analysis.figures.compare import plot_differences
from analysis.figures.long_tail import plot_ablations
from analysis.figures.overview import plot_lollipops
from analysis.figures.palette import LIGHT
from analysis.learn.charts import Dots, PlaceMap
from analysis.learn.drawing import draw

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


@pytest.mark.parametrize(
    "plot",
    [
        *(differences, lollipops, ablations, place_map),
    ],
)
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
