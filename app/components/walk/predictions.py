"""The list of predictions beside the map: ranks, probabilities, evidence, distance, and one place's score in parts."""

import pandas as pd
import streamlit as st

from analysis.formatting import day, ordinal, signed, times
from analysis.glossary import tooltip
from analysis.trajectories.predictions import CasePrediction
from analysis.trajectories.trajectory import Trajectory
from app.cached import models
from app.components.text import quiet
from app.sources import Source
from recap import columns as c
from recap.printable import markdown_text

CHIPS = {"Revisit": "violet", "2 hops": "green", "1 hop": "gray"}
EVIDENCE_HELP = tooltip("revisit", "in_token", c.WITHIN_TWO_HOPS)


def show_predictions(
    source: Source, trajectory: Trajectory, prediction: CasePrediction, picked: int | None, show_truth: bool
) -> None:
    """Facts about the truth, the list, and the score parts of the place that was picked on the map or in the list."""
    case = prediction.case
    stop = trajectory.stop_of(int(case[c.CASE]))
    when = trajectory.stops["local_time"].iloc[stop - 1]
    quiet(f"{day(when)}, {when:%H:%M}. Stop {stop} of {len(trajectory.stops)}. The true next place:")
    markov = models.markov_rank(source, int(case[c.CASE]))
    with st.container(horizontal=True, gap="medium"):
        st.metric("Rank", ordinal(prediction.target_rank) if show_truth else "?", width="content")
        st.metric("Markov rank", ordinal(markov) if show_truth else "?", width="content")
        st.metric("Seen in training", times(int(case[c.TRANSITION_COUNT])) if show_truth else "?", width="content")
    listed = prediction.listed(show_truth=show_truth)
    event = st.dataframe(
        _shown(listed, show_truth),
        hide_index=True,
        column_config=_columns(listed),
        selection_mode="single-cell",
        on_select="rerun",
        key="list",
        height="content",
        alt="The best predictions with rank, the model's share, evidence and distance",
    )
    cells = event["selection"]["cells"] if event else []
    if cells and cells[0][0] < len(listed):
        picked = int(listed[c.POI].iloc[cells[0][0]])
    quiet(_parts_sentence(prediction, picked, show_truth))


def _shown(listed: pd.DataFrame, show_truth: bool) -> pd.DataFrame:
    marks = ["◎ " if truth and show_truth else "" for truth in listed["truth"]]
    has_probability = listed["probability"].notna().all()
    return pd.DataFrame(
        {
            c.RANK: listed[c.RANK].map("{:g}".format),
            "name": [mark + name for mark, name in zip(marks, listed["name"], strict=True)],
            "value": 100 * listed["probability"] if has_probability else listed[c.SCORE],
            "evidence": [
                _chips(revisit, near, exact)
                for revisit, near, exact in zip(
                    listed["revisit"], listed[c.WITHIN_TWO_HOPS], listed["in_token"], strict=True
                )
            ],
            "km": listed["distance_km"],
        }
    )


def _chips(revisit: bool, within_two_hops: bool, in_token: bool) -> list[str]:
    path = ["2 hops"] if in_token else ["1 hop"] if within_two_hops else []
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
            width=105,
            help=tooltip("model_share"),
        )
        if has_probability
        else st.column_config.NumberColumn("Score", format="%.2f", width=105, help="A count, not a share.")
    )
    return {
        "rank": st.column_config.TextColumn("#", width=42, alignment="right"),
        "name": st.column_config.TextColumn("Place", width=162),
        "value": value,
        "evidence": st.column_config.MultiselectColumn(
            "Evidence", options=list(CHIPS), color=list(CHIPS.values()), width=120, help=EVIDENCE_HELP
        ),
        "km": st.column_config.NumberColumn("km", format="%.1f", width=46, help="From the current place."),
    }


def _parts_sentence(prediction: CasePrediction, picked: int | None, show_truth: bool) -> str:
    """One place's score as a sum: the picked one, else the truth, else the best."""
    table = prediction.listed(show_truth=show_truth)
    rows = (
        table[table[c.POI] == picked] if picked is not None else table[table["truth"]] if show_truth else table.head(1)
    )
    if rows.empty:
        rows = table.head(1)
    row = rows.iloc[0]
    parts = {name: float(row[column]) for name, column in c.part_columns(table.columns).items()}
    terms = " ".join(f"{signed(value, 2)} {name.replace('_', ' ')}" for name, value in parts.items())
    return (
        markdown_text(str(row["name"]))
        + ": "
        + markdown_text(f"{terms.removeprefix('+')} = {row[c.SCORE]:.2f}")
        + ", rounded."
    )
