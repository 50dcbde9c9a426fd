"""Explain for imported predictions: the ranks of one list. They hold no sums, and nothing can be ranked anew."""

import math

import pandas as pd
import streamlit as st

from analysis.formatting import ordinal, points, rank_number
from app import state
from app.cached import datasets
from app.cached.models import predict
from app.components.explain.case_input import case_input
from app.components.imported import imported_sentence
from app.components.text import quiet, section
from app.components.toolbar import downloads, register_control, source_picker, truth_toggle
from app.sources import Source
from recap import columns as c
from recap.printable import markdown_text

_LISTED = 20


def show_listed_ranks(source: Source) -> None:
    """The whole page."""
    opened = datasets.open_dataset(source)
    case = state.current_case(len(opened.cases))
    with st.container(horizontal=True, vertical_alignment="center"):
        case_input(len(opened.cases))
        show_truth = truth_toggle()
        with st.popover("More", icon=":material/tune:", type="tertiary"):
            source_picker(source, lists=True)
            register_control()
        st.space("stretch")
        exports = st.container(horizontal=True, width="content", vertical_alignment="center")
    prediction = predict(source, case, _LISTED)
    if not show_truth:  # the only place where they meet: nothing below knows the truth
        prediction = prediction.without_truth()
    best = prediction.candidates.head(prediction.num_best)
    with exports:
        downloads({"Best places": best}, source=source, key="explain")
    name = markdown_text(datasets.model_label(source))
    here = markdown_text(opened.labels[int(prediction.case[c.SOURCE])])
    first = "" if best.empty else f" First is {markdown_text(str(best['name'].iloc[0]))}."
    if show_truth:
        truth = markdown_text(opened.labels[int(prediction.case[c.TARGET])])
        rank = prediction.target_rank
        told = f"not in the list of {name}" if math.isnan(rank) else f"{ordinal(rank)} in the list of {name}"
        st.title(f":orange[{truth}] is {told}", anchor=False)
    else:
        st.title(f"The list of {name}", anchor=False)
    st.markdown(f"From {here}.{first}")
    quiet(imported_sentence(source, case))
    section("Best places")
    st.dataframe(
        pd.DataFrame(
            {
                "Rank": best[c.RANK].map(rank_number),
                "Place": [
                    f"{'◎ ' if truth else ''}{place}" for truth, place in zip(best["truth"], best["name"], strict=True)
                ],
                "Score": best[c.SCORE].map(points),
                "Visited before": ["yes" if revisit else "" for revisit in best["revisit"]],
                state.words().say("chip_two"): ["yes" if near else "" for near in best["in_token"]],
                "km": best["distance_km"],
            }
        ),
        hide_index=True,
        key="listed-best",
        height="content",
        column_config={
            "Rank": st.column_config.TextColumn(width=60, alignment="right"),
            "Score": st.column_config.TextColumn(alignment="right"),
            "km": st.column_config.NumberColumn(format="%.1f", width=60, help="From the current place."),
        },
        alt="The places of the imported list; ◎ is the true next place",
    )
    quiet("Ranks and scores are the list's; visits, paths and distances are counted here, from the dataset.")
