"""A difference beside that of two seeds of one model."""

import streamlit as st

from analysis.compare import headline
from analysis.compare.comparison import Comparison
from analysis.figures.charts import PLOT_CONFIG
from analysis.figures.compare import plot_seeds
from app import state
from app.cached.figures import drawn
from app.components.chart_table import chart_table
from app.components.text import quiet, section


def show_seeds(found: Comparison) -> None:
    """The difference beside that of two seeds of one model."""
    words = state.words()
    section(words.say("seeds_title"))
    if found.seeds is None:
        quiet(words.say("seeds_unmeasured" if found.unmeasured_seeds else "seeds_none"))
        return
    st.plotly_chart(
        drawn(plot_seeds, found.seeds, metric=found.metric, each=words.say("each_seed")),
        theme=None,
        config=PLOT_CONFIG,
        key="seeds",
        alt=words.sentence(headline.seeds_sentence(found)),
    )
    quiet(words.say("seeds_note"))
    chart_table({words.say("form_seeds"): found.seeds.drop(columns="each")}, "seeds")
