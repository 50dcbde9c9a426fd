"""Cases: find cases by recipe or search, keep them with notes, order them in collections, present and share them."""

import streamlit as st

from analysis.cases import words
from analysis.cases.library import Library, Shelf
from app.cached import tables
from app.components.cases.card_grid import chosen_entry, show_cards
from app.components.cases.case_choice import (
    SAVED,
    Listed,
    choose_cases,
    collection_picker,
    current_collection,
    current_list,
    list_pills,
    search_box,
)
from app.components.cases.chosen_case import show_chosen
from app.components.cases.exchange import exchange_control
from app.components.cases.present_button import present_button
from app.components.empty import source_with_cases
from app.components.error_boundary import error_boundary
from app.components.share import share_shown
from app.components.text import quiet
from app.components.toolbar import source_picker
from app.sources import Source
from recap.machine.printable import markdown_text


@error_boundary
def view() -> None:
    source, opened = source_with_cases()
    shelf = Library.of_user().read()
    here = range(len(opened.cases))
    mine = [s for s in shelf.of(source.dataset_hash, source.checkpoint_hash) if s.value.link.case in here]
    recipes = tables.recipes(source)
    current_collection(shelf)
    chosen_list = current_list(recipes)
    with st.container(horizontal=True, vertical_alignment="center"):
        search_box()
        if chosen_list == SAVED and shelf.collections:
            collection_picker(shelf)
        st.space("stretch")
        bar = st.container(horizontal=True, width="content", vertical_alignment="center")
    listed = choose_cases(source, recipes, mine, shelf, chosen_list)
    chosen = chosen_entry(listed.entries)
    with bar:
        _toolbar(source, shelf, listed, [saved.name for saved in mine])
    st.title(markdown_text(listed.title), anchor=False)
    list_pills(recipes, len(mine), chosen_list)
    if listed.note:
        quiet(markdown_text(listed.note))
    _name_damaged(shelf)
    if chosen is None:
        return
    grid = st.grid(3, min_column_width=232)  # three columns from a width of 800 pixels on
    with grid.cell(column_span=2):
        show_cards(source, shelf, listed.entries, chosen)
    with grid.cell(), st.container(border=True):
        show_chosen(source, shelf, chosen, listed.collection)


def _toolbar(source: Source, shelf: Shelf, listed: Listed, mine: list[str]) -> None:
    if source.has_parts and listed.deck:
        present_button(listed.deck, type="secondary", disabled=not listed.entries)
    share_shown(source, listed)
    with st.popover("More", icon=":material/tune:", type="tertiary", key="cases-more"):
        source_picker(source)
        shown = [entry.saved.name for entry in listed.entries if entry.saved] if listed.collection else mine
        exchange_control(shelf, shown, listed.collection)


def _name_damaged(shelf: Shelf) -> None:
    if not shelf.damaged:
        return
    with st.expander(words.damaged_title(len(shelf.damaged)), icon=":material/warning:"):
        for entry in shelf.damaged[:20]:
            st.markdown(f"- {markdown_text(entry.file)}: {markdown_text(entry.reason[:200])}")


view()
