"""The contributions of two places in groups, which open to their features."""

import pandas as pd
import streamlit as st

from analysis.explain.case_words import describe_chart
from analysis.explain.explanation import CaseExplanation
from analysis.explain.model_words import curve_label
from analysis.explain.sentences import SCORE_TITLE
from analysis.figures.contributions import contributions_height, describe_contributions, draw_contributions
from analysis.formatting import signed_points
from analysis.records.ablations import part_label
from app import state
from app.components.chart_table import chart_table
from app.components.picture import show_picture
from app.components.text import quiet, section
from recap.machine.printable import markdown_text

_CHART, _OPENED = "contributions", "opened_group"


@st.fragment
def show_contributions(shown: CaseExplanation) -> None:
    """The chart; a click on a row opens or closes it."""
    section(SCORE_TITLE)
    opened = st.session_state.setdefault(_OPENED, set())
    show_picture(
        draw_contributions(shown, state.theme_palette(), opened=opened),
        _CHART,
        height=contributions_height(shown, opened),
        alt=describe_contributions(shown),
        on_pick=lambda group: opened.symmetric_difference_update({group}),
    )
    with st.container(horizontal=True, vertical_alignment="center"):
        quiet(markdown_text(describe_chart(shown)), width="content")
        chart_table({"Contributions": every_feature(shown)}, _CHART)


def every_feature(shown: CaseExplanation) -> pd.DataFrame:
    """The numbers of the chart as a table."""
    names = [shown.a.name, shown.b.name if shown.b.name != shown.a.name else f"{shown.b.name} (2)"]
    rows = [
        (part_label(group), curve_label(term), shown.a.terms[term], shown.b.terms[term])
        for group, terms in shown.groups.items()
        for term in terms
        if shown.a.terms[term] or shown.b.terms[term]
    ]
    numbers = [(group, term, signed_points(a), signed_points(b), signed_points(a - b)) for group, term, a, b in rows]
    return pd.DataFrame(numbers, columns=["Group", "Feature", *names, "Difference"])
