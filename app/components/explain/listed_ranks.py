"""Explain for imported predictions: the ranks of one list, which has no contributions and cannot be re-ranked."""

import math

import numpy as np
import pandas as pd
import streamlit as st

from analysis.explain.sentences import describe_listed
from analysis.formatting import points
from analysis.glossary import TERMS, tooltip
from app.cached.explanations import predict
from app.cached.workspace import model_label, open_workspace
from app.components.explain.case_picker import case_picker
from app.components.imported import imported_sentence
from app.components.text import quiet, section, shown_sentence
from app.components.toolbar import download_buttons, source_picker, truth_toggle
from app.sources import Source
from recap import columns as c
from recap.printable import markdown_text

_LISTED = 20


def show_listed_ranks(source: Source, case: int) -> None:
    """The whole page."""
    opened = open_workspace(source)
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
        case_picker(source, case)
        st.space("stretch")
        more = st.popover("", icon=":material/tune:", key="more", help="Model, truth, files")
    with more:
        source_picker(source, lists=True)
        show_truth = truth_toggle()
    prediction = predict(source, case, _LISTED)
    if not show_truth:  # the only place where they meet: nothing below knows the truth
        prediction = prediction.without_truth()
    best = prediction.candidates.head(prediction.num_best)
    with more:
        download_buttons({"Best places": best}, source=source, key="explain")
    names = best["name"].astype(str).tolist()
    truth = opened.labels[int(prediction.case[c.TARGET])] if show_truth else None
    rank = prediction.target_rank
    said = describe_listed(model_label(source), truth, None if math.isnan(rank) else rank, names)
    st.title(shown_sentence(said, {"target": "orange", "runner_up": "blue"}), anchor=False)
    st.markdown(f"From {markdown_text(opened.labels[int(prediction.case[c.SOURCE])])}.")
    quiet(imported_sentence(source, case))
    section("Best places")
    chips = (TERMS["revisit"].word, TERMS["in_token"].word)
    marked = zip(best["truth"], names, strict=True)
    st.dataframe(
        pd.DataFrame(
            {
                "Rank": _ranks(best[c.SCORE].to_numpy(float)),
                "Place": [f"{'◎ ' if is_truth else ''}{place}" for is_truth, place in marked],
                "Score": best[c.SCORE].map(points),
                "Known by": [
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
            "Known by": st.column_config.MultiselectColumn(
                width=150, options=list(chips), color=["violet", "green"], help=tooltip("revisit", "in_token")
            ),
            "km": st.column_config.NumberColumn(format="%.1f", width=60, help="From the current place."),
        },
        alt="The places of the imported list; ◎ is the true next place",
    )
    tied = "Equal scores share their ranks. " if best[c.SCORE].duplicated().any() else ""
    quiet(f"{tied}Ranks and scores come from the list; visits, paths and distances from the dataset.")


def _ranks(scores: np.ndarray) -> list[str]:
    """The rank of each place of a list, or the ranks that it shares with others of the same score.

    >>> _ranks(np.array([9.0, 3.0, 3.0, 1.0]))
    ['1', '2–3', '2–3', '4']
    """
    first = [1 + int((scores > score).sum()) for score in scores]
    last = [int((scores >= score).sum()) for score in scores]
    return [str(low) if low == high else f"{low}–{high}" for low, high in zip(first, last, strict=True)]
