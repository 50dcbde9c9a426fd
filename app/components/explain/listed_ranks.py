"""Explain for imported predictions, which only have ranks."""

import math

import streamlit as st

from analysis.explain.sentences import describe_listed, from_line
from app.cached.explanations import predict
from app.cached.workspace import model_label, open_workspace
from app.components.explain.case_picker import case_bar
from app.components.imported import imported_sentence
from app.components.text import quiet, shown_sentence
from app.components.toolbar import open_case_button
from app.pages import WALK
from app.sources import Source
from recap import columns as c
from recap.history.moments import Moment


def show_listed_ranks(source: Source, case: Moment) -> None:
    assert case.case is not None
    opened = open_workspace(source)
    show_truth = case_bar(source, case)
    prediction = predict(source, case)
    if not show_truth:  # from here on, nothing knows the truth
        prediction = prediction.without_truth()
    names = prediction.candidates["name"].head(prediction.num_best).astype(str).tolist()
    truth = opened.labels[int(prediction.case[c.TARGET])] if show_truth else None
    rank = prediction.target_rank
    said = describe_listed(model_label(source), truth, None if math.isnan(rank) else rank, names)
    st.title(shown_sentence(said, {"target": "orange", "runner_up": "blue"}), anchor=False)
    st.markdown(from_line(opened.labels[int(prediction.case[c.SOURCE])]))
    quiet(imported_sentence(source, case.case))
    open_case_button(WALK, source, case, key="walk")
