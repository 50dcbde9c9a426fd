"""The stage of Walk: map, step controls and the list of predictions, redrawn alone on every step."""

import pandas as pd
import streamlit as st

from analysis.figures.walk_map import walk_deck
from analysis.predictions import CasePrediction
from analysis.walks import Walk, walk_camera
from app import cache, state, words
from app.sources import Source

MAP_HEIGHT = 540


@st.fragment
def show_stage(source: Source, walk: Walk) -> None:
    """Draw the current case of a walk."""
    opened = cache.open_dataset(source)
    case = st.session_state["case"]
    state.set_case(case)
    prediction = cache.predict(source, case)
    palette = state.theme_palette()
    source_name, target_name = (words.plain(opened.labels[int(prediction.case[name])]) for name in ("source", "target"))
    st.title(f"{source_name} → :orange[{target_name}]", anchor=False)
    grid = st.grid(5, min_column_width=190)
    with grid.cell(column_span=3):
        deck = walk_deck(
            opened,
            walk,
            prediction,
            camera=walk_camera(opened, walk),
            map_style=cache.map_style(source.dataset_hash, palette.theme, source),
            palette=palette,
        )
        st.pydeck_chart(deck, height=MAP_HEIGHT, key="map", alt="Map of the walk so far and the predicted places")
    with grid.cell(column_span=2):
        show_list(prediction)


def show_list(prediction: CasePrediction) -> None:
    """The predictions as a table."""
    st.dataframe(pd.DataFrame(prediction.candidates), hide_index=True)
