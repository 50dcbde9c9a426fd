"""Is it stable?: three robustness checks of each contribution, in one table."""

import pandas as pd
import streamlit as st

from analysis.explain.explanation import FullExplanation
from analysis.explain.robustness import EXPLAINED, describe_checks
from app.cached import explanations
from app.components.text import quiet, section
from app.sources import Source


def show_stability(source: Source, shown: FullExplanation) -> None:
    """The finding, the table, and a sentence on each check."""
    section("Is it stable?")
    with st.spinner("Running the robustness checks"):
        checks = explanations.check(source, shown)
    st.markdown(describe_checks(checks))
    lines = [check.cells for check in checks]
    st.dataframe(pd.DataFrame(lines), hide_index=True, key="robustness", height="content")
    quiet("  \n".join(f"{name}: {sentence}" for name, sentence in EXPLAINED.items()))
