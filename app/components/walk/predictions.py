"""The list of predictions next to the map, and a sentence on predictions without a model."""

import math
from typing import Any, Final

import numpy as np
import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from analysis.formatting import ordinal, points, rank_number, times
from analysis.glossary import tooltip
from analysis.records.accuracy import shortest_list
from analysis.trajectories.predictions import CasePrediction
from analysis.trajectories.trajectory import Trajectory
from app import state
from app.cached import explanations, maps
from app.cached.workspace import imported_predictions, model_key, model_label, open_workspace, read_records
from app.components.chart_table import ticked_list
from app.components.text import quiet
from app.components.walk import words
from app.sources import Source
from recap import columns as c
from recap.data.dataset import NEVER_VISITED
from recap.machine.printable import markdown_text, shortened
from recap.published.configs import TIME_GIVEN

NINTH_PX: Final = 80
MAP_NINTHS, LIST_NINTHS = 5, 4
"""Map and list are next to each other from a window of 1024 pixels on."""
LIST: Final[dict[str, Any]] = {"height": "content", "alt": words.LIST_ALT}
_LONGEST_NAME: Final = {"wide": 30, "narrow": 18, "phone": 18}


def show_predictions(
    source: Source, trajectory: Trajectory, prediction: CasePrediction, picked: int | None, show_truth: bool
) -> DeltaGenerator:
    """Facts about the truth (none after the user's last check-in), the list, and the score of the chosen place.

    Returns the row above the list, for buttons.
    """
    case, row = int(prediction.case[c.CASE]), int(prediction.case[c.ROW])
    stop = trajectory.stop_of(row)
    when, stops = trajectory.stops["local_time"].iloc[stop - 1], len(trajectory.stops)
    here = maps.neighbourhood(source, int(prediction.case[c.SOURCE]))
    badges = [""]
    if case >= 0:
        there = maps.neighbourhood(source, int(prediction.case[c.TARGET])) if show_truth else ""
        quiet(words.stop_line(when, stop, stops, here, there))
        badges = _facts(source, case, prediction, show_truth)
    else:
        quiet(words.last_stop_line(when, here))
    buttons = st.container(horizontal=True, vertical_alignment="center", gap="xsmall")
    listed = prediction.candidates
    rows, columns = list_table(listed)

    def choose(at: int) -> None:
        state.choose_place(row, int(listed[c.POI].iloc[at]))

    ticked_list(rows, choose, *state.MOMENT, key="list", column_config=columns, **LIST)
    say_never_visited(listed)
    st.markdown(" ".join(badges))
    quiet(_score_line(prediction, picked))
    if source.imported is not None:
        quiet(imported_sentence(source, case))
    return buttons


def _facts(source: Source, case: int, prediction: CasePrediction, show_truth: bool) -> list[str]:
    """Three numbers of the truth; returns its badges."""
    facts, badges = [words.HIDDEN] * 3, [""]
    if show_truth:
        rank = words.NOT_LISTED if math.isnan(prediction.target_rank) else ordinal(prediction.target_rank)
        counted = ordinal(explanations.visit_count_rank(source, case))
        facts = [rank, counted, times(int(prediction.case[c.TRANSITION_COUNT]))]
        badges = words.badges(prediction.target_rank, explanations.ranks_without(source, case))
    counter = "By visit count" + f", {TIME_GIVEN}" * source.reads_time
    with st.container(horizontal=True, gap="medium"):
        for label, value in zip(("Rank", counter, "Transition in training"), facts, strict=True):
            st.metric(label, value, width="content")
    return badges


def say_never_visited(listed: pd.DataFrame) -> None:
    """Which listed places training has not seen; the list cuts long names."""
    names = [name.removesuffix(NEVER_VISITED) for name in listed["name"] if name.endswith(NEVER_VISITED)]
    if names:
        quiet(f"Never visited in training: {markdown_text(', '.join(names))}.")


def list_table(listed: pd.DataFrame) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Listed places as a table shows them, and its columns."""
    marks, known = np.where(listed["truth"], "◎ ", ""), listed[c.SCORE].notna()
    as_given: dict[str, Any] = {"width": 110, "help": "As imported; not a probability."}
    if listed["probability"].notna().all():
        value, column = 100 * listed["probability"], probability_column("%.1f %%", 95)
    elif known.all():
        value, column = listed[c.SCORE], st.column_config.NumberColumn("Score", format="%.2f", **as_given)
    else:  # with "–" for unknown ones, which a table would show as "None"
        value = listed[c.SCORE].map(points, na_action="ignore").where(known, "–")
        column = st.column_config.TextColumn("Score", alignment="right", **as_given)
    longest = _LONGEST_NAME[state.window_width()]
    names = marks + listed["name"].map(lambda name: shortened(name, longest))
    rows = {c.RANK: listed[c.RANK].map(rank_number), "name": names, "value": value, "km": listed["distance_km"]}
    return pd.DataFrame(rows), {
        "rank": st.column_config.TextColumn("#", width=34, alignment="right"),
        "name": st.column_config.TextColumn("Place", width=160),
        "value": column,
        "km": st.column_config.NumberColumn("km", format="%.1f", width=46, help="From the current place."),
    }


def probability_column(form: str, width: int) -> Any:
    look: dict[str, Any] = {"min_value": 0, "max_value": 100, "color": "blue", "help": tooltip("model_share")}
    return st.column_config.ProgressColumn("Probability", format=form, width=width, **look)


def _score_line(prediction: CasePrediction, picked: int | None) -> str:
    """The score of the chosen place, or the truth, or the best, as a sum."""
    table = prediction.candidates
    rows = table[table[c.POI] == picked] if picked is not None else table[table["truth"]]
    row = (table.head(1) if rows.empty else rows).iloc[0]
    parts = {name: float(row[column]) for name, column in c.part_columns(table.columns).items()}
    return words.contributions(str(row["name"]), float(row[c.SCORE]), parts)


def imported_sentence(source: Source, case: int) -> str:
    records = read_records(source)
    if c.LISTED not in records:
        described = imported_predictions(source)[model_key(source)].described
        return words.published(described)
    listed, shortest = int(records[c.LISTED].iloc[case]), shortest_list(records)
    return words.imported(model_label(source), listed, shortest, open_workspace(source).dataset.num_pois)
