"""A difference beside that of two seeds, and what exchanging the models' parts does."""

import pandas as pd
import streamlit as st

from analysis.compare import headline
from analysis.compare.comparison import Comparison
from analysis.figures.charts import PLOT_CONFIG
from analysis.figures.compare import plot_seeds
from analysis.formatting import signed
from analysis.records.accuracy import METRIC_LABELS
from app.cached import comparisons
from app.cached.comparisons import Option
from app.cached.figures import drawn
from app.components.chart_table import chart_table
from app.components.text import quiet, section
from app.sources import Source


def show_seeds(found: Comparison) -> None:
    """The difference beside that of two seeds of one model."""
    section("Difference against seeds")
    if found.seeds is None:
        if found.unmeasured_seeds:
            quiet(
                "Seeds are not measured: train the same configuration with other seeds (`recap train --seed`, or "
                "`recap sanity --train-seeds`) and they stand here as one model with its spread."
            )
        else:
            quiet("Neither side was trained with a seed, so there is no spread to hold the difference against.")
        return
    st.plotly_chart(
        drawn(plot_seeds, found.seeds, metric=found.metric),
        theme=None,
        config=PLOT_CONFIG,
        key="seeds",
        alt=headline.seeds_sentence(found),
    )
    quiet("Grey: how far two seeds of the same model differ (95 %). Only what lies outside is a finding.")
    chart_table({"Seeds": found.seeds.drop(columns="each")}, "seeds")


@st.fragment
def show_swap(source: Source, a: Option, b: Option, metric: str) -> None:
    """A's core with B's rest and the other way round, on demand: every case is ranked anew."""
    if a.source is None or b.source is None or a.token == b.token:
        return
    section("Parts exchanged")
    quiet("One model's core score with the other's prior, correction and evidence, over all places.")
    if not st.toggle("Rank the cases with parts exchanged", key="swap", bind="query-params"):
        return
    table = comparisons.swapped(source, a, b, metric)
    labels = {"A": a.label, "B": b.label}
    st.dataframe(
        pd.DataFrame(
            {
                "Core of": table["core_of"].map(labels),
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
        alt="Accuracy of both models and of each one's core with the other's rest",
    )
    quiet(
        "The parts were trained together: an exchange shows where points come from, not what training alone would give."
    )
