"""Explain for a published model: ranks, and how another time or a missing visit changes them."""

from datetime import datetime

import pandas as pd
import streamlit as st

from analysis.explain import sentences
from analysis.explain.case_words import describe_ranks
from analysis.explain.edits import write_edits
from analysis.explain.ranks_only import RanksOnly
from analysis.formatting import day, ordinal, points
from app.cached import explanations
from app.components.explain.case_picker import case_bar
from app.components.explain.what_if import Edits, clock, current_edits, undo, visits_table
from app.components.text import say_once, section, shown_sentence
from app.sources import Source
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
