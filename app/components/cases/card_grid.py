"""The grid of cards in Cases."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

import streamlit as st

from analysis.cases import words
from analysis.cases.cards import describe_card
from analysis.cases.library import Shelf, Stored
from analysis.cases.recipes import FoundCases, RecipeTables
from analysis.cases.saved_case import SavedCase
from app import state
from app.cached import maps, tables
from app.cached.workspace import open_workspace
from app.components.text import act_button, quiet
from app.sources import Source
from recap.machine.printable import markdown_text, shortened

PAGE: Final = 6
_CHOSEN: Final = "chosen_card"


@dataclass(frozen=True)
class CardEntry:
    """A card's case, with its saved view and its recipe if there are any."""

    case: int
    saved: Stored[SavedCase] | None = None
    found: FoundCases | None = None

    @property
    def key(self) -> str:
        return str(self.case) if self.saved is None else f"{self.case}-{self.saved.name}"


def chosen_entry(entries: Sequence[CardEntry]) -> CardEntry | None:
    """The chosen card, or the first one."""
    key = st.session_state.get(_CHOSEN)
    return next((entry for entry in entries if entry.key == key), entries[0] if entries else None)


def show_cards(source: Source, shelf: Shelf, entries: Sequence[CardEntry], chosen: CardEntry | None) -> None:
    """The requested number of cards, six at first."""
    searched = tables.recipe_tables(source)
    number = int(st.session_state.get("cards_shown", PAGE))
    grid = st.grid(2, min_column_width=270, border=True)
    for position, entry in enumerate(entries[:number]):
        with grid.cell():
            _card(source, searched, shelf, entry, f"{position + 1} of {len(entries):,}", entry == chosen)
    if len(entries) > number:
        act_button(
            f"Show {min(PAGE, len(entries) - number)} more",
            "more_cards",
            lambda: st.session_state.update(cards_shown=number + PAGE),
            icon="expand_more",
        )


def _card(source: Source, searched: RecipeTables, shelf: Shelf, entry: CardEntry, place: str, is_chosen: bool) -> None:
    opened = open_workspace(source)
    card = describe_card(opened, searched, entry.case, entry.found)
    is_of_hops = entry.found is not None and entry.found.recipe == "two_hop_paths"
    hops = searched.ablation("two_hop_paths") if is_of_hops else None
    picture = maps.thumbnail(source, entry.case, state.theme_palette().theme, hops=hops)
    st.image(picture, width="stretch", alt=words.picture_alt(card.source, card.target))
    with st.container(horizontal=True, vertical_alignment="center", wrap=False):
        way = f"{markdown_text(shortened(card.source, 30))} → {markdown_text(shortened(card.target, 30))}"
        st.markdown(f"**{way}**", width="stretch")
        act_button(
            place,
            f"choose-{entry.key}",
            partial(st.session_state.update, {_CHOSEN: entry.key}),
            icon=f"radio_button_{'checked' if is_chosen else 'unchecked'}",
            type="tertiary",
            help="Choose this case",
        )
    ranks = [f"{markdown_text(name)} {rank}" for name, rank in card.ranks]
    with st.container(gap=None):
        sentence = card.sentence or _written(entry)
        if sentence:
            st.markdown(markdown_text(shortened(sentence, 100)))
        kept = words.collections_line(shelf.titles_with(entry.saved.name) if entry.saved else ())
        quiet(" · ".join([*ranks[:-1], f"**{ranks[-1]}**", card.seen, *([kept] if kept else [])]))


def _written(entry: CardEntry) -> str:
    """The first line of a saved case's note, and its tags."""
    if entry.saved is None:
        return ""
    value = entry.saved.value
    return " · ".join([*value.note.splitlines()[:1], *(f"#{tag}" for tag in value.tags[:3])])
