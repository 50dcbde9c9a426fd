"""Explain without contributions: a published model's ranks and what changes them; imported predictions' ranks."""

import math
from datetime import datetime

import pandas as pd
import streamlit as st

from analysis.explain import sentences
from analysis.explain.case_words import describe_ranks
from analysis.explain.edits import write_edits
from analysis.explain.ranks_only import RanksOnly
from analysis.explain.sentences import describe_listed, from_line
from analysis.formatting import day, ordinal, points
from app.cached import explanations
from app.cached.explanations import predict
from app.cached.workspace import model_label, open_workspace
from app.components.explain.case_picker import case_bar
from app.components.explain.what_if import Edits, clock, current_edits, undo, visits_table
from app.components.text import quiet, say_once, section, shown_sentence
from app.components.toolbar import open_case_button
from app.components.walk.predictions import imported_sentence
from app.pages import WALK
from app.sources import Source
from recap import columns as c
from recap.history.moments import Moment

_SIDE, _HEIGHT = 330, 360


def show_ranks_only(source: Source, moment: Moment) -> None:
    edits = current_edits(source, moment)
    hide_truth = not case_bar(source, moment)
    before = shown = explanations.explain_ranks(source, moment, hide_truth=hide_truth)
    if edits:
        shown = explanations.explain_ranks(
            source, moment, about=before.about.poi, edits=write_edits(edits), hide_truth=hide_truth
        )
    with st.container():
        st.title(shown_sentence(describe_ranks(shown), {"target": "orange", "runner_up": "blue"}), anchor=False)
        st.markdown(sentences.ranks_only_line(shown.source, shown.model))
    halves = st.grid(2, min_column_width=_SIDE)
    with halves.cell():
        section("Best places")
        st.dataframe(_best(shown), hide_index=True, key="ranks-best", height=_HEIGHT, alt="The model's best places")
    with halves.cell(), st.container(border=True, key="tray"):
        _tray(source, moment, before, shown, edits)


def _best(shown: RanksOnly) -> pd.DataFrame:
    rows = [
        {
            "Rank": ordinal(place.rank),
            "Place": f"{'◎ ' * (place.poi == shown.truth)}{place.name}",
            "Score": points(place.score),
        }
        for place in shown.best
    ]
    return pd.DataFrame(rows)


def _tray(source: Source, moment: Moment, before: RanksOnly, shown: RanksOnly, edits: Edits) -> None:
    section("What if")
    rank = ordinal(shown.about.rank)
    was = f"{ordinal(before.about.rank)} → " if edits else ""
    st.metric(sentences.rank_in_words(shown.about.name), was + rank)
    clock(source, moment, before.local_time, shown.local_time)
    now = {entry.visit: ordinal(entry.rank_without) for entry in shown.removed}
    rows = [
        {"Visit": entry.name, "When": f"{day(moment)}, {moment:%H:%M}", "Rank without it": now.get(entry.visit, "–")}
        for entry in before.removed
        for moment in [datetime.fromisoformat(entry.local_time)]
    ]
    if rows:
        numbers = [entry.visit for entry in before.removed]
        visits_table(source, moment, edits, numbers, rows, "ranks-left-out", height=200)
    undo(source, moment, edits, sentences.tick_a_visit(shown.num_places))
    say_once("edit_refused")


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
    sentence = describe_listed(model_label(source), truth, None if math.isnan(rank) else rank, names)
    st.title(shown_sentence(sentence, {"target": "orange", "runner_up": "blue"}), anchor=False)
    st.markdown(from_line(opened.labels[int(prediction.case[c.SOURCE])]))
    quiet(imported_sentence(source, case.case))
    open_case_button(WALK, source, case, key="walk")
