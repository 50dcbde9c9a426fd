"""Names from data stay text in every figure: plotly reads links and other tags in most of its texts."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import pytest

from analysis.explain.explanation import CaseExplanation, explain_case
from analysis.figures.compare import plot_differences
from analysis.figures.explain import plot_paths, plot_visits
from analysis.figures.long_tail import plot_ablations, plot_accuracy_by_count, plot_cohorts
from analysis.figures.overview import plot_lollipops
from analysis.figures.palette import LIGHT
from analysis.learn.charts import Dots, PlaceMap
from analysis.learn.drawing import draw
from recap import columns as c
from tests.analysis.planted import small_predictor

HOSTILE = "<i>&lt;"
"""Short enough that no figure cuts it off."""
SHOWN = "&lt;i&gt;&amp;lt;"


def differences() -> go.Figure:
    bins = pd.DataFrame(
        {"bin": ["0", "1"], "low_count": [0, 1], "high_count": [0, 1], "n": [9, 9], "a": 0.1, "b": 0.3}
        | {"difference": 0.2, "low": 0.1, "high": 0.3, "verdict": "b"}
    )
    return plot_differences(bins, a=HOSTILE, b=HOSTILE, metric="mrr", palette=LIGHT)


def by_count() -> go.Figure:
    table = {"bin": ["0"], "low": [0], "high": [0], "value": [0.5], "lower": [0.4], "upper": [0.6], "reference": [0.3]}
    return plot_accuracy_by_count(
        pd.DataFrame(table | {"n": [9]}),
        "mrr",
        by=c.TRANSITION_COUNT,
        tail_up_to=1,
        reference=HOSTILE,
        palette=LIGHT,
    )


def cohorts() -> go.Figure:
    flags = {c.IN_HISTORY: [True, True, False, False], c.WITHIN_TWO_HOPS: [True, False, True, False]}
    table = pd.DataFrame(flags | {"n": 9, "value": 0.5, "lower": 0.4, "upper": 0.6, "reference": 0.3})
    return plot_cohorts(table, HOSTILE, palette=LIGHT)


def lollipops() -> go.Figure:
    table = {"model": [HOSTILE, "B"], "group": "head", "n": 9, "value": 0.5, "lower": 0.4, "upper": 0.6}
    return plot_lollipops(pd.DataFrame(table), LIGHT)


def ablations() -> go.Figure:
    return plot_ablations(pd.DataFrame({"name": [HOSTILE], "drop": 0.1, "lower": 0.0, "upper": 0.2}), "MRR", LIGHT)


def place_map() -> go.Figure:
    dots = (Dots("Places", (0, 1), "model"),)
    here = np.array([40.0, 40.1])
    return draw(PlaceMap("A map", here, here, dots, names={0: HOSTILE}, clickable=True), LIGHT)


def explained(plot: Callable[..., Any]) -> go.Figure:
    """The first figure of a case in which each place has the hostile name."""
    answer = explain_case(small_predictor(), 3, counterfactuals=False)
    shown = plot(CaseExplanation.model_validate(renamed(answer.model_dump())), LIGHT)
    return shown[0] if isinstance(shown, tuple) else shown


def renamed(value: Any) -> Any:
    """The same with each name in it hostile."""
    if isinstance(value, list):
        return [renamed(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        key: HOSTILE if key == "name" or str(key).endswith("_name") else renamed(item) for key, item in value.items()
    }


@pytest.mark.parametrize(
    "plot",
    [
        *(differences, by_count, cohorts, lollipops, ablations, place_map),
        *(partial(explained, plot) for plot in (plot_paths, plot_visits)),
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
