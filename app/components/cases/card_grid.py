"""The grid of cards in Cases."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import streamlit as st

from analysis.cases import words
from analysis.cases.cards import describe_card
from analysis.cases.library import Shelf, Stored
from analysis.cases.picture import blank_thumbnail
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


def _choose(key: str) -> None:
    st.session_state[_CHOSEN] = key


def show_cards(source: Source, shelf: Shelf, entries: Sequence[CardEntry], chosen: CardEntry | None) -> None:
    """The requested number of cards, six at first."""
    searched = tables.recipe_tables(source)
    number = int(st.session_state.get("cards_shown", PAGE))
    grid = st.grid(2, min_column_width=270, border=True)
    pictures: list[Callable[[], None]] = []
    for at, entry in enumerate(entries[:number]):
        with grid.cell():
            place = f"{at + 1} of {len(entries):,}"
            pictures.append(_card(source, searched, shelf, entry, place, entry == chosen))
    if len(entries) > number:
        act_button(
            f"Show {min(PAGE, len(entries) - number)} more",
            "more_cards",
            lambda: st.session_state.update(cards_shown=number + PAGE),
            icon="expand_more",
        )
    for draw in pictures:  # last: drawing a new picture takes a tenth of a second
        draw()


def _card(
    source: Source, searched: RecipeTables, shelf: Shelf, entry: CardEntry, place: str, is_chosen: bool
) -> Callable[[], None]:
    """Write a card's text; returns a function that draws its picture above."""
    opened = open_workspace(source)
    card = describe_card(opened, searched, entry.case, entry.found)
    hops = (
        searched.ablation("two_hop_paths")
        if entry.found is not None and entry.found.recipe == "two_hop_paths"
        else None
    )
    slot, palette, alt = st.empty(), state.theme_palette(), words.picture_alt(card.source, card.target)
    if not maps.is_drawn(source, entry.case, palette.theme, hops=hops):
        slot.image(blank_thumbnail(palette), width="stretch", alt=alt)
    with st.container(horizontal=True, vertical_alignment="center", wrap=False):
        way = f"{markdown_text(shortened(card.source, 30))} → {markdown_text(shortened(card.target, 30))}"
        st.markdown(f"**{way}**", width="stretch")
        act_button(
            place,
            f"choose-{entry.key}",
            _choose,
            entry.key,
            icon=f"radio_button_{'checked' if is_chosen else 'unchecked'}",
            type="tertiary",
            help="Choose this case",
        )
    ranks = [f"{markdown_text(name)} {rank}" for name, rank in card.ranks]
    with st.container(gap=None):
        said = card.sentence or _written(entry)
        if said:
            st.markdown(markdown_text(shortened(said, 100)))
        kept = words.collections_line(shelf.titles_with(entry.saved.name) if entry.saved else ())
        quiet(" · ".join([*ranks[:-1], f"**{ranks[-1]}**", card.seen, *([kept] if kept else [])]))

    def draw() -> None:
        picture = maps.thumbnail(source, entry.case, palette.theme, hops=hops)
        slot.image(picture, width="stretch", alt=alt)

    return draw


def _written(entry: CardEntry) -> str:
    """The first line of a saved case's note, and its tags."""
    if entry.saved is None:
        return ""
    value = entry.saved.value
    return " · ".join([*value.note.splitlines()[:1], *(f"#{tag}" for tag in value.tags[:3])])
