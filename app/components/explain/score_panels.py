"""The ledger: the score parts of two places and their difference, side by side or, where it is narrow, stacked."""

import streamlit as st

from analysis.explain.explanation import FullExplanation
from analysis.figures.charts import PLOT_CONFIG
from analysis.figures.score_parts import describe_score_parts, score_panels
from app.cached.figures import drawn

_NARROWEST = 150


def show_score_panels(shown: FullExplanation, key: str) -> None:
    """Three panels on one scale."""
    figures, told = drawn(score_panels, shown), describe_score_parts(shown)
    with st.container(key=key):
        grid = st.grid(3, min_column_width=_NARROWEST)
        for name, figure, alt in zip(("target", "rival", "difference"), figures, told, strict=True):
            with grid.cell():
                st.plotly_chart(figure, theme=None, config=PLOT_CONFIG, key=f"{key}-{name}", alt=alt)
