"""Save what Explain shows with a note, and find saved views again."""

from datetime import UTC, datetime

import streamlit as st

from analysis.cases.library import Stored
from analysis.cases.saved_case import MAX_NOTE, MAX_TITLE, SavedCase
from analysis.explain.explanation import FullExplanation
from analysis.explain.headline import headline
from analysis.explain.links import CaseLink
from analysis.explain.sentences import Register
from app import state
from app.cached.explanations import open_predictor
from app.cached.library import open_library
from app.components.text import quiet
from app.pages import CASES
from app.settings import AppSettings
from app.sources import Source
from recap.errors import RecapError
from recap.printable import markdown_text

_SHOWN = 6


def save_control(
    source: Source, shown: FullExplanation, about: int | None, against: int | None, words: Register = "stakeholder"
) -> None:
    """A button that opens the note, and the cases saved before; a read-only app only opens them."""
    assert source.checkpoint_hash is not None
    read_only = AppSettings.from_environment().read_only
    cases = open_library().read().of(source.dataset_hash, source.checkpoint_hash)
    with st.popover("Saved cases" if read_only else "Save case", icon=":material/bookmark:", key="save-case"):
        if read_only:
            quiet("This app only shows: nothing can be saved here.")
        else:
            _note(source, shown, about, against, words, cases)
        refused = st.session_state.pop("save_refused", None)
        if refused:
            st.warning(markdown_text(refused))
        for stored in cases[:_SHOWN]:
            _show(stored, read_only)
        if cases and st.button(f"All {len(cases):,} in Cases", key="all_cases", type="tertiary"):
            st.switch_page(CASES.path)


def _note(
    source: Source,
    shown: FullExplanation,
    about: int | None,
    against: int | None,
    words: Register,
    cases: list[Stored[SavedCase]],
) -> None:
    """A note for this view; one that is saved already is written over."""
    link = CaseLink.to(open_predictor(source), shown.case, about=about, against=against, edits=shown.edits)
    full = {"checkpoint": source.checkpoint_hash, "dataset": source.dataset_hash}
    link = link.model_copy(update=full)
    view = SavedCase(link=link, title=headline(shown).text[:MAX_TITLE], words=words, saved=datetime.now(UTC))
    there = next((stored for stored in cases if stored.value.name == view.name), None)
    st.text_input(
        "Note",
        there.value.note if there else "",
        key=f"case_note-{view.name}-{there.version[:8] if there else ''}",
        max_chars=MAX_NOTE,
        placeholder="Why it is worth keeping",
    )
    st.button(
        "Save note" if there else "Save",
        icon=":material/bookmark_add:",
        key="save",
        on_click=_save,
        args=(view, there, f"case_note-{view.name}-{there.version[:8] if there else ''}"),
    )


def _show(stored: Stored[SavedCase], read_only: bool) -> None:
    case = stored.value
    with st.container(border=True, gap="small"):
        st.markdown(f"**Case {case.link.case}.** {markdown_text(case.title)}")
        if case.note:
            quiet(markdown_text(case.note))
        with st.container(horizontal=True):
            st.button("Open", key=f"open-{stored.name}", on_click=open_case, args=(case.link,))
            if not read_only:
                st.button("Remove", key=f"remove-{stored.name}", type="tertiary", on_click=_forget, args=(stored,))


def open_case(link: CaseLink) -> None:
    """Show what a link says, as if it had come with the address."""
    state.follow({name: getattr(link, name) for name in ("case", "about", "against", "edits")})


def _save(view: SavedCase, there: Stored[SavedCase] | None, key: str) -> None:
    note = str(st.session_state.get(key) or "").strip()
    library = open_library()
    try:
        if there is None:
            library.add(view.model_copy(update={"note": note}))
        else:
            library.change(there, there.value.model_copy(update={"note": note, "changed": datetime.now(UTC)}))
    except RecapError as error:
        st.session_state["save_refused"] = str(error)
        return
    st.toast(f"Case {view.link.case} saved.")


def _forget(stored: Stored[SavedCase]) -> None:
    try:
        open_library().remove(stored)
    except RecapError as error:
        st.session_state["save_refused"] = str(error)
