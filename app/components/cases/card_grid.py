"""The grid of cards in Cases: a drawn map, what kind of case it is, the two places, and a button that chooses it."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import streamlit as st

from analysis.cases.cards import describe_card
from analysis.cases.library import Stored
from analysis.cases.picture import blank_thumbnail
from analysis.cases.recipes import FoundCases, RecipeName, RecipeTables
from analysis.cases.saved_case import SavedCase
from app import state
from app.cached import maps, tables
from app.cached.workspace import model_label, open_workspace
from app.components.text import quiet
from app.sources import Source
from recap.printable import markdown_text, shortened

PAGE: Final = 6
_CHOSEN: Final = "chosen_card"
_ROW_LETTERS: Final = 36
Recipes = Mapping[RecipeName, FoundCases]
COLOURS: Final = {
    "popular": "gray",
    "own_visits": "violet",
    "two_hops": "green",
    "both": "green",
    "wrong": "gray",
    "flipped": "blue",
    "nothing": "gray",
}


@dataclass(frozen=True)
class Entry:
    """A card's case: found by a recipe, saved, or both.

    Attributes:
        case: its number.
        saved: how it was saved; None where it was not.
        found: the recipe that shows it; None in the library.
    """

    case: int
    saved: Stored[SavedCase] | None = None
    found: FoundCases | None = None

    @property
    def key(self) -> str:
        """What tells cards apart."""
        return str(self.case) if self.saved is None else f"{self.case}-{self.saved.name}"


def chosen_entry(entries: Sequence[Entry]) -> Entry | None:
    """The chosen card, or the first one."""
    key = st.session_state.get(_CHOSEN)
    return next((entry for entry in entries if entry.key == key), entries[0] if entries else None)


def choose(key: str) -> None:
    """Choose a card."""
    st.session_state[_CHOSEN] = key


def kinds_of(case: int, recipes: Iterable[FoundCases], first: FoundCases | None = None) -> tuple[FoundCases, ...]:
    """Every recipe that finds a case, one of them first."""
    fits = [found for found in recipes if found is not first and found.holds(case)]
    return tuple(fits) if first is None else (first, *fits)


def show_cards(source: Source, found: Recipes, entries: Sequence[Entry], chosen: Entry | None) -> None:
    """As many cards as were asked for, six at first.

    Args:
        found: every recipe's cases.
    """
    searched = tables.recipe_tables(source)
    number = int(st.session_state.get("cards_shown", PAGE))
    grid = st.grid(2, min_column_width=270, border=True)
    pictures: list[Callable[[], None]] = []
    for at, entry in enumerate(entries[:number]):
        with grid.cell():
            kinds = kinds_of(entry.case, found.values(), entry.found)
            pictures.append(_card(source, searched, entry, kinds, f"{at + 1} of {len(entries):,}", entry == chosen))
    if len(entries) > number:
        st.button(
            f"Show {min(PAGE, len(entries) - number)} more",
            key="more_cards",
            icon=":material/expand_more:",
            on_click=lambda: st.session_state.update(cards_shown=number + PAGE),
        )
    for draw in pictures:  # last: a picture that was never drawn takes a tenth of a second, and the words are there
        draw()


def _card(
    source: Source, tables: RecipeTables, entry: Entry, kinds: Sequence[FoundCases], place: str, is_chosen: bool
) -> Callable[[], None]:
    """The words of a card; returns what draws its picture above them, whose place is kept."""
    opened = open_workspace(source)
    card = describe_card(opened, tables, entry.case, model=model_label(source), found=entry.found)
    recipe = None if entry.found is None else entry.found.recipe
    paths = recipe in ("two_hops", "both")
    slot, palette = st.empty(), state.theme_palette()
    if not maps.is_drawn(source, entry.case, palette.theme, paths=paths):
        slot.image(blank_thumbnail(palette), width="stretch")
    with st.container(horizontal=True, vertical_alignment="center"):
        for found in _fitting(kinds):
            label = markdown_text(found.label)
            st.markdown(f":{COLOURS[found.recipe]}-badge[{label}]", width="content")
        for tag in entry.saved.value.tags[:3] if entry.saved else ():
            st.markdown(f":gray-badge[{markdown_text(tag)}]", width="content")
        st.space("stretch")
        st.button(
            place,
            key=f"choose-{entry.key}",
            icon=f":material/radio_button_{'checked' if is_chosen else 'unchecked'}:",
            type="tertiary",
            on_click=choose,
            args=(entry.key,),
            help="Choose this case",
        )
    st.markdown(f"**{markdown_text(card.source)} → {markdown_text(card.target)}**")
    note = "" if entry.saved is None else entry.saved.value.note.splitlines()[0] if entry.saved.value.note else ""
    told = card.sentence or note or (entry.saved.value.title if entry.saved else "")
    st.markdown(markdown_text(shortened(told, 110)))
    ranks = " · ".join(f"{markdown_text(name)} {rank}" for name, rank in card.ranks[:-1])
    name, rank = card.ranks[-1]
    with st.container(gap=None):
        quiet(f"{ranks} · {markdown_text(name)} **{rank}**")
        quiet(card.seen)

    def draw() -> None:
        picture = maps.thumbnail(source, entry.case, palette.theme, paths=paths)
        slot.image(picture, width="stretch", alt=f"Map: from {card.source} to {card.target}")

    return draw


def _fitting(kinds: Sequence[FoundCases]) -> Sequence[FoundCases]:
    """The first kind, and a second one where both fit into the row."""
    return kinds[: 1 + (sum(len(found.label) for found in kinds[:2]) <= _ROW_LETTERS)]
