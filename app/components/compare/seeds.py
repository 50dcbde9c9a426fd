"""A difference beside that of two seeds, and what exchanging the models' parts does."""

import pandas as pd
import streamlit as st

from analysis.compare import headline
from analysis.compare.comparison import Comparison
from analysis.figures.charts import PLOT_CONFIG
from analysis.figures.compare import plot_seeds
from analysis.formatting import signed
from analysis.records.accuracy import METRIC_LABELS
from app import state
from app.cached import comparisons
from app.cached.comparisons import Option
from app.cached.figures import drawn
from app.components.chart_table import chart_table
from app.components.text import quiet, section
from app.sources import Source


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


@st.fragment
def show_swap(source: Source, a: Option, b: Option, metric: str) -> None:
    """A's core with B's rest and the other way round, on demand: every case is ranked anew."""
    if a.source is None or b.source is None or a.token == b.token:
        return
    section("Parts exchanged")
    words = state.words()
    quiet(words.say("swap_note"))
    if not st.toggle("Rank the cases with parts exchanged", key="swap", bind="query-params"):
        return
    table = comparisons.swapped(source, a, b, metric)
    labels = {"A": words.sentence(a.label), "B": words.sentence(b.label)}
    st.dataframe(
        pd.DataFrame(
            {
                words.say("swap_core"): table["core_of"].map(labels),
                "Rest of": table["rest_of"].map(labels),
                METRIC_LABELS[metric]: table["value"].map("{:.3f}".format),
                "Against A": table["against_a"].map(signed),
                "95 % over walkers": [
                    f"[{signed(low)}, {signed(high)}]" for low, high in zip(table["low"], table["high"], strict=True)
                ],
                "Sign-flip p": table["sign_flip_p"].map(headline.p_value),
            }
        ),
        hide_index=True,
        key="swap-table",
        height="content",
        alt="Accuracy of both models and with their parts exchanged",
    )
    quiet(
        "The parts were trained together: an exchange shows where points come from, not what training alone would give."
    )
