"""The content of a presentation, and the current slide."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import streamlit as st

from analysis.cases.library import Library, Stored
from analysis.cases.saved_case import SavedCase
from analysis.cases.slides import SLIDE_STEPS, Step
from analysis.cases.words import RECIPES
from app import state
from app.cached import tables
from app.cached.workspace import first_case
from app.components.present import words
from app.sources import Source
from recap.errors import CaseError
from recap.history.moments import link_number

_RECIPE_CASES: Final = 5
_WHICH: Final = ("collection", "recipe", "all", "case")


@dataclass(frozen=True)
class Presented:
    """One case of a presentation, with the edits of its saved view."""

    case: int
    edits: str = ""


@dataclass(frozen=True)
class Deck:
    """The cases in order, after the slide on how often the model is right."""

    cases: tuple[Presented, ...]

    @property
    def slides(self) -> list[tuple[int, Step]]:
        """Every slide as (case, step)."""
        return [(at, step) for at in range(len(self.cases)) for step in SLIDE_STEPS if at == 0 or step != "often"]


def current_deck(source: Source, num_cases: int) -> Deck:
    """The link's presentation; without a link, the first case.

    Raises:
        CaseError: nothing can be presented.
    """
    which = {name: value for name in _WHICH if (value := st.query_params.get(name))}
    cases = [entry for entry in _cases(source, which) if 0 <= entry.case < num_cases]
    if not cases:
        raise CaseError(words.NO_CASE_CHOSEN)
    return Deck(tuple(cases))


def current_slide(deck: Deck) -> int:
    """The current slide, at first the link's."""
    which, step = max(link_number(state.standing("at") or "1") - 1, 0), state.standing("step") or ""
    wanted = [slide for slide in deck.slides if slide[0] == which and slide[1] == (step or slide[1])]
    position = deck.slides.index(wanted[0]) if wanted else 0
    go_to_step(deck, position)
    return position


def go_to_step(deck: Deck, position: int) -> None:
    which, step = deck.slides[min(max(position, 0), len(deck.slides) - 1)]
    state.write_params({"at": str(which + 1), "step": step})


def _cases(source: Source, which: Mapping[str, str]) -> list[Presented]:
    if {"collection", "all"} & set(which):
        shelf = Library.of_user().read()
        mine = {stored.name: stored for stored in shelf.of(source.dataset_hash, source.checkpoint_hash)}
        if "collection" in which:
            stored = shelf.collections.get(which["collection"])
            if stored is None:
                raise CaseError(words.LINKED_COLLECTION_GONE)
            names = [name for name in stored.value.cases if name in mine]
            if not names:
                raise CaseError(words.OTHER_DATA)
            return [_of_saved(mine[name]) for name in names]
        return [_of_saved(stored) for stored in mine.values()]
    if "recipe" in which:
        if which["recipe"] not in RECIPES:
            raise CaseError(words.NO_LIST)
        found = tables.recipes(source)[RECIPES[RECIPES.index(which["recipe"])]]
        return [Presented(int(case)) for case in found.cases[:_RECIPE_CASES]]
    case = link_number(which["case"]) if "case" in which else first_case(source)
    return [Presented(case, str(st.query_params.get("edits") or ""))]


def _of_saved(stored: Stored[SavedCase]) -> Presented:
    return Presented(stored.value.link.case, stored.value.link.edits)
