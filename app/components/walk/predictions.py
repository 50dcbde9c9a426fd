"""The list of predictions beside the map: ranks, probabilities, distance, and one place's score in parts."""

import math
from functools import partial

import pandas as pd
import streamlit as st

from analysis.formatting import day, ordinal, points, rank_number, signed, times
from analysis.glossary import TERMS, tooltip
from analysis.phrases import phrase
from analysis.trajectories.predictions import CasePrediction
from analysis.trajectories.trajectory import Trajectory
from app import state
from app.cached import explanations
from app.components.imported import imported_sentence
from app.components.text import quiet
from app.sources import Source
from recap import columns as c
from recap.printable import markdown_text

CHIP_COLOURS = ("violet", "green", "gray")
REACH_HELP = tooltip("revisit", "in_token", c.WITHIN_TWO_HOPS)


def show_predictions(
    source: Source, trajectory: Trajectory, prediction: CasePrediction, picked: int | None, show_truth: bool
) -> None:
    """Facts about the truth, the list, and the score parts of the place that was picked on the map or in the list."""
    case = prediction.case
    stop = trajectory.stop_of(int(case[c.CASE]))
    when = trajectory.stops["local_time"].iloc[stop - 1]
    quiet(f"{day(when)}, {when:%H:%M}. Stop {stop} of {len(trajectory.stops)}. The true next place:")
    told = "?", "?", "?"
    if show_truth:
        markov = explanations.markov_rank(source, int(case[c.CASE]))
        rank = "not listed" if math.isnan(prediction.target_rank) else ordinal(prediction.target_rank)
        told = rank, ordinal(markov), times(int(case[c.TRANSITION_COUNT]))
    with st.container(horizontal=True, gap="medium"):
        for label, value in zip(("Rank", "Markov rank", "Seen in training"), told, strict=True):
            st.metric(label, value, width="content")
    listed = prediction.candidates
    pois = [int(poi) for poi in listed[c.POI]]
    st.dataframe(
        _shown(listed),
        hide_index=True,
        column_config=_columns(listed),
        selection_mode="single-row",  # a cell would be chosen by Tab already
        on_select=partial(_choose, int(case[c.CASE]), pois),  # before the map is drawn, which marks it
        key="list",
        height="content",
        alt="The best predictions with rank, the model's share, reach and distance",
    )
    quiet(_parts_sentence(prediction, picked))
    if source.imported is not None:
        quiet(imported_sentence(source, int(case[c.CASE])))


def _choose(case: int, pois: list[int]) -> None:
    """A row of the list was ticked."""
    rows = st.session_state["list"]["selection"]["rows"]
    if rows and int(rows[0]) < len(pois):
        state.choose_place(case, pois[int(rows[0])])


def _shown(listed: pd.DataFrame) -> pd.DataFrame:
    marks = ["◎ " if truth else "" for truth in listed["truth"]]
    has_probability = listed["probability"].notna().all()
    return pd.DataFrame(
        {
            c.RANK: listed[c.RANK].map(rank_number),
            "name": [mark + name for mark, name in zip(marks, listed["name"], strict=True)],
            "value": 100 * listed["probability"] if has_probability else _scores(listed),
            "km": listed["distance_km"],
            "reach": [
                _chips(revisit, near, exact)
                for revisit, near, exact in zip(
                    listed["revisit"], listed[c.WITHIN_TWO_HOPS], listed["in_token"], strict=True
                )
            ],
        }
    )


def _chips(revisit: bool, within_two_hops: bool, in_token: bool) -> list[str]:
    path = [phrase("chip_two")] if in_token else [phrase("chip_one")] if within_two_hops else []
    return (["Revisit"] if revisit else []) + path


def _columns(listed: pd.DataFrame) -> dict:
    has_probability = listed["probability"].notna().all()
    top = float(100 * listed["probability"].max()) if has_probability else 1.0
    value = (
        st.column_config.ProgressColumn(
            "Share",
            format="%.1f %%",
            min_value=0,
            max_value=max(top, 1e-6),
            color="blue",
            width=100,
            help=tooltip("model_share"),
        )
        if has_probability
        else st.column_config.NumberColumn("Score", format="%.2f", width=100, help="As it is given; no share.")
        if listed[c.SCORE].notna().all()
        else st.column_config.TextColumn("Score", width=100, alignment="right", help="As it is given; no share.")
    )
    return {
        "rank": st.column_config.TextColumn("#", width=40, alignment="right"),
        "name": st.column_config.TextColumn("Place", width=163),
        "value": value,
        "km": st.column_config.NumberColumn("km", format="%.1f", width=55, help="From the current place."),
        "reach": st.column_config.MultiselectColumn(
            "Reach",
            options=["Revisit", phrase("chip_two"), phrase("chip_one")],
            color=list(CHIP_COLOURS),
            help=REACH_HELP,
        ),
    }


def _parts_sentence(prediction: CasePrediction, picked: int | None) -> str:
    """One place's score as a sum: the picked one, else the truth, else the best."""
    table = prediction.candidates
    rows = table[table[c.POI] == picked] if picked is not None else table[table["truth"]]
    if rows.empty:
        rows = table.head(1)
    row = rows.iloc[0]
    if math.isnan(row[c.SCORE]):
        return f"{markdown_text(str(row['name']))} is not in the list: neither its rank nor its score is known."
    parts = {name: float(row[column]) for name, column in c.part_columns(table.columns).items()}
    if len(parts) < 2:
        return f"{markdown_text(str(row['name']))}: score {points(row[c.SCORE])}, one number."
    terms = " ".join(f"{signed(value, 2)} {_part(name)}" for name, value in parts.items())
    return (
        markdown_text(str(row["name"]))
        + ": "
        + markdown_text(f"{terms.removeprefix('+')} = {points(row[c.SCORE])}")
        + ", rounded."
    )


def _scores(listed: pd.DataFrame) -> pd.Series:
    """Scores; in words where one is not known, since a table shows a missing number as "None"."""
    known = listed[c.SCORE].notna()
    return listed[c.SCORE] if known.all() else listed[c.SCORE].map(points, na_action="ignore").where(known, "–")


def _part(name: str) -> str:
    """A part of a score inside the sum; parts of counters are no terms."""
    return TERMS[name].word.lower() if name in TERMS else name.replace("_", " ")
