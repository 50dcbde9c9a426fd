"""The two figures of Compare whose marks open cases: differences by bin or cohort, and the 2x2 of hits."""

import pandas as pd
import streamlit as st

from analysis.compare import headline
from analysis.compare.cells import CELLS
from analysis.compare.comparison import Comparison
from analysis.figures.charts import PLOT_CONFIG
from analysis.figures.compare import plot_cohort_differences, plot_differences, plot_hits
from analysis.records.accuracy import METRIC_LABELS
from analysis.records.case_selection import CaseSelection
from app import state
from app.cached.figures import drawn
from app.components.chart_table import chart_table
from app.components.text import quiet, section
from app.components.toolbar import legend
from app.components.walk.open_cases import open_cases
from app.sources import Source
from recap import columns as c
from recap.printable import markdown_text

FIGURES = {"steps": "By step count", "evidence": "Figure 7: by evidence"}


def show_differences(source: Source, found: Comparison) -> None:
    """Differences by step count, or the paper's Figure 7."""
    with st.container(horizontal=True, vertical_alignment="center"):
        section(f"Difference in {METRIC_LABELS[found.metric]}")
        st.space("stretch")
        shown = st.segmented_control(
            "Figure",
            list(FIGURES),
            default="steps",
            required=True,
            format_func=FIGURES.__getitem__,
            key="figure",
            bind="query-params",
            label_visibility="collapsed",
        )
    if shown == "evidence":
        _cohorts(source, found)
        return
    a, b = found.names
    event = st.plotly_chart(
        drawn(plot_differences, found.bins, a=a, b=b, metric=found.metric),
        theme=None,
        config=PLOT_CONFIG,
        key="differences",
        on_select="rerun",
        selection_mode="points",
        alt=f"{found.b} minus {found.a} by how often the step occurred in training, with 95 % intervals",
    )
    chosen = _clicked(event)
    if chosen is not None:
        _open_bin(source, found.bins, next(i for i, low in enumerate(found.bins["low_count"]) if low == chosen[1]))
    legend(
        ":blue[●] :gray[interval excludes 0]",
        ":gray[○ interval holds 0]",
        ":gray[Paired by case; lines are 95 % intervals over walkers. One in twenty excludes 0 by chance.]",
    )
    chart_table({"Bins": found.bins}, "differences", lambda _, row: _open_bin(source, found.bins, row))


def _cohorts(source: Source, found: Comparison) -> None:
    words = state.words()
    event = st.plotly_chart(
        drawn(
            plot_cohort_differences,
            found.cohorts,
            within=words.say("inside_two_hops"),
            beyond=words.say("beyond_two_hops"),
        ),
        theme=None,
        config=PLOT_CONFIG,
        key="cohort-differences",
        on_select="rerun",
        selection_mode="points",
        alt=words.sentence(
            f"{found.b} minus {found.a} over tail cases by own history and two hops, with 95 % intervals"
        ),
    )
    chosen = _clicked(event)
    if chosen is not None:
        open_cases(source, CaseSelection.of_cohort(chosen[0], chosen[1], 1))
    quiet(
        f"Tail cases: {markdown_text(found.names[0])} → {markdown_text(found.names[1])}. Cells say where the true "
        "place lies, not what found it. Filled: clear by interval and tests. Click a cell, or tick its row in the "
        "table, to open them."
    )

    def open_cohort(_: str, row: int) -> None:
        picked = found.cohorts.iloc[row]
        open_cases(source, CaseSelection.of_cohort(bool(picked[c.IN_HISTORY]), bool(picked[c.WITHIN_TWO_HOPS]), 1))

    chart_table({"Cohorts": found.cohorts}, "cohort-differences", open_cohort)


def show_cells(found: Comparison, cell: str) -> str:
    """The 2x2; a click chooses the list below."""
    with st.container(horizontal=True, vertical_alignment="center"):
        section("Who finds which case")
        st.space("stretch")
        chart_table({"Hits": found.rows[["group", "n", *CELLS]]}, "hits")
    event = st.plotly_chart(
        drawn(plot_hits, found.rows.iloc[[0]], a=found.names[0], b=found.names[1], chosen=cell),
        theme=None,
        config=PLOT_CONFIG,
        key="hits",
        on_select="rerun",
        selection_mode="points",
        alt=headline.cells_sentence(found),
    )
    chosen = _clicked(event)
    if chosen is not None and st.session_state.get("_clicked_cell") != chosen[0]:
        st.session_state["cell"] = chosen[0]
        st.session_state["_clicked_cell"] = chosen[0]
        st.rerun()
    if chosen is None:
        st.session_state["_clicked_cell"] = None
    row = found.row("all")
    within = f"Found: the true place is among the first {found.k}." if found.k > 1 else "Found: it is the first."
    quiet(
        f"{within} {int(row['only_b']):,} against {int(row['only_a']):,}: exact McNemar p = "
        f"{headline.p_value(row['mcnemar_p'])}. A cell lists its cases below."
    )
    return cell


def _clicked(event: dict) -> list | None:
    points = event["selection"]["points"] if event else []
    return next((point["customdata"] for point in points if point.get("customdata")), None)


def _open_bin(source: Source, bins: pd.DataFrame, row: int) -> None:
    chosen = bins.iloc[row]
    open_cases(source, CaseSelection.of_bin(c.TRANSITION_COUNT, int(chosen["low_count"]), int(chosen["high_count"])))
