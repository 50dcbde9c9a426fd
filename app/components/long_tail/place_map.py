"""The places as the model has learnt them, on a plane; a click, or a row of the table, opens a place in Walk."""

from typing import Final

import streamlit as st

from analysis.figures.charts import PLOT_CONFIG
from analysis.figures.embedding_map import plot_embedding
from analysis.formatting import percent
from analysis.long_tail.place_embedding import MAX_PLACES, NEIGHBOURS, Projection
from analysis.records.case_selection import CaseSelection
from app.cached import datasets, place_maps
from app.cached.figures import drawn
from app.components.chart_table import chart_table
from app.components.text import quiet, section
from app.components.walk.open_cases import open_cases
from app.sources import Source
from recap import columns as c

PROJECTIONS: Final[dict[Projection, str]] = {"pca": "Principal components", "tsne": "t-SNE"}


@st.fragment
def show_place_map(source: Source) -> None:
    """Only for a checkpoint: a counter has no embeddings."""
    opened = datasets.open_dataset(source)
    if not source.has_parts or opened.dataset.num_pois <= NEIGHBOURS:
        return
    section("How the model arranges the places")
    how: Projection = st.segmented_control(
        "Projection",
        list(PROJECTIONS),
        default="pca",
        required=True,
        format_func=PROJECTIONS.__getitem__,
        key="projection",
        bind="query-params",
        label_visibility="collapsed",
        help="t-SNE takes up to a minute the first time and is kept.",
    )
    table = place_maps.place_plane(source, how or "pca")
    event = st.plotly_chart(
        drawn(plot_embedding, table),
        theme=None,
        config=PLOT_CONFIG,
        key="place-map",
        on_select="rerun",
        selection_mode="points",
        alt=f"{len(table):,} places as the model arranges them, coloured by category",
    )
    points = event["selection"]["points"] if event else []
    if points and points[0].get("customdata"):
        _open_place(source, int(points[0]["customdata"][0]))
    same, chance = place_maps.agreement(source)
    shown = "" if len(table) == opened.dataset.num_pois else f"The {MAX_PLACES:,} most visited places. "
    quiet(
        f"{shown}Of a place's {NEIGHBOURS} nearest in all features, {percent(same)} share its category; of random "
        f"places {percent(chance)} would. Near on this plane is not always near in all features. Click a place, or its "
        "row in the table, to open its steps."
    )
    rows = place_maps.rows_of_places(table)
    chart_table(
        {"Places": rows}, "place-map", lambda _, row: _open_place(source, int(table[c.POI].loc[rows.index[row]]))
    )


def _open_place(source: Source, poi: int) -> None:
    open_cases(source, CaseSelection.of_poi(poi), none="No test case starts or ends at this place.")
