"""Results of Compare: differences by transition count, seeds, the table of groups, and all models as one table."""

from functools import partial
from typing import Final

import pandas as pd
import streamlit as st

from analysis.compare import words
from analysis.compare.comparison import GROUP_LABELS, Comparison
from analysis.figures.compare import plot_differences, plot_reliability, plot_seeds
from analysis.glossary import tooltip
from analysis.records.accuracy import METRIC_LABELS
from analysis.records.case_selection import CaseSelection
from app import address, state
from app.cached.comparisons import all_models_table
from app.cached.figures import drawn
from app.cached.workspace import Ranker, open_workspace
from app.components.chart_table import show_figure, show_wide
from app.components.text import quiet, section
from app.components.toolbar import legend, save_button
from app.pages import WALK
from app.sources import Source
from recap import columns as c
from recap.evaluation.metrics import calibration_error, has_probabilities, reliability_curve
from recap.machine.printable import markdown_text

_DIFFERENCES_PX: Final = 540


def show_differences(source: Source, result: Comparison) -> None:
    section(words.differences_title(result.metric))
    figure = drawn(plot_differences, result.bins, a=result.a, b=result.b, metric=result.metric)
    alt = words.differences_alt(result)
    event = show_wide(figure, "differences", alt, _DIFFERENCES_PX, on_select="rerun", selection_mode="points")
    chosen = next((point["customdata"] for point in event["selection"]["points"] if point.get("customdata")), None)
    if chosen is not None:
        _open_cases(source, CaseSelection.of_bin(*chosen))
    legend(*words.LEGEND)


def _open_cases(source: Source, chosen: CaseSelection) -> None:
    cases = open_workspace(source).cases
    numbers = cases[c.CASE].to_numpy()[chosen.mask(cases)]
    if len(numbers):
        address.go(WALK, state.link_to(source, cases=chosen.text, case=str(numbers[0])))
    st.toast(words.EMPTY_BIN)


def show_seeds(result: Comparison) -> None:
    section("Difference of each seed, points")
    if result.seeds is not None:
        show_figure(drawn(plot_seeds, result.seeds, result.rows), "seeds", words.SEEDS_ALT)
    quiet(markdown_text(words.seeds_line(result)))


def show_reliability(a: Ranker, b: Ranker) -> None:
    """How often the first choices of each side came true, by their probability."""
    known = {side.label: side.records for side in (a, b) if has_probabilities(side.records)}
    section("Can the probabilities be believed?")
    if not known:
        quiet(words.NO_PROBABILITIES)
        return
    curves = {label: reliability_curve(records) for label, records in known.items()}
    show_figure(drawn(plot_reliability, curves), "reliability", words.RELIABILITY_ALT)
    quiet(markdown_text(words.reliability_line({label: calibration_error(curve) for label, curve in curves.items()})))


def show_numbers(result: Comparison) -> None:
    """One row for each group, with its interval, the larger p and the verdict."""
    table = pd.DataFrame([_row(row, result) for row in result.rows.to_dict(orient="records")])
    if state.window_width() != "wide":  # the sentence above has these two
        table = table.drop(
            columns=[
                name for name in table if str(name).strip() in {words.only_title(side) for side in (result.a, result.b)}
            ]
        )
    right = {name: st.column_config.TextColumn(alignment="right") for name in table.columns[1:-1]}
    better = st.column_config.TextColumn(help=tooltip("tie"))
    right["p"] = st.column_config.TextColumn(alignment="right", help=tooltip("mcnemar_p", "sign_flip_p"))
    st.dataframe(
        table,
        hide_index=True,
        key="compare-numbers",
        height="content",
        column_config={"Transitions": st.column_config.TextColumn(width=210), "Better": better, **right},
        alt=words.NUMBERS_ALT,
    )
    quiet(markdown_text(words.cases_sentence(result)))


def _row(row: dict, result: Comparison) -> dict[str, str]:
    cells, metric = words.row_cells(row, result), METRIC_LABELS[result.metric]
    indent = "\u2003" if row["group"] in ("once", "never") else ""
    again = " " if result.a == result.b else ""  # a column needs its own name
    return {
        "Transitions": indent + GROUP_LABELS[row["group"]],
        "Cases": cells["cases"],
        f"{metric}, {result.a}": cells["a"],
        f"{metric}, {result.b}{again}": cells["b"],
        "Points": cells["points"],
        "95 % interval": cells["interval"],
        words.only_title(result.a): cells["only_a"],
        words.only_title(result.b) + again: cells["only_b"],
        "p": cells["p"],
        "Better": cells["better"],
    }


_FORMS: Final = {"markdown": ("Markdown", "md"), "latex": ("LaTeX", "tex"), "csv": ("CSV", "csv")}
"""Name and ending of each form of `write_table`."""


def save_all_models(source: Source, metric: str, against: str) -> None:
    """A button for each form; models whose test cases are not ranked yet are left out."""
    quiet(words.ALL_MODELS)
    intervals = st.toggle(words.INTERVALS, key="all-models-intervals")
    with st.container(horizontal=True):
        for form, (name, ending) in _FORMS.items():
            write = partial(_written, source, form, intervals, metric, against)
            save_button(name, write, f"all-models.{ending}", key=f"all-models-{form}")


def _written(source: Source, form: str, intervals: bool, metric: str, against: str) -> bytes:
    return all_models_table(source, form, intervals=intervals, metric=metric, against=against).encode()
