"""Save a case with a note, and find saved ones again."""

from datetime import UTC, datetime

import streamlit as st

from analysis.cases.library import MAX_NOTE, SavedCase, forget_case, save_case, saved_cases
from analysis.explain.explanation import FullExplanation
from analysis.explain.headline import headline
from analysis.explain.links import CaseLink
from app import state
from app.cached.explanations import open_predictor
from app.components.text import quiet
from app.settings import AppSettings
from app.sources import Source
from recap.errors import RecapError
from recap.printable import markdown_text

_SHOWN = 12


def save_control(source: Source, shown: FullExplanation, about: int | None, against: int | None) -> None:
    """A button that opens the note, and the cases saved before; a read-only app only opens them."""
    assert source.checkpoint_hash is not None
    read_only = AppSettings.from_environment().read_only
    cases = saved_cases(source.checkpoint_hash)
    with st.popover("Saved cases" if read_only else "Save case", icon=":material/bookmark:", key="save-case"):
        if read_only:
            quiet("This app only shows: nothing can be saved here.")
        else:
            link = CaseLink.to(open_predictor(source), shown.case, about=about, against=against, edits=shown.edits)
            st.text_input("Note", key="case_note", max_chars=MAX_NOTE, placeholder="Why it is worth keeping")
            st.button(
                "Save",
                icon=":material/bookmark_add:",
                key="save",
                on_click=_save,
                args=(link, headline(shown).text[:300]),
            )
        refused = st.session_state.pop("save_refused", None)
        if refused:
            st.warning(markdown_text(refused))
        for case in cases[:_SHOWN]:
            _show(case, read_only)
        if len(cases) > _SHOWN:
            quiet(f"And {len(cases) - _SHOWN:,} older ones in the folder `cases`.")


def _show(case: SavedCase, read_only: bool) -> None:
    with st.container(border=True, gap="small"):
        st.markdown(f"**Case {case.link.case}.** {markdown_text(case.title)}")
        if case.note:
            quiet(markdown_text(case.note))
        with st.container(horizontal=True):
            st.button("Open", key=f"open-{case.name}", on_click=open_case, args=(case.link,))
            if not read_only:
                st.button("Remove", key=f"remove-{case.name}", type="tertiary", on_click=_forget, args=(case,))


def open_case(link: CaseLink) -> None:
    """Show what a link says, as if it had come with the address."""
    state.follow({name: getattr(link, name) for name in ("case", "about", "against", "edits")})


def _save(link: CaseLink, title: str) -> None:
    if AppSettings.from_environment().read_only:  # a page from before a restart may still hold the button
        st.session_state["save_refused"] = "this app is read-only; nothing was saved"
        return
    note = str(st.session_state.get("case_note") or "").strip()
    try:
        save_case(SavedCase(link=link, title=title, note=note, saved=datetime.now(UTC)))
    except RecapError as error:
        st.session_state["save_refused"] = str(error)
        return
    st.session_state["case_note"] = ""
    st.toast(f"Case {link.case} saved.")


def _forget(case: SavedCase) -> None:
    try:
        forget_case(case)
    except RecapError as error:
        st.session_state["save_refused"] = str(error)
