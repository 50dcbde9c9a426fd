"""Cells and bars of Long tail: numbers of the tables, and clicks that name a selection."""

from typing import Any

import pandas as pd
import pytest

from analysis.figures.elements import picks_in, words_in
from analysis.figures.long_tail import draw_accuracy_by_count, draw_cohorts, plot_ablations
from analysis.figures.palette import DARK, LIGHT, Palette
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
