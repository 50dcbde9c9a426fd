"""What adds up to the score: the contributions of two places in groups, which open to their features."""

import pandas as pd
import streamlit as st

from analysis.explain.explanation import CaseExplanation
from analysis.explain.model_words import curve_label
from analysis.explain.sentences import describe_chart, part_label
from analysis.figures.charts import PLOT_CONFIG
from analysis.figures.contributions import describe_contributions, plot_contributions
from analysis.formatting import signed_points
from app.cached.figures import drawn
from app.components.chart_table import chart_table
from app.components.text import quiet, section
from recap.printable import markdown_text

_CHART, _OPENED = "contributions", "opened_group"


@st.fragment
def show_contributions(shown: CaseExplanation) -> None:
    """The chart; a click on a row opens it."""
    section("What adds up to the score")
    opened = st.session_state.get(_OPENED)
    st.plotly_chart(
        drawn(plot_contributions, shown, opened=opened),
        theme=None,
        config=PLOT_CONFIG,
        key=_CHART,
        on_select=_open,
        selection_mode="points",
        alt=describe_contributions(shown),
    )
    with st.container(horizontal=True, vertical_alignment="center"):
        quiet(markdown_text(describe_chart(shown)), width="content")
        chart_table({"Contributions": _every_feature(shown)}, _CHART)


def _every_feature(shown: CaseExplanation) -> pd.DataFrame:
    """The same numbers, for those who cannot click a row."""
    names = [shown.a.name, shown.b.name if shown.b.name != shown.a.name else f"{shown.b.name} (2)"]
    rows = [
        (part_label(group), curve_label(term), shown.a.terms[term], shown.b.terms[term])
        for group, terms in shown.groups.items()
        for term in terms
        if shown.a.terms[term] or shown.b.terms[term]
    ]
    numbers = [(group, term, signed_points(a), signed_points(b), signed_points(a - b)) for group, term, a, b in rows]
    return pd.DataFrame(numbers, columns=["Group", "Feature", *names, "Difference"])


def _open() -> None:
    """Open the row that was clicked, or close it."""
    clicked = [point.get("customdata") for point in st.session_state[_CHART]["selection"]["points"]]
    groups = [value[0] if isinstance(value, list) else value for value in clicked]
    group = groups[0] if groups else st.session_state.get(_OPENED)  # a second click on a row leaves none selected
    if group:
        st.session_state[_OPENED] = None if group == st.session_state.get(_OPENED) else group
