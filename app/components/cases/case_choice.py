"""The list in Cases: a recipe's cases, search results, or saved cases."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import streamlit as st

from analysis.cases import words
from analysis.cases.library import Shelf, Stored
from analysis.cases.recipes import FoundCases
from analysis.cases.saved_case import Collection, SavedCase
from analysis.cases.search import search_cases
from analysis.cases.words import LABELS, RECIPES, RecipeName, found_headline, saved_headline
from app import address
from app.cached.tables import cases_of_any_model
from app.cached.workspace import open_workspace
from app.components.cases.card_grid import PAGE, CardEntry
from app.components.text import pick
from app.sources import Source
from recap import columns as c

SAVED: Final = "saved"
_FIELDS: Final = ("list", "search", "collection")
"""Fields of the address that define the list."""
_LISTS: Final = (*RECIPES, SAVED)
_ALL: Final = "all"
_SHARED: Final = 10


@dataclass(frozen=True)
class Listed:
    """A list of cases.

    Attributes:
        title: the finding.
        note: what was searched, or why there is nothing.
        name: of a file that shares it.
        deck: its name in a link to Present; empty for a search.
    """

    title: str
    note: str
    name: str
    entries: list[CardEntry] = field(default_factory=list)
    deck: dict[str, str] = field(default_factory=dict)
    collection: Stored[Collection] | None = None

    @property
    def shared(self) -> list[CardEntry]:
        """Of one page: a collection whole, of other lists the first; each is explained when the dialog opens."""
        return self.entries if self.collection else self.entries[:_SHARED]


def current_list(recipes: Mapping[RecipeName, FoundCases]) -> str:
    """The recipe of a link or pill, or the saved cases; "Clear first choice, missed" by default."""
    link = address.linked("list")
    if link is not None and link["list"] in _LISTS:
        st.session_state["case_list"] = link["list"]
    elif link is not None and link["list"] is not None:
        address.refuse(words.OTHER_LIST)
    name = str(st.session_state.get("case_list") or next((name for name in RECIPES if recipes[name].count), RECIPES[0]))
    address.write(list=name)
    return name


def current_search() -> str:
    return address.current_text("search", lambda text: " ".join(text[:100].split()))


def current_collection(shelf: Shelf) -> Stored[Collection] | None:
    """The collection of a link or the selector; None for all saved cases."""
    link = address.linked("collection")
    if link is not None:
        st.session_state["collection"] = link["collection"]
    if link is not None and link["collection"] is not None:
        st.session_state["case_list"] = SAVED
        if link["collection"] not in shelf.collections:
            address.refuse(words.NO_COLLECTION)
    stored = shelf.collections.get(str(st.session_state.get("collection")))
    address.write(collection=stored.name if stored else None)
    return stored


def search_box() -> None:
    def search() -> None:
        address.choose("search", " ".join(st.session_state["search_cases"].split()))
        st.session_state["cards_shown"] = PAGE

    look: dict[str, Any] = {"placeholder": words.SEARCH_HINT, "width": 290, "max_chars": 100}
    pick(st.text_input, "Search", "", search, *_FIELDS, key="search_cases", value=current_search(), **look)


def list_pills(recipes: Mapping[RecipeName, FoundCases], saved: int, chosen: str) -> None:
    def choose() -> None:
        picked = st.session_state["list_pills"] or chosen
        address.choose("search", None)
        st.session_state.update(case_list=picked, cards_shown=PAGE)

    def label(name: str) -> str:
        return f"Saved {saved:,}" if name == SAVED else f"{LABELS[name]} {_count(recipes[name])}"  # type: ignore[index]

    shown = None if current_search() else chosen
    pick(st.pills, "List", _LISTS, choose, *_FIELDS, key="list_pills", value=shown, format_func=label)


def _count(recipe: FoundCases) -> str:
    return "–" if recipe.absent else f"{recipe.count:,}"


def collection_picker(shelf: Shelf) -> None:
    current, offered = st.session_state.get("collection"), [_ALL, *shelf.collections]
    key, shown = "picked_collection", current if current in shelf.collections else _ALL

    def label(name: str) -> str:
        stored = shelf.collections.get(name)
        return f"{stored.value.title}, {len(shelf.in_order(stored.value)):,}" if stored else "All saved cases"

    def choose() -> None:
        name = st.session_state[key]
        st.session_state.update(collection=None if name == _ALL else name, cards_shown=PAGE)

    look: dict[str, Any] = {"format_func": label, "width": 230}
    pick(st.selectbox, "Collection", offered, choose, *_FIELDS, key=key, value=shown, offered=offered, **look)


def choose_cases(
    source: Source, recipes: Mapping[RecipeName, FoundCases], mine: list[Stored[SavedCase]], shelf: Shelf, chosen: str
) -> Listed:
    search = current_search()
    if search:
        return _searched(source, mine, search)
    if chosen == SAVED:
        return _saved(shelf, mine)
    recipe = recipes[RECIPES[RECIPES.index(chosen)]]
    entries = [CardEntry(int(case), None, recipe) for case in recipe.cases]
    title = LABELS[recipe.recipe] if recipe.absent else recipe.headline
    return Listed(title, recipe.absent or recipe.meaning, LABELS[recipe.recipe], entries, {"recipe": recipe.recipe})


def _searched(source: Source, mine: list[Stored[SavedCase]], search: str) -> Listed:
    """Saved cases whose words contain the search come first."""
    table = cases_of_any_model(source)
    held = [stored for stored in mine if stored.value.holds(search)]
    there = {stored.value.link.case for stored in held}
    matching = search_cases(table, search, open_workspace(source).own_ids)
    others = [int(case) for case in matching if int(case) not in there]
    entries = [*(CardEntry(stored.value.link.case, stored) for stored in held), *(CardEntry(case) for case in others)]
    note = words.SEARCHED
    return Listed(found_headline(len(entries), len(table[c.CASE]), search[:40]), note, "Search", entries)


def _saved(shelf: Shelf, mine: list[Stored[SavedCase]]) -> Listed:
    collection, here = current_collection(shelf), {stored.name for stored in mine}
    kept = [stored for stored in shelf.in_order(collection.value) if stored.name in here] if collection else mine
    title = collection.value.title if collection else ""
    note = "" if kept else words.NOTHING_SAVED
    deck = {"collection": collection.name} if collection else {"all": "1"}
    entries = [CardEntry(stored.value.link.case, stored) for stored in kept]
    return Listed(saved_headline(len(kept), title), note, title or "Saved cases", entries, deck, collection)
