"""What is presented: one case, a collection, a recipe's first cases or all saved ones, and where one stands in it."""

from dataclasses import dataclass
from typing import Final

import streamlit as st

from analysis.cases.library import Library, Stored
from analysis.cases.recipes import RECIPES
from analysis.cases.saved_case import SavedCase
from analysis.cases.story import STEPS
from app import state
from app.cached import tables
from app.sources import Source
from recap.errors import CaseError

_RECIPE_CASES: Final = 5
LIMITS: Final = "limits"
_WHICH: Final = ("collection", "saved", "recipe", "all", "case")


@dataclass(frozen=True)
class Told:
    """One case of a presentation: its number and the edits of its saved view."""

    case: int
    edits: str = ""


@dataclass(frozen=True)
class Deck:
    """The cases in order; the limits close it."""

    cases: tuple[Told, ...]

    @property
    def screens(self) -> list[tuple[int, str]]:
        """Every screen as (which case, which step)."""
        steps = [(at, step) for at in range(len(self.cases)) for step in STEPS]
        return [*steps, (len(self.cases) - 1, LIMITS)]


def current_deck(source: Source, num_cases: int) -> Deck:
    """What the link names.

    Raises:
        CaseError: nothing that can be presented, in one sentence.
    """
    which = {name: value for name in _WHICH if (value := st.query_params.get(name))}
    told = [entry for entry in _cases(source, which, num_cases) if 0 <= entry.case < num_cases]
    if not told:
        raise CaseError("there is nothing to present here: choose a case or a collection in Cases")
    return Deck(tuple(told))


def _cases(source: Source, which: dict[str, str], num_cases: int) -> list[Told]:
    if {"collection", "saved", "all"} & set(which):
        shelf = Library.of_user().read()
        mine = {stored.name: stored for stored in shelf.of(source.dataset_hash, source.checkpoint_hash)}
        if "collection" in which:
            stored = shelf.collections.get(which["collection"])
            if stored is None:
                raise CaseError("the collection of this link is not in your library")
            names = [name for name in stored.value.cases if name in mine]
            if not names:
                raise CaseError("no case of this collection belongs to the dataset and model that are open")
            return [_of_saved(mine[name]) for name in names]
        if "saved" in which:
            if which["saved"] not in mine:
                raise CaseError("the saved case of this link is not in your library, or belongs to another model")
            return [_of_saved(mine[which["saved"]])]
        return [_of_saved(stored) for stored in mine.values()]
    if "recipe" in which:
        if which["recipe"] not in RECIPES:
            raise CaseError("the link names no recipe of this app")
        found = tables.recipes(source)[RECIPES[RECIPES.index(which["recipe"])]]
        return [Told(int(case)) for case in found.cases[:_RECIPE_CASES]]
    return [Told(state.current_case(num_cases), str(st.query_params.get("edits") or ""))]


def _of_saved(stored: Stored[SavedCase]) -> Told:
    return Told(stored.value.link.case, stored.value.link.edits)
