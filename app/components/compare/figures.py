"""The figure of Compare: differences by how often the transition was seen; a mark opens its cases."""

import pandas as pd
import streamlit as st

from analysis.compare.comparison import Comparison
from analysis.figures.charts import PLOT_CONFIG
from analysis.figures.compare import plot_differences
from analysis.records.accuracy import METRIC_LABELS
from analysis.records.case_selection import CaseSelection
from app.cached.figures import drawn
from app.components.chart_table import chart_table
from app.components.text import section
from app.components.toolbar import legend
from app.components.walk.open_cases import open_cases
from app.sources import Source
from recap import columns as c


def show_differences(source: Source, found: Comparison) -> None:
    """B minus A in each bin of the transition count."""
    section(f"Difference in {METRIC_LABELS[found.metric]}")
    a, b = found.names
    event = st.plotly_chart(
        drawn(plot_differences, found.bins, a=a, b=b, metric=found.metric),
        theme=None,
        config=PLOT_CONFIG,
        key="differences",
        on_select="rerun",
        selection_mode="points",
        alt=f"{found.b} minus {found.a} by how often the transition occurred in training, with 95 % intervals",
    )
    points = event["selection"]["points"] if event else []
    chosen = next((point["customdata"] for point in points if point.get("customdata")), None)
    if chosen is not None:
        open_cases(source, CaseSelection.of_bin(*chosen))
    legend(
        ":blue[●] :gray[interval excludes 0]",
        ":gray[○ interval holds 0]",
        ":gray[Paired by case; lines are 95 % intervals over users. One in twenty excludes 0 by chance.]",
    )
    chart_table({"Bins": found.bins}, "differences", lambda _, row: _open_bin(source, found.bins, row))


def _open_bin(source: Source, bins: pd.DataFrame, row: int) -> None:
    chosen = bins.iloc[row]
    open_cases(source, CaseSelection.of_bin(c.TRANSITION_COUNT, int(chosen["low_count"]), int(chosen["high_count"])))
