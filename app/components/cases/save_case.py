"""Save what Explain shows, with a note."""

from datetime import UTC, datetime

import streamlit as st

from analysis.cases import words
from analysis.cases.library import Shelf, Stored
from analysis.cases.saved_case import MAX_NOTE, MAX_TITLE, SavedCase
from analysis.explain.explanation import CaseExplanation
from analysis.explain.links import CaseLink
from analysis.formatting import number_word
from app import address
from app.cached.explanations import open_predictor
from app.components.cases.collection_order import SAID, change_library
from app.components.cases.exchange import open_library
from app.components.text import act_button, quiet, say_once
from app.components.words import READ_ONLY
from app.pages import CASES
from app.settings import AppSettings
from app.sources import Source


def save_control(source: Source, shown: CaseExplanation, about: int | None, against: int | None) -> None:
    """A button that opens the note, and links to saved cases; a read-only app saves nothing."""
    assert source.checkpoint_hash is not None
    read_only = AppSettings.from_environment().read_only
    shelf = open_library().read()
    cases = shelf.of(source.dataset_hash, source.checkpoint_hash)
    with st.popover("Saved" if read_only else "Save", icon=":material/bookmark:", key="save-case"):
        if read_only:
            quiet(READ_ONLY)
        else:
            _note(source, shown, about, against, shelf)
        say_once(SAID)
        if cases and st.button(
            f"Open {number_word(len(cases))} saved case{'s' * (len(cases) != 1)}", key="all_cases", type="tertiary"
        ):
            address.go(CASES, {"list": "saved"})


def _note(source: Source, shown: CaseExplanation, about: int | None, against: int | None, shelf: Shelf) -> None:
    """A note for this view; overwrites a saved one."""
    link = CaseLink.to(
        open_predictor(source, shown.moment), shown.moment, about=about, against=against, edits=shown.edits
    )
    link = link.model_copy(update={"checkpoint": source.checkpoint_hash, "dataset": source.dataset_hash})
    view = SavedCase(link=link, title=shown.headline.text[:MAX_TITLE], saved=datetime.now(UTC))
    there = shelf.cases.get(view.name)
    key = f"case_note-{view.name}-{there.version[:8] if there else ''}"
    titles = shelf.titles_with(view.name)
    if titles:
        quiet(words.collections_line(titles))
    st.text_input("Note", there.value.note if there else "", key=key, max_chars=MAX_NOTE, placeholder=words.NOTE_HINT)
    act_button("Save note" if there else "Save", "save", _save, view, there, key, icon="bookmark_add")


def _save(view: SavedCase, there: Stored[SavedCase] | None, key: str) -> None:
    note, library = str(st.session_state.get(key) or "").strip(), open_library()
    if there is None:
        change_library(lambda: library.add(view.model_copy(update={"note": note})))
    else:
        changed = there.value.model_copy(update={"note": note, "changed": datetime.now(UTC)})
        change_library(lambda: library.change(there, changed))
