"""Explain for imported predictions: the ranks of one list. They hold no sums, and nothing can be ranked again."""

import math

import numpy as np
import pandas as pd
import streamlit as st

from analysis.formatting import ordinal, points
from analysis.glossary import tooltip
from analysis.phrases import phrase
from app import state
from app.cached.explanations import predict
from app.cached.workspace import model_label, open_workspace
from app.components.explain.case_input import case_input
from app.components.imported import imported_sentence
from app.components.text import quiet, section
from app.components.toolbar import downloads, source_picker, truth_toggle
from app.sources import Source
from recap import columns as c
from recap.printable import markdown_text

_LISTED = 20


def show_listed_ranks(source: Source) -> None:
    """The whole page."""
    opened = open_workspace(source)
    case = state.current_case(len(opened.cases))
    with st.container(horizontal=True, vertical_alignment="center"):
        case_input(len(opened.cases))
        show_truth = truth_toggle()
        with st.popover("More", icon=":material/tune:", type="tertiary"):
            source_picker(source, lists=True)
        st.space("stretch")
        exports = st.container(horizontal=True, width="content", vertical_alignment="center")
    prediction = predict(source, case, _LISTED)
    if not show_truth:  # the only place where they meet: nothing below knows the truth
        prediction = prediction.without_truth()
    best = prediction.candidates.head(prediction.num_best)
    with exports:
        downloads(lambda: {"Best places": best}, source=source, key="explain")
    name = markdown_text(model_label(source))
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
    chips = ("Revisit", phrase("chip_two"))
    st.dataframe(
        pd.DataFrame(
            {
                "Rank": _ranks(best[c.SCORE].to_numpy(float)),
                "Place": [
                    f"{'◎ ' if truth else ''}{place}" for truth, place in zip(best["truth"], best["name"], strict=True)
                ],
                "Score": best[c.SCORE].map(points),
                "Evidence": [
                    [chip for chip, there in zip(chips, pair, strict=True) if there]
                    for pair in zip(best["revisit"], best["in_token"], strict=True)
                ],
                "km": best["distance_km"],
            }
        ),
        hide_index=True,
        key="listed-best",
        width="content",
        height="content",
        column_config={
            "Rank": st.column_config.TextColumn(width=70, alignment="right"),
            "Place": st.column_config.TextColumn(width=300),
            "Score": st.column_config.TextColumn(width=90, alignment="right"),
            "Evidence": st.column_config.MultiselectColumn(
                width=150, options=list(chips), color=["violet", "green"], help=tooltip("revisit", "in_token")
            ),
            "km": st.column_config.NumberColumn(format="%.1f", width=60, help="From the current place."),
        },
        alt="The places of the imported list; ◎ is the true next place",
    )
    tied = "Equal scores share their ranks; the heading gives their mean. " if best[c.SCORE].duplicated().any() else ""
    quiet(f"{tied}Ranks and scores are the list's; visits, paths and distances are counted here, from the dataset.")


def _ranks(scores: np.ndarray) -> list[str]:
    """The rank of each place of a list, or the ranks that it shares with others of the same score.

    >>> _ranks(np.array([9.0, 3.0, 3.0, 1.0]))
    ['1', '2–3', '2–3', '4']
    """
    first = [1 + int((scores > score).sum()) for score in scores]
    last = [int((scores >= score).sum()) for score in scores]
    return [str(low) if low == high else f"{low}–{high}" for low, high in zip(first, last, strict=True)]
