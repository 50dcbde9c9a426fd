"""Is it stable?: three robustness checks of each contribution, in one table."""

import pandas as pd
import streamlit as st

from analysis.explain.explanation import FullExplanation
from analysis.explain.robustness import EXPLAINED, describe_checks
from app import state
from app.cached import explanations
from app.components.text import quiet, section
from app.sources import Source


def show_stability(source: Source, shown: FullExplanation) -> None:
    """The finding, the table, and a sentence on each check."""
    words = state.words()
    section("Is it stable?")
    with st.spinner("Running the robustness checks"):
        checks = explanations.check(source, shown)
    named = [check.model_copy(update={"label": words.row(check.row, check.label)}) for check in checks]
    st.markdown(words.sentence(describe_checks(named)))
    lines = [{words.sentence(name): words.sentence(cell) for name, cell in check.cells.items()} for check in named]
    st.dataframe(pd.DataFrame(lines), hide_index=True, key="robustness", height="content")
    quiet("  \n".join(words.sentence(f"{name}: {sentence}") for name, sentence in EXPLAINED.items()))
