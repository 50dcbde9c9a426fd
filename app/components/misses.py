"""Kinds of Long tail's misses, and their map; and what is shown before the ablations of all cases were run."""

from collections.abc import Callable
from functools import partial
from typing import Final

import pandas as pd
import streamlit as st

from analysis.figures.miss_map import miss_deck
from analysis.formatting import share
from analysis.glossary import TERMS
from analysis.long_tail import headlines
from analysis.long_tail.miss_map import MIN_USERS
from analysis.long_tail.misses import count_misses
from app import state
from app.cached import maps, tables
from app.cached.workspace import Ranker, is_large, kept_causes, read_ablations
from app.components import words
from app.components.chart_table import chart_table, ticked_row
from app.components.text import quiet, section
from app.components.toolbar import offer_figure
from app.headings import CELL_HEADINGS
from app.settings import AppSettings
from app.sources import Source

MAP_HEIGHT: Final = 330


def show_misses(ranker: Ranker, k: int, list_kind: Callable[[str | None], None]) -> None:
    """The misses of a model by kind and on the map; a ticked kind goes to ``list_kind``, None after unticking."""
    halves = st.grid(2, min_column_width=380, gap="medium")
    with halves.cell():
        _show_kinds(ranker, k, list_kind)
    with halves.cell():
        _show_map(ranker, k)


def _show_kinds(ranker: Ranker, k: int, list_kind: Callable[[str | None], None]) -> None:
    section("Kinds of misses", help=headlines.KINDS_HELP)
    if ranker.model is not None or not ranker.source.has_parts:
        quiet(headlines.no_kinds(ranker.label))
        return
    if kept_causes(ranker.source) is None:
        ask_for_ablations(ranker.source)
        return
    counts = count_misses(tables.miss_labels(ranker.source, k))
    there = counts[counts["n"] > 0].reset_index(drop=True)
    table = pd.DataFrame(
        {
            "Kind": [TERMS[label].word for label in there["label"]],
            "Cases": there["n"],
            "Share": [share(value) for value in there["share"]],
        }
    )

    def choose() -> None:
        row = ticked_row(st.session_state["misses"], len(there))
        list_kind(None if row is None else str(there["label"].iloc[row]))

    st.dataframe(table, hide_index=True, key="misses", on_select=choose, selection_mode="single-row", height="content")
    quiet(headlines.kinds_line(int(counts["n"].sum()), k))


def _show_map(ranker: Ranker, k: int) -> None:
    section("Where misses happen")
    cells = tables.cells_of_misses(ranker, k)
    if cells.empty:
        quiet(headlines.no_cell(MIN_USERS))
        return
    make = partial(miss_deck, cells, k=k)
    offer_figure("miss-map", partial(maps.counts_image, ranker.source, make, state.theme_palette().theme))
    st.pydeck_chart(
        maps.draw_map(ranker.source, miss_deck, cells, k=k),
        height=MAP_HEIGHT,
        key="miss-map",
        alt=headlines.miss_map_alt(len(cells)),
    )
    with st.container(horizontal=True, vertical_alignment="center"):
        quiet(headlines.map_line(MIN_USERS), width="content")
        chart_table({"Cells": cells}, "miss-map", headings=CELL_HEADINGS)


def ask_for_ablations(source: Source) -> None:
    """A note, with a button if they take minutes and not hours."""
    if is_large(source) or AppSettings.from_environment().read_only:
        quiet(words.NOT_MEASURED)
        return
    quiet(words.CAN_MEASURE)
    if st.button("Run the ablations", icon=":material/play_arrow:", key="run-ablations"):
        read_ablations(source)
        st.rerun()
