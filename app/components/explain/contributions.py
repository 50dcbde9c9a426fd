"""What adds up to the score: the contributions of two places in groups, which open to their terms."""

import pandas as pd
import streamlit as st

from analysis.explain.explanation import CaseExplanation
from analysis.explain.sentences import part_label
from analysis.figures.charts import PLOT_CONFIG
from analysis.figures.contributions import describe_contributions, plot_contributions
from analysis.formatting import signed, signed_points
from app.cached.figures import drawn
from app.components.text import quiet, section
from recap.printable import markdown_text


def show_contributions(shown: CaseExplanation) -> None:
    """The chart, and a table of all terms."""
    section("What adds up to the score")
    st.plotly_chart(
        drawn(plot_contributions, shown),
        theme=None,
        config=PLOT_CONFIG,
        key="contributions",
        alt=describe_contributions(shown),
    )
    gates = [f"{entry.name} {signed(entry.gate, 2)}" for entry in (shown.a, shown.b) if entry.gate is not None]
    quiet("The rows sum to the score." + (f" Gate: {markdown_text(', '.join(gates))}." if gates else ""))
    if shown.inactive:
        quiet(f"Inactive at this epoch: {', '.join(shown.inactive).replace('_', ' ')}.")
    rows = [
        {
            "Group": part_label(group),
            "Feature": term.replace("_", " "),
            shown.a.name: signed_points(shown.a.terms[term]),
            f"{shown.b.name}{' ' * (shown.a.name == shown.b.name)}": signed_points(shown.b.terms[term]),
            "Difference": signed_points(shown.a.terms[term] - shown.b.terms[term]),
        }
        for group, terms in shown.groups.items()
        for term in terms
        if shown.a.terms[term] or shown.b.terms[term]
    ]
    with st.expander("Every feature"):
        st.dataframe(pd.DataFrame(rows), hide_index=True, key="terms")
