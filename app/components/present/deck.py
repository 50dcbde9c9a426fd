"""The content of a presentation, and the current slide."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import streamlit as st

from analysis.cases.library import Library, Shelf, Stored
from analysis.cases.saved_case import Collection, SavedCase, ViewSlide
from analysis.cases.slides import SLIDE_STEPS, Step
from analysis.cases.words import RECIPES
from app import address
from app.cached import tables
from app.cached.workspace import first_case
from app.components.present import words
from app.sources import Source
from recap.errors import CaseError
from recap.history.moments import link_number

_RECIPE_CASES: Final = 5
_SLIDE: Final = "present_slide"
_WHICH: Final = ("collection", "recipe", "all", "case")


@dataclass(frozen=True)
class Presented:
    """One case of a presentation, with the edits of its saved view and a title of its first slide."""

    case: int
    edits: str = ""
    title: str = ""


@dataclass(frozen=True)
class Deck:
    """Cases and findings in order; before the first case, how often the model is right."""

    entries: tuple[Presented | ViewSlide, ...]
    shelf: Shelf | None = None
    collection: Stored[Collection] | None = None

    @property
    def slides(self) -> list[tuple[int, Step]]:
        """Every slide as (entry, step)."""
        first = next((number for number, entry in enumerate(self.entries) if isinstance(entry, Presented)), None)
        slides: list[tuple[int, Step]] = []
        for number, entry in enumerate(self.entries):
            if isinstance(entry, ViewSlide):
                slides.append((number, "finding"))
            else:
                slides += [(number, step) for step in SLIDE_STEPS if number == first or step != "often"]
        return slides


def current_deck(source: Source, num_cases: int) -> Deck:
    """The link's presentation; without a link, the first case.

    Raises:
        CaseError: nothing can be presented.
    """
    which = {name: value for name in _WHICH if (value := st.query_params.get(name))}
    deck = _collected(source, which["collection"]) if "collection" in which else Deck(tuple(_cases(source, which)))
    entries = [entry for entry in deck.entries if isinstance(entry, ViewSlide) or 0 <= entry.case < num_cases]
    if not entries:
        raise CaseError(words.NO_CASE_CHOSEN)
    return Deck(tuple(entries), deck.shelf, deck.collection)


def current_slide(deck: Deck) -> int:
    """The current slide, at first the link's."""
    link = address.linked("at", "step", *_WHICH)
    if link is not None:
        st.session_state[_SLIDE] = max(link_number(link["at"]) - 1, 0), link["step"]
    which, step = st.session_state.get(_SLIDE, (0, None))
    wanted = [slide for slide in deck.slides if slide[0] == which and slide[1] == (step or slide[1])]
    position = deck.slides.index(wanted[0]) if wanted else 0
    which, step = deck.slides[position]
    address.write(at=str(which + 1), step=step)
    return position


def go_to_step(deck: Deck, position: int) -> None:
    st.session_state[_SLIDE] = deck.slides[min(max(position, 0), len(deck.slides) - 1)]


def _collected(source: Source, name: str) -> Deck:
    """A collection's cases of the open model, and its other slides."""
    shelf = Library.of_user().read()
    stored = shelf.collections.get(name)
    if stored is None:
        raise CaseError(words.LINKED_COLLECTION_GONE)
    mine = {kept.name for kept in shelf.of(source.dataset_hash, source.checkpoint_hash)} if source.has_parts else set()
    entries: list[Presented | ViewSlide] = []
    for kept in shelf.slides_of(stored.value):
        if isinstance(kept.value, ViewSlide):
            entries.append(kept.value)
        elif kept.name in mine:
            entries.append(_of_saved(kept.value))
    if not entries:
        raise CaseError(words.OTHER_DATA)
    return Deck(tuple(entries), shelf, stored)


def _cases(source: Source, which: Mapping[str, str]) -> list[Presented]:
    if not source.has_parts:
        raise CaseError(words.PARTS_NEED_RECAP)
    if "all" in which:
        stored = Library.of_user().read().of(source.dataset_hash, source.checkpoint_hash)
        return [_of_saved(kept.value) for kept in stored]
    if "recipe" in which:
        if which["recipe"] not in RECIPES:
            raise CaseError(words.NO_LIST)
        recipe = tables.recipes(source)[RECIPES[RECIPES.index(which["recipe"])]]
        return [Presented(int(case)) for case in recipe.cases[:_RECIPE_CASES]]
    case = link_number(which["case"]) if "case" in which else first_case(source)
    return [Presented(case, str(st.query_params.get("edits") or ""))]


def _of_saved(saved: SavedCase) -> Presented:
    return Presented(saved.link.case, saved.link.edits, saved.slide_title)
